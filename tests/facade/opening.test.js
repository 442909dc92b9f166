// How the store's database is opened where the browser takes its time, with the browser played.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage, settle } from "./package.js";

/** A database whose requests to open are answered by the test. */
async function played(t) {
  const requests = [];
  const open = () => (requests.push({}), requests.at(-1));
  globalThis.indexedDB = { open };
  t.after(() => delete globalThis.indexedDB);
  const { Database } = await loadPackage(t, "idb-database.js");
  const database = { objectStoreNames: { contains: () => true }, closed: 0, close: () => (database.closed += 1) };
  const succeed = (request) => Object.assign(request, { result: database }).onsuccess();
  const fail = (request, name) => Object.assign(request, { error: new DOMException("by the test", name) }).onerror();
  return { opening: new Database("holdfast").open(), requests, database, succeed, fail };
}

test("a database that takes 15 seconds to open is waited for", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { opening, requests, database, succeed } = await played(t);
  for (let second = 0; second < 15; second++) t.mock.timers.tick(1000);
  succeed(requests[0]);
  assert.equal(await opening, database);
  assert.equal(requests.length, 1);
});

test("one that never answers is given up after 20 seconds, and closed where it opens all the same", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { opening, requests, database, succeed } = await played(t);
  const refused = assert.rejects(opening, (why) => why === "timeout");
  for (let second = 0; second < 20; second++) t.mock.timers.tick(1000);
  await refused;
  succeed(requests[0]);
  assert.equal(database.closed, 1);
});

test("a sleep of the machine while a database opens is not taken for its silence", async (t) => {
  const timers = [];
  t.mock.method(globalThis, "setTimeout", (callback) => timers.push(callback));
  const { opening, requests, database, succeed } = await played(t);
  // Awake, the page hears of the time that is over before it hears of anything else.
  timers[0]();
  succeed(requests[0]);
  assert.equal(await opening, database);
});

test("a request that the browser lost is made once more, after a second", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { opening, requests, database, succeed, fail } = await played(t);
  fail(requests[0], "UnknownError");
  await settle();
  assert.equal(requests.length, 1);
  t.mock.timers.tick(1000);
  await settle();
  succeed(requests[1]);
  assert.equal(await opening, database);
});

test("a database that is lost again, or refused, is told so", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (const names of [["UnknownError", "UnknownError"], ["SecurityError"]]) {
    const { opening, requests, fail } = await played(t);
    const refused = assert.rejects(opening, { name: names[0] });
    for (const [at, name] of names.entries()) {
      fail(requests[at], name);
      await settle();
      t.mock.timers.tick(1000);
      await settle();
    }
    await refused;
    assert.equal(requests.length, names.length);
  }
});
