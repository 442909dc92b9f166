// @ts-check
/** What a world is told, checked: a misspelled fault would be one that never happens, and its test would pass. */
/** @import * as Api from "./testing.d.ts" */
import { checkNames } from "./check.js";
import { invalid } from "./error.js";

/** @type {Record<Api.Call, true>} */
const CALLS = { submit: true, poll: true, result: true, cancel: true, retry: true, delete: true, list: true, quote: true, diagnose: true };

/** @type {Record<Api.Fault["fault"], true>} */
const FAULTS = {
  lostAfter: true, lostBefore: true, truncated: true, rateLimited: true, unavailable: true, htmlError: true,
  notFound: true, unauthorized: true, noCredit: true,
};

/** @typedef {Readonly<Record<string, Api.ServiceScript>>} Scripts */

/**
 * @param {Scripts} scripts
 * @param {Api.SimulateOptions} options
 */
export function checkWorld(scripts, options) {
  if (typeof scripts !== "object" || !scripts) throw invalid("services", "simulate() takes an object of services.");
  for (const [name, script] of Object.entries(scripts)) {
    const field = `services.${name}`;
    checkNames(script, field, "durationMs price outcome result refuse latencyMs");
    const { outcome, latencyMs } = script;
    if (typeof outcome !== "function") checkKnown(outcome, `${field}.outcome`, ["completed", "failed"]);
    checkFunctions(script, field);
    checkNumber(latencyMs, `${field}.latencyMs`);
  }
  checkNames(options, "", "faults now");
  checkNumber(options.now, "now");
  checkFaults(options.faults, scripts);
}

/**
 * @param {Api.ServiceScript} script
 * @param {string} field
 */
function checkFunctions(script, field) {
  for (const name of /** @type {const} */ (["result", "refuse"])) {
    if (script[name] === undefined || typeof script[name] === "function") continue;
    throw invalid(`${field}.${name}`, `${field}.${name} must be a function.`);
  }
  for (const name of /** @type {const} */ (["durationMs", "price"])) {
    if (typeof script[name] !== "function") checkNumber(script[name], `${field}.${name}`);
  }
}

/**
 * @param {readonly Api.Fault[] | undefined} faults
 * @param {Scripts} scripts
 */
export function checkFaults(faults, scripts) {
  if (faults === undefined) return;
  if (!Array.isArray(faults)) throw invalid("faults", "faults must be an array.");
  for (const [index, given] of faults.entries()) {
    const field = `faults[${index}]`;
    checkNames(given, field, "fault call times retryAfter service");
    const { fault, call, times, retryAfter, service } = given;
    checkKnown(fault ?? null, `${field}.fault`, Object.keys(FAULTS));
    checkCall(call, `${field}.call`);
    checkNumber(times, `${field}.times`);
    checkNumber(retryAfter, `${field}.retryAfter`);
    checkKnown(service, `${field}.service`, Object.keys(scripts));
  }
}

/**
 * @param {unknown} call
 * @param {string} field
 */
export const checkCall = (call, field) => checkKnown(call, field, Object.keys(CALLS));

/**
 * Refuses what is neither absent nor known.
 *
 * @param {unknown} value
 * @param {string} field
 * @param {readonly string[]} known
 */
export function checkKnown(value, field, known) {
  if (value === undefined || known.includes(/** @type {string} */ (value))) return;
  throw invalid(field, `${field} cannot be ${JSON.stringify(value)}.`, `Known: ${known.join(", ")}.`);
}

/**
 * @param {unknown} value
 * @param {string} field
 */
function checkNumber(value, field) {
  if (value === undefined || (typeof value === "number" && value >= 0)) return;
  throw invalid(field, `${field} must be a number from 0.`);
}

/** @param {unknown} ms */
export function checkAdvance(ms) {
  if (Number.isFinite(ms) && Number(ms) >= 0) return;
  throw invalid("ms", "advance() takes a number of milliseconds, from 0.");
}
