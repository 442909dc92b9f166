// Waiting for an operation, and what comes of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage, options, settle, state } from "./package.js";

/** A client with one submitted operation; `tell` is the module's stream of changes. */
async function submitted(t, more, service) {
  const loaded = await loadPackage(t);
  const { createHoldfast, world } = loaded;
  let newest = state();
  world.script.submit = () => state();
  world.script.load = () => newest;
  const holdfast = createHoldfast(options(more, service));
  t.after(() => holdfast.close());
  const operation = await holdfast.submit("reports", { intent: "one", body: {} });
  const tell = (change, entries = []) => {
    newest = state(change);
    world.clients.at(-1).host.notify(newest, JSON.stringify(entries), "local");
  };
  return { ...loaded, holdfast, operation, tell };
}

const kept = (world, text, mediaType = "application/json") => {
  const bytes = new TextEncoder().encode(text);
  world.script.chunk = (client, id, index) => [bytes.slice(0, 2), bytes.slice(2)][index];
  return { status: "succeeded", revision: 9,
    result: { bytes: bytes.length, sha256: "", mediaType, capturedAt: 5, replayed: true } };
};

test("there is one object for an operation, and one state as long as nothing changes", async (t) => {
  const { holdfast, operation, tell } = await submitted(t);
  const before = operation.state;
  assert.equal(await holdfast.submit("reports", { intent: "one", body: {} }), operation);
  assert.equal(operation.state, before);
  assert.ok(Object.isFrozen(before) && Object.isFrozen(before.ledger));
  tell({ revision: 3, status: "active" });
  tell({ revision: 2, status: "submitting" });
  await settle();
  assert.equal(operation.status, "active");
});

test("a snapshot is identical between changes, and a listener hears of each turn once", async (t) => {
  const { holdfast, tell } = await submitted(t);
  await settle();
  let heard = 0;
  const leave = holdfast.subscribe(() => heard++);
  const before = holdfast.getSnapshot();
  assert.equal(holdfast.getSnapshot(), before);
  tell({ revision: 2 });
  tell({ revision: 3 });
  await settle();
  assert.equal(heard, 1);
  assert.notEqual(holdfast.getSnapshot(), before);
  leave();
  tell({ revision: 4 });
  await settle();
  assert.equal(heard, 1);
});

test("without a network what is not over says so, and no longer when it is back", async (t) => {
  const page = new EventTarget();
  globalThis.addEventListener = page.addEventListener.bind(page);
  const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  const network = (onLine) => {
    Object.defineProperty(globalThis, "navigator", { value: { onLine }, configurable: true });
    page.dispatchEvent(new Event(onLine ? "online" : "offline"));
  };
  t.after(() => {
    delete globalThis.addEventListener;
    delete globalThis.navigator;
    if (before) Object.defineProperty(globalThis, "navigator", before);
  });
  const { holdfast, operation, tell } = await submitted(t);
  const updates = operation.updates();
  assert.equal((await updates.next()).value.offline, undefined);
  network(false);
  assert.equal((await updates.next()).value.offline, true);
  assert.equal(operation.offline, true);
  const shown = holdfast.getSnapshot();
  network(false);
  assert.equal(holdfast.getSnapshot(), shown, "nothing has changed");
  network(true);
  assert.equal((await updates.next()).value.offline, undefined);
  network(false);
  tell({ status: "cancelled", endedAt: 9, revision: 2 });
  await settle();
  assert.equal(operation.offline, undefined, "what is over needs no network");
});

test("another account's work is not in the snapshot", async (t) => {
  let account = "ann";
  const { holdfast } = await submitted(t, { account: () => account });
  assert.equal(holdfast.getSnapshot().length, 1);
  account = "bob";
  assert.equal(holdfast.getSnapshot().length, 0);
  account = "ann";
  assert.equal(holdfast.getSnapshot().length, 1);
});

test("a result is put together from its pieces and parsed", async (t) => {
  const { world, operation, tell } = await submitted(t);
  const wait = operation.result();
  tell(kept(world, '{"rows":3}'));
  assert.deepEqual(await wait, { rows: 3 });
  const outcome = await operation.outcome();
  assert.deepEqual([outcome.status, outcome.replayed, outcome.capturedAt], ["succeeded", true, 5]);
  const blob = await operation.blob();
  assert.deepEqual([blob.type, await blob.text()], ["application/json", '{"rows":3}']);
  assert.equal(await new Response(await operation.stream()).text(), '{"rows":3}');
});

