// The background of an extension and its pages, with the browser's interface played and the module's glue scripted.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { loadPackage, options, settle, state } from "./package.js";

const ORIGIN = "chrome-extension://holdfast/";
const POPUP = { id: "holdfast", url: `${ORIGIN}popup.html` };
const WEB = { id: "holdfast", url: "https://example.com/", tab: {} };

let api;
let warn;

beforeEach(() => {
  api = globalThis.chrome = fakeApi();
  warn = console.warn;
});

afterEach(() => {
  delete globalThis.chrome;
  console.warn = warn;
});

/** As much of the interface as is used, with messages that go round as JSON. */
function fakeApi() {
  const hears = [];
  const event = () => ({ addListener: (listener) => hears.push(listener) });
  const alarms = { set: [], onAlarm: event(), create: async (name, info) => alarms.set.push({ name, ...info }) };
  alarms.clear = async (name) => alarms.set.push({ name, cleared: true });
  const [onMessage] = [{ addListener: (listener) => (fake.listener = listener) }];
  const fake = {
    alarms,
    permissions: { contains: async () => true },
    runtime: {
      id: "holdfast",
      getURL: (path) => ORIGIN + path,
      onStartup: event(),
      onInstalled: event(),
      onMessage,
      sendMessage: (message) => fake.send(message, POPUP),
    },
    send: (message, sender) =>
      new Promise((resolve, reject) => {
        const copy = JSON.parse(JSON.stringify(message));
        const isHeard = fake.listener?.(copy, sender, (answer) => resolve(JSON.parse(JSON.stringify(answer))));
        if (!isHeard) reject(new Error("Could not establish connection. Receiving end does not exist."));
      }),
  };
  return fake;
}

const submission = (more = {}) => [
  "reports",
  JSON.stringify({ intent: "one", contentType: "application/json", ...more }),
  btoa("{}"),
];
const message = (method, args, more = {}) => ({ protocol: "holdfast/1", method, args, ...more });

/** A background, with what the module answers. */
async function begin(t, more) {
  const loaded = await loadPackage(t, "extension.js");
  loaded.world.script.start = async () => undefined;
  loaded.world.script.list = async () => '{"operations":[]}';
  loaded.world.script.submit = async () => state();
  const holdfast = loaded.background(options(more));
  t.after(() => holdfast.close());
  return { ...loaded, holdfast };
}

test("outside of an extension both say where they belong", async (t) => {
  const { background, connect } = await loadPackage(t, "extension.js");
  delete globalThis.chrome;
  for (const call of [() => background(options()), () => connect({ services: { reports: {} } })]) {
    assert.throws(call, (error) => error.code === "NOT_ALLOWED" && /holdfast/.test(error.nextStep));
  }
});

test("the background listens in the turn of the call", async (t) => {
  const { background, world } = await loadPackage(t, "extension.js");
  world.script.start = async () => undefined;
  world.script.list = async () => '{"operations":[]}';
  const holdfast = background(options());
  t.after(() => holdfast.close());
  assert.equal(typeof api.listener, "function");
});

test("a page's submission goes to the module, after an alarm is set", async (t) => {
  const { world } = await begin(t);
  world.script.submit = (_, service, json, body) => {
    assert.equal(api.alarms.set.at(-1).name, "holdfast");
    assert.deepEqual([service, JSON.parse(json).intent, new TextDecoder().decode(body)], ["reports", "one", "{}"]);
    return state();
  };
  const { value } = await api.send(message("submit", submission()), POPUP);
  assert.equal(JSON.parse(value).id, "op-1");
});

test("who is no page of the extension may nothing, unless allow says true", async (t) => {
  const asked = [];
  const { world } = await begin(t, {
    allow: (request, sender) => {
      asked.push([request, sender.url]);
      if (sender.url === "https://throws.example/") throw new Error("no");
      return sender.url === WEB.url ? true : "yes";
    },
  });
  let submitted = 0;
  world.script.submit = async () => ((submitted += 1), state());
  for (const url of ["https://throws.example/", "https://other.example/"]) {
    const { error } = await api.send(message("submit", submission()), { ...WEB, url });
    assert.equal(error.code, "NOT_ALLOWED");
  }
  assert.equal(submitted, 0);
  assert.ok((await api.send(message("submit", submission()), WEB)).value);
  assert.deepEqual(asked.at(-1), [{ action: "submit", service: "reports" }, WEB.url]);
});

