// @ts-check
/** How much one caller may ask of a relay: how often, and for how much that is not over. */
/** @import * as Api from "./cloudflare.d.ts" */
import { checkNames } from "./check.js";
import { HoldfastError, invalid } from "./error.js";
import { askShared } from "./jobs.js";

/** A minute, in milliseconds. */
const MINUTE_MS = 60_000;
/** How soon a caller asks again that has too much under way, in milliseconds. */
const LATER_MS = 10_000;

/**
 * The option `limits`.
 *
 * @param {any} given
 * @returns {NonNullable<Api.RelayOptions["limits"]>}
 */
export function limitsOf(given = {}) {
  checkNames(given, "limits", "operations requestsPerMinute");
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0 && value <= 10_000)) {
      throw invalid(`limits.${name}`, `limits.${name} must be a whole number from 1 to 10000.`);
    }
  }
  return given;
}

/**
 * Refuses a request that comes too soon after others of its caller.
 *
 * @param {Api.Namespace} namespace
 * @param {string} caller
 * @param {number | undefined} requests
 */
export async function checkRate(namespace, caller, requests) {
  if (requests === undefined) return;
  const turn = { requests, perMs: MINUTE_MS, aheadMs: 0 };
  const { laterMs } = await askShared(namespace, "caller", caller, { turn, name: `rate of ${caller}` });
  if (laterMs) throw tooMany(`A caller may ask ${requests} times a minute.`, laterMs);
}

/**
 * Refuses new work of a caller that has too much under way. What is there already is never refused.
 *
 * @param {Api.Namespace} namespace
 * @param {{ object: import("./jobs.js").RemoteObject, caller: string, service: string, intent: string, after?: string }} work
 *   `after`: the operation in whose place the new work comes.
 * @param {number | undefined} most
 */
export async function checkCount(namespace, { object, caller, service, intent, after }, most) {
  if (most === undefined) return;
  const place = JSON.stringify([object.shard, service, intent]);
  if (await askShared(namespace, "caller", caller, { admit: most, caller, name: place, after })) return;
  const newest = await object.call("find", [service, intent]);
  if (newest === undefined || JSON.parse(newest).id === after) {
    throw tooMany(`A caller may have ${most} operations that are not over.`, LATER_MS);
  }
}

/**
 * @param {string} message
 * @param {number} laterMs
 */
const tooMany = (message, laterMs) =>
  Object.assign(new HoldfastError(message, { code: /** @type {any} */ ("TOO_MANY"), nextStep: "Ask again later." }), {
    retryAfter: Math.ceil(laterMs / 1000),
  });
