// @ts-check
/** What pages of an extension and its background say to each other. */
import { CALLS } from "./calls.js";
import { plain, thrown } from "./crossing.js";
import { HoldfastError } from "./error.js";

/** A message of another protocol is not answered. */
export const PROTOCOL = "holdfast/1";

/** Those that name a service first; the others name an operation, or nothing. */
export const OF_A_SERVICE = Object.freeze(["submit", "adopt", "quote", "find", "forget"]);

/** Those that name nothing. */
export const NAMES_NOTHING = Object.freeze(["list", "start"]);

/** The calls after which there may be something to do. */
export const MAKES_WORK = Object.freeze(["submit", "adopt", "revise", "command", "start"]);

/** Those that change something, for the account that the sender believes to be the current one. */
export const CHANGES = Object.freeze(["submit", "adopt", "revise", "command", "forget"]);

/** @typedef {{ protocol: typeof PROTOCOL, account?: string | null, method: string, args: readonly unknown[] }} Message */
/** @typedef {{ protocol: typeof PROTOCOL, account?: string | null, value?: unknown, bytes?: string, error?: object, hints?: Readonly<Record<string, string>> }} Answer */

/**
 * @param {string | null | undefined} account Whose work it is, where that is known.
 * @param {string} method
 * @param {readonly unknown[]} args
 * @returns {Message}
 */
export const messageOf = (account, method, args) => ({
  protocol: PROTOCOL,
  account,
  method,
  args: args.map((own) => (own instanceof Uint8Array ? toBase64(own) : own)),
});

/**
 * The arguments of a message, each of its kind.
 *
 * @param {any} message
 * @returns {unknown[]}
 */
export function argsOf({ method, args }) {
  // What is no text may look like one: a list of one text does, as a name.
  const kinds = typeof method === "string" && Object.hasOwn(CALLS, method) ? CALLS[method] : undefined;
  if (!kinds || !Array.isArray(args) || args.length !== kinds.length) throw malformed(method);
  return args.map((own, index) => {
    if (kinds[index] === "count") {
      if (!Number.isInteger(own) || own < 0 || own >= 2 ** 32) throw malformed(method);
      return own;
    }
    if (typeof own !== "string") throw malformed(method);
    return kinds[index] === "bytes" ? fromBase64(own, method) : own;
  });
}

/** @param {unknown} method */
const malformed = (method) =>
  new HoldfastError(`The message for ${typeof method === "string" ? method.slice(0, 32) : "no call"} is malformed.`, {
    code: "INVALID_INPUT",
    field: "message",
    nextStep: "Send messages with connect(), of the same version of the package.",
  });

/**
 * @param {string | null} account
 * @param {unknown} value
 * @returns {Answer}
 */
export const answerOf = (account, value) =>
  value instanceof Uint8Array
    ? { protocol: PROTOCOL, account, bytes: toBase64(value) }
    : { protocol: PROTOCOL, account, value };

/**
 * @param {string | null | undefined} account Told to those who may know.
 * @param {unknown} error
 * @returns {Answer}
 */
export const refusalOf = (account, error) => ({ protocol: PROTOCOL, account, error: plain(error) });

/**
 * An object that came as JSON.
 *
 * @param {string} json
 */
export function objectOf(json) {
  try {
    const value = JSON.parse(json);
    if (typeof value === "object" && value) return value;
  } catch {
    // Said below.
  }
  throw malformed("submit");
}

/**
 * What the background has said.
 *
 * @param {any} answer
 */
export function valueOf({ value, bytes, error }) {
  if (error) throw thrown(error);
  // A message has no room for `undefined`: in browsers whose messages are JSON it comes as nothing or null.
  return typeof bytes === "string" ? fromBase64(bytes, "answer") : (value ?? undefined);
}

/** How many bytes become characters in one call: far more would be too many arguments. */
const PIECE = 8192;

/** @param {Uint8Array} bytes */
function toBase64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) {
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  }
  return btoa(text);
}

/**
 * @param {string} text
 * @param {string} method
 */
function fromBase64(text, method) {
  let letters;
  try {
    letters = atob(text);
  } catch {
    throw malformed(method);
  }
  // A loop, for bodies have millions of letters.
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}
