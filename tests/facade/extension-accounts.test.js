// Whose work an extension's pages ask for: the account changes while their messages are on the way.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { until } from "../browser/harness/until.mjs";
import { begin, fakeApi, listed, message, POPUP, submission, WEB } from "./fake-extension.js";
import { state } from "./package.js";

let api;

beforeEach(() => {
  api = globalThis.chrome = fakeApi();
});

afterEach(() => {
  delete globalThis.chrome;
});

test("work for an account that is no longer the current one is refused", async (t) => {
  let account = "ada";
  const { world } = await begin(t, { account: () => account });
  world.script.submit = async () => state();
  account = "grace";
  const { error } = await api.send(message("submit", submission(), { account: "ada" }), POPUP);
  assert.equal(error.code, "NO_ACCOUNT");
  assert.match(error.message, /Nothing was sent/);
});

for (const [method, args] of [["submit", submission()], ["command", ["op-1", '{"cancel":{}}']], ["forget", ["reports", "one"]]]) {
  test(`what ${method} has done is told so, and of whom, although another account came meanwhile`, async (t) => {
    let account = "ada";
    const { world } = await begin(t, { account: () => account });
    world.script[method] = async () => ((account = "grace"), method === "forget" ? ["op-1"] : state());
    const { error, value, account: whose } = await api.send(message(method, args, { account: "ada" }), POPUP);
    assert.deepEqual([error, whose], [undefined, "ada"]);
    assert.ok(value);
  });
}

const CHANGES = [
  ["submit", submission()],
  ["adopt", ["reports", '{"intent":"one","jobId":"a"}']],
  ["command", ["op-1", "{}"]],
  ["forget", ["reports", "one"]],
];

for (const [method, args] of CHANGES) {
  test(`what ${method} is asked for one account is not done for another who comes while allow decides`, async (t) => {
    let account = "ada";
    const { world } = await begin(t, { account: () => account, allow: async () => ((account = "grace"), true) });
    world.script[method] = () => assert.fail("it reached the module");
    const { error } = await api.send(message(method, args), POPUP);
    assert.equal(error.code, "NO_ACCOUNT");
    assert.match(error.message, /Nothing was sent/);
  });
}

for (const [method, args] of CHANGES) {
  test(`what ${method} is asked for one account is not done for another who comes while the module loads`, async (t) => {
    let account = "ada";
    const construct = () => (account = "grace");
    const { world } = await begin(t, { account: () => account }, { construct });
    assert.deepEqual([account, world.clients.length], ["ada", 0]);
    world.script[method] = () => assert.fail("it reached the module");
    assert.equal((await api.send(message(method, args), POPUP)).error.code, "NO_ACCOUNT");
  });
}

test("whose work it is, is told to nobody whom allow has not let in", async (t) => {
  await begin(t);
  for (const one of [message("list", []), message("constructor", [])]) {
    const { error, account } = await api.send(one, WEB);
    assert.deepEqual([error.code, account], ["INVALID_INPUT", undefined]);
  }
  assert.equal((await api.send(message("list", ["{}"]), WEB)).account, undefined);
  assert.equal((await api.send(message("submit", submission({ intent: "" })), POPUP)).account, "local");
});

test("what was read for one account is not shown as another's, and a stranger is not told whose it is", async (t) => {
  let account = "ada";
  const { world } = await begin(t, { account: () => account });
  world.script.list = () => ((account = "grace"), '{"operations":[]}');
  assert.equal((await api.send(message("list", ["{}"]), POPUP)).error.code, "NO_ACCOUNT");
  assert.equal("account" in (await api.send(message("list", ["{}"]), WEB)), false);
});

test("a page that was opened before anybody signed in submits once somebody has", async (t) => {
  let account = null;
  const { connect } = await begin(t, { account: () => account });
  const page = connect({ services: { reports: {} } });
  t.after(() => page.close());
  await page.list();
  account = "ada";
  assert.equal((await page.submit("reports", { intent: "one", body: {} })).id, "op-1");
});

test("an open page shows nothing of an account that has left, as soon as the background starts for another", async (t) => {
  let account = "ada";
  const list = async () => listed(...(account === "ada" ? [state()] : []));
  const { connect, holdfast } = await begin(t, { account: () => account }, { list });
  globalThis.location = { href: POPUP.url };
  t.after(() => delete globalThis.location);
  const page = connect({ services: { reports: {} } });
  t.after(() => page.close());
  await page.list();
  assert.equal(page.getSnapshot().length, 1);
  account = "grace";
  await holdfast.start();
  await until(() => !page.getSnapshot().length, "A page without what the other had");
});
