// What one shared object answers, in a time of the test's own: its SQL is a real SQLite's.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import test, { mock } from "node:test";
import { pathToFileURL } from "node:url";
import { failPointsFolder } from "../browser/harness/environment.mjs";

const Sqlite = createRequire(import.meta.url)("better-sqlite3");
const script = (name) => import(pathToFileURL(join(failPointsFolder(), name)));
const { Shared } = await script("object-shared.js");
const { ObjectTurns } = await script("object-turns.js");

/** A shared object whose holders hold what this says; made again, it finds what an earlier one has stored. */
function world(t, isHeld = async () => true) {
  mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_000 });
  const database = new Sqlite(":memory:");
  t.after(() => (database.close(), mock.timers.reset()));
  const exec = (sql, ...params) => {
    const statement = database.prepare(sql);
    const rows = statement.reader ? statement.all(...params) : (statement.run(...params), []);
    make.rows += rows.length;
    return { toArray: () => rows };
  };
  const make = () => new Shared({ exec }, isHeld);
  /** How many rows it was given. */
  make.rows = 0;
  return make;
}

test("what is held goes to another when its holder needs it no more, and to one of those who ask at the same time", async (t) => {
  let held = true;
  const make = world(t, async () => held);
  const shared = make();
  assert.equal(await shared.take("guard", "request", "ann"), "ann");
  assert.equal(await shared.take("guard", "request", "ann"), "ann");
  assert.equal(await make().take("guard", "request", "bob"), "ann");
  held = false;
  const owners = await Promise.all(["bob", "cleo", "dan"].map((name) => shared.take("guard", "request", name)));
  assert.deepEqual(new Set(owners).size, 1);
  assert.notEqual(owners[0], "ann");
});

test("a guard is over after ten minutes, and a claim is not", async (t) => {
  const shared = world(t)();
  for (const kind of ["guard", "claim"]) await shared.take(kind, kind, "ann");
  mock.timers.tick(601_000);
  assert.equal(await shared.take("claim", "claim", "bob"), "ann");
  assert.equal(await shared.take("guard", "guard", "bob"), "bob");
});

for (const { requests, perMs } of [{ requests: 1, perMs: 250 }, { requests: 3, perMs: 1000 }, { requests: 100, perMs: 60_000 }]) {
  test(`no more than ${requests} requests leave in any ${perMs} ms, however they come`, (t) => {
    const make = world(t);
    let [shared, seed] = [make(), requests];
    const dice = (most) => ((seed = (seed * 48_271) % 2_147_483_647), seed % most);
    const left = [];
    let given = 0;
    for (let asked = 0; asked < 600; asked++) {
      if (asked % 50 === 49) shared = make();
      // In bursts, with pauses; what has its turn takes up to a second more to leave.
      if (dice(4) === 0) mock.timers.tick(dice(Math.ceil(perMs / requests) * 4) + 1);
      const { waitMs } = shared.turn("service", { requests, perMs });
      if (waitMs === undefined) continue;
      assert.ok(waitMs <= 10_000);
      given += 1;
      left.push(Date.now() + waitMs + dice(1000));
    }
    assert.ok(given > 2 * requests, `${given} turns`);
    left.sort((one, other) => one - other);
    for (const [at, from] of left.entries()) {
      const next = left[at + requests];
      assert.ok(next === undefined || next - from >= perMs, `${next - from} ms between ${requests + 1} requests`);
    }
  });
}

test("a caller has room again when something of its own is over, and none by what is about to be stored", async (t) => {
  const shared = world(t)();
  const over = new Map();
  const admit = (name, caller = "ann") => shared.admit(caller, name, 2, async (own) => over.get(own));
  assert.deepEqual([await admit("one"), await admit("two"), await admit("three")], [true, true, false]);
  assert.deepEqual([await admit("one"), await admit("three", "an"), await admit("one", "ann bob")], [true, true, true]);
  over.set("one", false).set("two", false);
  assert.equal(await admit("three"), false);
  over.set("two", true);
  assert.deepEqual([await admit("three"), await admit("four")], [true, false]);
  // What was never stored makes room after a minute.
  mock.timers.tick(61_000);
  assert.equal(await admit("four"), true);
});

