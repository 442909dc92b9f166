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

/** A page, and a background of ada's or grace's whose answers are held where a test says so; `stored`: what is read. */
async function crossing(t, stored = {}) {
  const own = (name) => state({ id: `op of ${name}`, intent: name });
  const who = { account: "ada" };
  const { connect, world } = await begin(t, { account: () => who.account }, {
    list: async () => listed(own(who.account)),
    submit: async () => own(who.account),
    command: async (_, id) => state({ id, revision: 2, cancelling: true }),
    load: async (_, id) =>
      id === `op of ${who.account}` ? state({ id, intent: who.account, ...stored }) : undefined,
  });
  const [sent, held] = [[], []];
  let holds = false;
  const { send } = api;
  api.send = async (message, sender) => {
    sent.push(message);
    const isHeld = holds;
    const answer = await send(message, sender);
    if (isHeld) await new Promise((go) => held.push(go));
    return answer;
  };
  /** Makes a call, so many of whose answers are there then, and held. */
  const hold = async (call, count = 1) => {
    holds = true;
    const called = call();
    await until(() => held.length === count, "Answers that are held");
    holds = false;
    return { called };
  };
  const page = connect({ services: { reports: {} } });
  t.after(() => page.close());
  const shown = () => page.getSnapshot().map(({ id }) => id);
  const notify = () => world.clients[0].host.notify(own(who.account), "[]", who.account);
  return { page, who, shown, sent, hold, notify, release: () => held.splice(0).forEach((go) => go()) };
}

test("an answer that comes after another account was told of shows nothing of who has left, and is read for who is there", async (t) => {
  const { page, who, shown, sent, hold, release } = await crossing(t);
  await page.list();
  assert.deepEqual(shown(), ["op of ada"]);
  const { called } = await hold(() => page.list());
  who.account = "grace";
  await page.list();
  assert.deepEqual(shown(), ["op of grace"]);
  release();
  assert.deepEqual((await called).operations.map(({ id }) => id), ["op of grace"]);
  assert.deepEqual(shown(), ["op of grace"]);
  await page.submit("reports", { intent: "grace", body: {} });
  assert.deepEqual([sent.at(-1).method, sent.at(-1).account], ["submit", "grace"]);
});

test("what was done for one who has left is told as done, and is shown to nobody else until that one is back", async (t) => {
  const { page, who, shown, hold, release } = await crossing(t);
  await page.list();
  const { called } = await hold(() => page.submit("reports", { intent: "ada", body: {} }));
  who.account = "grace";
  await page.list();
  release();
  const operation = await called;
  assert.equal(operation.id, "op of ada");
  assert.deepEqual(shown(), ["op of grace"]);
  who.account = "ada";
  await page.list();
  assert.deepEqual(shown(), ["op of ada"]);
  assert.equal((await operation.cancel()).cancelling, true);
  await page.list();
  assert.deepEqual(shown(), ["op of ada"]);
});

test("a page that signs out one who has left already cancels nothing of who came", async (t) => {
  const { page, who, sent } = await crossing(t);
  await page.list();
  who.account = "grace";
  await assert.rejects(page.signOut({ unsettled: "cancel" }), { code: "NO_ACCOUNT" });
  assert.deepEqual(sent.filter(({ method }) => method === "command"), []);
});

test("what a page was asked to submit for one account, and had no turn until another came, is sent for neither", async (t) => {
  const { page, who, sent, hold, release } = await crossing(t);
  await page.list();
  const submitOne = (_, own) => page.submit("reports", { intent: `of ada ${own}`, body: {} });
  // As many as are under way at a time.
  const { called } = await hold(() => Promise.all(Array.from({ length: 128 }, submitOne)), 128);
  const waiting = assert.rejects(submitOne(undefined, 128), { code: "NO_ACCOUNT", message: /Nothing was sent/ });
  who.account = "grace";
  await page.list();
  release();
  await Promise.all([called, waiting]);
  assert.equal(sent.filter(({ method }) => method === "submit").length, 128);
});

test("a page that learns of another account by that one's work shows it", async (t) => {
  globalThis.location = { href: POPUP.url };
  t.after(() => delete globalThis.location);
  const { page, who, shown, notify } = await crossing(t);
  await page.list();
  who.account = "grace";
  notify();
  await until(() => shown().includes("op of grace"), "Her work");
  assert.deepEqual(shown(), ["op of grace"]);
});

test("a handle held while the account goes and comes back hears of its operation's ending", async (t) => {
  const { page, who, shown } = await crossing(t, { status: "cancelled", endedAt: 1, revision: 2 });
  const operation = await page.submit("reports", { intent: "ada", body: {} });
  who.account = "grace";
  await page.list();
  await assert.rejects(operation.outcome(), { code: "NOT_ALLOWED" });
  assert.deepEqual(shown(), ["op of grace"]);
  who.account = "ada";
  await page.list();
  assert.equal((await operation.outcome()).status, "cancelled");
  assert.deepEqual(shown(), ["op of ada"]);
});

test("what was read for one who came while allow decided is not told as another's, who is back by then", async (t) => {
  const who = { account: "ada" };
  const allow = async () => ((who.account = "grace"), true);
  const { world } = await begin(t, { account: () => who.account, allow });
  world.script.list = async () => {
    const page = listed(state({ id: `op of ${who.account}` }));
    who.account = "ada";
    return page;
  };
  const { error, value } = await api.send(message("list", ["{}"]), POPUP);
  assert.deepEqual([error?.code, value], ["NO_ACCOUNT", undefined]);
});
