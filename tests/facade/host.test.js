// The app's callbacks, and the module's life and death.
import { readFileSync, renameSync } from "node:fs";
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { join } from "node:path";
import { mock, test } from "node:test";
import { loadPackage, options, settle, state } from "./package.js";

test("the module is initialised once for all, and again after a failure", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  world.initError = new WebAssembly.CompileError("blocked by CSP");
  const holdfast = createHoldfast(options());
  await assert.rejects(holdfast.start(), (error) => {
    assert.equal(error.code, "WASM_BLOCKED");
    assert.match(error.nextStep, /script-src 'self' 'wasm-unsafe-eval'/);
    return true;
  });
  world.initError = undefined;
  const other = createHoldfast(options());
  await Promise.all([holdfast.start(), holdfast.list().catch(() => 0), other.start()]);
  assert.equal(world.inits, 2);
  assert.equal(world.clients.length, 2);
});

test("scripts that do not come are told as that, whatever asks for them, and asked for again", async (t) => {
  const { createHoldfast, folder } = await loadPackage(t);
  const holdfast = createHoldfast(options());
  const told = { name: "HoldfastError", code: "WASM_BLOCKED", message: /^Holdfast's scripts could not be loaded\. Serve/ };
  const calls = { "page.js": () => holdfast.list(), "reset.js": () => holdfast.resetStorage({ acceptRisk: "duplicate" }) };
  for (const [name, call] of Object.entries(calls)) {
    const file = join(folder, name);
    renameSync(file, `${file}.gone`);
    await assert.rejects(call(), told);
    renameSync(`${file}.gone`, file);
  }
  await holdfast.start();
});

test("what fails at the beginning, and is no script that has not come, is told as what it is", async (t) => {
  const { makeHoldfast } = await loadPackage(t, "create.js");
  const parts = {};
  const holdfast = makeHoldfast({ options: options(), config: "" }, parts);
  const own = Object.assign(new Error("no"), { name: "HoldfastError", code: "STORAGE_UNAVAILABLE" });
  parts.open = () => Promise.reject(own);
  await assert.rejects(holdfast.list(), own);
  const cause = new TypeError("x is not a function");
  parts.open = () => Promise.reject(cause);
  const told = { name: "HoldfastError", code: "ABORTED", message: /^Holdfast could not begin: TypeError: x is not a function\. / };
  await assert.rejects(holdfast.list(), { ...told, cause });
});

test("a module's file that is not there is told with its status and address, without what may be secret in that", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  world.initError = new TypeError("Failed to execute 'compile' on 'WebAssembly': HTTP status code is not ok");
  const url = "https://app.example.com/files/holdfast.wasm";
  const server = createServer((_, response) => response.writeHead(response.req.url.startsWith("/gone") ? 404 : 500).end());
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => server.close());
  const origin = `http://127.0.0.1:${server.address().port}`;
  const answer = Object.defineProperty(new Response(null, { status: 403 }), "url", { value: `${url}?token=secret` });
  const told = [
    [`${origin}/gone/holdfast.wasm?token=secret#secret`, `the file was not found: status 404 from ${origin}/gone/holdfast.wasm`],
    [new URL(`${origin}/holdfast.wasm?token=secret`), `the file is not served: status 500 from ${origin}/holdfast.wasm`],
    [Promise.resolve(answer), `the file is not served: status 403 from ${url}`],
    ["http://127.0.0.1:1/", "TypeError: Failed to execute 'compile' on 'WebAssembly': HTTP status code is not ok"],
    [new Response(new Uint8Array(8)), "TypeError: Failed to execute 'compile' on 'WebAssembly': HTTP status code is not ok"],
  ];
  for (const [module, why] of told) {
    const holdfast = createHoldfast(options({ module }));
    const { code, message } = await holdfast.start().catch((error) => error);
    assert.deepEqual([code, message.split(" Serve ")[0]], ["WASM_BLOCKED", `Holdfast's WebAssembly module could not be loaded: ${why}.`]);
    await holdfast.close();
  }
});

test("the module gets the configuration as JSON, with the profile that a service names", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  await createHoldfast(options({}, { baseUrl: "https://API.example.com/", limits: { attempts: 2 } })).start();
  const file = new URL("../../pkg-template/profiles/runharvester.json", import.meta.url);
  const profile = JSON.parse(readFileSync(file, "utf8"));
  assert.deepEqual(JSON.parse(world.clients[0].config), {
    services: { reports: { profile, baseUrl: "https://api.example.com", limits: { attempts: 2 } } },
  });
});

test("a profile that is not built in is refused by field, and again", async (t) => {
  const { createHoldfast, isHoldfastError } = await loadPackage(t);
  for (const profile of ["unheard-of", "../profiles/runharvester"]) {
    const holdfast = createHoldfast(options({}, { profile }));
    for (let round = 0; round < 2; round++) {
      const error = await holdfast.start().catch((refused) => refused);
      assert.ok(isHoldfastError(error));
      assert.deepEqual([error.code, error.field], ["INVALID_PROFILE", "services.reports.profile"]);
    }
  }
});