test("what is not JSON comes as text or bytes", async (t) => {
  for (const [type, text, value] of [
    ["text/csv", "a,b", "a,b"],
    ["application/json", "<html>", new TextEncoder().encode("<html>")],
    ["image/png", "png", new TextEncoder().encode("png")],
  ]) {
    const { world, operation, tell } = await submitted(t);
    tell(kept(world, text, type));
    assert.deepEqual(await operation.result(), value);
  }
});

test("a schema's output is the result, and its issues are what is wrong", async (t) => {
  const validate = (value) =>
    value.rows ? { value: { count: value.rows } } : { issues: [{ message: "no rows" }, { message: "sad" }] };
  const result = { "~standard": { version: 1, vendor: "test", validate } };
  const { world, operation, tell } = await submitted(t, {}, { result });
  const { host } = world.clients[0];
  const bytes = (text) => new TextEncoder().encode(text);
  assert.equal(await host.validate("reports", "{}", bytes('{"rows":1}')), null);
  assert.equal(await host.validate("reports", "{}", bytes("{}")), "no rows; sad");
  assert.match(await host.validate("reports", "{}", bytes("<html>")), /JSON/);
  tell(kept(world, '{"rows":3}'));
  assert.deepEqual(await operation.result(), { count: 3 });
});

test("a kept result that reads back short is an error, not data", async (t) => {
  const { world, operation, tell } = await submitted(t);
  const change = kept(world, "[1,2]");
  world.script.chunk = (client, id, index) => (index ? undefined : new Uint8Array([91, 93]));
  tell(change);
  await assert.rejects(operation.result(), { code: "STORAGE_UNAVAILABLE" });
});

test("every ending but success has its code, and outcome never throws for it", async (t) => {
  const failure = { id: "f-1", class: "transient", code: "TIMEOUT", message: "It timed out." };
  for (const [status, code, more] of [
    ["rejected", "REJECTED", { fault: { httpStatus: 422, code: "BAD_URL", message: "No such host" } }],
    ["failed", "JOB_FAILED", { failure }],
    ["cancelled", "CANCELLED"], ["expired", "RESULT_EXPIRED"],
    ["incomplete", "RESULT_INCOMPLETE"], ["abandoned", "ABANDONED"],
  ]) {
    const { operation, tell } = await submitted(t);
    tell({ revision: 2, status, ...more });
    const outcome = await operation.outcome();
    assert.deepEqual([outcome.status, outcome.error.code, outcome.error.stage], [status, code, status]);
    assert.ok(outcome.error.message.endsWith(outcome.error.nextStep));
    await assert.rejects(operation.result(), { code, operationId: "op-1" });
    if (status === "failed") assert.equal(outcome.error.failure.id, "f-1");
    if (status === "rejected") assert.match(outcome.error.message, /No such host \(BAD_URL, HTTP 422\)/);
  }
});

test("a park names its reason and its ways out", async (t) => {
  for (const [reason, code] of [
    ["NeedsCredit", "PARKED"], ["VersionMoved", "PARKED"], ["JobNotFound", "JOB_NOT_FOUND"], ["KeyConflict", "KEY_CONFLICT"],
  ]) {
    const { operation, tell } = await submitted(t);
    tell({ revision: 2, status: "parked", parked: { reason, since: 1, exits: ["resume()"] } });
    const outcome = await operation.outcome();
    assert.deepEqual([outcome.status, outcome.reason, outcome.exits], ["parked", reason, ["resume()"]]);
    await assert.rejects(operation.result(), { code, reason, exits: ["resume()"] });
    assert.match(outcome.error.message, /call resume\(\)\.$/);
  }
});

