// @ts-check
/** What pages of an extension and its background say to each other. */
import { HoldfastError, isHoldfastError } from "./error.js";

/** A message of another protocol is not answered. */
export const PROTOCOL = "holdfast/1";

/**
 * The calls that may be made by message, and what each takes.
 *
 * @type {Readonly<Record<string, readonly ("text" | "bytes" | "count")[]>>}
 */
export const CALLS = Object.freeze({
  submit: ["text", "text", "bytes"],
  adopt: ["text", "text"],
  quote: ["text", "text", "bytes"],
  revise: ["text", "text", "bytes"],
  command: ["text", "text"],
  forget: ["text", "text"],
  find: ["text", "text"],
  list: ["text"],
  load: ["text"],
  journal: ["text"],
  supportReport: ["text"],
  chunk: ["text", "count"],
  start: [],
});

/** Those that name a service first; the others name an operation, or nothing. */
export const OF_A_SERVICE = Object.freeze(["submit", "adopt", "quote", "find", "forget"]);

/** Those that name nothing. */
export const TAKES_ALL = Object.freeze(["list", "start"]);

/** The calls after which there may be something to do. */
export const MAKES_WORK = Object.freeze(["submit", "adopt", "revise", "command", "start"]);

/** Those that change something, for the account that the sender believes to be the current one. */
export const CHANGES = Object.freeze(["submit", "adopt", "revise", "command", "forget"]);

/** @typedef {{ protocol: typeof PROTOCOL, account?: string | null, method: string, args: readonly unknown[] }} Message */
/** @typedef {{ protocol: typeof PROTOCOL, account?: string | null, value?: unknown, bytes?: string, error?: object }} Answer */

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
  const kinds = Object.hasOwn(CALLS, method) ? CALLS[method] : undefined;
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
  new HoldfastError(`The message for ${JSON.stringify(method) ?? "no call"} is malformed.`, {
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
 * An error as a message can carry it. What is not of this package tells its name only.
 *
 * @param {string | null | undefined} account Told to those who may know.
 * @param {any} error
 * @returns {Answer}
 */
export const refusalOf = (account, error) => ({
  protocol: PROTOCOL,
  account,
  error: isHoldfastError(error)
    ? { ...JSON.parse(JSON.stringify({ ...error, cause: undefined })), message: error.message }
    : { code: "ABORTED", message: "The background could not do it.", nextStep: "See the background's console." },
});

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
  if (error) {
    const { message, ...details } = error;
    throw new HoldfastError(message, details);
  }
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
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    throw malformed(method);
  }
}
