// @ts-check
/** What can be known of the storage that everything rests on. */
/** @import * as Api from "./index.d.ts" */
import { inTime } from "./in-time.js";

/** How long the browser may take to tell, in milliseconds. */
const TOLD_MS = 3000;

/**
 * @param {() => Promise<unknown>} open Reads from the database.
 * @returns {Promise<Api.StorageHealth>}
 */
export async function storageHealth(open) {
  const { storage } = globalThis.navigator ?? {};
  const [fault, persisted, estimate] = await Promise.all([
    faultOf(open),
    told(() => storage.persisted()),
    told(() => storage.estimate()),
  ]);
  const { usage, quota } = estimate ?? {};
  const all = { opens: !fault, fault, persisted, usage, quota };
  const known = Object.entries(all).filter(([, value]) => value !== undefined);
  const unknown = /** @type {const} */ (["persisted", "usage", "quota"]).filter((name) => all[name] === undefined);
  return Object.freeze(/** @type {any} */ ({ ...Object.fromEntries(known), unknown: Object.freeze(unknown) }));
}

/** Whether it was asked in this context. */
let asked = false;

/** Asks the browser to keep the storage when space runs short; once, and whatever it says, work goes on. */
export async function askToPersist() {
  if (asked) return;
  asked = true;
  if ((await told(() => navigator.storage.persisted())) === false) await told(() => navigator.storage.persist());
}

/**
 * What keeps the database from opening.
 *
 * @param {() => Promise<unknown>} open
 */
async function faultOf(open) {
  try {
    await open();
    return undefined;
  } catch (error) {
    const { code, message } = /** @type {any} */ (error);
    // Nobody is signed in: the storage was not asked.
    return code === "NO_ACCOUNT" ? undefined : String(message);
  }
}

/**
 * What a browser tells; `undefined` where it does not, or not in time.
 *
 * @template T
 * @param {() => Promise<T>} ask
 * @returns {Promise<T | undefined>}
 */
async function told(ask) {
  try {
    return await inTime(ask(), TOLD_MS, () => undefined);
  } catch {
    return undefined;
  }
}
