// From a page to a relay to a service, and what a relay refuses. A server's client is the page here: what
// it speaks is the same.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { failPointsFolder } from "../browser/harness/environment.mjs";
import { until } from "../browser/harness/until.mjs";
import { fetch } from "./fetch.mjs";
import { live } from "./life.mjs";
import { body, callerOf, world } from "./relay-world.mjs";

/** How long a life may take to its end, in milliseconds. */
const LIFE_MS = 90_000;
/** How often page and edge are killed in one run. */
const DEATHS = 3;

const Sqlite = createRequire(import.meta.url)("better-sqlite3");
const { createHoldfast } = await import(pathToFileURL(join(failPointsFolder(), "node.js")));

/** A page of a caller. */
function page(t, relay, caller, services = ["reports"]) {
  const authorize = () => ({ headers: { "x-caller": caller }, scope: caller });
  const holdfast = createHoldfast({
    storage: new Sqlite(":memory:"),
    account: () => caller,
    services: Object.fromEntries(services.map((name) => [name, { relay, authorize }])),
  });
  t.after(() => holdfast.close());
  return holdfast;
}

test("a page's work comes to its result through a relay, and the page has no secret", { timeout: LIFE_MS }, async (t) => {
  const { service, token, start, relay } = await world(t);
  await start();
  const holdfast = page(t, relay, "ann");
  const operation = await holdfast.submit("reports", { intent: "one", body });
  const result = await operation.result();
  assert.ok(JSON.stringify(result).length > 20_000);
  assert.ok(!JSON.stringify([operation, await operation.journal(), result]).includes(token));
  const { executions, charges, unauthorized } = await service.ledger();
  assert.deepEqual({ executions, charges, unauthorized }, { executions: 1, charges: 1, unauthorized: 0 });
});

test("a service without idempotency, to be called from servers only, serves pages by a relay", { timeout: LIFE_MS }, async (t) => {
  const { service, start, relay } = await world(t);
  await start();
  const holdfast = page(t, relay, "ann", ["crawls"]);
  const operation = await holdfast.submit("crawls", { intent: "one", body: { url: "https://example.com", duration_ms: 400 } });
  const outcome = await operation.outcome({ signal: AbortSignal.timeout(60_000) });
  assert.equal(outcome.status, "succeeded", String(outcome.error));
  assert.ok(outcome.data.results.length > 0);
  assert.equal((await service.at("/bulkgrid").ledger()).executions, 1);
});

test("page and edge killed and answers lost in one run: one execution", { timeout: 3 * LIFE_MS }, async (t) => {
  const { service, folder, start, relay } = await world(t);
  const intents = ["one", "two"].map((name) => `${name} ${randomUUID()}`);
  const options = { folder: failPointsFolder(), storage: join(folder, "page.db"), relay, token: "ann", intents };
  let edge = await start();
  await service.faults([{ call: "submit", fault: "lostAfter", times: 1 }]);
  const lives = [];
  for (let death = 0; death < DEATHS; death++) {
    const dying = live(process.execPath, options, 600 + Math.random() * 800);
    await new Promise((resolve) => setTimeout(resolve, 400 + Math.random() * 800));
    await edge.kill();
    lives.push(await dying);
    edge = await start();
  }
  const last = await live(process.execPath, options);
  assert.ok(last.overs, last.said);
  assert.deepEqual(last.overs.map(({ status }) => status), ["succeeded", "succeeded"]);
  const { executions, charges, key_mismatches } = await service.ledger();
  assert.deepEqual({ executions, charges, key_mismatches }, { executions: 2, charges: 2, key_mismatches: 0 });
  const ids = new Set(last.overs.map(({ id }) => id));
  for (const { id } of lives.flatMap(({ acknowledged }) => acknowledged)) assert.ok(ids.has(id));
});

test("states come as events, from the last one that was heard, and none names the service's address", { timeout: LIFE_MS }, async (t) => {
  const { service, start, relay } = await world(t);
  await start();
  const operation = await page(t, relay, "ann").submit("reports", { intent: "one", body });
  await until(() => operation.jobId, "A job's id");
  const at = `${relay}/reports/${operation.jobId}`;
  const headers = { "x-caller": "ann" };
  const events = await (await fetch(`${at}/events`, { headers })).text();
  const states = [...events.matchAll(/^id: (\d+)\nevent: state\ndata: (.*)$/gm)].map(([, id, data]) => ({ ...JSON.parse(data), event: Number(id) }));
  assert.equal(states.at(-1).status, "succeeded");
  const told = await (await fetch(at, { headers })).text();
  const listed = await (await fetch(`${relay}/reports?cursor=${parseInt(operation.jobId, 16)}.`, { headers })).text();
  const journal = await (await fetch(`${at}/journal`, { headers })).text();
  for (const text of [events, told, listed, journal]) assert.ok(!text.includes(new URL(service.origin).host), text);
  const all = [...states, JSON.parse(told), ...JSON.parse(listed).operations];
  assert.ok(all.length >= states.length + 2, listed);
  for (const state of all) assert.ok(!("origin" in state));
  const part = await fetch(`${at}/result`, { headers: { ...headers, range: "bytes=10-19" } });
  const whole = await fetch(`${at}/result`, { headers });
  const [bytes, kept] = [Buffer.from(await part.arrayBuffer()), Buffer.from(await whole.arrayBuffer())];
  assert.deepEqual([part.status, bytes], [206, kept.subarray(10, 20)]);
  assert.equal(part.headers.get("content-range"), `bytes 10-19/${kept.length}`);
  assert.equal(part.headers.get("content-type"), whole.headers.get("content-type"));
  const rest = await fetch(`${at}/result`, { headers: { ...headers, range: `bytes=${kept.length - 5}-` } });
  assert.deepEqual(Buffer.from(await rest.arrayBuffer()), kept.subarray(-5));
  const beyond = await fetch(`${at}/result`, { headers: { ...headers, range: `bytes=${kept.length}-` } });
  assert.equal(beyond.status, 416);
  assert.equal(part.headers.get("cache-control"), "private, no-store");
});

