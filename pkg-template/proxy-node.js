// @ts-check
/** A handler of the web's own types in Node's `http` server. */
/** @import * as Api from "./proxy.d.ts" */

/** @type {typeof Api.toNodeHandler} */
export const toNodeHandler = (handler) => async (incoming, outgoing, next) => {
  const stop = new AbortController();
  outgoing.once("close", () => outgoing.writableEnded || stop.abort(new Error("The page has gone.")));
  try {
    const { status, headers, body } = await handler(requestOf(incoming, stop.signal));
    // What nobody wants of the request is let go, so that the answer arrives.
    incoming.resume();
    outgoing.writeHead(status, [...headers].flat());
    await pipe(body, outgoing);
  } catch (error) {
    if (outgoing.headersSent || outgoing.destroyed) outgoing.destroy();
    else if (next) next(error);
    else {
      console.error(error);
      outgoing.writeHead(500).end();
    }
  }
};

/**
 * @param {Api.NodeRequest} incoming
 * @param {AbortSignal} signal
 */
function requestOf(incoming, signal) {
  const { method = "GET", headers: { host = "localhost" }, rawHeaders } = incoming;
  // Express takes off what a handler is mounted at, and keeps the whole beside it.
  const path = /** @type {any} */ (incoming).originalUrl ?? incoming.url ?? "/";
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at], rawHeaders[at + 1]);
  const body = method === "GET" || method === "HEAD" ? undefined : streamOf(incoming);
  return new Request(`http://${host}${path}`, /** @type {any} */ ({ method, headers, signal, ...(body && { body, duplex: "half" }) }));
}

/** @param {Api.NodeRequest} incoming */
function streamOf(incoming) {
  if (incoming.readableDidRead) throw new Error("The body has been read already: mount the proxy before what parses bodies.");
  const pieces = incoming.iterator({ destroyOnReturn: false });
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return?.();
    },
  });
}

/**
 * @param {ReadableStream<Uint8Array> | null} body
 * @param {Api.NodeResponse} outgoing
 */
async function pipe(body, outgoing) {
  const reader = body?.getReader();
  // One listener for the whole answer, however often it has to wait.
  let goOn = () => {};
  outgoing.once("close", () => goOn());
  const drained = () =>
    /** @type {Promise<void>} */ (new Promise((resolve) => outgoing.once("drain", (goOn = resolve))));
  try {
    for (let piece = await reader?.read(); piece && !piece.done && !outgoing.destroyed; piece = await reader?.read()) {
      if (!outgoing.write(piece.value)) await drained();
    }
    outgoing.end();
  } finally {
    // Nothing more is wanted of what is not read to its end.
    reader?.cancel().catch(() => undefined);
  }
}
