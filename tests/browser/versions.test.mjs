// Two versions of the package over one storage: an app was updated, or rolled back, while tabs are open.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeLaterPackage, removePackage, Site, until } from "./harness.mjs";

/** How long a job takes that is not over while a test looks at it, in milliseconds. */
const LONG_MS = 120_000;

const site = await Site.open();
let later;
before(async () => void (later = await makeLaterPackage()));
after(async () => {
  await site.close();
  await removePackage(later);
});

const story = (name, run) => test(name, () => site.visit(run, { "/later": later }));

/** A tab with the client of this version. */
async function earlierTab(visit) {
  const page = await visit();
  await page.evaluate(() => void (globalThis.holdfast = open()));
  return page;
}

/** A tab with the client of the later version. */
async function laterTab(visit) {
  const page = await visit();
  await page.evaluate(async () => {
    const { createHoldfast } = await import("/later/index.js");
    globalThis.holdfast = createHoldfast({ account: () => "local", services: { reports: service } });
  });
  return page;
}

const submitIn = (page, intent, length) =>
  page.evaluate(
    async ([intent, length]) => (await holdfast.submit("reports", { intent, body: work(length) })).id,
    [intent, length],
  );

const outcomeIn = (page, intent) =>
  page.evaluate(async (intent) => (await (await holdfast.find("reports", intent)).outcome()).status, intent);

const errorIn = (page, intent) =>
  page.evaluate((intent) => errorOf(() => holdfast.find("reports", intent)), intent);

const pathsOf = async (service, from) => (await service.requests()).slice(from).map((own) => own.path);

story("two versions in two tabs have one outbox, and each job runs once", async ({ visit, service }) => {
  const [earlier, laterOne] = [await earlierTab(visit), await laterTab(visit)];
  const id = await submitIn(earlier, "a", 3000);
  assert.equal(await submitIn(laterOne, "a", 3000), id);
  await submitIn(laterOne, "b", 1000);
  assert.equal((await errorIn(earlier, "b")).code, "NEWER_RECORD");
  assert.equal((await earlier.evaluate(() => errorOf(() => holdfast.submit("reports", { intent: "b", body: work(1000) })))).code, "NEWER_RECORD");
  const [listed, unreadable] = await earlier.evaluate(async () => {
    const { operations, unreadable } = await holdfast.list();
    return [operations.map(({ state }) => state.intent), unreadable];
  });
  assert.deepEqual([listed, unreadable.map(({ code }) => code)], [["a"], ["NEWER_RECORD"]]);
  assert.equal(await outcomeIn(earlier, "a"), "succeeded");
  // It gets its turn when the earlier one has nothing left that it may do.
  assert.equal(await outcomeIn(laterOne, "b"), "succeeded");
  const { executions, charges, submits } = await service.ledger();
  assert.deepEqual({ executions, charges, submits }, { executions: 2, charges: 2, submits: 2 });
});

story("after a rollback the earlier version leaves alone what it cannot represent, and the later goes on with it", async ({ visit, service }) => {
  const gone = await laterTab(visit);
  await submitIn(gone, "a", LONG_MS);
  const asked = await until(async () => (await service.requests()).find((own) => own.method === "GET"), "a poll");
  await gone.close();
  const earlier = await earlierTab(visit);
  const { length } = await service.requests();
  await submitIn(earlier, "b", 1000);
  assert.equal(await outcomeIn(earlier, "b"), "succeeded");
  assert.equal((await errorIn(earlier, "a")).code, "NEWER_RECORD");
  assert.ok(!(await pathsOf(service, length)).includes(asked.path), "it was driven by who cannot represent it");
  const back = await laterTab(visit);
  await back.evaluate(() => void holdfast.start());
  await until(async () => (await pathsOf(service, length)).includes(asked.path), "a poll by the later version");
  const { executions, submits } = await service.ledger();
  assert.deepEqual({ executions, submits }, { executions: 2, submits: 2 });
});
