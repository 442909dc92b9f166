// The verbs of the client and of an operation, as they go to the module.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage, options, state } from "./package.js";

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