test("what the module refuses arrives as a HoldfastError", async (t) => {
  const { createHoldfast, isHoldfastError, world } = await loadPackage(t);
  world.script.submit = () => {
    throw { code: "INTENT_CONFLICT", message: "Other bytes.", nextStep: "Use another intent.", operationId: "op-1" };
  };
  const error = await createHoldfast(options()).submit("reports", { intent: "a", body: {} }).catch((e) => e);
  assert.ok(isHoldfastError(error) && error instanceof Error);
  assert.equal(error.message, "Other bytes. Use another intent.");
  assert.equal(error.operationId, "op-1");
});

test("what the module refuses is told in sentences, with the option that is wrong", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const refusals = [
    ["it is missing", "params.path", "params.path: it is missing. Correct it and call again."],
    ["this intent stands for another request", undefined, "This intent stands for another request. Correct it and call again."],
    ["/calls: it is missing", undefined, "/calls: it is missing. Correct it and call again."],
    ["limits.cost: it must be more than 0", "limits.cost", "limits.cost: it must be more than 0. Correct it and call again."],
  ];
  for (const [message, field, told] of refusals) {
    world.script.submit = () => {
      throw { code: "INVALID_INPUT", message, field, nextStep: "correct it and call again" };
    };
    const error = await createHoldfast(options()).submit("reports", { intent: "a", body: {} }).catch((e) => e);
    assert.equal(error.message, told);
    assert.equal(error.nextStep, "Correct it and call again.");
  }
});

test("an operation is written as JSON by its state", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  world.script.submit = () => state({ intent: "a" });
  const operation = await createHoldfast(options()).submit("reports", { intent: "a", body: {} });
  assert.deepEqual(JSON.parse(JSON.stringify(operation)), JSON.parse(state({ intent: "a" })));
});

test("a trap costs an instance: reads and submits are made again in a new one", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const holdfast = createHoldfast(options());
  t.after(() => holdfast.close());
  let traps = 1;
  let started = 0;
  world.script.start = () => void started++;
  world.script.submit = () => {
    if (traps-- > 0) throw new WebAssembly.RuntimeError("unreachable");
    return state();
  };
  const operation = await holdfast.submit("reports", { intent: "one", body: {} });
  assert.deepEqual([world.resets, world.clients.length, started], [1, 2, 1]);
  world.script.command = () => {
    throw new WebAssembly.RuntimeError("unreachable");
  };
  await assert.rejects(operation.cancel(), { code: "ABORTED" });
  traps = 2;
  await assert.rejects(holdfast.submit("reports", { intent: "one", body: {} }), { code: "SUBMIT_UNCONFIRMED" });
});

for (const [name, given] of [["submit", { intent: "one", body: {} }], ["adopt", { intent: "one", jobId: "job-1" }]]) {
  test(`where ${name} may have stored something, that call is to be made again`, async (t) => {
    const { createHoldfast, world } = await loadPackage(t);
    const holdfast = createHoldfast(options());
    t.after(() => holdfast.close());
    world.script[name] = () => {
      throw new WebAssembly.RuntimeError("unreachable");
    };
    const nextStep = `Call ${name}() again with the same intent: it never makes a second operation.`;
    await assert.rejects(holdfast[name]("reports", given), { code: "SUBMIT_UNCONFIRMED", nextStep });
  });
}

test("calls that a dead instance would never answer are made again, in every client", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const hung = createHoldfast(options());
  const trapped = createHoldfast(options());
  t.after(() => Promise.all([hung.close(), trapped.close()]));
  let answer = () => new Promise(() => undefined);
  world.script.find = (client, service, intent) => (intent === "hang" ? answer() : undefined);
  await hung.start();
  const found = hung.find("reports", "hang");
  await settle();
  answer = () => state();
  world.script.journal = () => "[]";
  let once = true;
  world.script.list = () => {
    if (once) throw ((once = false), new WebAssembly.RuntimeError("unreachable"));
    return '{"operations":[]}';
  };
  await trapped.list();
  assert.equal((await found).id, "op-1");
  assert.equal(world.resets, 1);
});

test("authorize is asked with a signal, and its answer is checked", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const error = mock.method(console, "error", () => undefined);
  t.after(() => error.mock.restore());
  const asked = [];
  let answer = { headers: { authorization: "Bearer a" }, scope: "org" };
  const authorize = (request) => (asked.push(request), answer);
  await createHoldfast(options({}, { authorize })).start();
  const { host } = world.clients[0];
  assert.deepEqual(await host.authorize("reports", "poll", true), {
    headers: [["authorization", "Bearer a"]],
    scope: "org",
  });
  assert.deepEqual([asked[0].purpose, asked[0].refresh, asked[0].signal.aborted], ["poll", true, false]);
  for (answer of [{}, { headers: { a: 1 } }, { headers: new Headers({ a: "secret" }) }, { headers: {}, scope: 1 }]) {
    await assert.rejects(host.authorize("reports", "poll", false), { code: "INVALID_INPUT" });
  }
  answer = null;
  assert.equal(await host.authorize("reports", "poll", false), null);
  assert.equal(error.mock.callCount(), 1);
  assert.doesNotMatch(JSON.stringify(error.mock.calls[0].arguments), /secret/);
});