test("what is not allowed is refused, each with a typed error", { timeout: LIFE_MS }, async (t) => {
  const { service, start, relay } = await world(t);
  await start();
  const ann = { "x-caller": "ann" };
  const key = { "idempotency-key": "key-1", "content-type": "application/json" };
  const post = (headers, own = "{}") => ({ method: "POST", headers, body: own });
  const submitted = await fetch(`${relay}/reports`, post({ ...ann, ...key }, JSON.stringify(body)));
  assert.equal(submitted.status, 202);
  const { id } = await submitted.json();
  const own = `/reports/${id}`;
  const again = await (await fetch(`${relay}/reports`, post({ ...ann, ...key }, JSON.stringify(body)))).json();
  assert.equal(again.id, id, "the same key is the same operation");
  const refusals = [
    ["/reports", post(key), 403, "FORBIDDEN"],
    ["/reports", post({ ...key, "x-caller": "throws" }), 403, "FORBIDDEN"],
    ["/reports", post({ ...ann, ...key, "sec-fetch-site": "cross-site" }), 403, "FORBIDDEN"],
    [own, { headers: {} }, 403, "FORBIDDEN"],
    [own, { headers: { "x-caller": "bob" } }, 404, "NOT_FOUND"],
    [`${own}/result`, { headers: { "x-caller": "bob" } }, 404, "NOT_FOUND"],
    [`${own}/cancel`, post({ "x-caller": "bob" }), 404, "NOT_FOUND"],
    [own, { method: "DELETE", headers: { "x-caller": "bob" } }, 404, "NOT_FOUND"],
    [`/crawls/${id}`, { headers: ann }, 404, "NOT_FOUND"],
    [`/reports/fff.${id.slice(4)}`, { headers: ann }, 404, "NOT_FOUND"],
    ["/reports/000.' OR 1=1", { headers: ann }, 404, "NOT_FOUND"],
    ["/reports/../../secrets", { headers: ann }, 404, "NOT_FOUND"],
    ["/reports%2f..%2fcrawls", post({ ...ann, ...key }), 404, "NOT_FOUND"],
    ["/https:%2f%2fevil.example", post({ ...ann, ...key }), 404, "NOT_FOUND"],
    ["/unheard-of", post({ ...ann, ...key }), 404, "UNKNOWN_SERVICE"],
    ["/reports", post(ann), 400, "INVALID_INPUT"],
    ["/reports", post({ ...ann, "idempotency-key": "a b" }), 400, "INVALID_INPUT"],
    ["/reports", post({ ...ann, "idempotency-key": "k".repeat(256) }), 400, "INVALID_INPUT"],
    [`${own}/resume`, post(ann, "{"), 400, "INVALID_INPUT"],
    ["/reports", post({ ...ann, ...key }, JSON.stringify({ ...body, other: 1 })), 422, "INTENT_CONFLICT"],
    ["/reports", post({ ...ann, "idempotency-key": "key-2" }, "x".repeat(100_001)), 413, "TOO_LARGE"],
    [`${own}/resume`, post({ ...ann, "x-staff": "yes" }, '{"limits":{"attempts":0}}'), 400, "INVALID_INPUT"],
    [`${own}/resume`, post(ann, '{"baseUrl":"https://evil.example"}'), 400, "INVALID_INPUT"],
    [`${own}/revise`, post(ann, '{"body":{}}'), 409, "NOT_ALLOWED"],
    ["/reports", post({ ...ann, "idempotency-key": "k%0d%0ax-smuggled:1" }), 400, "INVALID_INPUT"],
    ["/reports", post({ ...ann, ...key, "content-type": "application/json x-smuggled: 1" }), 400, "INVALID_INPUT"],
    [`/reports?baseUrl=https://evil.example`, post({ ...ann, ...key }, JSON.stringify(body)), 400, "INVALID_INPUT"],
    [`/reports?profile={}`, { headers: ann }, 400, "INVALID_INPUT"],
    ["/reports?limit=201", { headers: ann }, 400, "INVALID_INPUT"],
    ["/reports?cursor=4096.", { headers: ann }, 400, "INVALID_INPUT"],
    ["/reports", { headers: {} }, 403, "FORBIDDEN"],
    [`${own}/result`, { headers: { "x-caller": "bob", "if-none-match": "*", range: "bytes=0-1" } }, 404, "NOT_FOUND"],
    [`${own}/forget`, post(ann), 405, "METHOD_NOT_ALLOWED"],
    [`${own}/constructor`, post(ann), 405, "METHOD_NOT_ALLOWED"],
    [own, { method: "PUT", headers: ann, body: "{}" }, 405, "METHOD_NOT_ALLOWED"],
  ];
  for (const [path, init, status, code] of refusals) {
    const answer = await fetch(relay + path, init);
    const told = await answer.json().catch(() => ({}));
    assert.deepEqual([path, answer.status, told.error?.code], [path, status, code]);
    assert.equal(answer.headers.get("cache-control"), "private, no-store");
  }
  assert.equal((await service.ledger()).executions, 1);
});

