// @ts-check
/** What a relay tells of states and errors: under ids that lead on over the relay, and without what is the edge's alone. */
/** @import * as Api from "./cloudflare.d.ts" */
import { HoldfastError, isHoldfastError } from "./error.js";
import { exitsFor } from "./relay-callers.js";

/** The status of each error. */
const STATUS = {
  INVALID_INPUT: 400,
  UNKNOWN_SERVICE: 404,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ALLOWED: 409,
  KEY_CONFLICT: 409,
  RESULT_NOT_READY: 409,
  RESULT_EXPIRED: 410,
  TOO_LARGE: 413,
  RANGE_NOT_SATISFIABLE: 416,
  INTENT_CONFLICT: 422,
  FORBIDDEN: 403,
  TOO_MANY: 429,
};

/**
 * What is said in the place of an object's own words, which are those of an app: they name addresses, options
 * and calls that a caller of a relay has not.
 *
 * @type {Record<string, readonly [message: string, nextStep: string] | undefined>}
 */
const WORDS = {
  INTENT_CONFLICT: [
    "This key stands for other work, or for the same at a service that has been set up otherwise since.",
    "Use another key for other work; nothing was sent.",
  ],
};

/** What is said of a refusal whose own words advise what only a trusted caller may do. */
const NOT_YOURS = /** @type {const} */ ([
  "This is not possible as the operation stands.",
  "Look at its status and its exits; what widens bounds or takes risks is for callers whom the relay trusts.",
]);
const FOR_TRUSTED = /limits\b|acceptRisk|anyway/;

/** An address, with what belongs to it. */
const ADDRESS = /\bhttps?:\/\/[^\s"'<>`]+/gi;

/** Nobody but the caller may keep an answer, and none of it is a page. */
export const HEADERS = {
  "cache-control": "private, no-store",
  "content-security-policy": "sandbox; default-src 'none'",
  "x-content-type-options": "nosniff",
};

/**
 * @param {unknown} value
 * @param {number} [status]
 */
export const json = (value, status = 200) =>
  new Response(JSON.stringify(value), { status, headers: { ...HEADERS, "content-type": "application/json" } });

/** @type {(code: string, message: string, nextStep?: string, field?: string) => Api.HoldfastError} */
export const problem = (code, message, nextStep, field) =>
  new HoldfastError(message, { code: /** @type {any} */ (code), nextStep, field });

/**
 * A state as it is told: under ids that lead to their object, without what concerns the edge alone, and with the
 * ways out that this caller may take.
 *
 * @param {string} object The name of the object that has it.
 * @param {boolean} trusted
 * @param {Api.OperationState} state
 */
export function wire(object, trusted, { key, intent, service, origin, ledger, result, ...state }) {
  const { balance, ...shown } = ledger;
  const lost = { rejected: "input", incomplete: "unknown", abandoned: "unknown" }[/** @type {string} */ (state.status)];
  const { id, parentId, parked, receipt, ...rest } = withoutAddress(state, origin);
  // Whom the relay trusts names jobs by what stands here: as the service does.
  const named = trusted && state.jobId !== undefined ? { jobId: state.jobId } : {};
  const found = trusted && state.parked?.candidates ? { candidates: state.parked.candidates } : {};
  return {
    ...rest,
    ...named,
    id: `${object}.${id}`,
    service,
    ...(parentId !== undefined && { parentId: `${object}.${parentId}` }),
    key: intent.slice(intent.indexOf(":") + 1),
    ...(parked && { parked: exitsFor(trusted, { ...parked, ...found }) }),
    ledger: { ...shown, state: ledger.open ? "open" : "closed" },
    receipt: { ...receipt, operationId: `${object}.${id}`, key: undefined },
    ...(result && { result: { bytes: result.bytes, sha256: result.sha256, mediaType: result.mediaType, replayed: result.replayed } }),
    ...(lost && !state.failure && { failure: { ...rest.fault, class: lost } }),
  };
}

/**
 * The same without a service's address in any text: a job may go by its link, and a service may say where it is.
 *
 * @template T
 * @param {T} value
 * @param {string} origin
 * @returns {T}
 */
function withoutAddress(value, origin) {
  const host = URL.canParse(origin) ? new URL(origin).host : "";
  /** @type {(own: any) => any} */
  const walk = (own) => {
    if (typeof own === "string") {
      const text = origin ? own.replaceAll(origin, "") : own;
      // A name of one word may be any word.
      return /[.:]/.test(host) ? text.replaceAll(host, "[service]") : text;
    }
    if (Array.isArray(own)) return own.map(walk);
    if (typeof own !== "object" || !own) return own;
    return Object.fromEntries(Object.entries(own).map(([name, part]) => [name, walk(part)]));
  };
  return walk(value);
}

/**
 * What a caller is told of an error: of one that is not ours, nothing.
 *
 * @param {any} error
 * @param {{ object?: string, trusted?: boolean }} [asked] The name of the object that was asked, and for whom.
 */
export function refused(error, { object, trusted = false } = {}) {
  /** @type {{ code: string, message: string, field?: string, nextStep?: string, operationId?: string, retryAfter?: number }} */
  let told = { code: "ABORTED", message: "The relay failed.", nextStep: "Ask again, work with the same key: it is never done twice." };
  if (isHoldfastError(error)) told = error;
  else console.error("Holdfast: a relay failed.", error);
  const { code, field, operationId, retryAfter } = told;
  const isBeyond = !trusted && code === "NOT_ALLOWED" && !field && FOR_TRUSTED.test(told.message);
  const [message, nextStep] = WORDS[code] ?? (isBeyond ? NOT_YOURS : [told.message, told.nextStep]);
  const status = /** @type {Record<string, number>} */ (STATUS)[code] ?? 503;
  const answer = json(
    {
      error: {
        code,
        message: message.replace(ADDRESS, "[address]"),
        field,
        nextStep: nextStep?.replace(ADDRESS, "[address]"),
        operationId: operationId && object ? `${object}.${operationId}` : undefined,
      },
    },
    status,
  );
  if (retryAfter) answer.headers.set("retry-after", `${retryAfter}`);
  return answer;
}
