// @ts-check
/** Beginning anew, where a browser never opens the storage again. */
import { checkNames } from "./check.js";
import { HoldfastError, invalid } from "./error.js";

/** How long opening and deleting may take, in milliseconds. */
const RESET_MS = 5000;
/** How long after the first failure opening is tried once more, in milliseconds. */
const AGAIN_MS = 1000;

/**
 * Deletes a database that cannot be opened; one that can stays.
 *
 * @param {string} name
 * @param {{ acceptRisk: "duplicate" }} options
 */
export async function resetStorage(name, options) {
  checkNames(options, "resetStorage", "acceptRisk");
  if (options.acceptRisk !== "duplicate") {
    throw invalid("acceptRisk", 'acceptRisk must be "duplicate": work that the lost storage knew may be charged again.');
  }
  const factory = globalThis.indexedDB;
  if (!factory) throw unavailable("indexedDB is missing");
  let why = await reasonOf(() => factory.open(name));
  if (why) {
    // What is lost on the way to the storage comes back; what is damaged does not.
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    why = await reasonOf(() => factory.open(name));
  }
  if (!why) {
    throw new HoldfastError("The storage opens: nothing was deleted.", {
      code: "NOT_ALLOWED",
      nextStep: "Go on with it; delete() and forget() remove single operations.",
    });
  }
  // Every other error is of the browser's making, and a new database would meet it too.
  if (why !== "UnknownError") throw unavailable(why);
  const failed = await reasonOf(() => factory.deleteDatabase(name));
  if (failed === "blocked" || failed === "timeout") {
    throw new HoldfastError(`Whether the storage was reset is not known yet (${failed}): the browser may delete it still.`, {
      code: "STORAGE_UNAVAILABLE",
      nextStep: "Close the site's other tabs, then look whether it opens. What was stored may be charged again.",
    });
  }
  if (failed) throw unavailable(failed);
}

/**
 * Why a database does not open, if so.
 *
 * @param {string} name
 */
export const whyClosed = async (name) => (globalThis.indexedDB ? reasonOf(() => indexedDB.open(name)) : "indexedDB is missing");

/** @param {string} why */
const unavailable = (why) =>
  new HoldfastError(`The storage cannot be reset: ${why}.`, {
    code: "STORAGE_UNAVAILABLE",
    nextStep: "Close the site's other tabs or leave private mode, then call again.",
  });

/**
 * Why a request fails, if it does. A database that only it would make is not made.
 *
 * @param {() => IDBOpenDBRequest} begin
 * @returns {Promise<string | undefined>}
 */
function reasonOf(begin) {
  return new Promise((resolve) => {
    setTimeout(resolve, RESET_MS, "timeout");
    const request = begin();
    request.onupgradeneeded = () => {
      resolve(undefined);
      request.transaction?.abort();
    };
    request.onsuccess = () => {
      request.result?.close();
      resolve(undefined);
    };
    request.onerror = () => resolve(request.error?.name ?? "no answer");
    request.onblocked = () => resolve("blocked");
  }).catch((/** @type {any} */ error) => error?.name ?? "no answer");
}
