// What an object has open at a time: its requests, and its clients.
import assert from "node:assert/strict";
import test from "node:test";
import { failPointsFolder } from "../browser/harness/environment.mjs";
import { script, world } from "./objects.mjs";
import { quickProfile } from "./quick-profile.mjs";

const { Client } = await script("client.js");

const MINUTE_MS = 60_000;
const body = { url: "https://example.com" };
const baseUrl = "https://api.example.com";

/** Objects with three services, which answer after so long. */
function declared(t, latencyMs) {
  const profile = quickProfile(failPointsFolder());
  const settled = [];
  const service = { profile, baseUrl, authorize: () => ({ headers: { authorization: "Bearer one" } }) };
  const own = world(t, {
    line: { baseUrl, profile, script: { latencyMs, durationMs: 1000 } },
    services: () => ({ reports: service, crawls: service, exports: service }),
    onSettled: ({ intent, status }) => void settled.push([intent, status]),
  });
  const open = { count: 0, most: 0 };
  own.fetch = async (url, init) => {
    open.most = Math.max(open.most, (open.count += 1));
    return own.line.fetch(url, init).finally(() => (open.count -= 1));
  };
  return Object.assign(own, { settled, open });
}

for (const latencyMs of [500, 8000, 25_000]) {
  test(`no more than six requests of an object wait for their headers, of ${latencyMs} ms each, and none is lost for it`, async (t) => {
    const own = declared(t, latencyMs);
    const intents = ["reports", "crawls", "exports"].flatMap((service) =>
      Array.from({ length: 6 }, (_, at) => [service, `${service} ${at}`]),
    );
    const submitted = Promise.all(intents.map(([service, intent]) => own.inObject(0, "ann").submit(service, { intent, body })));
    await own.pass(1000);
    await submitted;
    await own.pass(10 * MINUTE_MS, () => own.settled.length === intents.length);
    assert.deepEqual(own.settled.map(([, status]) => status), intents.map(() => "succeeded"));
    assert.equal(own.open.most, 6);
    // Whatever was written was sent, and answered.
    assert.equal(own.line.ledger().submits, intents.length);
  });
}

test("clients of callers that only read are let go without an alarm, and none for which something is under way", async (t) => {
  const closed = t.mock.method(Client.prototype, "close");
  const own = declared(t, 20);
  own.line.hold("submit");
  await own.inObject(0, "ann").submit("reports", { intent: "of ann", body });
  await own.pass(1000);
  const before = own.place("holdfast-000").alarms;
  for (let at = 0; at < 40; at++) await own.inObject(0, `reader ${at}`).find("reports", "nothing");
  await own.pass(100);
  assert.equal(own.place("holdfast-000").alarms, before);
  assert.equal(closed.mock.callCount(), 9);
  own.line.release();
  await own.pass(MINUTE_MS, () => own.settled.length === 1);
  assert.deepEqual([own.settled, own.line.ledger().submits], [[["of ann", "succeeded"]], 1]);
});
