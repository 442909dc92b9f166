// @ts-check
/** What can be known of the storage that everything rests on. */
/** @import * as Api from "./index.d.ts" */
import { inTime } from "./in-time.js";

/** How long the browser may take to tell, in milliseconds. */
const TOLD_MS = 3000;

/**
 * @param {() => Promise<unknown>} read Reads from the database, for whoever is signed in.
 * @param {() => Promise<string | undefined>} whyClosed Opens it for nobody.
 * @returns {Promise<Api.StorageHealth>}
 */
export async function storageHealth(read, whyClosed) {
  const { storage } = globalThis.navigator ?? {};
  const [fault, persisted, estimate] = await Promise.all([
    faultOf(read, whyClosed),
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
 * @param {() => Promise<unknown>} read
 * @param {() => Promise<string | undefined>} whyClosed
 */
async function faultOf(read, whyClosed) {
  try {
    await read();
    return undefined;
  } catch (error) {
    const { code, message } = /** @type {any} */ (error);
    if (code === "STORAGE_UNAVAILABLE") return String(message);
    // Nobody is signed in, or the module is not there: the storage was not asked.
    const why = await whyClosed();
    return why && `The storage does not open: ${why}.`;
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
