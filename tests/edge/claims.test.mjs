// Ids of a service without keys, each of which belongs to one operation over all objects: what becomes of work where
// another object has the id, or cannot be asked for it.
import assert from "node:assert/strict";
import test from "node:test";
import { failPointsFolder } from "../browser/harness/environment.mjs";
import { world } from "./objects.mjs";
import { quickListing } from "./quick-profile.mjs";

const MINUTE_MS = 60_000;
const body = { url: "https://example.com" };
const baseUrl = "https://api.example.com";

/** Objects with a service whose listing, where it has one, tells nothing of whose a run is but its request. */
function declared(t, { isListed = true } = {}) {
  const { reconcile, calls, ...rest } = { ...quickListing(failPointsFolder()), poll: { firstMs: 2000, factor: 1.5, capMs: 10_000 } };
  const { echo, sendEcho, ...rule } = reconcile;
  const { list, ...others } = calls;
  const profile = isListed ? { ...rest, calls, reconcile: { ...rule, same: { "/url": "/url" } } } : { ...rest, calls: others };
  const settled = [];
  const own = world(t, {
    line: { baseUrl, profile, script: { durationMs: 100_000 } },
    services: () => ({
      crawls: { profile, baseUrl, params: { endpoint: "crawl" }, authorize: () => ({ headers: { "x-api-key": "one" } }) },
    }),
    onSettled: ({ intent, status, jobId }) => void settled.push([intent, status, jobId]),
  });
  return Object.assign(own, { settled });
}

test("a run that belongs to an operation of another object is nobody's else, however alike the two requests are", async (t) => {
  const own = declared(t);
  const [ann, bob] = [own.inObject(1, "ann"), own.inObject(2, "bob")];
  await ann.submit("crawls", { intent: "of ann", body });
  await own.pass(4000);
  const { jobId } = await ann.find("crawls", "of ann");
  own.line.add([{ call: "submit", fault: "lostAfter" }]);
  await bob.submit("crawls", { intent: "of bob", body });
  await own.pass(MINUTE_MS);
  const found = await bob.find("crawls", "of bob");
  assert.deepEqual([found.status, found.reason], ["active", undefined]);
  assert.deepEqual([found.jobId, jobId].sort(), own.line.ledger().jobs.map(({ id }) => id));
  await own.pass(3 * MINUTE_MS);
  assert.deepEqual(own.settled.map(([, status]) => status), ["succeeded", "succeeded"]);
  assert.equal(own.line.ledger().executions, 2);
});

for (const [failures, status] of [[4, "active"], [100, "parked"]]) {
  test(`an id that could not be claimed ${failures} times is ${status === "active" ? "kept all the same" : "given up at last"}`, async (t) => {
    const said = t.mock.method(console, "error", () => undefined);
    const own = declared(t, { isListed: false });
    let asked = 0;
    const { get } = own.namespace;
    own.namespace.get = (id) => {
      const object = get(id);
      if (!String(id).startsWith("holdfast-claim-")) return object;
      return { holdfastShared: async (call) => ((asked += 1) > failures ? object.holdfastShared(call) : Promise.reject(new Error("overloaded"))) };
    };
    const ann = own.inObject(1, "ann");
    await ann.submit("crawls", { intent: "of ann", body });
    await own.pass(MINUTE_MS);
    const found = await ann.find("crawls", "of ann");
    assert.equal(found.status, status);
    assert.ok(asked <= 5, `asked ${asked} times`);
    assert.equal(said.mock.callCount(), status === "active" ? 0 : 1);
    assert.equal(own.line.ledger().submits, 1);
  });
}