test("what a rerun takes the place of makes no room while the rerun is about to be stored", async (t) => {
  const shared = world(t)();
  /** The newest of each: its id, and whether it has ended. */
  const newest = new Map([["one", ["one-0", true]], ["two", ["two-0", true]]]);
  const isOver = async (name, after) => {
    const [id, ended] = newest.get(name) ?? [];
    return id === undefined || (ended && id === after) ? undefined : ended;
  };
  const admit = (name, after) => shared.admit("ann", name, 1, isOver, after);
  assert.equal(await admit("one"), true);
  // Both have failed, and the first is run again: the second waits, and so does new work.
  assert.deepEqual([await admit("one", "one-0"), await admit("two", "two-0"), await admit("three")], [true, false, false]);
  newest.set("one", ["one-1", false]);
  assert.equal(await admit("two", "two-0"), false);
  newest.set("one", ["one-1", true]);
  assert.equal(await admit("two", "two-0"), true);
  // What was not made of it after all makes room after a minute.
  assert.equal(await admit("three"), false);
  mock.timers.tick(61_000);
  assert.equal(await admit("three"), true);
});

test("what a caller has is not read for each of its submissions, and at its limit a few are looked at", async (t) => {
  const make = world(t);
  const shared = make();
  let looked = 0;
  const admit = (name) => shared.admit("ann", name, 100, async () => (looked++, false));
  for (let own = 0; own < 100; own++) {
    const before = make.rows;
    assert.equal(await admit(`work ${own}`), true);
    assert.ok(make.rows - before <= 2, `${make.rows - before} rows for one submission beside ${own}`);
  }
  assert.equal(looked, 0);
  let before = make.rows;
  assert.equal(await admit("one more"), false);
  assert.ok(make.rows - before <= 20 && looked === 16, `${make.rows - before} rows, ${looked} looked at`);
  before = make.rows;
  assert.equal(await admit("work 7"), true);
  assert.deepEqual([make.rows - before, looked], [1, 16]);
});

/** Services that need others of their class, and one that does not. */
const services = () => ({
  keyless: { profile: { name: "keyless" } },
  rated: { profile: { name: "rated", key: { header: "k" }, rate: { requests: 1, perMs: 1000 } }, baseUrl: "https://api.example.com" },
  plain: { profile: { name: "plain", key: { header: "k" } }, baseUrl: "https://api.example.com" },
  named: { profile: "bulkgrid" },
  unheard: { profile: "unheard-of" },
});

test("a service that needs the others of its class is refused where that is not bound, and no other is", async () => {
  const unbound = new ObjectTurns("id", () => undefined, services);
  for (const name of ["keyless", "rated", "named"]) {
    await assert.rejects(unbound.check(name), { code: "INVALID_INPUT", message: /durable_objects\.bindings/ }, name);
  }
  for (const name of ["plain", "never heard of"]) await unbound.check(name);
  await assert.rejects(unbound.check("unheard"), { code: "INVALID_PROFILE" });
  const bound = new ObjectTurns("id", () => ({}), services);
  for (const name of Object.keys(services())) await bound.check(name);
});

test("why a request has no turn is said once of each kind", async (t) => {
  const said = t.mock.method(console, "error", () => undefined);
  let namespace;
  const pause = async () => true;
  const turns = new ObjectTurns("id", () => namespace, services);
  for (let asked = 0; asked < 3; asked++) await assert.rejects(turns.turn("ann", "keyless", "op-1", "digest", pause), { code: "INVALID_INPUT" });
  await assert.rejects(turns.turn("ann", "unheard", "op-2", undefined, pause), { code: "INVALID_PROFILE" });
  const holdfastShared = async () => {
    throw new TypeError("an object failed");
  };
  namespace = { idFromName: (name) => name, get: () => ({ holdfastShared }) };
  for (let asked = 0; asked < 3; asked++) await assert.rejects(turns.turn("ann", "rated", "op-3", undefined, pause), /an object failed/);
  const kinds = said.mock.calls.map(({ arguments: [, error] }) => error.code ?? error.name);
  assert.deepEqual(kinds, ["INVALID_INPUT", "INVALID_PROFILE", "TypeError"]);
});
