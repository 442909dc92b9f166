// The verbs of the client and of an operation, as they go to the module.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage, options, settle, state } from "./package.js";

async function opened(t, more) {
  const loaded = await loadPackage(t);
  const holdfast = loaded.createHoldfast(options(more));
  t.after(() => holdfast.close());
  return { ...loaded, holdfast };
}

/** Refused before the module hears of it. */
const invalid = (wait, field) => assert.rejects(wait, { code: "INVALID_INPUT", field });

test("an adoption goes to the module, and a wrong one goes nowhere", async (t) => {
  const { world, holdfast } = await opened(t);
  const sent = [];
  world.script.adopt = (client, service, json) => (sent.push([service, JSON.parse(json)]), state());
  const operation = await holdfast.adopt("reports", { intent: "one", jobId: "job-1" });
  assert.equal(operation.id, "op-1");
  await invalid(holdfast.adopt("reports", undefined), "adoption");
  await invalid(holdfast.adopt("reports", { intent: "one" }), "jobId");
  await invalid(holdfast.adopt("reports", { intent: "", jobId: "job-1" }), "intent");
  await invalid(holdfast.adopt("reports", { intent: "a", jobId: "b", body: {} }), "adoption.body");
  await assert.rejects(holdfast.adopt("other", { intent: "a", jobId: "b" }), { code: "UNKNOWN_SERVICE" });
  assert.deepEqual(sent, [["reports", { intent: "one", jobId: "job-1" }]]);
});

test("a question for a price goes to the module with the bytes of the moment, and a wrong one goes nowhere", async (t) => {
  const { world, holdfast } = await opened(t);
  const sent = [];
  world.script.quote = (client, service, json, bytes) => {
    sent.push([service, JSON.parse(json), new TextDecoder().decode(bytes)]);
    return '{"quoted":"5","balance":"95"}';
  };
  const body = { url: "a" };
  const asked = holdfast.quote("reports", { body, params: { operation: "map" } });
  body.url = "b";
  assert.deepEqual(await asked, { quoted: "5", balance: "95" });
  await invalid(holdfast.quote("reports", undefined), "quote");
  await invalid(holdfast.quote("reports", {}), "body");
  await invalid(holdfast.quote("reports", { body: {}, intent: "one" }), "quote.intent");
  await assert.rejects(holdfast.quote("other", { body: {} }), { code: "UNKNOWN_SERVICE" });
  const params = { operation: "map" };
  assert.deepEqual(sent, [["reports", { contentType: "application/json", params }, '{"url":"a"}']]);
});

test("a resolution that there is none of is refused with those that there are", async (t) => {
  const { world, holdfast } = await opened(t);
  world.script.submit = () => state({ status: "parked" });
  world.script.command = () => assert.fail("nothing is sent");
  const operation = await holdfast.submit("reports", { intent: "one", body: {} });
  await assert.rejects(operation.resolve("abandoned"), { code: "INVALID_INPUT", message: /"not-executed", "abandon" or \{found\}/ });
  await invalid(operation.resolve(undefined), "resolve");
});

test("a rerun goes to the module with its limits, and a wrong one goes nowhere", async (t) => {
  const { world, holdfast } = await opened(t);
  const sent = [];
  world.script.submit = () => state({ status: "failed" });
  world.script.command = (client, id, json) => (sent.push(JSON.parse(json)), state({ ordinal: 1 }));
  const operation = await holdfast.submit("reports", { intent: "one", body: {} });
  await operation.retry({ reviewed: "f", limits: { cost: 20 } });
  await invalid(operation.retry({ reviewed: "f", limits: { cost: 0 } }), "limits.cost");
  await invalid(operation.retry({ reviewed: "f", attempts: 3 }), "retry.attempts");
  assert.deepEqual(sent, [{ retry: { reviewed: "f", anyway: false, limits: { cost: 20 } } }]);
});

