// @ts-check
/** The events of a kept stream, as one value. */
/** @import * as Api from "./index.d.ts" */

/**
 * The data of the event that holds the result, with what other events are gathered into it; or the
 * data of all events, where none is named.
 *
 * @param {string} text
 * @param {Api.StreamShape} shape
 * @returns {any}
 */
export function streamed(text, { form, result, end, endData, gather = {} }) {
  /** @type {{ name: string, data: any }[]} */
  const counted = [];
  for (const { name, text: own } of form === "ndjson" ? linesOf(text) : eventsOf(text)) {
    if (own.trimEnd() === endData) break;
    const data = jsonOr(own);
    counted.push({ name: name ?? data?.event ?? data?.type ?? "", data });
    if (counted.at(-1)?.name === end) break;
  }
  if (result === undefined) return counted.map((event) => event.data);
  const value = counted.filter((event) => event.name === result).pop()?.data;
  if (typeof value !== "object" || !value) return value;
  const gathered = Object.entries(gather).map(([name, member]) => [
    member,
    counted.filter((event) => event.name === name).map((event) => event.data),
  ]);
  return { ...value, ...Object.fromEntries(gathered) };
}

/** @param {string} text */
const linesOf = (text) =>
  text
    .split("\n")
    .filter((line) => line.trim())
    .map((line) => ({ name: undefined, text: line }));

/** @param {string} text */
function eventsOf(text) {
  const events = [];
  let name = "";
  /** @type {string[]} */
  let lines = [];
  // What no line feed ends is no line, and what no blank line ends is no event.
  for (const line of text.split(/\r\n|[\r\n]/).slice(0, -1)) {
    if (!line) {
      if (lines.length) events.push({ name, text: lines.join("\n") });
      name = "";
      lines = [];
      continue;
    }
    const [field, value = ""] = line.split(/: ?(.*)/s);
    if (field === "event") name = value;
    if (field === "data") lines.push(value);
  }
  return events;
}

/**
 * The value, where it is JSON; else the text.
 *
 * @param {string} text
 * @returns {any}
 */
function jsonOr(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
