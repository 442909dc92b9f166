// @ts-check
/** Errors on their way from one context to another: a message, and a call of an object, carry data only. */
import { HoldfastError, isHoldfastError } from "./error.js";

/** The calls after whose loss something may be stored. */
const STORES = ["submit", "adopt"];

/**
 * An error as data. Of one that is not of this package nothing is told: who knows what stands in it.
 *
 * @param {any} error
 */
export const plain = (error) =>
  isHoldfastError(error)
    ? { ...JSON.parse(JSON.stringify({ ...error, cause: undefined })), message: error.message }
    : { code: "ABORTED", message: "It failed on the other side.", nextStep: "See the console there." };

/**
 * The error of such data.
 *
 * @param {any} told
 */
export const thrown = ({ message, ...details }) => new HoldfastError(message, details);

/**
 * The error for a call that was not answered.
 *
 * @param {string} method
 * @param {string} what What has happened.
 * @param {string} nextStep For what stores nothing.
 * @param {unknown} cause
 */
export const unanswered = (method, what, nextStep, cause) =>
  STORES.includes(method)
    ? new HoldfastError(`${what} Whether the work is stored is not known.`, {
        code: "SUBMIT_UNCONFIRMED",
        nextStep: `Call ${method}() again with the same intent: it never makes a second operation.`,
        cause,
      })
    : new HoldfastError(`${what} What is stored is safe.`, { code: "ABORTED", nextStep, cause });