test("the error of a park or an ending carries the job's id, the attempts and the cost", async (t) => {
  const receipt = { operationId: "op-1", key: "key-1", jobId: "9223372036854775807" };
  const ledger = { cost: "5", open: false };
  const parked = { reason: "JobNotFound", since: 1, exits: ["resume()"] };
  for (const more of [{ status: "parked", parked }, { status: "failed", endedAt: 2 }]) {
    const { operation, tell } = await submitted(t);
    tell({ revision: 2, attempts: 3, receipt, ledger, ...more });
    const { error } = await operation.outcome();
    assert.deepEqual([error.receipt, error.ledger, error.attempts], [receipt, ledger, 3]);
  }
});

test("a park that another tab has ended is not told as the outcome", async (t) => {
  const { world, operation, tell } = await submitted(t);
  tell({ revision: 2, status: "parked", parked: { reason: "NeedsCredit", since: 1, exits: [] } });
  await settle();
  const done = kept(world, "1");
  world.script.load = () => state(done);
  assert.equal((await operation.outcome()).status, "succeeded");
});

test("a wait that is given up rejects with the signal's reason and leaves nothing behind", async (t) => {
  const { operation } = await submitted(t);
  const controller = new AbortController();
  const removed = [];
  const { signal } = controller;
  const remove = signal.removeEventListener.bind(signal);
  signal.removeEventListener = (...args) => (removed.push(args[0]), remove(...args));
  const waits = [operation.result({ signal }), operation.outcome({ signal }), operation.blob({ signal }), operation.stream({ signal })];
  await settle();
  const reason = new Error("enough");
  controller.abort(reason);
  for (const wait of waits) await assert.rejects(wait, reason);
  assert.equal(removed.length, 4);
  await assert.rejects(operation.result({ signal }), reason);
});

test("updates begin with the present state, skip for a slow reader, and end with the ending", async (t) => {
  const { operation, tell } = await submitted(t);
  const seen = [];
  for await (const { status, revision } of operation.updates()) {
    seen.push([status, revision]);
    if (revision === 1) {
      tell({ revision: 2, status: "submitting" });
      tell({ revision: 3, status: "parked", parked: { reason: "NeedsCredit", since: 1, exits: [] } });
      await settle();
    } else if (revision === 3) {
      setImmediate(tell, { revision: 4, status: "cancelled" });
    }
  }
  assert.deepEqual(seen, [["queued", 1], ["parked", 3], ["cancelled", 4]]);
});

test("an iterator that is left while it waits is over at once", async (t) => {
  const { operation } = await submitted(t);
  const updates = operation.updates();
  await updates.next();
  const waiting = updates.next();
  await settle();
  await updates.return();
  assert.deepEqual(await waiting, { done: true, value: undefined });
  assert.deepEqual(await updates.next(), { done: true, value: undefined });
});

test("closing ends the waits, and every later call", async (t) => {
  const { holdfast, operation } = await submitted(t);
  const wait = operation.result();
  await settle();
  await holdfast.close();
  await assert.rejects(wait, { code: "NOT_ALLOWED" });
  await assert.rejects(holdfast.list(), { code: "NOT_ALLOWED" });
  await assert.rejects(operation.cancel(), { code: "NOT_ALLOWED" });
});

test("commands go to the module as JSON, and a wrong one goes nowhere", async (t) => {
  const { world, operation } = await submitted(t);
  const sent = [];
  world.script.command = (client, id, json) => (sent.push(JSON.parse(json)), state({ revision: 2 }));
  await operation.cancel();
  await operation.resume({ limits: { attempts: 4 }, acceptRisk: "duplicate" });
  await operation.resolve({ found: "job-1" });
  await operation.resolve("abandon");
  await operation.retry({ reviewed: "f-1" });
  assert.equal(await operation.acknowledge(), operation);
  assert.deepEqual(sent, [
    { cancel: {} },
    { resume: { limits: { attempts: 4 }, acceptRisk: "duplicate" } },
    { resolve: { found: "job-1" } },
    { resolve: "abandon" },
    { retry: { reviewed: "f-1", anyway: false } },
    { acknowledge: {} },
  ]);
  for (const wrong of [
    () => operation.resume({ risk: 1 }), () => operation.resume({ acceptRisk: "all" }),
    () => operation.resume({ limits: { cost: NaN } }), () => operation.resolve("lost"),
    () => operation.retry(), () => operation.retry({}),
  ]) {
    await assert.rejects(wrong(), { code: "INVALID_INPUT" });
  }
  assert.equal(sent.length, 6);
});
