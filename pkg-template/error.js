// @ts-check
/** @import * as Api from "./index.d.ts" */

/**
 * What an error tells beside its message.
 *
 * @typedef {{
 *   code: Api.ErrorCode,
 *   nextStep?: string,
 *   field?: string,
 *   operationId?: string,
 *   stage?: Api.Status,
 *   reason?: Api.ParkReason,
 *   exits?: readonly Api.Exit[],
 *   failure?: Api.Failure,
 *   fault?: Api.Fault,
 *   attempts?: number,
 *   receipt?: Api.Receipt,
 *   ledger?: Api.Ledger,
 *   cause?: unknown,
 * }} Details
 */

/**
 * Every error of Holdfast; see the types for its members. Its message ends with the next step.
 */
export const HoldfastError =
  /** @type {new (message: string, details: Details) => Api.HoldfastError} */ (
    /** @type {unknown} */ (
      class HoldfastError extends Error {
        /**
         * @param {string} message
         * @param {Details} details
         */
        constructor(message, { cause, ...details }) {
          const { nextStep } = details;
          super(
            !nextStep || message.includes(nextStep) ? message : `${message} ${nextStep}`,
            cause === undefined ? undefined : { cause },
          );
          for (const [name, value] of Object.entries(details)) {
            if (value !== undefined) /** @type {any} */ (this)[name] = value;
          }
        }

        get name() {
          return "HoldfastError";
        }
      }
    )
  );

/**
 * Whether something is a HoldfastError, of this copy of the package or of another.
 *
 * @param {any} value
 * @returns {value is Api.HoldfastError}
 */
export const isHoldfastError = (value) =>
  value?.name === "HoldfastError" && typeof value.code === "string";

/**
 * The error for a wrong option.
 *
 * @param {string} field
 * @param {string} message
 * @param {string} [nextStep]
 */
export const invalid = (field, message, nextStep) =>
  new HoldfastError(message, { code: "INVALID_INPUT", field, nextStep });

/**
 * The error where a page's entry is used on a server.
 *
 * @param {unknown} cause
 */
export const notABrowser = (cause) =>
  new HoldfastError('"holdfast" runs in browsers and their workers, and keeps its records in IndexedDB: here is none.', {
    code: "STORAGE_UNAVAILABLE",
    nextStep: 'On servers, import "holdfast/node" or "holdfast/cloudflare".',
    cause,
  });

/** The error for every call after `close`. */
export const closedError = () =>
  new HoldfastError("This client is closed.", {
    code: "NOT_ALLOWED",
    nextStep: "Make a new one.",
  });
