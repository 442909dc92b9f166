// @ts-check
/** A result's bytes, as the value that the app gets. */
/** @import * as Api from "./index.d.ts" */
import { paged, valueAt } from "./pages.js";
import { streamed } from "./stream.js";

/**
 * What is told of a kept result: its media type, where in it the value stands (a JSON pointer), how
 * the events of a stream are put together, and where each of its pages holds its items.
 *
 * @typedef {{ mediaType?: string, at?: string, stream?: Api.StreamShape, items?: string }} Kept
 */

/**
 * What is wrong with a result by the service's schema; null when nothing is.
 *
 * @param {Api.StandardSchema<any> | undefined} schema
 * @param {Uint8Array} bytes
 * @param {Kept} kept
 * @returns {Promise<string | null>}
 */
export async function faultOf(schema, bytes, kept) {
  if (!schema) return null;
  try {
    await validated(schema, bytes, kept);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * The value of a result. With a schema: its output. Otherwise JSON is parsed, where the media type
 * says JSON or nothing, and a stream's events or a result's pages are put together; `text/*` gives a
 * string; everything else, the bytes.
 *
 * @param {Api.StandardSchema<any> | undefined} schema
 * @param {Uint8Array} bytes
 * @param {Kept} kept
 * @returns {Promise<any>}
 */
export async function valueOf(schema, bytes, kept) {
  if (schema) return validated(schema, bytes, kept);
  const type = (kept.mediaType ?? "").split(";", 1)[0].trim().toLowerCase();
  try {
    if (kept.stream || kept.items !== undefined || !type || /[/+]json$/.test(type)) return jsonOf(bytes, kept);
    if (type.startsWith("text/")) return textOf(bytes);
  } catch {
    // Not what it says it is: the bytes are the truth.
  }
  return bytes;
}

/**
 * @param {Api.StandardSchema<any>} schema
 * @param {Uint8Array} bytes
 * @param {Kept} kept
 */
async function validated(schema, bytes, kept) {
  const outcome = await schema["~standard"].validate(jsonOf(bytes, kept));
  if (outcome.issues) {
    throw new Error(outcome.issues.map((issue) => issue.message).join("; ") || "It is not valid.");
  }
  return outcome.value;
}

/**
 * @param {Uint8Array} bytes
 * @param {Kept} kept
 */
function jsonOf(bytes, { at = "", stream, items }) {
  const text = textOf(bytes);
  if (items !== undefined) return valueAt(paged(text, items), at);
  return valueAt(stream ? streamed(text, stream) : JSON.parse(text), at);
}

/** @param {Uint8Array} bytes */
const textOf = (bytes) => new TextDecoder("utf-8", { fatal: true }).decode(bytes);
