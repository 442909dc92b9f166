// The account changes while something is under way.
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../browser/harness/until.mjs";
import { loadPackage, options, settle, state } from "./package.js";

async function begin(t) {
  const { createHoldfast, world } = await loadPackage(t);
  const current = { account: "ada" };
  const holdfast = createHoldfast(options({ account: () => current.account }));
  t.after(() => holdfast.close());
  return { holdfast, world, current };
}

const CHANGES = [["submit", { intent: "one", body: {} }], ["adopt", { intent: "one", jobId: "job-1" }], ["forget", "one"]];

for (const [name, given] of CHANGES) {
  test(`what one account gives to ${name} is not taken on for another that came while the module loaded`, async (t) => {
    const { holdfast, world, current } = await begin(t);
    world.script.construct = () => (current.account = "grace");
    world.script[name] = () => assert.fail("it reached the module");
    await assert.rejects(holdfast[name]("reports", given), { code: "NO_ACCOUNT" });
  });
}

for (const [name, given] of CHANGES) {
  test(`what one account gives to ${name} is not taken on for another that comes in the same turn`, async (t) => {
    const { holdfast, world, current } = await begin(t);
    world.script[name] = () => assert.fail("it reached the module");
    const refused = assert.rejects(holdfast[name]("reports", given), { code: "NO_ACCOUNT" });
    current.account = "grace";
    await refused;
  });
}

test("who signs out cancels nothing of another who comes in the same turn", async (t) => {
  const { holdfast, world, current } = await begin(t);
  world.script.list = async () => `{"operations":[${state()}]}`;
  world.script.command = () => assert.fail("it reached the module");
  const refused = assert.rejects(holdfast.signOut({ unsettled: "cancel" }), { code: "NO_ACCOUNT" });
  current.account = "grace";
  await refused;
});

test("what was read for one account is not shown as another's", async (t) => {
  const { holdfast, world, current } = await begin(t);
  const listed = (intent) => `{"operations":[${state({ id: intent, intent })}]}`;
  world.script.list = async () => {
    if (current.account === "grace") return listed("of grace");
    current.account = "grace";
    return listed("of ada");
  };
  const { operations } = await holdfast.list();
  assert.deepEqual([operations, holdfast.getSnapshot()].map((all) => all.map(({ intent }) => intent)), [["of grace"], ["of grace"]]);
});

test("what the module tells late of one account is not shown as another's", async (t) => {
  const { holdfast, world, current } = await begin(t);
  await holdfast.start();
  current.account = "grace";
  world.clients[0].host.notify(state(), "[]", "ada");
  await settle();
  assert.deepEqual(holdfast.getSnapshot(), []);
  current.account = "ada";
  assert.deepEqual(holdfast.getSnapshot().map(({ id }) => id), ["op-1"]);
});

test("what was submitted for one account is not shown as another's who came meanwhile", async (t) => {
  const { holdfast, world, current } = await begin(t);
  world.script.submit = async () => ((current.account = "grace"), state());
  assert.equal((await holdfast.submit("reports", { intent: "one", body: {} })).id, "op-1");
  assert.deepEqual(holdfast.getSnapshot(), []);
});

test("an account that is another each time is read for all the same", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  let count = 0;
  const holdfast = createHoldfast(options({ account: () => `guest ${(count += 1)}` }));
  t.after(() => holdfast.close());
  world.script.list = async () => '{"operations":[]}';
  assert.deepEqual((await holdfast.list()).operations, []);
});

test("a handle held while its account signs out and in again hears of its operation's ending", async (t) => {
  const { holdfast, world, current } = await begin(t);
  world.script.submit = async () => state();
  world.script.list = async () => `{"operations":[${state()}]}`;
  const operation = await holdfast.submit("reports", { intent: "one", body: {} });
  await holdfast.signOut({ unsettled: "keep" });
  assert.deepEqual(holdfast.getSnapshot(), []);
  current.account = "grace";
  await settle();
  current.account = "ada";
  world.script.load = async () => state({ status: "cancelled", endedAt: 1, revision: 2 });
  assert.equal((await operation.outcome()).status, "cancelled");
  assert.deepEqual(holdfast.getSnapshot().map(({ status }) => status), ["cancelled"]);
});

test("what another tab has changed is read a few times at most where the account is another each time", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  let [count, reads] = [0, 0];
  const holdfast = createHoldfast(options({ account: () => `guest ${(count += 1)}` }));
  t.after(() => holdfast.close());
  const MANY = 50;
  // Not for ever, where nothing bounds it.
  world.script.load = async () => ((reads += 1) > MANY ? Promise.reject(new Error("enough")) : state());
  await holdfast.start();
  const other = new BroadcastChannel("holdfast:holdfast");
  t.after(() => other.close());
  other.postMessage({ service: "reports", id: "op-1" });
  let before = 0;
  await until(() => reads && reads === before || void (before = reads), "The last reading");
  assert.ok(reads <= 4, `${reads} readings`);
});

/** What an account has, as a page of it. */
const pageOf = (name, more = "") => `{"operations":[${state({ id: `op of ${name}`, intent: name })}]${more}}`;

test("what is read for one who came while the module loaded is not shown as another's, who is back by then", async (t) => {
  const { holdfast, world, current } = await begin(t);
  world.script.construct = () => (current.account = "grace");
  world.script.list = async () => {
    const page = pageOf(current.account);
    current.account = "ada";
    return page;
  };
  const { operations } = await holdfast.list();
  assert.deepEqual([operations, holdfast.getSnapshot()].map((all) => all.map(({ id }) => id)), [["op of ada"], ["op of ada"]]);
});

test("who signs out is told nothing of one who came meanwhile and left again", async (t) => {
  const { holdfast, world, current } = await begin(t);
  world.script.list = async (_, filter) => {
    const isFirst = !JSON.parse(filter).cursor;
    const page = pageOf(current.account, isFirst ? ',"cursor":"more"' : "");
    current.account = isFirst ? "grace" : "ada";
    return page;
  };
  await assert.rejects(holdfast.signOut({ unsettled: "keep" }), { code: "NO_ACCOUNT" });
});

test("who signs out and in again has new work taken on at once, and is left alone until then", async (t) => {
  const { holdfast, world } = await begin(t);
  const told = [];
  world.script.construct = (client) => {
    client.wake = () => told.push("wake");
    client.yield = () => told.push("yield");
  };
  world.script.list = async () => '{"operations":[]}';
  world.script.submit = async () => (told.push("submit"), state());
  await holdfast.start();
  await holdfast.signOut({ unsettled: "keep" });
  await holdfast.list();
  assert.deepEqual(told, ["yield"]);
  await holdfast.submit("reports", { intent: "one", body: {} });
  await holdfast.submit("reports", { intent: "two", body: {} });
  assert.deepEqual(told, ["yield", "wake", "submit", "submit"]);
});
