// What objects share, in a real workerd: requests that no key tells apart, ids of jobs, and a stated rate.
import assert from "node:assert/strict";
import test from "node:test";
import { failPointsFolder } from "../browser/harness/environment.mjs";
import { freePort } from "./free-port.mjs";
import { quickListing, quickProfile } from "./quick-profile.mjs";
import { ask, settled as settledIn, stage } from "./stage.mjs";

/** How long a life may take to its end, in milliseconds. */
const LIFE_MS = 150_000;

/** So many requests of the service, in any stretch of so many milliseconds. */
const RATE = { requests: 4, perMs: 1000 };

const body = { url: "https://example.com", duration_ms: 300 };

/** A listing that tells nothing of whose a run is but its request, and lags a second after a submission is over. */
function crawls(pkg) {
  const profile = quickListing(pkg, { timeoutMs: 2000, lagMs: 1000 });
  const { echo, sendEcho, ...reconcile } = profile.reconcile;
  return { ...profile, reconcile: { ...reconcile, same: { "/url": "/url" } } };
}

/** A service, and objects that call it; under miniflare, or plainly in workerd. */
async function world(t) {
  const { service, token, start } = await stage(t);
  const pkg = failPointsFolder();
  const port = await freePort();
  const profiles = { CRAWLS: crawls(pkg), RATED: { ...quickProfile(pkg), rate: RATE } };
  const startAs = (plain = false, more = {}) =>
    start({
      ...(plain && { plain, port }),
      worker: "shared.js",
      objects: { JOBS: "Jobs", UNBOUND: "Unbound" },
      bindings: { ...profiles, ORIGIN: service.origin, TOKEN: token, ...more },
    });
  return { service, grid: service.at("/bulkgrid"), start: startAs };
}

/** What was settled, once every intent is. */
const settled = (edges, intents) => settledIn(edges, intents, LIFE_MS / 2);

test("the same request of two callers, whose answers are lost, is handed over one after the other", { timeout: LIFE_MS }, async (t) => {
  const { grid, start } = await world(t);
  const edge = await start();
  await grid.faults([{ call: "submit", fault: "lostAfter", times: 2 }]);
  const callers = ["ann", "bob"];
  await Promise.all(callers.map((caller) => ask(edge, "submit", { caller, service: "crawls", intent: `of ${caller}`, body })));
  const over = await settled([edge], callers.map((caller) => `of ${caller}`));
  assert.deepEqual(over.map(({ status }) => status), ["succeeded", "succeeded"]);
  assert.notEqual(over[0].jobId, over[1].jobId);
  assert.deepEqual([(await grid.ledger()).executions, (await grid.ledger()).charges], [2, 2]);
  // What was lost of the first was found before the second left.
  const calls = (await grid.requests()).map(({ call }) => call).filter((call) => call === "submit" || call === "list");
  assert.ok(calls.indexOf("list") < calls.lastIndexOf("submit"), calls.join());
});

test("a request that waits behind one of an object that was killed goes on when that is settled", { timeout: LIFE_MS }, async (t) => {
  const { grid, start } = await world(t);
  const first = await start(true);
  await grid.hold("submit");
  await ask(first, "submit", { caller: "ann", service: "crawls", intent: "of ann", body });
  await grid.held();
  await ask(first, "submit", { caller: "bob", service: "crawls", intent: "of bob", body });
  await first.kill();
  await grid.release();
  const second = await start(true);
  const over = await settled([first, second], ["of ann", "of bob"]);
  assert.deepEqual(over.map(({ status }) => status), ["succeeded", "succeeded"]);
  assert.equal((await grid.ledger()).executions, 2);
});

test("a job belongs to one operation over all objects, until that is forgotten", { timeout: LIFE_MS }, async (t) => {
  const { start } = await world(t);
  const edge = await start();
  await ask(edge, "submit", { caller: "ann", service: "crawls", intent: "of ann", body });
  const [{ jobId }] = await settled([edge], ["of ann"]);
  const adopted = (intent) => ask(edge, "adopt", { caller: "bob", service: "crawls", intent, jobId });
  const { code, message } = (await adopted("of bob")).error ?? {};
  assert.deepEqual([code, /another intent's operation/.test(message)], ["KEY_CONFLICT", true], message);
  await ask(edge, "forget", { caller: "ann", service: "crawls", intent: "of ann" });
  assert.equal((await adopted("of bob")).jobId, jobId);
  assert.equal((await adopted("of bob again")).error?.code, "KEY_CONFLICT");
});

test("a stated rate is kept over all objects", { timeout: LIFE_MS }, async (t) => {
  const { service, start } = await world(t);
  const edge = await start();
  const intents = Array.from({ length: 5 }, (_, own) => `report ${own}`);
  await Promise.all(intents.map((intent) => ask(edge, "submit", { caller: "ann", service: "reports", intent, body })));
  await settled([edge], intents);
  const times = (await service.requests()).map(({ time_ms }) => time_ms).sort((one, other) => one - other);
  assert.ok(times.length >= 3 * intents.length, `${times.length} requests`);
  const most = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + RATE.perMs).length));
  assert.ok(most <= RATE.requests, `${most} requests in ${RATE.perMs} ms`);
});

test("where the class is not bound in its Worker, work that needs it is refused before anything is stored", { timeout: LIFE_MS }, async (t) => {
  const { grid, service, start } = await world(t);
  const edge = await start();
  for (const name of ["crawls", "reports"]) {
    const given = { binding: "UNBOUND", caller: "ann", service: name, intent: "one" };
    const { error } = await ask(edge, "submit", { ...given, body });
    assert.deepEqual([name, error?.code], [name, "INVALID_INPUT"]);
    assert.match(error.message, /durable_objects\.bindings/);
    assert.equal((await ask(edge, "adopt", { ...given, jobId: "job-1" })).error?.code, "INVALID_INPUT");
    assert.equal(await ask(edge, "find", given), null);
  }
  assert.deepEqual([...(await grid.requests()), ...(await service.requests())], []);
});

test("what was submitted or adopted while the class was bound is found by its intent when it is no more", { timeout: LIFE_MS }, async (t) => {
  const { service, start } = await world(t);
  const first = await start(false, { BOUND: true });
  const asked = (edge, what, intent, more) => ask(edge, what, { binding: "UNBOUND", caller: "ann", service: "reports", intent, ...more });
  const submitted = await asked(first, "submit", "one", { body });
  const { jobId } = (await settled([first], ["one"]))[0];
  await asked(first, "forget", "one");
  const adopted = await asked(first, "adopt", "two", { jobId });
  const kept = await asked(first, "submit", "three", { body });
  await settled([first], ["three"]);
  assert.ok(submitted.id && adopted.id && kept.id, JSON.stringify([submitted, adopted, kept]));
  await first.kill();
  const second = await start();
  assert.equal((await asked(second, "submit", "three", { body })).id, kept.id);
  assert.equal((await asked(second, "adopt", "two", { jobId })).id, adopted.id);
  const other = { ...body, duration_ms: 1 };
  assert.equal((await asked(second, "submit", "three", { body: other })).error?.code, "INTENT_CONFLICT");
  for (const intent of ["one", "four"]) assert.equal((await asked(second, "submit", intent, { body })).error?.code, "INVALID_INPUT");
  assert.equal((await service.ledger()).executions, 2);
});
