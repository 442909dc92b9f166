// @ts-check
/** Checks that options and submissions share. Each throws an error that names the field. */
/** @import * as Api from "./index.d.ts" */
import { invalid } from "./error.js";

/**
 * Refuses what is not an object, and names that it does not know.
 *
 * @param {any} value
 * @param {string} field Where it stands: `""` at the top.
 * @param {string} known The names there are, with a space between.
 */
export function checkNames(value, field, known) {
  if (typeof value !== "object" || value === null) {
    throw invalid(field || "options", `${field || "options"} must be an object.`);
  }
  for (const name of Object.keys(value)) {
    if (!known.split(" ").includes(name)) {
      const path = field ? `${field}.${name}` : name;
      throw invalid(path, `There is no option ${path}.`, `Known here: ${known}.`);
    }
  }
}

/**
 * Refuses what is neither absent nor a function.
 *
 * @param {unknown} value
 * @param {string} field
 */
export function checkFunction(value, field) {
  if (value !== undefined && typeof value !== "function") {
    throw invalid(field, `${field} must be a function.`);
  }
}

/**
 * Refuses what is not a text that survives storage: a lone surrogate would become another character,
 * and two names one.
 *
 * @param {any} value
 * @param {string} field
 * @param {number} [longest]
 * @param {string} [nextStep]
 */
export function checkText(value, field, longest = Infinity, nextStep) {
  if (typeof value !== "string" || !value || value.length > longest) {
    const bound = longest < Infinity ? ` of 1 to ${longest} characters` : "";
    throw invalid(field, `${field} must be a string${bound || " that is not empty"}.`, nextStep);
  }
  if (/\p{Surrogate}/u.test(value)) throw invalid(field, `${field} holds half a character.`, nextStep);
}

/**
 * Refuses bounds that bound nothing or allow nothing.
 *
 * @param {Api.Limits | undefined} limits
 * @param {string} field
 */
export function checkLimits(limits, field) {
  if (limits === undefined) return;
  checkNames(limits, field, "sendWithinMs totalMs attempts cost");
  for (const [name, value] of Object.entries(limits)) {
    const fits = name === "cost" ? Number.isFinite(value) : Number.isSafeInteger(value);
    if (value !== undefined && !(fits && value > 0)) {
      const kind = name === "cost" ? "a finite number" : "a whole number";
      throw invalid(`${field}.${name}`, `${field}.${name} must be ${kind} above 0.`);
    }
  }
}

/**
 * @param {unknown} params
 * @param {string} field
 */
export function checkParams(params, field) {
  if (params === undefined) return;
  const entries = typeof params === "object" && params ? Object.entries(params) : [["", null]];
  for (const [name, value] of entries) {
    if (typeof value !== "string") {
      throw invalid(name ? `${field}.${name}` : field, `${field} must be an object of strings.`);
    }
  }
}

/**
 * The JSON of a value, which reads back as the very same value; refuses what JSON would drop, change
 * or cannot hold.
 *
 * @param {unknown} value
 * @param {string} field
 */
export function exactJson(value, field) {
  /** @type {Set<unknown>} */
  const above = new Set();
  /**
   * @param {any} part
   * @param {string} path
   */
  const walk = (part, path) => {
    const what = strange(part) || (above.has(part) && "a cycle");
    if (what) {
      throw invalid(
        field,
        `${path} is ${what}: a ${field} that cannot be stored exactly.`,
        "Give plain objects, arrays, strings, finite numbers, booleans and null.",
      );
    }
    if (typeof part !== "object" || !part) return;
    above.add(part);
    for (const key of Object.keys(part)) {
      walk(part[key], Array.isArray(part) ? `${path}[${key}]` : `${path}.${key}`);
    }
    above.delete(part);
  };
  try {
    walk(value, field);
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) throw invalid(field, `${field} is nested too deeply.`);
    throw error;
  }
}

/**
 * What is strange about a value for JSON; `""` when nothing is.
 *
 * @param {any} value
 */
function strange(value) {
  switch (typeof value) {
    case "string":
    case "boolean":
      return "";
    case "number":
      return Number.isFinite(value) ? "" : `${value}`;
    case "object":
      break;
    default:
      return typeof value;
  }
  if (value === null) return "";
  if (Object.getOwnPropertySymbols(value).length) return "an object with symbols for names";
  if (Array.isArray(value)) {
    return Object.keys(value).length === value.length ? "" : "an array with gaps or names";
  }
  const proto = Object.getPrototypeOf(value);
  // A plain object of another realm has that realm's Object.prototype, whose own prototype is null.
  const plain = !proto || (!Object.getPrototypeOf(proto) && Object.hasOwn(proto, "valueOf"));
  return plain ? "" : `a ${proto.constructor?.name || "class instance"}`;
}
