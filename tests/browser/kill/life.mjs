// One life of an operation, with a death in it.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Loopback, failPointsFolder, pagesFolder } from "../harness.mjs";
import { reopen } from "./seats.mjs";

/** How long a life may last, in milliseconds. */
const LIFE_MS = 60_000;

/** How each kind of life ends when nobody dies, and so when somebody does. */
const KINDS = {
  result: { query: "", status: "succeeded", results: true },
  cancel: { query: "?cancel", status: "cancelled", results: false },
};

export const kinds = Object.keys(KINDS);

/**
 * Lives without a death, and gives the fail points reached, in order.
 *
 * @param {object} seat
 * @param {string} kind
 */
export const record = (seat, kind) =>
  withService(seat, async (service, token) => {
    const { points } = await liveOn(seat, service, token, kind);
    return points;
  });

/**
 * Lives, dies at a fail point, and lives on.
 *
 * @param {object} seat
 * @param {string} kind
 * @param {{ name: string, occurrence: number }} armed
 * @returns {Promise<boolean>} Whether the point was reached; the life is whole either way.
 */
export const dieAt = (seat, kind, armed) =>
  withService(seat, async (service, token) => {
    const page = await openPage(seat, service, token, kind, armed);
    const frozen = reachedAt(service, `point:${armed.name}`);
    const over = page.waitForFunction(() => report.over ?? report.error, undefined, { timeout: LIFE_MS });
    const reached = await Promise.race([frozen.then(() => true), over.then(() => false)]);
    // The browser dies under it, and with it this wait.
    over.catch(() => undefined);
    await reopen(seat);
    await liveOn(seat, service, token, kind);
    return reached;
  });

/**
 * Lives, dies after a while, and lives on.
 *
 * @param {object} seat
 * @param {string} kind
 * @param {number} afterMs
 */
export const dieAfter = (seat, kind, afterMs) =>
  withService(seat, async (service, token) => {
    // Not awaited: of a browser that dies meanwhile nobody may ever hear.
    openPage(seat, service, token, kind).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await reopen(seat);
    await liveOn(seat, service, token, kind);
  });

async function withService(seat, work) {
  const token = `secret-${randomUUID()}`;
  seat.tokens.push(token);
  const service = await Loopback.start({ "/tests": pagesFolder(), "/pkg": failPointsFolder() }, { token });
  // A port may come again, and with it what an earlier life on it has stored: each has its own intent.
  service.run = randomUUID();
  try {
    return await work(service, token);
  } finally {
    await service.stop();
  }
}

async function openPage(seat, service, token, kind, armed) {
  const page = await seat.chromium.page((given) => Object.assign(globalThis, given), {
    token,
    armed,
    run: service.run,
  });
  await page.goto(`${service.origin}/tests/life.html${KINDS[kind].query}`);
  return page;
}

/** Opens the page, waits for the end, and checks that everything happened once. */
async function liveOn(seat, service, token, kind) {
  const page = await openPage(seat, service, token, kind);
  const handle = await page
    .waitForFunction(() => (report.over || report.error) && report, undefined, { timeout: LIFE_MS })
    .catch(async (error) => {
      throw new Error(`It does not end: ${JSON.stringify(await page.evaluate(() => report))}`, { cause: error });
    });
  const told = await handle.jsonValue();
  await page.close();
  assert.equal(told.error, undefined);
  await check(service, kind, told.over);
  seat.key = told.over.key;
  return told;
}

async function check(service, kind, over) {
  const ledger = await service.ledger();
  const { executions, charges, key_mismatches, unauthorized, jobs, results } = ledger;
  assert.equal(over.status, KINDS[kind].status);
  assert.deepEqual({ executions, charges, key_mismatches, unauthorized }, {
    executions: 1,
    charges: 1,
    key_mismatches: 0,
    unauthorized: 0,
  });
  assert.deepEqual(jobs.map(({ key }) => key), [over.key]);
  assert.equal(results > 0, KINDS[kind].results);
  const names = await service.reached();
  for (const [what, id] of names.map((name) => name.split(":"))) {
    if (what !== "point") assert.equal(id, over.id, `another operation was ${what}`);
  }
  assert.ok(names.some((name) => name.startsWith("settled:")), "nobody heard of the ending");
}

/** Resolves when a name has been reached, however long that takes. */
async function reachedAt(service, wanted) {
  for (let seen = 0; ; ) {
    const names = await service.reached(seen).catch(() => undefined);
    if (!names) return new Promise(() => undefined);
    if (names.includes(wanted)) return;
    seen += names.length;
  }
}
