// @ts-check
/** @import * as Api from "./index.d.ts" */
import { checkLimits, checkNames, checkParams, checkText, exactJson } from "./check.js";
import { HoldfastError, invalid } from "./error.js";

/** Longest intent, in UTF-16 code units. */
const INTENT_LENGTH_MAX = 512;
/** Largest body, in bytes; the module's own bound. */
export const BODY_BYTES_MAX = 8 * 1024 * 1024;

/**
 * A submission as the module takes it.
 *
 * @typedef {{ service: string, json: string, body: Uint8Array, account: string }} Sealed
 */

/**
 * Checks a submission and copies it, in the turn of the call: what the caller changes afterwards
 * changes nothing.
 *
 * @param {Api.HoldfastOptions<any>} options
 * @param {string} service
 * @param {Api.Submission} submission
 * @returns {Sealed}
 */
export function seal(options, service, submission) {
  checkServiceName(options, service);
  checkNames(submission, "submission", "intent body contentType key params limits");
  const { intent, body, contentType = "application/json", key, params, limits } = submission;
  checkIntent(intent);
  if (key !== undefined) checkText(key, "key");
  checkParams(params, "params");
  const bytes = checkRequest(contentType, limits, body);
  const account = currentAccount(options);
  if (account === null) {
    throw new HoldfastError("Nobody is signed in: account() gave no name.", {
      code: "NO_ACCOUNT",
      nextStep: "Submit again once account() gives a name.",
    });
  }
  return { service, json: JSON.stringify({ intent, contentType, key, params, limits }), body: bytes, account };
}

/**
 * Checks a question for a price and copies it, like a submission.
 *
 * @param {Api.HoldfastOptions<any>} options
 * @param {string} service
 * @param {Api.Inquiry} inquiry
 */
export function sealInquiry(options, service, inquiry) {
  checkServiceName(options, service);
  checkNames(inquiry, "quote", "body contentType params");
  const { body, contentType = "application/json", params } = inquiry;
  checkParams(params, "params");
  const bytes = checkRequest(contentType, undefined, body);
  return { service, json: JSON.stringify({ contentType, params }), body: bytes };
}

/**
 * The bytes of a body, whose media type and bounds are checked too.
 *
 * @param {any} contentType
 * @param {Api.Limits | undefined} limits
 * @param {unknown} body
 */
export function checkRequest(contentType, limits, body) {
  if (typeof contentType !== "string" || !/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+[ -~]*$/.test(contentType)) {
    throw invalid("contentType", "contentType must be a media type.");
  }
  checkLimits(limits, "limits");
  const bytes = encode(body);
  if (bytes.length > BODY_BYTES_MAX) {
    throw invalid("body", `body has ${bytes.length} bytes; at most ${BODY_BYTES_MAX} can be kept.`);
  }
  return bytes;
}

/**
 * @param {Api.HoldfastOptions<any>} options
 * @param {string} service
 */
export function checkServiceName(options, service) {
  if (typeof service !== "string" || !Object.hasOwn(options.services, service)) {
    throw new HoldfastError(`There is no service ${JSON.stringify(service)}.`, {
      code: "UNKNOWN_SERVICE",
      field: "service",
      nextStep: `Known: ${Object.keys(options.services).join(", ")}.`,
    });
  }
}

/**
 * Whose turn it is; null when nobody's, and when that cannot be told.
 *
 * @param {Api.HoldfastOptions<any>} options
 */
export function currentAccount(options) {
  try {
    const account = options.account();
    return (typeof account === "string" && account) || null;
  } catch (error) {
    import("./report.js").then(({ report, tellFailure }) => {
      // Asked at every turn: told once, like what is said of it.
      const isFirst = report(options.account, "account()", error, options.logger);
      if (isFirst) tellFailure(options, "account", error);
    }, () => undefined); // A worker that may import nothing now says nothing.
    return null;
  }
}

/** @param {any} intent */
export const checkIntent = (intent) =>
  checkText(
    intent,
    "intent",
    INTENT_LENGTH_MAX,
    "It names this one piece of work, such as `daily:${day}`; crypto.randomUUID() says: new work each time.",
  );

/**
 * @param {any} body
 * @returns {Uint8Array}
 */
function encode(body) {
  if (body instanceof Uint8Array) return new Uint8Array(body);
  if (typeof body === "string") {
    if (/\p{Surrogate}/u.test(body)) throw invalid("body", "body holds half a character.");
    return new TextEncoder().encode(body);
  }
  if (typeof body !== "object" || !body) {
    throw invalid("body", "body must be a plain object, a string or a Uint8Array.");
  }
  return new TextEncoder().encode(exactJson(body, "body"));
}