test("without allow only the extension's own pages may", async (t) => {
  await begin(t);
  for (const sender of [WEB, { ...POPUP, id: "another" }, { id: "holdfast" }, { ...WEB, url: "https://x/?chrome-extension://holdfast/" }]) {
    assert.equal((await api.send(message("list", ["{}"]), sender)).error.code, "NOT_ALLOWED");
  }
  assert.equal((await api.send(message("list", ["{}"]), POPUP)).error, undefined);
});

test("malformed messages reach nothing, and what is no message of ours is left to others", async (t) => {
  const { world } = await begin(t);
  world.script.submit = () => assert.fail("it reached the module");
  const wrong = [
    message("constructor", []), message("wake", []), message("submit", ["reports"]), message("submit", submission().with(2, "%%%")),
    message("submit", submission().with(1, "[")), message("submit", submission().with(1, 7)), message("chunk", ["op-1", -1]),
    message("chunk", ["op-1", 2 ** 32]), message(undefined, undefined), message("list", { length: 1 }),
  ];
  for (const one of wrong) assert.equal((await api.send(one, POPUP)).error.code, "INVALID_INPUT", JSON.stringify(one));
  for (const one of [undefined, "text", { protocol: "holdfast/2", method: "list", args: ["{}"] }]) {
    assert.equal(api.listener(one, POPUP, () => assert.fail("it answered")), false);
  }
});

