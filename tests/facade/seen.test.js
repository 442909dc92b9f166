// A tab that somebody looks at, and one that nobody does: the one asks, the other gives.
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../browser/harness/until.mjs";
import { loadPackage, options, settle } from "./package.js";

/** A client in a tab that is seen or not, what others hear of it, and how often it was asked to give its work. */
async function tab(t, visibilityState, own = {}) {
  const document = (globalThis.document = Object.assign(new EventTarget(), { visibilityState }));
  t.after(() => delete globalThis.document);
  const { createHoldfast, world } = await loadPackage(t);
  let offers = 0;
  const left = [];
  world.script.offer = (_, service) => void (service === undefined ? (offers += 1) : left.push(service));
  const holdfast = createHoldfast(options(own));
  t.after(() => holdfast.close());
  await holdfast.start();
  const other = new BroadcastChannel("holdfast:holdfast");
  t.after(() => other.close());
  const heard = [];
  other.onmessage = ({ data }) => heard.push(data);
  return { document, other, heard, left, offers: () => offers, host: world.clients[0].host };
}

test("a tab that nobody looks at gives what it drives to one that asks", async (t) => {
  const { other, offers } = await tab(t, "hidden");
  other.postMessage({ asks: true });
  await until(offers, "An offer");
});

test("a tab that is seen keeps what it drives", async (t) => {
  const { other, offers, heard, document } = await tab(t, "visible");
  other.postMessage({ asks: true });
  // What it posts next is heard after that was.
  document.dispatchEvent(new Event("visibilitychange"));
  await until(() => heard.length, "Its own asking");
  await settle();
  assert.deepEqual([offers(), heard], [0, [{ asks: true }]]);
});

test("a tab that is not seen any more asks for nothing", async (t) => {
  const { document, heard, other } = await tab(t, "visible");
  document.visibilityState = "hidden";
  document.dispatchEvent(new Event("visibilitychange"));
  const third = new BroadcastChannel("holdfast:holdfast");
  t.after(() => third.close());
  third.postMessage("later");
  await until(() => heard.includes("later"), "What was said later");
  assert.deepEqual(heard, ["later"]);
  assert.ok(other);
});

/** Two services, of which the first has this way to a credential. */
const both = (authorize) => ({ reports: { ...options().services.reports, authorize }, extra: options().services.reports });

/** No credential, and none again a while later. */
async function twice(t, host) {
  await host.authorize("reports", "poll", false);
  const now = performance.now();
  t.mock.method(performance, "now", () => now + 600);
  await host.authorize("reports", "poll", false);
}

test("one credential that does not come, or many at once, are no reason to leave work to others", async (t) => {
  const { other, heard, host } = await tab(t, "hidden", { services: both(() => null) });
  await Promise.all([1, 2, 3].map(() => host.authorize("reports", "poll", false)));
  other.postMessage({ lacks: "extra", account: "local" });
  await until(() => heard.length, "What it says of another");
  assert.deepEqual(heard, [{ takes: "extra" }]);
});

test("a tab of another account, or without the service, says nothing where one lacks a credential", async (t) => {
  const { other, heard } = await tab(t, "hidden");
  for (const [lacks, account] of [["reports", "grace"], ["reports", null], ["extra", "local"], ["reports", "local"]]) {
    other.postMessage({ lacks, account });
  }
  await until(() => heard.length, "Its answer to its own");
  assert.deepEqual(heard, [{ takes: "reports" }]);
});

test("what another can go on with is left to it where there is no credential, and to nobody else", async (t) => {
  let given = null;
  const services = { reports: { ...options().services.reports, authorize: () => given } };
  const { other, heard, host, left } = await tab(t, "visible", { services });
  other.postMessage({ takes: "reports" });
  // What is said next is answered after that was heard.
  other.postMessage({ lacks: "reports", account: "local" });
  await until(() => heard.length, "That it can go on");
  assert.deepEqual([heard, left], [[{ takes: "reports" }], []]);
  await twice(t, host);
  await until(() => heard.length > 1, "That it lacks one");
  assert.deepEqual(heard[1], { lacks: "reports", account: "local" });
  other.postMessage({ takes: "extra" });
  other.postMessage({ takes: "reports" });
  await until(() => left.length, "An offer");
  given = { headers: {} };
  await host.authorize("reports", "poll", false);
  other.postMessage({ takes: "reports" });
  other.postMessage({ lacks: "reports", account: "local" });
  await until(() => heard.length > 2, "That it can go on");
  assert.deepEqual([heard[2], left], [{ takes: "reports" }, ["reports"]]);
});

test("a tab that has thrown for a credential says nothing where another lacks one too", async (t) => {
  const authorize = () => Promise.reject(new Error("no"));
  const { other, heard, host } = await tab(t, "hidden", { services: both(authorize) });
  await assert.rejects(host.authorize("reports", "poll", false));
  other.postMessage({ lacks: "reports", account: "local" });
  other.postMessage({ lacks: "extra", account: "local" });
  await until(() => heard.length, "What it says of another");
  assert.deepEqual(heard, [{ takes: "extra" }]);
});

test("a tab whose app gives no credential asks for nothing until it gives one", async (t) => {
  let given = null;
  const services = { reports: { ...options().services.reports, authorize: () => given } };
  const { document, heard, host } = await tab(t, "visible", { services });
  const asks = async () => {
    heard.length = 0;
    document.dispatchEvent(new Event("visibilitychange"));
    const third = new BroadcastChannel("holdfast:holdfast");
    third.postMessage("later");
    await until(() => heard.includes("later"), "What was said later");
    third.close();
    return heard.some(({ asks }) => asks);
  };
  assert.equal(await asks(), true);
  await twice(t, host);
  assert.equal(await asks(), false);
  given = { headers: {} };
  await host.authorize("reports", "poll", false);
  assert.equal(await asks(), true);
});