test("a credential that fetch would refuse to send is no credential, and nothing of it is told", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const error = mock.method(console, "error", () => undefined);
  t.after(() => error.mock.restore());
  let headers = {};
  await createHoldfast(options({}, { authorize: () => ({ headers }) })).start();
  const { host } = world.clients[0];
  for (headers of [{ authorization: "Bearer secret\u2026" }, { authorization: "Bearer sec\nret" }, { "bad secret": "a" }, { "": "secret" }]) {
    const refused = await host.authorize("reports", "submit", false).catch((thrown) => thrown);
    assert.deepEqual([refused.code, refused.field], ["INVALID_INPUT", "authorize"]);
    assert.doesNotMatch(JSON.stringify([refused.message, refused.stack, refused.cause]), /sec|bad/);
  }
  // A line break at the end, as a file's last one, is taken off by fetch.
  headers = { authorization: "Bearer a\n", "x-name": "caf\u00e9" };
  assert.deepEqual((await host.authorize("reports", "submit", false)).headers, Object.entries(headers));
});

test("onSettled is handed the operation, and its failure is the module's to hear", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const given = [];
  const onSettled = async (operation) => {
    given.push(operation.status);
    if (given.length === 1) throw new Error("disk full");
  };
  await createHoldfast(options({ onSettled })).start();
  const { host } = world.clients[0];
  assert.equal(host.consumes, true);
  const ended = state({ status: "cancelled", revision: 2 });
  await assert.rejects(host.settled(ended, "local"), /disk full/);
  await host.settled(ended, "local");
  assert.deepEqual(given, ["cancelled", "cancelled"]);
});

test("observe runs outside the module's call, and what it throws is said once", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const error = mock.method(console, "error", () => undefined);
  t.after(() => error.mock.restore());
  const events = [];
  const observe = (event) => {
    events.push(event);
    throw new Error("observer");
  };
  await createHoldfast(options({ observe })).start();
  const entries = [
    { at: 5, event: "submit.answered", count: 1, purpose: "submit", httpStatus: 202 },
    { at: 6, event: "poll.answered", count: 2, state: "running" },
  ];
  world.clients[0].host.notify(state({ status: "active" }), JSON.stringify(entries), "local");
  assert.equal(events.length, 0);
  await settle();
  assert.deepEqual(events.map((event) => event.name), ["submit.answered", "poll.answered"]);
  assert.equal(events[0].attributes["http.response.status_code"], 202);
  assert.equal(events[0].attributes["holdfast.operation.id"], "op-1");
  assert.equal(error.mock.callCount(), 1);
});

test("the page's life reaches the module from the first use to the close", async (t) => {
  const page = new EventTarget();
  const told = [];
  for (const name of ["addEventListener", "removeEventListener"]) {
    globalThis[name] = page[name].bind(page);
    t.after(() => delete globalThis[name]);
  }
  const { createHoldfast, world } = await loadPackage(t);
  const holdfast = createHoldfast(options());
  await holdfast.start();
  world.clients[0].wake = () => told.push("wake");
  world.clients[0].yield = () => told.push("yield");
  for (const name of ["online", "pagehide", "pageshow"]) page.dispatchEvent(new Event(name));
  assert.deepEqual(told, ["wake", "yield", "wake"]);
  await holdfast.close();
  page.dispatchEvent(new Event("online"));
  assert.equal(told.length, 3);
});

test("a method that traps before it has given a promise leaves no rejection that nobody hears", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  world.script.construct = (client) => {
    client.list = () => {
      throw new WebAssembly.RuntimeError("unreachable");
    };
  };
  const holdfast = createHoldfast(options());
  t.after(() => holdfast.close());
  await assert.rejects(holdfast.list(), { code: "ABORTED" });
  // One that there was would fail this test.
  await settle();
});

test("a trap that only the page hears of is a death too", async (t) => {
  const page = new EventTarget();
  for (const name of ["addEventListener", "removeEventListener"]) {
    globalThis[name] = page[name].bind(page);
    t.after(() => delete globalThis[name]);
  }
  const { createHoldfast, world } = await loadPackage(t);
  const holdfast = createHoldfast(options());
  t.after(() => holdfast.close());
  world.script.find = () => new Promise(() => undefined);
  await holdfast.start();
  const found = holdfast.find("reports", "one");
  await settle();
  world.script.find = () => state();
  const hear = (error) => page.dispatchEvent(Object.assign(new Event("error"), { error }));
  hear(new Error("holdfast"));
  hear(Object.assign(new WebAssembly.RuntimeError("unreachable"), { stack: "at other.wasm" }));
  assert.equal(world.resets, 0);
  hear(Object.assign(new WebAssembly.RuntimeError("unreachable"), { stack: "at https://a/holdfast.wasm:1" }));
  assert.equal((await found).id, "op-1");
  assert.equal(world.resets, 1);
});
