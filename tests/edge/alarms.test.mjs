// What an object's alarm does, and what becomes of work when it fails, comes twice or is lost: the package's objects
// in this process, in a time of the test's own.
import assert from "node:assert/strict";
import test from "node:test";
import { failPointsFolder } from "../browser/harness/environment.mjs";
import { world } from "./objects.mjs";
import { quickProfile } from "./quick-profile.mjs";

const NOW = 1_800_000_000_000;
const MINUTE_MS = 60_000;
const OBJECT = "holdfast-000";
const body = { url: "https://example.com" };

/** Objects with a service, and one that a later version declares no more. */
function declared(t, { durationMs = 5000, names = ["reports", "gone"], onSettled = () => undefined } = {}) {
  // Pauses that are an alarm's, and no timer's.
  const profile = { ...quickProfile(failPointsFolder()), poll: { firstMs: 2000, factor: 1.5, capMs: 10_000 } };
  const baseUrl = "https://api.example.com";
  const known = { names, settled: [], authorize: () => ({ headers: { authorization: "Bearer one" } }) };
  const own = world(t, {
    line: { baseUrl, profile, script: { durationMs } },
    services: () =>
      Object.fromEntries(known.names.map((name) => [name, { profile, baseUrl, authorize: () => known.authorize() }])),
    onSettled: ({ intent, status }) => (known.settled.push([intent, status]), onSettled()),
  });
  return Object.assign(own, { known });
}

/** Work of callers that stays due for ever, for their service is declared no more. */
async function stuck(own, count) {
  const callers = Array.from({ length: count }, (_, at) => `stuck ${at}`);
  for (const caller of callers) await own.inObject(0, caller).submit("gone", { intent: caller, body });
  own.known.names = ["reports"];
  own.replace(OBJECT);
}

for (const [count, evicted] of [[8, false], [30, true]]) {
  const how = evicted ? "each of them in a new instance" : "in one instance";
  test(`alarms carry a job to its end beside ${count} callers whose work cannot move, ${how}`, async (t) => {
    const own = declared(t);
    own.isEvicted = evicted;
    await stuck(own, count);
    await own.inObject(0, "ann").submit("reports", { intent: "of ann", body });
    await own.pass(MINUTE_MS);
    assert.deepEqual(own.known.settled, [["of ann", "succeeded"]]);
    const before = own.place(OBJECT).alarms;
    await own.pass(10 * MINUTE_MS);
    const alarms = own.place(OBJECT).alarms - before;
    assert.ok(alarms > 8 && alarms < 60, `${alarms} alarms in ten minutes in which nothing moves`);
  });
}

/** Work of one caller, accepted and polled for ten seconds. */
async function accepted(t, given = {}) {
  const own = declared(t, { durationMs: 10_000, ...given });
  const ann = own.inObject(0, "ann");
  await ann.submit("reports", { intent: "of ann", body });
  await own.pass(1000);
  assert.equal((await ann.find("reports", "of ann")).status, "active");
  return { own, ann, place: own.place(OBJECT) };
}

/** That the work was ended, and run once. */
async function checkOnce({ own }, intents = ["of ann"]) {
  await own.pass(MINUTE_MS);
  assert.deepEqual(own.known.settled.sort(), intents.map((intent) => [intent, "succeeded"]).sort());
  const { executions, submits } = own.line.ledger();
  assert.deepEqual([executions, submits], [intents.length, intents.length]);
}

test("an alarm that fails is called again, and no work is lost", async (t) => {
  const world = await accepted(t);
  const { storage } = world.place.context;
  const { setAlarm } = storage;
  let failed = 0;
  storage.setAlarm = async (at) => {
    if (world.place.inAlarm && failed++ < 2) throw new Error("The alarm cannot be set.");
    return setAlarm(at);
  };
  await checkOnce(world);
  assert.ok(failed > 2, `${failed} alarms were set`);
});

/** Has statements of a kind fail in alarms. Gives how often they did. */
function failing({ place }, kind, times) {
  const { sql } = place.context.storage;
  const { exec } = sql;
  const failed = { count: 0 };
  sql.exec = (text, ...params) => {
    if (place.inAlarm && kind.test(text) && failed.count < times) {
      failed.count += 1;
      throw new Error("The disk failed.");
    }
    return exec(text, ...params);
  };
  return failed;
}

for (const [what, kind, times] of [["taken up", /DESC/, 2], ["looked at", /ASC/, 8]]) {
  test(`an alarm whose work cannot be ${what} is set again by itself`, async (t) => {
    const said = t.mock.method(console, "error", () => undefined);
    const world = await accepted(t);
    let thrown = 0;
    const { instance } = world.place;
    instance.alarm = () => Object.getPrototypeOf(instance).alarm.call(instance).catch(() => (thrown += 1));
    const failed = failing(world, kind, times);
    await world.own.pass(6 * MINUTE_MS);
    await checkOnce(world);
    assert.ok(said.mock.calls.some(({ arguments: [text] }) => /an alarm failed/.test(text)));
    assert.deepEqual([failed.count, thrown], [times, 0]);
  });
}

test("where alarms cannot store their rounds, work goes on, and pauses grow while nothing moves", async (t) => {
  t.mock.method(console, "error", () => undefined);
  const own = declared(t);
  await stuck(own, 12);
  await own.inObject(0, "ann").submit("reports", { intent: "of ann", body });
  const place = own.place(OBJECT);
  const failed = failing({ place }, /INSERT .* holdfast_rounds/, Infinity);
  await own.pass(MINUTE_MS);
  assert.deepEqual(own.known.settled, [["of ann", "succeeded"]]);
  await own.pass(9 * MINUTE_MS);
  const before = place.alarms;
  await own.pass(10 * MINUTE_MS);
  assert.ok(failed.count > 2, `${failed.count} writes failed`);
  assert.ok(place.alarms - before < 60, `${place.alarms - before} alarms in ten minutes`);
});