test("what a page submits is checked as in the background itself", async (t) => {
  await begin(t);
  const told = async (args) => (await api.send(message("submit", args), POPUP)).error;
  assert.equal((await told(submission({ intent: "" }))).field, "intent");
  assert.equal((await told(submission({ limits: { attempts: 0 } }))).field, "limits.attempts");
  assert.match((await told(submission({ surprise: 1 }))).message, /surprise/);
  assert.equal((await told(submission().with(0, "others"))).code, "UNKNOWN_SERVICE");
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

test("a page makes a call again when the background has died of it, and a submission stays the same", async (t) => {
  const { connect, world } = await begin(t);
  const heard = [];
  const { send } = api;
  api.send = (sent, sender) => {
    heard.push(JSON.stringify(sent));
    return heard.length % 2 ? Promise.reject(new Error("The message port closed")) : send(sent, sender);
  };
  world.script.submit = async () => state();
  const page = connect({ services: { reports: {} } });
  t.after(() => page.close());
  assert.equal((await page.submit("reports", { intent: "one", body: {} })).id, "op-1");
  assert.equal(new Set(heard).size, 2, "whose work it is, asked as often as needed, and the submission");
  assert.ok(heard.length >= 4);
});

test("a background that never answers leaves a submission unconfirmed", async (t) => {
  const { connect } = await loadPackage(t, "extension.js");
  const page = connect({ services: { reports: {} } });
  t.after(() => page.close());
  api.runtime.sendMessage = async ({ method }) => {
    if (method === "list") return { protocol: "holdfast/1", account: "local", value: '{"operations":[]}' };
    throw new Error("The message port closed before a response was received.");
  };
  await assert.rejects(page.submit("reports", { intent: "one", body: {} }), (error) => {
    assert.equal(error.code, "SUBMIT_UNCONFIRMED");
    assert.match(error.nextStep, /same intent/);
    return true;
  });
  await assert.rejects(page.find("reports", "one"), (error) => error.code === "ABORTED" && /background\(\)/.test(error.nextStep));
});

test("bytes of a result and the background's errors arrive as they are", async (t) => {
  const { connect, world } = await begin(t);
  const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256);
  const done = state({ status: "succeeded", endedAt: 2000, delivered: true, result: { bytes: bytes.length } });
  world.script.find = async () => done;
  world.script.load = async () => done;
  world.script.chunk = (_, id, index) => (index ? undefined : bytes);
  world.script.command = async () => {
    throw { code: "NOT_ALLOWED", message: "it is over", nextStep: "look at it", operationId: "op-1" };
  };
  const page = connect({ services: { reports: {} } });
  t.after(() => page.close());
  const operation = await page.find("reports", "one");
  assert.deepEqual(new Uint8Array(await (await operation.blob()).arrayBuffer()), bytes);
  await assert.rejects(operation.cancel(), (error) => {
    assert.deepEqual([error.name, error.code, error.operationId], ["HoldfastError", "NOT_ALLOWED", "op-1"]);
    return /It is over/.test(error.message);
  });
});

test("the alarm follows what the work waits for, and ends with it", async (t) => {
  const { Alarm } = await loadPackage(t, "extension-alarm.js");
  t.mock.timers.enable({ apis: ["Date", "setInterval"], now: 1_000_000 });
  const alarm = new Alarm(api);
  const look = async (more) => {
    await alarm.follow(more.map((one) => JSON.parse(state(one))));
    return api.alarms.set.at(-1);
  };
  const wait = (until) => ({ waiting: { reason: "poll", until } });
  assert.equal((await look([wait(1_090_000), wait(1_060_000)])).when, 1_060_000);
  assert.equal((await look([wait(1_001_000)])).when, 1_030_000, "browsers keep none that is sooner");
  const count = api.alarms.set.length;
  await look([wait(1_031_000)]);
  assert.equal(api.alarms.set.length, count, "it is near enough");
  const ended = { status: "succeeded", endedAt: 1 };
  assert.equal((await look([{ ...ended, delivered: false }])).when, 1_030_000);
  await alarm.rest();
  assert.equal(api.alarms.set.at(-1).cleared, true);
});

test("an alarm is not ended while work is being taken on, and an alarm that was not set is set again", async (t) => {
  const { Alarm } = await loadPackage(t, "extension-alarm.js");
  const alarm = new Alarm(api);
  await alarm.during(async () => {
    await alarm.rest();
    assert.equal(api.alarms.set.length, 1);
    assert.equal(api.alarms.set[0].name, "holdfast");
  });
  await alarm.rest();
  const { create } = api.alarms;
  api.alarms.create = async () => Promise.reject(new Error("no"));
  await assert.rejects(alarm.follow([JSON.parse(state())]));
  api.alarms.create = create;
  await alarm.follow([JSON.parse(state())]);
  assert.equal(api.alarms.set.at(-1).name, "holdfast");
  assert.equal(api.alarms.set.at(-1).cleared, undefined);
  alarm.close();
});

test("what only the store knows of keeps the alarm: an ending that was not delivered", async (t) => {
  const { world } = await begin(t, { onSettled: () => undefined });
  const ended = state({ status: "succeeded", endedAt: 1, delivered: false });
  world.script.list = (_, filter) =>
    `{"operations":[${JSON.parse(filter).acknowledged === false ? ended : ""}]}`;
  await api.send(message("start", []), POPUP);
  await settle();
  assert.notEqual(api.alarms.set.at(-1).cleared, true);
});

test("two submissions in one turn keep each its own body, in their order", async (t) => {
  const { holdfast, world } = await begin(t);
  const seen = [];
  world.script.submit = (_, service, json, body) => {
    seen.push([JSON.parse(json).intent, new TextDecoder().decode(body)]);
    return state();
  };
  const body = { page: 1 };
  const first = holdfast.submit("reports", { intent: "one", body });
  body.page = 2;
  await Promise.all([first, holdfast.submit("reports", { intent: "two", body })]);
  assert.deepEqual(seen, [["one", '{"page":1}'], ["two", '{"page":2}']]);
});

test("what was read for one account is not shown as another's, and a stranger is not told whose it is", async (t) => {
  let account = "ada";
  const { world } = await begin(t, { account: () => account });
  world.script.list = () => ((account = "grace"), '{"operations":[]}');
  assert.equal((await api.send(message("list", ["{}"]), POPUP)).error.code, "NO_ACCOUNT");
  assert.equal("account" in (await api.send(message("list", ["{}"]), WEB)), false);
});

test("after close nothing is taken on any more", async (t) => {
  const { holdfast, world } = await begin(t);
  await settle();
  world.script.submit = () => assert.fail("it reached the module");
  await holdfast.close();
  assert.equal(api.listener(message("submit", submission()), POPUP, () => assert.fail("it answered")), false);
});

test("another listener's answer is none", async (t) => {
  const { connect } = await loadPackage(t, "extension.js");
  api.runtime.sendMessage = async () => ({ ok: true });
  const page = connect({ services: { reports: {} } });
  t.after(() => page.close());
  await assert.rejects(page.submit("reports", { intent: "one", body: {} }), { code: "ABORTED" });
});

test("a manifest without what is needed is told by its line", async (t) => {
  const said = [];
  console.warn = (text) => said.push(text);
  delete api.alarms;
  api.permissions.contains = async () => false;
  await begin(t);
  await settle();
  assert.equal(said.length, 2);
  assert.match(said.join("\n"), /"alarms" to "permissions"/);
  assert.match(said.join("\n"), /"https:\/\/api\.example\.com\/\*" to "host_permissions"/);
});
