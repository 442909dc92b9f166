// A handler of Request to Response behind Node's HTTP server, as frameworks do it.
import { createServer } from "node:http";

/**
 * Serves a handler on a free port of this machine.
 *
 * @param {(request: Request) => Promise<Response>} handle
 * @returns {Promise<{ origin: string, stop: () => Promise<void> }>}
 */
export async function serve(handle) {
  const server = createServer((incoming, outgoing) => void answer(handle, incoming, outgoing));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { origin: `http://127.0.0.1:${server.address().port}`, stop };
}

async function answer(handle, incoming, outgoing) {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort(new Error("The page has gone.")));
  const { method, url, headers } = incoming;
  const hasBody = method !== "GET" && method !== "HEAD";
  const given = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((own) => [name, own]));
  const response = await handle(
    new Request(`http://${headers.host}${url}`, {
      method,
      headers: given,
      signal: gone.signal,
      ...(hasBody && { body: ReadableStream.from(incoming.iterator({ destroyOnReturn: false })), duplex: "half" }),
    }),
  );
  // What nobody wants is let go, so that the answer arrives.
  incoming.resume();
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  try {
    for await (const piece of response.body ?? []) {
      if (!outgoing.write(piece)) await new Promise((resolve) => outgoing.once("drain", resolve));
    }
    outgoing.end();
  } catch {
    outgoing.destroy();
  }
}
