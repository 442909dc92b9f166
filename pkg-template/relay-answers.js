// @ts-check
/** The two answers of a relay that are no single state: a result's bytes, and states as they happen. */
/** @import * as Api from "./index.d.ts" */
/** @import { RemoteObject } from "./jobs.js" */
/** @import { Operation } from "./operation.js" */
import { piecesOf } from "./outcome.js";
import { assembled, partOf } from "./relay-pieces.js";
import { HEADERS, problem } from "./relay-wire.js";
import { isEnded } from "./status.js";

/** How long one stream of events lasts, in milliseconds: the reader comes again with the last id. */
const STREAM_MS = 25_000;

/**
 * The kept result: its bytes, or its value as JSON where the bytes are a stream, pages, or hold it
 * somewhere inside. It is read from its object piece by piece, as the reader takes it.
 *
 * @param {RemoteObject} object
 * @param {Operation} operation
 * @param {Headers} asked
 */
export async function resultOf(object, { state }, asked) {
  const { status, result, deletedAt } = state;
  if (deletedAt !== undefined) throw problem("RESULT_EXPIRED", "The result was deleted.");
  if (status !== "succeeded" || !result) throw problem("RESULT_NOT_READY", "There is no result, or not yet.");
  if (result.at || result.stream || result.items !== undefined) {
    const value = await flowing(assembled(object, state));
    return new Response(value, { headers: { ...HEADERS, "content-type": "application/json" } });
  }
  const { bytes, mediaType, sha256 } = result;
  const etag = `"${sha256}"`;
  const own = { ...HEADERS, "accept-ranges": "bytes", "content-type": mediaType ?? "application/json", etag };
  const part = rangeIn(asked, etag, bytes);
  if (!part) {
    const headers = { ...own, "content-length": `${bytes}` };
    return new Response(await sized(piecesOf(object, state), bytes), { headers });
  }
  const [first, last] = part;
  const length = last - first + 1;
  return new Response(await sized(partOf(object, state, first, last), length), {
    status: 206,
    headers: { ...own, "content-length": `${length}`, "content-range": `bytes ${first}-${last}/${bytes}` },
  });
}

/**
 * The part that is asked for, where one is that there can be: its first byte and its last.
 *
 * @param {Headers} asked
 * @param {string} etag
 * @param {number} bytes
 */
function rangeIn(asked, etag, bytes) {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(asked.get("range") ?? "") ?? [];
  // What goes on from other bytes has the whole of these.
  if (from === undefined || !bytes || (asked.get("if-range") ?? etag) !== etag) return undefined;
  const [first, last] = [Number(from), Math.min(to ? Number(to) : Infinity, bytes - 1)];
  if (first > last) throw problem("RANGE_NOT_SATISFIABLE", `The result has ${bytes} bytes.`);
  return /** @type {const} */ ([first, last]);
}

/**
 * Pieces as a body. The first is read before there is an answer, so that what cannot be read is a typed error; each
 * further one when the reader wants it, and none once it has left.
 *
 * @param {AsyncGenerator<Uint8Array<ArrayBuffer>>} pieces
 */
async function flowing(pieces) {
  /** @type {Promise<IteratorResult<Uint8Array<ArrayBuffer>>> | IteratorResult<Uint8Array<ArrayBuffer>> | undefined} */
  let first = await pieces.next();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await (first ?? pieces.next());
        first = undefined;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await pieces.return(undefined)),
    },
    { highWaterMark: 0 },
  );
}

/**
 * The same under its length, which workerd tells of such a stream alone.
 *
 * @param {AsyncGenerator<Uint8Array<ArrayBuffer>>} pieces
 * @param {number} length
 */
async function sized(pieces, length) {
  const stream = await flowing(pieces);
  const { FixedLengthStream } = /** @type {any} */ (globalThis);
  return /** @type {ReadableStream} */ (FixedLengthStream ? stream.pipeThrough(new FixedLengthStream(length)) : stream);
}

/**
 * States as they happen, as server-sent events whose ids are revisions: a reader that comes again with the
 * last one misses nothing that still holds. Where nothing more is to come, the answer is one after which a
 * browser does not come again.
 *
 * @param {Operation} operation
 * @param {string | null} lastId
 * @param {(state: Api.OperationState) => object} wire
 * @param {AbortSignal | undefined} signal
 */
export function eventsOf(operation, lastId, wire, signal) {
  const seen = /^\d{1,10}$/.test(lastId ?? "") ? Number(lastId) : -1;
  if (isEnded(operation.state) && operation.state.revision <= seen) {
    return new Response(null, { status: 204, headers: HEADERS });
  }
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), STREAM_MS);
  signal?.addEventListener("abort", () => stop.abort());
  const { readable, writable } = new TransformStream();
  const writer = writable.getWriter();
  const send = (/** @type {string} */ text) => writer.write(new TextEncoder().encode(text));
  const run = async () => {
    await send("retry: 1000\n\n");
    for await (const state of operation.updates({ signal: stop.signal })) {
      if (state.revision <= seen) continue;
      await send(`id: ${state.revision}\nevent: state\ndata: ${JSON.stringify(wire(state))}\n\n`);
      if (isEnded(state)) break;
    }
  };
  // A reader that has gone away, and a stream that has lasted long enough, end it alike.
  run().catch(() => undefined).finally(() => (clearTimeout(timer), writer.close().catch(() => undefined)));
  return new Response(readable, { headers: { ...HEADERS, "content-type": "text/event-stream" } });
}
