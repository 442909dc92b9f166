// What objects share, in a real workerd: requests that no key tells apart, ids of jobs, and a stated rate.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { failPointsFolder } from "../browser/harness/environment.mjs";
import { Loopback } from "../browser/harness/loopback.mjs";
import { until } from "../browser/harness/until.mjs";
import { Edge } from "./edge.mjs";
import { freePort } from "./free-port.mjs";
import { quickProfile } from "./quick-profile.mjs";

/** How long a life may take to its end, in milliseconds. */
const LIFE_MS = 150_000;

/** So many requests of the service, in any stretch of so many milliseconds. */
const RATE = { requests: 4, perMs: 1000 };

const body = { url: "https://example.com", duration_ms: 300 };

/** A listing that tells nothing of whose a run is but its request, and lags a second after a submission is over. */
function crawls(pkg) {
  const profile = JSON.parse(readFileSync(join(pkg, "profiles/bulkgrid.json"), "utf8"));
  const { echo, sendEcho, ...reconcile } = profile.reconcile;
  return {
    ...profile,
    calls: { ...profile.calls, submit: { ...profile.calls.submit, timeoutMs: 2000 } },
    poll: { firstMs: 300, factor: 1.2, capMs: 600 },
    retry: { firstMs: 300, factor: 2, capMs: 1000 },
    reconcile: { ...reconcile, same: { "/url": "/url" }, lagMs: 1000, skewMs: 1000 },
  };
}

async function world(t) {
  const token = `key-${randomUUID()}`;
  const folder = await mkdtemp(join(tmpdir(), "holdfast-shared-"));
  const service = await Loopback.start({}, { token });
  t.after(async () => {
    await service.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const pkg = failPointsFolder();
  const port = await freePort();
  const start = async (plain = false) => {
    const edge = await Edge.start({
      ...(plain && { plain, port }),
      package: pkg,
      worker: "shared.js",
      folder,
      objects: { JOBS: "Jobs", UNBOUND: "Unbound" },
      bindings: { CRAWLS: crawls(pkg), RATED: { ...quickProfile(pkg), rate: RATE }, ORIGIN: service.origin, TOKEN: token },
    });
    t.after(() => edge.kill());
    return edge;
  };
  return { service, grid: service.at("/bulkgrid"), start };
}

const ask = (edge, what, given) => edge.ask(`/${what}`, { method: "POST", body: JSON.stringify(given) });

/** What was settled, once every intent is. */
async function settled(edges, intents) {
  const all = () =>
    edges.flatMap(({ lines }) => lines.map((line) => /^settled (.*)/.exec(line)?.[1]).filter(Boolean).map((json) => JSON.parse(json)));
  const isOver = () => intents.every((intent) => all().some((own) => own.intent === intent));
  await until(isOver, "an ending of every intent", LIFE_MS / 2).catch((error) => {
    throw new Error(`${error.message}\n${edges.at(-1).lines.slice(-30).join("\n")}`);
  });
  return intents.map((intent) => all().find((own) => own.intent === intent));
}

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
  assert.equal((await adopted("of bob")).error?.code, "KEY_CONFLICT");
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
