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
