// Objects that are replaced while they live, and lists over many: the package's objects in this process, in a time of
// the test's own.
import assert from "node:assert/strict";
import test from "node:test";
import { failPointsFolder } from "../browser/harness/environment.mjs";
import { script, world } from "./objects.mjs";
import { quickProfile } from "./quick-profile.mjs";

const { shardOf } = await script("jobs.js");

const MINUTE_MS = 60_000;
const OBJECT = "holdfast-000";
const body = { url: "https://example.com" };

/** Objects with a service. */
function declared(t) {
  const profile = quickProfile(failPointsFolder());
  const baseUrl = "https://api.example.com";
  const settled = [];
  const own = world(t, {
    line: { baseUrl, profile, script: { durationMs: 3000 } },
    services: () => ({ reports: { profile, baseUrl, authorize: () => ({ headers: { authorization: "Bearer one" } }) } }),
    onSettled: ({ intent, status }) => void settled.push([intent, status]),
  });
  return Object.assign(own, { settled });
}

for (const [when, afterMs] of [["while its request may still leave", 100], ["when its request may leave no more", 5000]]) {
  test(`an object that goes on after its write, ${when}, beside another in its place, sends nothing twice`, async (t) => {
    const own = declared(t);
    own.object(OBJECT);
    const { context, database } = own.place(OBJECT);
    const written = database.prepare.bind(database, "SELECT 1 FROM holdfast_operations WHERE document LIKE '%\"current\"%'");
    let goOn;
    context.storage.sync = async () => {
      if (goOn === undefined && written().all().length) await new Promise((resolve) => (goOn = resolve));
    };
    void own.inObject(0, "ann").submit("reports", { intent: "of ann", body }).catch(() => undefined);
    await own.pass(1000, () => goOn !== undefined);
    assert.equal(own.line.requests.length, 0);
    own.replace(OBJECT, false);
    await own.pass(afterMs);
    goOn();
    await own.pass(MINUTE_MS);
    assert.deepEqual(own.settled, [["of ann", "succeeded"]]);
    const { executions, submits } = own.line.ledger();
    assert.deepEqual([executions, submits], [1, 1]);
  });
}

/** Two intents of one object, and one of another that no page looks at together with them. */
async function intentsOf(caller) {
  const seen = new Map();
  let pair;
  for (let at = 0; !pair; at++) {
    const shard = await shardOf(caller, `work ${at}`);
    if (seen.has(shard)) pair = [shard, seen.get(shard), `work ${at}`];
    seen.set(shard, `work ${at}`);
  }
  const far = [...seen].find(([shard]) => Math.abs(shard - pair[0]) > 512);
  return [pair[1], pair[2], far[1]];
}

test("a list over objects, page by page of one, tells of each operation once", async (t) => {
  const own = declared(t);
  const all = own.jobs("ann");
  const intents = await intentsOf("ann");
  for (const intent of intents) await all.submit("reports", { intent, body });
  await own.pass(MINUTE_MS);
  const found = [];
  let pages = 0;
  for (let cursor; pages === 0 || cursor; pages += 1) {
    const page = await all.list({ limit: 1, ...(cursor && { cursor }) });
    assert.ok(page.operations.length <= 1);
    found.push(...page.operations.map(({ intent }) => intent));
    cursor = page.cursor;
  }
  assert.deepEqual(found.sort(), intents.sort());
  assert.ok(pages <= 16 + 2 * intents.length, `${pages} pages`);
});
