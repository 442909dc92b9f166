// One life of an operation, with a death in it.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Loopback, browserName, failPointsFolder, pagesFolder } from "../harness.mjs";
import { reopen } from "./seats.mjs";

/** How long a life may last, in milliseconds. */
const LIFE_MS = 60_000;

/** How each kind of life ends when nobody dies, and so when somebody does. */
const KINDS = {
  result: { query: "", status: "succeeded", results: true },
  cancel: { query: "?cancel", status: "cancelled", results: false },
};

/**
 * @typedef {object} Life
 * @property {string} kind
 * @property {number} tabs How many are open, each with an intent of its own; one drives them all.
 */

export const kinds = Object.keys(KINDS);

/** What has come of all lives: of their intents, what the service has counted, and what went wrong. */
export const totals = { lives: 0, intents: 0, executions: 0, results: 0, cancelled: 0, duplicates: 0, lost: 0, resets: 0, late: 0 };

/**
 * Lives without a death, and gives the fail points reached, in order.
 *
 * @param {object} seat
 * @param {Life} life
 */
export const record = (seat, life) =>
  withService(async (service) => {
    const told = await liveOn(seat, service, life);
    return told.flatMap(({ points }) => points);
  });

/**
 * Lives, dies at a fail point, and lives on.
 *
 * @param {object} seat
 * @param {Life} life
 * @param {{ name: string, occurrence: number }} armed
 * @returns {Promise<boolean>} Whether the point was reached; the life is whole either way.
 */
export const dieAt = (seat, life, armed) =>
  withService(async (service) => {
    const pages = await openTabs(seat, service, life, armed);
    const frozen = service.reachedName(`point:${armed.name}`, 0, LIFE_MS);
    const over = Promise.all(pages.map((page) => page.waitForFunction(isOver, undefined, { timeout: LIFE_MS })));
    const reached = await Promise.race([frozen.then(() => true), over.then(() => false)]);
    // The browser dies under it, and with it this wait.
    over.catch(() => undefined);
    await reopen(seat);
    await liveOn(seat, service, life);
    return reached;
  });

/**
 * Lives, dies after a while, and lives on.
 *
 * @param {object} seat
 * @param {Life} life
 * @param {number} afterMs
 */
export const dieAfter = (seat, life, afterMs) =>
  withService(async (service) => {
    // Not awaited: of a browser that dies meanwhile nobody may ever hear.
    openTabs(seat, service, life).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await reopen(seat);
    await liveOn(seat, service, life);
  });

/** One for all lives: that it is nowhere is looked for when the profiles go. */
const token = `secret-${randomUUID()}`;

async function withService(work) {
  const service = await Loopback.start({ "/tests": pagesFolder(), "/pkg": failPointsFolder() }, { token });
  service.run = randomUUID();
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

/** Opens the tabs at the same time. */
const openTabs = (seat, service, { kind, tabs }, armed) =>
  Promise.all(
    Array.from({ length: tabs }, async (_, tab) => {
      const given = { token, armed, intent: `the life of ${service.run} in tab ${tab}` };
      const page = await seat.browser.page((given) => Object.assign(globalThis, given), given);
      await page.goto(`${service.origin}/tests/life.html${KINDS[kind].query}`);
      return page;
    }),
  );

const isOver = () => !!(globalThis.report?.over ?? globalThis.report?.error);

/** Opens the tabs, waits for the end in each, and checks that everything happened once. */
async function liveOn(seat, service, life) {
  let told = await endsOf(await openTabs(seat, service, life), service);
  if (told.some(({ code }) => code === "STORAGE_UNAVAILABLE")) {
    told = await endsOf(await openTabs(seat, service, life), service);
  }
  for (const { error } of told) assert.equal(error, undefined);
  await check(service, life, told.map(({ over }) => over));
  seat.key = told[0].over.key;
  return told;
}

/** What tabs tell when their lives are over; they are closed then. */
async function endsOf(pages, service) {
  const told = await Promise.all(pages.map(toTheEnd));
  const refused = told.findIndex(({ code }) => code === "STORAGE_UNAVAILABLE");
  if (refused >= 0) await openAgain(pages[refused], service, told[refused].error);
  await Promise.all(pages.map((page) => page.close()));
  return told;
}

async function toTheEnd(page) {
  await page.waitForFunction(isOver, undefined, { timeout: LIFE_MS }).catch(async (error) => {
    throw new Error(`It does not end: ${JSON.stringify(await page.evaluate(() => report))}`, { cause: error });
  });
  return page.evaluate(() => report);
}

/**
 * WebKit, killed while it makes a database, can leave one that never opens again. Then nothing can have
 * been taken on, and the app may ask for a new one. One that opens now came too late for a call: the app calls again.
 *
 * @param {string} error What that call was told.
 */
async function openAgain(page, service, error) {
  assert.equal(browserName, "webkit", `another browser's storage does not open: ${error}`);
  const health = await page.evaluate(() => holdfast.storageHealth());
  console.log(`A call was refused: ${error} ${JSON.stringify(health)}`);
  if (health.opens) return void (totals.late += 1);
  const { executions, submits } = await service.ledger();
  assert.deepEqual({ executions, submits }, { executions: 0, submits: 0 });
  const names = await service.reached().catch(() => []);
  assert.deepEqual(names.filter((name) => name.startsWith("acknowledged:")), []);
  await page.evaluate(() => holdfast.resetStorage({ acceptRisk: "duplicate" }));
  totals.resets += 1;
}

async function check(service, { kind, tabs }, overs) {
  const { executions, charges, key_mismatches, unauthorized, jobs } = await service.ledger();
  const keys = overs.map(({ key }) => key).sort();
  totals.lives += 1;
  totals.intents += tabs;
  totals.executions += executions;
  totals.results += overs.filter(({ resultBytes }) => resultBytes > 0).length;
  totals.cancelled += overs.filter(({ status }) => status === "cancelled").length;
  totals.duplicates += Math.max(0, executions - tabs);
  totals.lost += keys.filter((key) => !jobs.some((job) => job.key === key)).length;
  assert.deepEqual(overs.map(({ status }) => status), Array(tabs).fill(KINDS[kind].status));
  assert.deepEqual({ executions, charges, key_mismatches, unauthorized }, {
    executions: tabs,
    charges: tabs,
    key_mismatches: 0,
    unauthorized: 0,
  });
  assert.deepEqual(jobs.map(({ key }) => key).sort(), keys);
  assert.equal(overs.filter(({ resultBytes }) => resultBytes > 0).length, KINDS[kind].results ? tabs : 0);
  const ids = new Set(overs.map(({ id }) => id));
  const heard = new Set();
  for (const [what, id] of (await service.reached()).map((name) => name.split(":"))) {
    if (what === "point") continue;
    assert.ok(ids.has(id), `another operation was ${what}`);
    if (what === "settled") heard.add(id);
  }
  assert.deepEqual(heard, ids, "of an ending nobody heard");
}
