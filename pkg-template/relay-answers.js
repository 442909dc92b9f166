// @ts-check
/** The two answers of a relay that are no single state: a result's bytes, and states as they happen. */
/** @import * as Api from "./index.d.ts" */
/** @import { Operation } from "./operation.js" */
import { isEnded } from "./status.js";

/** How long one stream of events lasts, in milliseconds: the reader comes again with the last id. */
const STREAM_MS = 25_000;

/**
 * The kept result: its bytes, or its value as JSON where the bytes are a stream, pages, or hold it
 * somewhere inside.
 *
 * @param {Operation} operation
 * @param {string | null} range
 * @param {(code: string, message: string, nextStep?: string) => Error} problem
 * @param {Record<string, string>} headers
 */
export async function resultOf(operation, range, problem, headers) {
  const { status, result, deletedAt } = operation.state;
  if (deletedAt !== undefined) throw problem("RESULT_EXPIRED", "The result was deleted.");
  if (status !== "succeeded" || !result) throw problem("RESULT_NOT_READY", "There is no result, or not yet.");
  if (result.at || result.stream || result.items !== undefined) {
    const value = JSON.stringify(await operation.result());
    return new Response(value, { headers: { ...headers, "content-type": "application/json" } });
  }
  const whole = await operation.blob();
  const own = {
    ...headers,
    "accept-ranges": "bytes",
    "content-type": result.mediaType ?? "application/json",
    etag: `"${result.sha256}"`,
  };
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? [];
  if (from === undefined || !whole.size) return new Response(whole, { headers: own });
  const [first, last] = [Number(from), Math.min(to ? Number(to) : Infinity, whole.size - 1)];
  if (first > last) throw problem("RANGE_NOT_SATISFIABLE", `The result has ${whole.size} bytes.`);
  return new Response(whole.slice(first, last + 1), {
    status: 206,
    headers: { ...own, "content-range": `bytes ${first}-${last}/${whole.size}` },
  });
}

/**
 * States as they happen, as server-sent events whose ids are revisions: a reader that comes again with the
 * last one misses nothing that still holds.
 *
 * @param {Operation} operation
 * @param {string | null} lastId
 * @param {(state: Api.OperationState) => object} wire
 * @param {Record<string, string>} headers
 * @param {AbortSignal | undefined} signal
 */
export function eventsOf(operation, lastId, wire, headers, signal) {
  const seen = /^\d{1,10}$/.test(lastId ?? "") ? Number(lastId) : -1;
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
  return new Response(readable, { headers: { ...headers, "content-type": "text/event-stream" } });
}
