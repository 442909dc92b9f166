// Holdfast in a server, against the loopback service: to the end, and through deaths.
import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { failPointsFolder } from "../browser/harness/environment.mjs";
import { checkOnce, live } from "./life.mjs";
import { moreServers, newerNode } from "./programs.mjs";
import { newIntents, stage, temporary } from "./stage.mjs";

const Sqlite = createRequire(import.meta.url)("better-sqlite3");

/** How many lives of two intents have two deaths at random moments. In a long run, every fail point is died at. */
const RUNS = Number(process.env.HOLDFAST_RUNS || 3);
const IS_LONG = RUNS > 10;
/** How many fail points one test waits for at the same time. */
const ABREAST = 3;

const nodes = { "better-sqlite3": process.execPath, "node:sqlite": newerNode(), ...moreServers() };

/** Intents, a service and a file of their own. */
async function world(t, count = 2) {
  const { service, token, folder } = await stage(t);
  const intents = newIntents(count);
  const options = { folder: failPointsFolder(), storage: join(folder, "holdfast.db"), origin: service.origin, token, intents };
  return { service, intents, options };
}

for (const [name, node] of Object.entries(nodes)) {
  test(`with ${name}, jobs come to their kept results, and a later process finds them`, async (t) => {
    const { service, intents, options } = await world(t);
    const first = await live(node, options);
    await checkOnce(service, [first], intents);
    const again = await live(node, options);
    await checkOnce(service, [first, again], intents);
    assert.deepEqual(again.overs, first.overs);
  });

  test(`with ${name}, a server killed at any fail point loses nothing and sends nothing twice`, { timeout: 300_000 }, async (t) => {
    const rehearsal = await world(t, 1);
    const { points } = await live(node, rehearsal.options);
    // Polls differ from life to life: the first of each kind stands for all.
    const armed = points.filter(({ occurrence }) => occurrence < 2);
    assert.ok(armed.length > 20, JSON.stringify(armed));
    // In a short run the two share them.
    const [every, from] = IS_LONG ? [1, 0] : [4, node === process.execPath ? 0 : 2];
    const taken = armed.filter((_, own) => own % every === from);
    const dieAt = async (point) => {
      const { service, intents, options } = await world(t, 1);
      const died = await live(node, { ...options, armed: point });
      await checkOnce(service, [died, await live(node, options)], intents);
      return died.killed;
    };
    let killed = 0;
    for (let own = 0; own < taken.length; own += ABREAST) {
      const deaths = await Promise.all(taken.slice(own, own + ABREAST).map(dieAt));
      killed += deaths.filter(Boolean).length;
    }
    t.diagnostic(`killed at ${killed} of ${taken.length} points`);
    assert.ok(killed > taken.length / 2);
  });
}

test("a server killed again and again, at random moments, loses nothing and sends nothing twice", { timeout: 60_000 * RUNS }, async (t) => {
  let killed = 0;
  for (let own = 0; own < RUNS; own++) {
    const { service, intents, options } = await world(t);
    const node = Object.values(nodes)[own % Object.keys(nodes).length];
    const lives = [];
    for (let death = 0; death < 2; death++) {
      const told = await live(node, options, 150 + Math.random() * 1200);
      lives.push(told);
      killed += told.killed ? 1 : 0;
    }
    lives.push(await live(node, options));
    await checkOnce(service, lives, intents);
  }
  t.diagnostic(`killed ${killed} times`);
  assert.ok(killed >= RUNS / 2);
});

test("a package whose module is missing says so, and not that its scripts are", async (t) => {
  const folder = await temporary(t);
  await cp(failPointsFolder(), folder, { recursive: true, filter: (file) => !file.endsWith(".wasm") });
  const { createHoldfast } = await import(pathToFileURL(join(folder, "node.js")));
  const storage = new Sqlite(":memory:");
  t.after(() => storage.close());
  const holdfast = createHoldfast({ storage, account: () => "ann", services: { reports: { profile: "runharvester", baseUrl: "http://127.0.0.1:9" } } });
  t.after(() => holdfast.close());
  await assert.rejects(holdfast.list(), { name: "HoldfastError", code: "WASM_BLOCKED", message: /module could not be loaded: Error: ENOENT.*holdfast\.wasm/ });
});

test("what one account submits is not stored for another who comes before the module's next turn", async (t) => {
  const { createHoldfast } = await import(pathToFileURL(join(failPointsFolder(), "node.js")));
  const storage = new Sqlite(":memory:");
  t.after(() => storage.close());
  let who = "ada";
  // With the first look in the turn in which the module is called, grace comes right after it.
  let looks = Infinity;
  const account = () => {
    if ((looks -= 1) === 0) queueMicrotask(() => (who = "grace"));
    return who;
  };
  const holdfast = createHoldfast({ storage, account, services: { reports: { profile: "runharvester", baseUrl: "http://127.0.0.1:9" } } });
  t.after(() => holdfast.close());
  await holdfast.list();
  looks = 2;
  await assert.rejects(holdfast.submit("reports", { intent: "one", body: {} }), { code: "NO_ACCOUNT", message: /nothing was sent/i });
  for (who of ["ada", "grace"]) assert.deepEqual((await holdfast.list()).operations, []);
});
