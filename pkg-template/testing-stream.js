// @ts-check
/** A result as the stream of events that a profile's call answers with. */
/** @import * as Api from "./index.d.ts" */

/** What the media type of each form is. */
export const STREAM_TYPES = { sse: "text/event-stream", ndjson: "application/x-ndjson" };

/**
 * The events of a result, as the shape says: first what is known of the job, then the result's parts.
 *
 * @param {Api.StreamShape} shape
 * @param {object} about The job's facts, in the places where the profile reads them.
 * @param {any} data The result.
 */
export function streamed(shape, about, data) {
  const { form, result, end, endData, gather = {} } = shape;
  /** @type {[string, unknown][]} */
  const events = [];
  // Where every event is a part of the result, nothing else may be one.
  if (result && Object.keys(about).length) events.push(["started", about]);
  const rest = result && typeof data === "object" && data ? { ...data } : data;
  for (const [event, member] of Object.entries(gather)) {
    if (!Array.isArray(rest?.[member])) continue;
    for (const item of rest[member]) events.push([event, item]);
    delete rest[member];
  }
  if (result) {
    events.push([result, rest]);
    if (end && end !== result) events.push([end, {}]);
  } else {
    // The event that ends the stream is the last part of the result.
    const items = [data].flat();
    items.forEach((item, index) => events.push([(index === items.length - 1 && end) || "message", item]));
  }
  const text = events.map(([event, own]) => lineOf(form, event, JSON.stringify(own), own)).join("");
  return endData ? text + lineOf(form, "message", endData, endData) : text;
}

/**
 * @param {Api.StreamShape["form"]} form
 * @param {string} event
 * @param {string} text
 * @param {any} data
 */
function lineOf(form, event, text, data) {
  if (form === "sse") return `event: ${event}\ndata: ${text}\n\n`;
  return event === "message" ? `${text}\n` : `${JSON.stringify({ event, ...data })}\n`;
}
