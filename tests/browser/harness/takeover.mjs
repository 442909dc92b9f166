// Work that goes from one tab to another. Nothing here is measured by a clock that a busy machine outruns: a lease is
// tens of seconds long, so that who takes over within it has been told, and who does so after it has waited for it.
import assert from "node:assert/strict";
import { until } from "./until.mjs";

/**
 * How long the jobs take that change hands: there is something left to do, however busy the machine is. In
 * milliseconds.
 */
export const CHANGING_HANDS_MS = 20_000;

/** The same where the lease is waited for, which takes longer than the job: there it costs nothing. In milliseconds. */
export const WAITED_FOR_MS = 40_000;

/**
 * Resolves once the service has been asked how a job is.
 *
 * @param {import("./loopback.mjs").Loopback} service
 */
export const polled = (service) => until(async () => (await service.ledger()).polls > 0, "A poll");

/** How long nothing may come for it to be quiet, in milliseconds: a request is in the service's log by then. */
const QUIET_MS = 500;

/**
 * How many requests there were, once a tab that is gone has none on its way any more.
 *
 * @param {import("./loopback.mjs").Loopback} service
 * @returns {Promise<number>}
 */
export async function countAtRest(service) {
  let count = -1;
  const isSame = async () => {
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    const before = count;
    count = (await service.requests()).length;
    return count === before;
  };
  await until(isSame, "The end of the requests");
  return count;
}

/**
 * By when the owner of the app's one lane must have written again, as it stands in the store of a page.
 *
 * @param {import("./browser.mjs").Page} page
 * @returns {Promise<number>}
 */
export const leaseIn = (page) =>
  page.evaluate(async () => {
    const done = (request) =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const database = await done(indexedDB.open("holdfast"));
    const lanes = await done(database.transaction("lanes").objectStore("lanes").getAll());
    database.close();
    if (lanes.length !== 1) throw new Error(`There are ${lanes.length} lanes.`);
    return lanes[0].leaseUntil;
  });

/**
 * What came after a tab was gone is another's; gives when it came.
 *
 * @param {import("./loopback.mjs").Loopback} service
 * @param {number} before How many requests there were when it was gone.
 * @returns {Promise<number>}
 */
export async function takenOver(service, before) {
  const next = (await service.requests())[before];
  assert.ok(next, "the job was over before the tab was gone");
  return next.time_ms;
}

/**
 * Another has taken over that was told: it did not wait for the lease that stood before.
 *
 * @param {import("./loopback.mjs").Loopback} service
 * @param {number} before
 * @param {number} lease
 */
export async function assertToldOf(service, before, lease) {
  const late = (await takenOver(service, before)) - lease;
  assert.ok(late < 0, `it came ${late} ms after the lease`);
}

/**
 * Another has taken over that was not told: it has waited for the lease.
 *
 * @param {import("./loopback.mjs").Loopback} service
 * @param {number} before
 * @param {number} lease
 */
export async function assertWaitedFor(service, before, lease) {
  const early = lease - (await takenOver(service, before));
  assert.ok(early <= 0, `it came ${early} ms before the lease was over`);
}

/** What a browser without Web Locks shows a page. */
export const withoutLocks = () => delete Navigator.prototype.locks;

/**
 * Stops a page between its requests: a browser freezes none that is seen, and without a screen it takes each for one.
 * Gives what lets it go on from the same place.
 *
 * @param {import("./browser.mjs").Browser} browser
 * @param {import("./browser.mjs").Page} page
 */
export const frozen = (browser, page) =>
  browser.freeze(page, (address) => {
    // What has changed is stored; the next request is a second away, and no transaction is under way until then.
    const stop = holdfast.subscribe(() => {
      stop();
      setTimeout(() => {
        debugger;
        if (!address) return;
        const asked = new XMLHttpRequest();
        asked.open("GET", address, false);
        asked.send();
      }, 200);
    });
  });

/**
 * Goes back to the page before, which the browser has put aside or loads anew.
 *
 * @param {import("./browser.mjs").Page} page
 * @param {Function} isThere
 */
export async function wentBack(page, isThere) {
  await (page.back ? page.back() : page.evaluate(() => history.back()));
  await until(() => page.evaluate(isThere).catch(() => false), "The page of before");
}