test("a caller lists its own operations of a service, object by object", { timeout: LIFE_MS }, async (t) => {
  const { start, relay } = await world(t);
  await start();
  const headers = { "x-caller": "ann", "idempotency-key": "one", "content-type": "application/json" };
  const { id } = await (await fetch(`${relay}/reports`, { method: "POST", headers, body: JSON.stringify(body) })).json();
  const list = async (caller, query) => (await fetch(`${relay}/reports?${query}`, { headers: { "x-caller": caller } })).json();
  // Its object is read first; where that is full, the cursor stays at it or leads to the next.
  const shard = parseInt(id, 16);
  const { operations, cursor } = await list("ann", `limit=1&cursor=${shard}.`);
  assert.deepEqual(operations.map((own) => [own.id, own.key, own.service]), [[id, "one", "reports"]]);
  assert.ok(cursor === undefined || parseInt(cursor) >= shard, cursor);
  assert.deepEqual((await list("bob", `cursor=${shard}.`)).operations, []);
  assert.deepEqual((await list("ann", `status=parked&cursor=${shard}.`)).operations, []);
});

/** Hands work over as a caller does that knows the protocol. */
async function handOver(relay, caller, key) {
  const headers = { "x-caller": caller, "idempotency-key": key, "content-type": "application/json" };
  const answer = await fetch(`${relay}/reports`, { method: "POST", headers, body: JSON.stringify(body) });
  return { code: answer.status, after: Number(answer.headers.get("retry-after")), ...(await answer.json()) };
}

test("a caller has so many operations that are not over, and others are not hindered", { timeout: LIFE_MS }, async (t) => {
  const { service, start, relay } = await world(t);
  await start({ operations: 2 });
  await service.hold("poll");
  const [one] = [await handOver(relay, "ann", "one"), await handOver(relay, "ann", "two")];
  const three = await handOver(relay, "ann", "three");
  assert.deepEqual([three.code, three.error.code, three.after > 0], [429, "TOO_MANY", true]);
  // What is there already is no new work, and another caller has its own count.
  assert.equal((await handOver(relay, "ann", "one")).id, one.id);
  assert.equal((await handOver(relay, "bob", "one")).code, 202);
  await service.release();
  await until(async () => (await handOver(relay, "ann", "three")).code === 202, "Room for one more", LIFE_MS / 2);
});

test("a job that is run again counts like a new one, for each of which there is room once another is over", { timeout: LIFE_MS }, async (t) => {
  const { service, start, relay } = await world(t);
  await start({ operations: 1 });
  const ann = callerOf(relay, "ann");
  const failed = [];
  for (const key of ["one", "two"]) {
    const { id } = await ann.submit(key, { fail_times: 1, failure_class: "transient" });
    failed.push(await ann.when(id, ({ status, ledger }) => status === "failed" && !ledger.open));
  }
  await service.hold("poll");
  const again = ({ id, failure }) => ann.verb(id, "retry", { reviewed: failure.id });
  assert.deepEqual([(await again(failed[0])).code, (await again(failed[1])).error?.code], [200, "TOO_MANY"]);
  await service.release();
  await until(async () => (await again(failed[1])).code === 200, "Room for the other", LIFE_MS / 2);
  assert.equal((await service.ledger()).executions, 4);
});

test("a caller asks so often in a minute, and others are not hindered", { timeout: LIFE_MS }, async (t) => {
  const { start, relay } = await world(t);
  await start({ requestsPerMinute: 3 });
  const ask = (caller) => fetch(`${relay}/reports/000.none`, { headers: { "x-caller": caller } });
  const codes = [];
  for (let count = 0; count < 4; count++) codes.push((await ask("ann")).status);
  assert.deepEqual(codes, [404, 404, 404, 429]);
  const refused = await ask("ann");
  assert.deepEqual([(await refused.json()).error.code, Number(refused.headers.get("retry-after")) > 0], ["TOO_MANY", true]);
  assert.equal((await ask("bob")).status, 404);
});
