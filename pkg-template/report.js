// @ts-check
/** What the app's own functions throw where nobody waits for it. */
/** @import * as Api from "./index.d.ts" */
import { isHoldfastError } from "./error.js";

/** @type {WeakSet<object>} */
const reported = new WeakSet();

/**
 * Says once for each of the app's functions that it threw. Its message stays out: what asks for
 * credentials may have put one there. Gives whether this is the first time.
 *
 * @param {object} callback
 * @param {string} name
 * @param {unknown} error
 * @param {Api.Logger} [logger]
 */
export function report(callback, name, error, logger = console) {
  if (reported.has(callback)) return false;
  reported.add(callback);
  logger.error(`Holdfast: ${name} failed; this is said once. ${described(error)}`);
  return true;
}

/**
 * Tells `observe` of it as well.
 *
 * @param {Pick<Api.HoldfastOptions<any>, "observe" | "logger">} options
 * @param {string} name
 * @param {unknown} error
 * @param {Record<string, string>} [more]
 */
export function tellFailure({ observe, logger }, name, error, more) {
  if (!observe) return;
  const attributes = { "holdfast.callback": name, "error.type": typeOf(error), ...more };
  queueMicrotask(() => {
    try {
      observe(Object.freeze({ name: "callback.failed", at: Date.now(), attributes: Object.freeze(attributes) }));
    } catch (thrown) {
      report(observe, "observe", thrown, logger);
    }
  });
}

/**
 * What an error is and where it was made, without its message, unless that is ours.
 *
 * @param {unknown} error
 */
export const described = (error) =>
  isHoldfastError(error) ? error.message : `${typeOf(error)}${placeOf(error)}`;

/** @param {any} error */
export const typeOf = (error) => (/^\w{1,64}$/.test(error?.name ?? "") ? error.name : "Error");

/**
 * The lines of a stack that name a place, without the message before them.
 *
 * @param {any} error
 */
function placeOf(error) {
  const after = String(error?.stack ?? "").replace(error?.message, "");
  const lines = after.split("\n").filter((line) => /^\s+at .*:\d+|@\S*:\d+:\d+$/.test(line));
  return lines.map((line) => `\n    ${line.trim()}`).join("");
}
