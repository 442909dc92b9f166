// When the background of an extension is woken, with the browser's alarms played and the module's glue scripted.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { begin, fakeApi, listed, message, POPUP, submission } from "./fake-extension.js";
import { loadPackage, settle, state } from "./package.js";

const MINUTE_MS = 60_000;

let api;

beforeEach(() => {
  api = globalThis.chrome = fakeApi();
});

afterEach(() => {
  delete globalThis.chrome;
});

/** An operation that waits. */
const waiting = (id, until, more = {}) => state({ id, status: "active", waiting: { reason: "poll", until }, ...more });

/** In how many minutes the alarm goes off, once all that is under way has happened. */
async function minutes(since) {
  for (let turn = 0; turn < 5; turn++) await settle();
  const { when } = api.alarms.standing.get("holdfast") ?? {};
  return when && Math.round((when - since) / MINUTE_MS);
}

test("the alarm follows what the work waits for, and ends with it", async (t) => {
  const { Alarm } = await loadPackage(t, "extension-alarm.js");
  t.mock.timers.enable({ apis: ["Date", "setInterval"], now: 1_000_000 });
  const alarm = new Alarm(api);
  const look = async (more) => {
    await alarm.follow(more.map((one) => JSON.parse(state(one))));
    return api.alarms.set.at(-1);
  };
  const wait = (until) => ({ waiting: { reason: "poll", until } });
  assert.equal((await look([wait(1_090_000), wait(1_060_000)])).when, 1_060_000);
  assert.equal((await look([wait(1_001_000)])).when, 1_030_000, "browsers keep none that is sooner");
  const count = api.alarms.set.length;
  await look([wait(1_031_000)]);
  assert.equal(api.alarms.set.length, count, "it is near enough");
  const ended = { status: "succeeded", endedAt: 1 };
  assert.equal((await look([{ ...ended, delivered: false }])).when, 1_030_000);
  await alarm.rest();
  assert.equal(api.alarms.set.at(-1).cleared, true);
});

test("an alarm is not ended while work is being taken on, and an alarm that was not set is set again", async (t) => {
  const { Alarm } = await loadPackage(t, "extension-alarm.js");
  const alarm = new Alarm(api);
  await alarm.during(async () => {
    await alarm.rest();
    assert.equal(api.alarms.set.length, 1);
    assert.equal(api.alarms.set[0].name, "holdfast");
  });
  await alarm.rest();
  const { create } = api.alarms;
  api.alarms.create = async () => Promise.reject(new Error("no"));
  await assert.rejects(alarm.follow([JSON.parse(state())]));
  api.alarms.create = create;
  await alarm.follow([JSON.parse(state())]);
  assert.equal(api.alarms.set.at(-1).name, "holdfast");
  assert.equal(api.alarms.set.at(-1).cleared, undefined);
  alarm.close();
});

test("what only the store knows of keeps the alarm: an ending that was not delivered", async (t) => {
  const { world } = await begin(t, { onSettled: () => undefined });
  const ended = state({ status: "succeeded", endedAt: 1, delivered: false });
  world.script.list = (_, filter) =>
    `{"operations":[${JSON.parse(filter).acknowledged === false ? ended : ""}]}`;
  await api.send(message("start", []), POPUP);
  await settle();
  assert.notEqual(api.alarms.set.at(-1).cleared, true);
});

test("what changes elsewhere does not put the alarm off while work is being taken on", async (t) => {
  const now = Date.now();
  const far = (id, revision) => waiting(id, now + 90 * MINUTE_MS, { revision });
  let take;
  const taken = new Promise((resolve) => (take = resolve));
  const { world } = await begin(t, {}, { list: async () => listed(far("old", 1)), submit: () => taken });
  assert.equal(await minutes(now), 90);
  const answer = api.send(message("submit", submission()), POPUP);
  assert.equal(await minutes(now), 1);
  world.clients[0].host.notify(far("old", 2), "[]", "local");
  assert.equal(await minutes(now), 1);
  take(far("new", 1));
  await answer;
  assert.equal(await minutes(now), 90);
});

test("what is due sooner than all that was seen in this life is not forgotten", async (t) => {
  const now = Date.now();
  const list = async () => listed(waiting("old", now + 2 * MINUTE_MS));
  await begin(t, {}, { list, submit: async () => waiting("new", now + 90 * MINUTE_MS) });
  await api.send(message("submit", submission()), POPUP);
  assert.equal(await minutes(now), 2);
});

test("of many operations the first that is due sets the alarm, wherever it is listed", async (t) => {
  const now = Date.now();
  const far = Array.from({ length: 200 }, (_, index) => waiting(`far ${index}`, now + 90 * MINUTE_MS));
  const list = (_, filter) => {
    if (JSON.parse(filter).cursor) return listed(waiting("near", now + 2 * MINUTE_MS));
    return listed(...far).replace(/}$/, ',"cursor":"more"}');
  };
  const { world } = await begin(t, {}, { list });
  assert.equal(await minutes(now), 2);
  for (const one of far.slice(100)) world.clients[0].host.notify(one.replace('"revision":1', '"revision":2'), "[]", "local");
  assert.equal(await minutes(now), 2);
});

