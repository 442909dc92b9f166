// Many operations in one client.
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../browser/harness/until.mjs";
import { loadPackage, options, settle, state } from "./package.js";

/** How many states are remembered beyond those that somebody holds. */
const STATES_MAX = 500;
/** Submissions that are under way at a time. */
const SUBMITS_MAX = 128;

const ofIntent = (intent, more) => state({ id: intent, intent, ...more });

/** A client whose submissions take as long as the test wants. */
async function crowded(t) {
  const { createHoldfast, world } = await loadPackage(t);
  const holdfast = createHoldfast(options());
  t.after(() => holdfast.close());
  const submit = (intent) => holdfast.submit("reports", { intent, body: {} });
  const intentOf = (json) => JSON.parse(json).intent;
  return { holdfast, world, submit, intentOf };
}

test("whoever holds more operations than are remembered hears of every ending", async (t) => {
  const { world, submit, intentOf } = await crowded(t);
  world.script.submit = (client, service, json) => ofIntent(intentOf(json));
  const operations = [];
  for (let index = 0; index < STATES_MAX + 10; index++) operations.push(await submit(`intent ${index}`));
  const last = operations.at(-1);
  world.clients[0].host.notify(ofIntent(last.intent, { status: "cancelled", endedAt: 2, revision: 2 }), "[]", "local");
  await settle();
  assert.equal(last.status, "cancelled");
});

test("of many submissions so many are under way at a time, and the others follow in their order", async (t) => {
  const { world, submit, intentOf } = await crowded(t);
  const begun = [];
  world.script.submit = (client, service, json) =>
    new Promise((resolve) => begun.push({ intent: intentOf(json), done: () => resolve(ofIntent(intentOf(json))) }));
  const intents = Array.from({ length: SUBMITS_MAX + 2 }, (_, index) => `intent ${index}`);
  const all = Promise.all(intents.map(submit));
  const reached = async (count) => {
    await until(() => begun.length >= count, `Submission ${count}`);
    await settle();
  };
  await reached(SUBMITS_MAX);
  assert.deepEqual(begun.map(({ intent }) => intent), intents.slice(0, SUBMITS_MAX));
  begun[5].done();
  await reached(SUBMITS_MAX + 1);
  assert.equal(begun.at(-1).intent, intents[SUBMITS_MAX]);
  begun[6].done();
  await reached(SUBMITS_MAX + 2);
  for (const { done } of begun) done();
  assert.deepEqual((await all).map(({ intent }) => intent), intents);
});

test("a submission that is refused lets the next one begin", async (t) => {
  const { world, submit } = await crowded(t);
  let calls = 0;
  world.script.submit = () => {
    calls += 1;
    throw { code: "STORAGE_UNAVAILABLE", message: "there is no room", nextStep: "make some" };
  };
  const all = Array.from({ length: SUBMITS_MAX + 2 }, (_, index) => submit(`intent ${index}`));
  for (const one of await Promise.allSettled(all)) assert.equal(one.reason?.code, "STORAGE_UNAVAILABLE");
  assert.equal(calls, SUBMITS_MAX + 2);
});
