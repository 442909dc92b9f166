// Objects of the package in this process, in a time of the test's own: each over a real SQLite, with alarms that the
// test can lose or repeat, and a line to a simulated service. What only a workerd shows is tested in one.
import { createRequire, register } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { failPointsFolder } from "../browser/harness/environment.mjs";

register(new URL("./objects-hooks.mjs", import.meta.url));
const Sqlite = createRequire(import.meta.url)("better-sqlite3");

/** A script of the package. */
export const script = (name) => import(pathToFileURL(join(failPointsFolder(), name)));

const { HoldfastObject, jobs } = await script("cloudflare.js");
const { RemoteObject } = await script("jobs.js");
const { seal } = await script("submission.js");
const { Clock } = await script("testing-clock.js");
const { Line } = await script("testing-line.js");

/** When it is. */
const NOW = 1_800_000_000_000;
/** So many rounds of the event loop pass between two points in time: all that follows from one has happened then. */
const ROUNDS = 4;
/** How soon an alarm that failed is called again, in milliseconds. */
const ALARM_AGAIN_MS = 2000;

/** The binding of the class, as the platform has one. */
class DurableObjectNamespace {
  #stubOf;

  constructor(stubOf) {
    this.#stubOf = stubOf;
  }

  idFromName = (name) => ({ toString: () => name });
  idFromString = (name) => ({ toString: () => name });
  get = (id) => this.#stubOf(String(id));
}

/** What is stored of an object, and every instance of it that there was. */
class Place {
  database = new Sqlite(":memory:");
  /** When its alarm is to be called; `null`: never. */
  alarmAt = null;
  /** How often it was called, and whether it is being. */
  alarms = 0;
  inAlarm = false;
  instance;

  /** The storage, as an instance has it for as long as it lives. */
  storage(life) {
    return {
      sql: {
        exec: (sql, ...params) => {
          if (life.isOver) throw new Error("The instance is dead.");
          const statement = this.database.prepare(sql);
          const rows = statement.reader ? statement.all(...params) : (statement.run(...params), []);
          return { toArray: () => rows };
        },
      },
      transactionSync: (work) => this.database.transaction(work)(),
      sync: async () => undefined,
      getAlarm: async () => this.alarmAt,
      setAlarm: async (at) => void (this.alarmAt = at),
    };
  }
}

/**
 * A world of objects.
 *
 * @param {import("node:test").TestContext} t
 * @param {{ services: (env: object) => object, onSettled?: (operation: any) => void, line?: { baseUrl: string, profile: any, script?: object } }} given
 */
export function world(t, { services, onSettled, line: given }) {
  const clock = new Clock(NOW);
  const line = given && new Line(given.baseUrl, given.profile, given.script ?? {}, [], clock);
  const restore = takeTime(clock);
  const places = new Map();
  const busy = { count: 0 };
  const elsewhere = [counted(WebAssembly, "instantiate", busy), counted(crypto.subtle, "digest", busy)];
  t.after(() => {
    [restore, ...elsewhere].forEach((undo) => undo());
    places.forEach(({ database }) => database.close());
  });
  class Jobs extends HoldfastObject {
    services = services();
  }
  if (onSettled) Jobs.prototype.onSettled = onSettled;
  const namespace = new DurableObjectNamespace((name) => stub(own, name));
  const own = { clock, line, places, namespace, busy, fetch: (url, init) => line.fetch(url, init) };
  own.place = (name) => {
    if (!places.has(name)) places.set(name, new Place());
    return places.get(name);
  };
  /** Another instance in the place of the one there is, which is dead; or not yet. */
  own.replace = (name, isDead = true) => {
    const place = own.place(name);
    if (isDead && place.life) place.life.isOver = true;
    const life = { isOver: false };
    const context = { id: { toString: () => name }, storage: place.storage(life), waitUntil: (promise) => void promise };
    const instance = new Jobs(context, { JOBS: namespace });
    Object.assign(place, { life, context, instance });
    return instance;
  };
  own.object = (name) => own.place(name).instance ?? own.replace(name);
  own.jobs = (caller) => jobs(namespace, { caller });
  /** The work of a caller in one object, whose intents belong to others as a rule. */
  own.inObject = (shard, caller) => {
    const remote = new RemoteObject(namespace, shard, caller);
    const submit = (service, submission) => {
      const { json, body } = seal({ account: () => caller, services: { [service]: {} } }, service, submission);
      return remote.call("submit", [service, json, body]).then(JSON.parse);
    };
    const find = (service, intent) => remote.call("find", [service, intent]).then((json) => json && JSON.parse(json));
    return { submit, find, call: (...call) => remote.call(...call) };
  };
  own.pass = (ms, until = () => false) => pass(own, ms, until);
  globalThis.fetch = (url, init) => own.fetch(String(url), init);
  return own;
}

/** Calls of an object, over which only copies go. */
const stub = (own, name) =>
  Object.fromEntries(
    ["holdfast", "holdfastShared"].map((method) => [
      method,
      async (call) => structuredClone(await own.object(name)[method](structuredClone(call))),
    ]),
  );

/** Has everything here go by this clock. */
function takeTime(clock) {
  const kept = { setTimeout, clearTimeout, fetch };
  const { now } = Date;
  Object.assign(globalThis, { setTimeout: clock.setTimeout, clearTimeout: clock.clearTimeout });
  Date.now = () => Math.floor(clock.now);
  return () => {
    Object.assign(globalThis, kept);
    Date.now = now;
  };
}

/** Counts what other threads do: no time passes meanwhile. Gives what undoes that. */
function counted(holder, name, busy) {
  const own = holder[name];
  holder[name] = (...args) => {
    busy.count += 1;
    return own.apply(holder, args).finally(() => (busy.count -= 1));
  };
  return () => void (holder[name] = own);
}

/** Lets all happen that happens at this point in time. */
async function settle({ busy }) {
  for (let round = 0; round < ROUNDS; round = busy.count ? 0 : round + 1) await new Promise((next) => setImmediate(next));
}

/** Calls an alarm, as the platform does: one at a time, and again where it failed. */
async function callAlarm(own, name) {
  const place = own.place(name);
  place.alarmAt = null;
  place.alarms += 1;
  place.inAlarm = true;
  if (own.isEvicted) own.replace(name);
  try {
    await own.object(name).alarm();
  } catch {
    place.alarmAt ??= own.clock.now + ALARM_AGAIN_MS;
  }
  place.inAlarm = false;
}

/** Lets time pass, with the alarms that come in it, until something holds. */
async function pass(own, ms, until) {
  const { clock, places } = own;
  const end = clock.now + ms;
  for (;;) {
    await settle(own);
    if (until()) return true;
    const set = [...places].filter(([, { alarmAt, inAlarm }]) => alarmAt !== null && !inAlarm);
    const [first] = set.sort(([, one], [, other]) => one.alarmAt - other.alarmAt);
    const alarmAt = first ? Math.max(first[1].alarmAt, clock.now) : Infinity;
    const next = Math.min(alarmAt, clock.next());
    if (next > end) break;
    if (alarmAt > next) clock.step();
    else {
      clock.now = alarmAt;
      void callAlarm(own, first[0]);
    }
  }
  clock.now = end;
  return until();
}
