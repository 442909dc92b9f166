// What an object has open at a time: its requests, and its clients.
import assert from "node:assert/strict";
import test from "node:test";
import { failPointsFolder } from "../browser/harness/environment.mjs";
import { script, world } from "./objects.mjs";
import { quickProfile } from "./quick-profile.mjs";

const { Connections } = await script("object-connections.js");
const { Instance } = await script("module.js");
const { Client } = await script("client.js");

const MINUTE_MS = 60_000;
const body = { url: "https://example.com" };
const baseUrl = "https://api.example.com";

/** Objects with three services, which answer after so long; `more` is one of them declared otherwise. */
function declared(t, latencyMs, more = {}) {
  const profile = quickProfile(failPointsFolder());
  const settled = [];
  const service = { profile, baseUrl, authorize: () => ({ headers: { authorization: "Bearer one" } }) };
  const own = world(t, {
    line: { baseUrl, profile, script: { latencyMs, durationMs: 1000 } },
    services: () => ({ reports: service, crawls: service, exports: { ...service, ...more } }),
    onSettled: ({ intent, status }) => void settled.push([intent, status]),
  });
  const open = { count: 0, most: 0 };
  own.fetch = async (url, init) => {
    open.most = Math.max(open.most, (open.count += 1));
    return own.line.fetch(url, init).finally(() => (open.count -= 1));
  };
  return Object.assign(own, { settled, open });
}

for (const latencyMs of [500, 8000, 25_000]) {
  test(`no more than six requests of an object wait for their headers, of ${latencyMs} ms each, and none is lost for it`, async (t) => {
    const own = declared(t, latencyMs);
    const intents = ["reports", "crawls", "exports"].flatMap((service) =>
      Array.from({ length: 6 }, (_, at) => [service, `${service} ${at}`]),
    );
    const submitted = Promise.all(intents.map(([service, intent]) => own.inObject(0, "ann").submit(service, { intent, body })));
    await own.pass(1000);
    await submitted;
    await own.pass(10 * MINUTE_MS, () => own.settled.length === intents.length);
    assert.deepEqual(own.settled.map(([, status]) => status), intents.map(() => "succeeded"));
    assert.equal(own.open.most, 6);
    // Whatever was written was sent, and answered.
    assert.equal(own.line.ledger().submits, intents.length);
  });
}

test("clients of callers that only read are let go without an alarm, and none for which something is under way", async (t) => {
  const closed = t.mock.method(Client.prototype, "close");
  const own = declared(t, 20);
  own.line.hold("submit");
  await own.inObject(0, "ann").submit("reports", { intent: "of ann", body });
  await own.pass(1000);
  const before = own.place("holdfast-000").alarms;
  for (let at = 0; at < 40; at++) await own.inObject(0, `reader ${at}`).find("reports", "nothing");
  await own.pass(100);
  assert.equal(own.place("holdfast-000").alarms, before);
  assert.equal(closed.mock.callCount(), 9);
  own.line.release();
  await own.pass(MINUTE_MS, () => own.settled.length === 1);
  assert.deepEqual([own.settled, own.line.ledger().submits], [[["of ann", "succeeded"]], 1]);
});

test("a client whose result is being checked is not let go", async (t) => {
  const checks = [];
  const result = { "~standard": { version: 1, vendor: "own", validate: (value) => new Promise((over) => checks.push(() => over({ value }))) } };
  const own = declared(t, 20, { result });
  await own.inObject(0, "ann").submit("exports", { intent: "of ann", body });
  await own.pass(MINUTE_MS, () => checks.length > 0);
  for (let at = 0; at < 40; at++) await own.inObject(0, `reader ${at}`).find("reports", "nothing");
  await own.pass(100);
  checks.forEach((over) => over());
  await own.pass(100);
  assert.deepEqual([own.settled, checks.length], [[["of ann", "succeeded"]], 1]);
});

test("requests that wait for the turns of a stated rate keep no others from leaving", async (t) => {
  const profile = { ...quickProfile(failPointsFolder()), rate: { requests: 2, perMs: 2000 } };
  const own = declared(t, 20, { profile });
  for (const caller of ["ann", "bob", "dan", "eve"]) {
    for (let at = 0; at < 2; at++) void own.inObject(0, caller).submit("exports", { intent: `of ${caller} ${at}`, body });
  }
  await own.pass(1000);
  const before = own.line.ledger().submits;
  void own.inObject(0, "cleo").submit("reports", { intent: "of cleo", body });
  await own.pass(500);
  assert.equal(own.line.ledger().submits, before + 1);
  await own.pass(10 * MINUTE_MS, () => own.settled.length === 9);
  assert.deepEqual([own.settled.length, own.line.ledger().submits], [9, 9]);
});

test("what a dead instance has open is ended, and another goes on with it", async (t) => {
  let instance;
  const { load } = Instance.prototype;
  t.mock.method(Instance.prototype, "load", function (...args) {
    instance = this;
    return load.apply(this, args);
  });
  const own = declared(t, 20);
  own.line.hold("submit");
  const ann = own.inObject(0, "ann");
  const intents = Array.from({ length: 6 }, (_, at) => `of ann ${at}`);
  await Promise.all(intents.map((intent) => ann.submit("reports", { intent, body })));
  await own.pass(1000);
  assert.equal(own.open.count, 6);
  instance.replace(instance.generation, new Error("It died."));
  await own.pass(100);
  assert.equal(own.open.count, 0);
  own.line.release();
  await own.pass(10 * MINUTE_MS, () => own.settled.length === 6);
  assert.deepEqual([own.settled.length, own.line.ledger().executions], [6, 6]);
});

/** The places of an object, six of which are taken by requests that end when they are told to. */
async function full(t) {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const client = new Connections().ofClient();
  const ends = [];
  const sent = [];
  const send = client.fetching((url) => (sent.push(url), new Promise((end) => ends.push(end))));
  for (let at = 0; at < 6; at++) void send(`taken ${at}`, {});
  const later = () => new Promise((next) => setImmediate(next));
  await later();
  return { client, send, sent: () => sent.slice(6), later, end: () => (ends.shift()(), later()) };
}

test("what has found no place comes again where it stood", async (t) => {
  const { client, later, end } = await full(t);
  const turns = [];
  const ask = (id) => client.turn(id, async () => 0).then((waitMs) => turns.push([id, waitMs]));
  void ask("first");
  t.mock.timers.tick(5000);
  await later();
  assert.deepEqual(turns.splice(0), [["first", 250]]);
  void ask("second");
  void ask("first");
  await end();
  assert.deepEqual(turns, [["first", 0]]);
});

test("a request that only reads and was given no place waits for one, and what is written leaves", async (t) => {
  const { send, sent, end, later } = await full(t);
  void send("page", { method: "GET" });
  void send("job", { method: "POST" });
  await later();
  assert.deepEqual(sent(), ["job"]);
  await end();
  await end();
  assert.deepEqual(sent(), ["job", "page"]);
});
