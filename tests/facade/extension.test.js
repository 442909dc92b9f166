// The background of an extension and its pages, with the browser's interface played and the module's glue scripted.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { begin, fakeApi, listed, message, POPUP, submission, WEB } from "./fake-extension.js";
import { loadPackage, options, settle, state } from "./package.js";

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
    message(["submit"], submission()), message({ length: 1 }, []), message("__proto__", []),
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

test("what fails in the background, and is no error of ours, is said at its console and nowhere else", async (t) => {
  const said = [];
  const { world } = await begin(t, { logger: { error: (text) => said.push(text) } });
  world.script.submit = async () => "no JSON, but a secret";
  const { error } = await api.send(message("submit", submission()), POPUP);
  assert.deepEqual([error.message, error.nextStep], ["It failed on the other side.", "See the console there."]);
  assert.match(said.join(), /submit failed in the background\. SyntaxError/);
  assert.doesNotMatch(said.join(), /secret/);
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

test("what looks like a call, and is none, is not one that allow is asked about", async (t) => {
  const asked = [];
  const { world } = await begin(t, { allow: (request) => (asked.push(request), request.action !== "submit") });
  world.script.submit = () => assert.fail("it reached the module");
  assert.equal((await api.send(message(["submit"], submission()), WEB)).error.code, "INVALID_INPUT");
  assert.deepEqual(asked, []);
});

test("an allow that never settles refuses, in time", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  await begin(t, { allow: () => new Promise(() => undefined), logger: { error: () => undefined } });
  const answer = api.send(message("submit", submission()), WEB);
  await settle();
  t.mock.timers.tick(25_000);
  assert.equal((await answer).error.code, "NOT_ALLOWED");
});

test("who may submit, and nothing else, can", async (t) => {
  const { connect } = await begin(t, { allow: ({ action }) => action === "submit" });
  api.page = WEB;
  const page = connect({ services: { reports: {} } });
  t.after(() => page.close());
  assert.equal((await page.submit("reports", { intent: "one", body: {} })).id, "op-1");
  await assert.rejects(page.find("reports", "one"), { code: "NOT_ALLOWED" });
});

test("where it is not known whose work it is, what may have been done is not asked for again", async (t) => {
  const { connect } = await begin(t, { allow: ({ action }) => action === "submit" });
  const { send } = api;
  const methods = [];
  api.page = WEB;
  api.send = (sent, sender) => {
    methods.push(sent.method);
    return sent.method === "submit" ? Promise.reject(new Error("The message port closed")) : send(sent, sender);
  };
  const page = connect({ services: { reports: {} } });
  t.after(() => page.close());
  await assert.rejects(page.submit("reports", { intent: "one", body: {} }), { code: "SUBMIT_UNCONFIRMED" });
  assert.deepEqual(methods, ["list", "submit"]);
});

test("messages are answered, and work goes on, once what the app waits for is there", async (t) => {
  let account = null;
  let arrive;
  const started = [];
  const ready = new Promise((resolve) => (arrive = resolve));
  await begin(t, { account: () => account, ready }, { start: async () => started.push(account) });
  const answer = api.send(message("submit", submission()), POPUP);
  await settle();
  account = "ada";
  arrive();
  assert.equal((await answer).account, "ada");
  await settle();
  assert.deepEqual(started, ["ada"]);
});

test("a ready that fails, or never comes, holds nothing up for good", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const said = [];
  const logger = { error: (text) => said.push(text) };
  const { holdfast } = await begin(t, { ready: new Promise(() => undefined), logger });
  const answer = api.send(message("submit", submission()), POPUP);
  await settle();
  t.mock.timers.tick(25_000);
  assert.ok((await answer).value);
  assert.match(said.join(), /ready failed/);
  await holdfast.close();
  await begin(t, { ready: { then: (_, reject) => reject(new Error("no")) }, logger });
  assert.ok((await api.send(message("submit", submission()), POPUP)).value);
});

test("there is one background, for two would both take on what a page submits", async (t) => {
  const { background, holdfast } = await begin(t);
  assert.throws(() => background(options()), { code: "NOT_ALLOWED" });
  await holdfast.close();
  await background(options()).close();
});

test("an account() that throws in a worker is told of", async (t) => {
  const said = [];
  const account = () => {
    throw new TypeError("no");
  };
  await begin(t, { account, logger: { error: (text) => said.push(text) } });
  await settle();
  assert.match(said.join(), /account\(\) failed/);
});

test("a page whose background never answers is told so in a minute, and not never", async (t) => {
  const { connect } = await loadPackage(t, "extension.js");
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let asked;
  const heard = new Promise((resolve) => (asked = resolve));
  api.runtime.sendMessage = () => (asked(), new Promise(() => undefined));
  const holdfast = connect({ services: { reports: {} } });
  const list = assert.rejects(holdfast.list(), ({ code, nextStep }) => code === "ABORTED" && /console of the background/.test(nextStep));
  await heard;
  t.mock.timers.tick(60_000);
  await list;
});

test("a page is told what the background has seen of a service that never answers", async (t) => {
  const { connect, world, holdfast: behind } = await begin(t);
  await behind.start();
  world.script.list = async () => listed(state());
  const [{ host }] = world.clients;
  for (let lost = 0; lost < 3; lost++) host.notify(state(), '[{"event":"submit.lost"}]', "local");
  await settle();
  const holdfast = connect({ services: { reports: {} } });
  t.after(() => holdfast.close());
  const [{ state: shown }] = (await holdfast.list()).operations;
  assert.match(shown.hint, /No answer has come from https:\/\/api\.example\.com yet, and 3 were lost/);
});

test("the background's scripts come at once: none is imported later, and nothing is awaited on the way", async (t) => {
  const { folder } = await loadPackage(t, "extension.js");
  const late = new Set();
  const seen = new Set(["./extension.js"]);
  for (const name of seen) {
    const text = readFileSync(join(folder, name), "utf8").replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, "");
    for (const [, own] of text.matchAll(/(?:from|^import) "(\.[^"]+)"/gm)) seen.add(`./${join(dirname(name), own)}`);
    if (/\bimport\(/.test(text)) late.add(name);
  }
  // The background has a table of profiles of its own, and tells of what account() throws before it would come to that.
  assert.deepEqual([...late].sort(), ["./profiles/built-in.js", "./submission.js"]);
  assert.ok(seen.has("./glue.js") && seen.has("./profiles/all.js"));
  // Node refuses to load at once what awaits on the way.
  createRequire(import.meta.url)(join(folder, "extension.js"));
});