test("a revision goes to the module with the bytes of the moment, and a wrong one goes nowhere", async (t) => {
  const { world, holdfast } = await opened(t);
  const sent = [];
  world.script.submit = () => state({ status: "rejected" });
  world.script.revise = (client, id, json, body) => {
    sent.push([id, JSON.parse(json), new TextDecoder().decode(body)]);
    return state({ id: "op-2", ordinal: 1, parentId: "op-1" });
  };
  const operation = await holdfast.submit("reports", { intent: "one", body: {} });
  const revised = await operation.revise({ body: { url: "b" }, limits: { attempts: 3 } });
  assert.deepEqual([revised.id, revised.parentId], ["op-2", "op-1"]);
  await invalid(operation.revise(), "revise");
  await invalid(operation.revise({}), "body");
  await invalid(operation.revise({ body: {}, key: "k" }), "revise.key");
  await invalid(operation.revise({ body: {}, limits: { attempts: 0 } }), "limits.attempts");
  assert.deepEqual(sent, [["op-1", { limits: { attempts: 3 } }, '{"url":"b"}']]);
});

test("a deletion is a command, and a deleted result is told so", async (t) => {
  const { world, holdfast } = await opened(t);
  const sent = [];
  let newest = state({ status: "succeeded" });
  world.script.submit = () => newest;
  world.script.load = () => newest;
  world.script.command = (client, id, json) => {
    sent.push([id, JSON.parse(json)]);
    return (newest = state({ status: "succeeded", revision: 2, deletion: { requestedAt: 5 } }));
  };
  const operation = await holdfast.submit("reports", { intent: "one", body: {} });
  await operation.delete();
  assert.deepEqual([operation.deletion, operation.deletedAt], [{ requestedAt: 5 }, undefined]);
  newest = state({ status: "succeeded", revision: 3, deletedAt: 7 });
  world.clients[0].host.notify(newest, "[]", "local");
  await settle();
  await assert.rejects(operation.result(), { code: "RESULT_EXPIRED" });
  const outcome = await operation.outcome();
  assert.deepEqual([outcome.status, outcome.error.code], ["expired", "RESULT_EXPIRED"]);
  assert.deepEqual([operation.status, operation.deletedAt], ["succeeded", 7]);
  assert.deepEqual(sent, [["op-1", { delete: {} }]]);
});

test("a result that goes while it is read is told as deleted, and not as damage", async (t) => {
  const { world, holdfast } = await opened(t);
  world.script.submit = () => state({ status: "succeeded", result: { bytes: 18, sha256: "", mediaType: "" } });
  const operation = await holdfast.submit("reports", { intent: "one", body: {} });
  world.script.load = () => state({ status: "succeeded", revision: 3, deletedAt: 7 });
  const { status, error } = await operation.outcome();
  assert.deepEqual([status, error.code], ["expired", "RESULT_EXPIRED"]);
  const deleted = { code: "RESULT_EXPIRED", message: /^The result was deleted here\./ };
  await assert.rejects(operation.result(), deleted);
  await assert.rejects(operation.blob(), deleted);
  world.script.load = () => undefined;
  await assert.rejects(operation.result(), { code: "NOT_ALLOWED", operationId: "op-1" });
});

test("what is forgotten is no longer shown", async (t) => {
  const { world, holdfast } = await opened(t);
  world.script.submit = () => state();
  world.script.forget = (client, service, intent) => (intent === "one" ? ["op-1"] : []);
  await holdfast.submit("reports", { intent: "one", body: {} });
  await holdfast.forget("reports", "other");
  assert.equal(holdfast.getSnapshot().length, 1);
  assert.equal(await holdfast.forget("reports", "one"), undefined);
  assert.deepEqual(holdfast.getSnapshot(), []);
  await invalid(holdfast.forget("reports", ""), "intent");
  await assert.rejects(holdfast.forget("other", "one"), { code: "UNKNOWN_SERVICE" });
});

test("a support report is the module's", async (t) => {
  const { world, holdfast } = await opened(t);
  world.script.submit = () => state();
  world.script.supportReport = (client, id) => JSON.stringify({ operationId: id, transitions: [] });
  const operation = await holdfast.submit("reports", { intent: "one", body: {} });
  assert.deepEqual(await operation.supportReport(), { operationId: "op-1", transitions: [] });
});

