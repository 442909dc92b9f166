// @ts-check
/** A result's bytes, as the value that the app gets. */
/** @import * as Api from "./index.d.ts" */

/**
 * What is wrong with a result by the service's schema; null when nothing is.
 *
 * @param {Api.StandardSchema<any> | undefined} schema
 * @param {Uint8Array} bytes
 * @param {string} [at]
 * @returns {Promise<string | null>}
 */
export async function faultOf(schema, bytes, at) {
  if (!schema) return null;
  try {
    await validated(schema, bytes, at);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * The value of a result. With a schema: its output. Otherwise JSON is parsed, where the media type
 * says JSON or nothing; `text/*` gives a string; everything else, the bytes.
 *
 * @param {Api.StandardSchema<any> | undefined} schema
 * @param {Uint8Array} bytes
 * @param {string | undefined} mediaType
 * @param {string} [at] Where in the body the result stands (a JSON pointer).
 * @returns {Promise<any>}
 */
export async function valueOf(schema, bytes, mediaType, at) {
  if (schema) return validated(schema, bytes, at);
  const type = (mediaType ?? "").split(";", 1)[0].trim().toLowerCase();
  try {
    if (!type || /[/+]json$/.test(type)) return jsonOf(bytes, at);
    if (type.startsWith("text/")) return textOf(bytes);
  } catch {
    // Not what it says it is: the bytes are the truth.
  }
  return bytes;
}

/**
 * @param {Api.StandardSchema<any>} schema
 * @param {Uint8Array} bytes
 * @param {string} [at]
 */
async function validated(schema, bytes, at) {
  const outcome = await schema["~standard"].validate(jsonOf(bytes, at));
  if (outcome.issues) {
    throw new Error(outcome.issues.map((issue) => issue.message).join("; ") || "It is not valid.");
  }
  return outcome.value;
}

/**
 * @param {Uint8Array} bytes
 * @param {string} at
 */
function jsonOf(bytes, at = "") {
  let value = JSON.parse(textOf(bytes));
  for (const name of at.split("/").slice(1)) {
    value = value?.[name.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return value;
}

/** @param {Uint8Array} bytes */
const textOf = (bytes) => new TextDecoder("utf-8", { fatal: true }).decode(bytes);
