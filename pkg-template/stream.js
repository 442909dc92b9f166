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
export function streamed(text, { form, result, end, gather = {} }) {
  const events = form === "ndjson" ? linesOf(text) : eventsOf(text);
  const last = end === undefined ? -1 : events.findIndex((event) => event.name === end);
  const counted = last < 0 ? events : events.slice(0, last + 1);
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
    .map((line) => {
      const data = jsonOr(line);
      return { name: data?.event ?? data?.type ?? "", data };
    });

/** @param {string} text */
function eventsOf(text) {
  const events = [];
  let name = "";
  /** @type {string[]} */
  let lines = [];
  // What no line feed ends is no line, and what no blank line ends is no event.
  for (const line of text.split(/\r\n|[\r\n]/).slice(0, -1)) {
    if (!line) {
      if (lines.length) events.push({ name, data: jsonOr(lines.join("\n")) });
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