/** A client that is signed in, with these operations stored. */
async function signedIn(t, stored) {
  const all = await opened(t);
  const { world } = all;
  const yields = [];
  const states = Object.fromEntries(stored.map((own) => [own.id, { revision: 1, ...own }]));
  const told = (id) => state(states[id]);
  world.script.construct = (client) => (client.yield = () => yields.push(1));
  world.script.list = (client, json) => {
    const { status, cursor } = JSON.parse(json);
    const ids = Object.keys(states).filter((id) => status.includes(states[id].status ?? "queued"));
    const at = ids.indexOf(cursor) + 1;
    const operations = ids.slice(at, at + 1).map((id) => JSON.parse(told(id)));
    return JSON.stringify({ operations, ...(at + 1 < ids.length && { cursor: ids[at] }) });
  };
  world.script.load = (client, id) => told(id);
  world.script.command = (client, id, json) => {
    assert.deepEqual(JSON.parse(json), { cancel: {} });
    if (states[id].fixed) throw { code: "NOT_ALLOWED", message: "no", nextStep: "let it end" };
    states[id] = { ...states[id], revision: states[id].revision + 1, status: "cancelled" };
    return told(id);
  };
  return { ...all, yields };
}

const STORED = [
  { id: "op-1", status: "active" },
  { id: "op-2", status: "succeeded" },
  { id: "op-3", status: "parked", parked: { reason: "NeedsCredit", since: 1, exits: [] } },
  { id: "op-5", status: "reconciling" },
];

test("signing out keeps what is not over, gives the lanes back and forgets what was shown", async (t) => {
  const { world, holdfast, yields } = await signedIn(t, STORED);
  world.script.command = () => assert.fail("nothing is cancelled");
  const left = await holdfast.signOut({ unsettled: "keep" });
  assert.deepEqual(left.map(({ id }) => id), ["op-1", "op-3", "op-5"]);
  assert.equal(yields.length, 1);
  assert.deepEqual(holdfast.getSnapshot(), []);
});

test("signing out cancels what is not over, and tells what could not be stopped", async (t) => {
  const fixed = { id: "op-4", status: "active", fixed: true };
  const { holdfast, yields } = await signedIn(t, [...STORED, fixed]);
  const left = await holdfast.signOut({ unsettled: "cancel" });
  assert.deepEqual(left.map(({ id }) => id), ["op-4"]);
  assert.equal(yields.length, 1);
});

test("what becomes of unsettled work must be said, and nobody is signed out of nothing", async (t) => {
  let account = "ann";
  const { world, holdfast } = await opened(t, { account: () => account });
  await assert.rejects(holdfast.signOut(), { field: "unsettled", message: /"keep" or "cancel"/ });
  await invalid(holdfast.signOut({}), "unsettled");
  await invalid(holdfast.signOut({ unsettled: "drop" }), "unsettled");
  await invalid(holdfast.signOut({ unsettled: "keep", all: true }), "signOut.all");
  account = null;
  assert.deepEqual(await holdfast.signOut({ unsettled: "keep" }), []);
  assert.equal(world.clients.length, 0);
});

test("a client is disposed of by closing", async (t) => {
  const { holdfast } = await opened(t);
  await holdfast[Symbol.asyncDispose]();
  await assert.rejects(holdfast.list(), { code: "NOT_ALLOWED" });
});

test("the health of the storage names what the browser does not tell", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const holdfast = createHoldfast(options());
  world.script.list = () => '{"operations":[]}';
  assert.deepEqual(await holdfast.storageHealth(), { opens: true, unknown: ["persisted", "usage", "quota"] });
  world.script.list = () => {
    throw { code: "STORAGE_UNAVAILABLE", message: "the storage does not open", nextStep: "leave private mode" };
  };
  const { opens, fault } = await holdfast.storageHealth();
  assert.equal(opens, false);
  assert.match(fault, /does not open/);
  await holdfast.close();
});

test("the storage is asked whether it opens where nobody is signed in, or the module is not there", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const holdfast = createHoldfast(options());
  t.after(() => holdfast.close());
  for (const code of ["NO_ACCOUNT", "WASM_BLOCKED"]) {
    world.script.list = () => {
      throw { code, message: "not of the storage", nextStep: "" };
    };
    const { opens, fault } = await holdfast.storageHealth();
    assert.deepEqual({ opens, fault }, { opens: false, fault: "The storage does not open: indexedDB is missing." });
  }
});