test("a write leaves what cannot move its pause, and has its own alarm in time", async (t) => {
  t.mock.method(console, "error", () => undefined);
  const own = declared(t, { durationMs: 600_000 });
  await stuck(own, 12);
  const place = own.place(OBJECT);
  const ann = own.inObject(0, "ann");
  await ann.submit("reports", { intent: "first", body });
  await own.pass(10 * MINUTE_MS, () => own.clock.now > NOW + MINUTE_MS && place.alarmAt > own.clock.now + 5000);
  const [alarms, wasAt] = [place.alarms, place.alarmAt];
  // Its attempt is due where it was not sent in time.
  await ann.submit("reports", { intent: "second", body });
  assert.ok(place.alarmAt < wasAt && place.alarmAt > own.clock.now, `${place.alarmAt - own.clock.now} ms`);
  await own.pass(1000);
  assert.equal(place.alarms, alarms);
  // Without a credential there is no attempt, and what waits for one is due at once.
  own.known.authorize = () => new Promise(() => undefined);
  await own.pass(10 * MINUTE_MS, () => place.alarmAt > own.clock.now + 5000);
  own.inObject(0, "bob").submit("reports", { intent: "third", body });
  await own.pass(100, () => place.alarms > alarms && place.inAlarm);
  assert.ok(place.inAlarm);
});

test("a consumer of endings that never returns does not keep an object awake", async (t) => {
  const { own, place } = await accepted(t, { onSettled: () => new Promise(() => undefined) });
  await own.pass(MINUTE_MS);
  assert.deepEqual(own.known.settled, [["of ann", "succeeded"]]);
  const before = place.alarms;
  await own.pass(10 * MINUTE_MS);
  // Each of them waits for it.
  assert.ok(place.alarms - before < 13, `${place.alarms - before} alarms in ten minutes`);
});

test("an alarm that comes twice, and one that comes too early, do nothing twice", async (t) => {
  const world = await accepted(t);
  const { own, place } = world;
  for (let second = 0; second < 12; second++) {
    await own.pass(1000);
    void Promise.all([place.instance.alarm(), place.instance.alarm()]);
  }
  await checkOnce(world);
  const { polls } = own.line.ledger();
  assert.ok(polls < 8, `${polls} polls`);
});

for (const replaced of [true, false]) {
  const who = replaced ? "in a new instance" : "in the same one, late";
  test(`an alarm that never comes is set again by whoever calls, ${who}`, async (t) => {
    const world = await accepted(t);
    const { own, place } = world;
    place.alarmAt = null;
    if (replaced) own.replace(OBJECT);
    else await own.pass(2 * MINUTE_MS);
    assert.equal(place.alarmAt, null);
    assert.equal(await own.inObject(0, "bob").find("reports", "nothing"), undefined);
    assert.ok(place.alarmAt !== null);
    await checkOnce(world);
  });
}

test("work that is submitted while an alarm is at work is the next one's, if it must be", async (t) => {
  const world = await accepted(t);
  const { own, place } = world;
  await own.line.hold("poll");
  await own.pass(MINUTE_MS, () => place.inAlarm);
  assert.ok(place.inAlarm);
  const submitted = own.inObject(0, "bob").submit("reports", { intent: "of bob", body });
  await own.pass(2000);
  await submitted;
  assert.ok(place.inAlarm);
  own.line.release();
  await checkOnce(world, ["of ann", "of bob"]);
});

test("an alarm takes up the work of eight callers at most, and ends after 20 s whatever is under way", async (t) => {
  const own = declared(t, { durationMs: 10_000 });
  const callers = Array.from({ length: 20 }, (_, at) => `caller ${at}`);
  for (const caller of callers) await own.inObject(0, caller).submit("reports", { intent: caller, body });
  await own.pass(1000);
  const place = own.place(OBJECT);
  place.alarmAt = null;
  own.replace(OBJECT);
  await own.pass(MINUTE_MS);
  own.line.hold("poll");
  const before = own.line.requests.length;
  const began = own.clock.now;
  let ended;
  void place.instance.alarm().then(() => (ended = own.clock.now));
  await own.pass(19_000, () => place.alarmAt !== null);
  assert.ok(ended === undefined);
  await own.pass(MINUTE_MS, () => ended !== undefined);
  assert.ok(ended - began <= 20_100, `${ended - began} ms`);
  const polled = new Set(own.line.requests.slice(before).map(({ url }) => url));
  assert.ok(polled.size <= 8, `${polled.size} polled`);
  own.line.release();
  await checkOnce({ own }, callers);
});

for (const [count, most] of [[30, 2], [7, 5]]) {
  test(`beside ${count} callers whose work cannot move, another's polls cost no more than ${most} alarms each`, async (t) => {
    const own = declared(t, { durationMs: 600_000 });
    await stuck(own, count);
    await own.inObject(0, "ann").submit("reports", { intent: "of ann", body });
    await own.pass(MINUTE_MS);
    const [alarms, polls] = [own.place(OBJECT).alarms, own.line.ledger().polls];
    await own.pass(3 * MINUTE_MS);
    const each = (own.place(OBJECT).alarms - alarms) / (own.line.ledger().polls - polls);
    assert.ok(each <= most, `${each} alarms a poll`);
  });
}