test("work of a service that the extension no longer has wakes nobody", async (t) => {
  await begin(t, {}, { list: async () => listed(state({ service: "gone", status: "active" })) });
  assert.equal(await minutes(0), undefined);
});

test("an alarm that the app cleared with its own is set again at the next change", async (t) => {
  const now = Date.now();
  const { world } = await begin(t, {}, { submit: async () => waiting("op-1", now + 90 * MINUTE_MS) });
  await api.send(message("submit", submission()), POPUP);
  assert.equal(await minutes(now), 90);
  api.alarms.standing.clear();
  world.clients[0].host.notify(waiting("op-1", now + 90 * MINUTE_MS, { revision: 2 }), "[]", "local");
  assert.equal(await minutes(now), 90);
});

test("where no alarm can be set, work is taken on all the same, and it is told", async (t) => {
  const said = [];
  api.alarms.create = async () => Promise.reject(new Error("no more than 500"));
  await begin(t, { logger: { error: (text) => said.push(text) } });
  assert.ok((await api.send(message("submit", submission()), POPUP)).value);
  await minutes(0);
  assert.match(said.join(), /setting the alarm failed/);
});

test("who signs in while the background starts for nobody is not left behind", async (t) => {
  let account = null;
  const started = [];
  const { holdfast } = await begin(t, { account: () => account }, { start: async () => started.push(account) });
  account = "ada";
  await holdfast.start();
  assert.ok(started.includes("ada"));
});

test("where nobody is signed in the alarm rests, and that is no failure", async (t) => {
  let account = "ada";
  const said = [];
  const list = async () => {
    if (account === null) throw { code: "NO_ACCOUNT", message: "nobody is signed in", nextStep: "sign in" };
    return listed(waiting("op-1", Date.now() + 90 * MINUTE_MS));
  };
  const { world } = await begin(t, { account: () => account, logger: { error: (text) => said.push(text) } }, { list });
  assert.equal(await minutes(Date.now()), 90);
  account = null;
  world.clients[0].host.notify(waiting("op-1", Date.now() + 90 * MINUTE_MS, { revision: 2 }), "[]", "ada");
  assert.equal(await minutes(0), undefined);
  assert.deepEqual(said, []);
});

test("signs of life end after a while, also where the clock is set back meanwhile", async (t) => {
  const { Alarm } = await loadPackage(t, "extension-alarm.js");
  t.mock.timers.enable({ apis: ["setInterval"] });
  let signs = 0;
  let now = 1_000_000_000;
  t.mock.method(Date, "now", () => now);
  api.runtime.getPlatformInfo = () => (signs += 1);
  const alarm = new Alarm(api);
  await alarm.follow([JSON.parse(state({ status: "active" }))]);
  now = 0;
  for (let tick = 0; tick < 100; tick++) t.mock.timers.tick(20_000);
  assert.equal(signs, 15);
  alarm.close();
});

test("what a page has forgotten is shown by the background no more, and wakes nobody", async (t) => {
  const ended = state({ status: "succeeded", endedAt: 1, delivered: false });
  const stored = new Set([ended]);
  const script = { list: async () => listed(...stored), forget: async () => (stored.clear(), ["op-1"]) };
  const { holdfast } = await begin(t, { onSettled: () => undefined }, script);
  assert.notEqual(await minutes(Date.now()), undefined);
  assert.deepEqual((await api.send(message("forget", ["reports", "one"]), POPUP)).value, ["op-1"]);
  assert.deepEqual(holdfast.getSnapshot(), []);
  assert.equal(await minutes(Date.now()), undefined);
});

test("the alarm stays where the app could not say who is signed in, and the next life asks again", async (t) => {
  await api.alarms.create("holdfast", { when: 1 });
  const ready = { then: (_, reject) => reject(new Error("the storage does not answer")) };
  const { holdfast } = await begin(t, { account: () => null, ready, logger: { error: () => undefined } });
  await holdfast.start();
  await minutes(0);
  assert.ok(api.alarms.standing.has("holdfast"));
});

test("what the store has of one is asked for again, where another was there while it was read", async (t) => {
  const now = Date.now();
  const who = { account: "ada" };
  const list = async (_, filter) => {
    const isFirst = JSON.parse(filter).acknowledged === undefined;
    who.account = isFirst ? "grace" : "ada";
    return listed(...(isFirst ? [waiting("of grace", now + 90 * MINUTE_MS)] : []));
  };
  const { world } = await begin(t, { account: () => who.account }, { list });
  await minutes(now);
  const far = waiting("far", now + 60 * MINUTE_MS);
  world.script.list = async () => listed(waiting("near", now + 2 * MINUTE_MS), far);
  who.account = "ada";
  world.clients[0].host.notify(far, "[]", "ada");
  assert.equal(await minutes(now), 2);
});
