// What is refused, by which name, before anything is loaded.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage, options, state } from "./package.js";

const refused = (code, field) => (error) => {
  assert.equal(error.name, "HoldfastError");
  assert.deepEqual([error.code, error.field], [code, field]);
  return true;
};

test("making a client loads, opens and asks nothing", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const holdfast = createHoldfast(options({ account: () => assert.fail("asked") }));
  assert.deepEqual(holdfast.getSnapshot(), []);
  holdfast.subscribe(() => undefined)();
  assert.equal(world.inits, 0);
});

test("malformed options are refused at once, by field", async (t) => {
  const { createHoldfast } = await loadPackage(t);
  const cases = [
    [undefined, "options"],
    [{ ...options(), account: "me" }, "account"],
    [options({ services: {} }), "services"],
    [options({ onSetled() {} }), "onSetled"],
    [options({ observe: 1 }), "observe"],
    [options({ database: "" }), "database"],
    [options({ retention: 5 }), "retention"],
    [options({ retention: { ageMs: 0 } }), "retention.ageMs"],
    [options({ retention: { results: 1 } }), "retention.results"],
    [options({}, { profile: undefined }), "services.reports.profile"],
    [options({}, { profile: { a: () => 1 } }), "services.reports.profile"],
    [options({}, { retries: 3 }), "services.reports.retries"],
    [options({}, { authorize: "token" }), "services.reports.authorize"],
    [options({}, { result: {} }), "services.reports.result"],
    [options({}, { key: "mine" }), "services.reports.key"],
    [options({}, { limits: { attempts: Infinity } }), "services.reports.limits.attempts"],
  ];
  for (const [given, field] of cases) {
    assert.throws(() => createHoldfast(given), refused("INVALID_INPUT", field));
  }
});

test("a base URL is HTTPS or loopback, and holds nothing but a place", async (t) => {
  const { createHoldfast } = await loadPackage(t);
  const make = (baseUrl) => () => createHoldfast(options({}, { baseUrl }));
  const bad = [undefined, "/api", "api.example.com", "http://example.com", "ftp://localhost",
    "http://127.0.0.1.example.com", "https://user:pw@example.com", "https://example.com/?a",
    "https://example.com/?", "https://example.com/#", "http://localhost.example.com"];
  for (const url of bad) assert.throws(make(url), refused("INVALID_INPUT", "services.reports.baseUrl"));
  const good = ["https://api.example.com/v2/", "http://localhost:8080", "http://127.9.8.7", "http://[::1]:1"];
  for (const url of good) assert.doesNotThrow(make(url));
});

test("a body that cannot be stored exactly is refused, and nothing is loaded", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const holdfast = createHoldfast(options());
  const cycle = { list: [] };
  cycle.list.push(cycle);
  class Job {}
  const bodies = [undefined, null, 7, () => 1, cycle, { a: undefined }, { a: () => 1 }, { a: 1n },
    { a: NaN }, { a: -Infinity }, { a: new Date(0) }, new Map(), new Set(), new FormData(),
    new Blob([]), new ReadableStream(), new URLSearchParams("a=1"), new Job(), [, 1],
    { [Symbol("a")]: 1 }, new ArrayBuffer(1), new Uint16Array(1), "\ud800", Object.create({ a: 1 }),
    new Uint8Array(8 * 1024 * 1024 + 1)];
  for (const body of bodies) {
    await assert.rejects(holdfast.submit("reports", { intent: "a", body }), refused("INVALID_INPUT", "body"));
  }
  assert.equal(world.inits, 0);
});

test("a submission that is wrong elsewhere is refused by field", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const holdfast = createHoldfast(options());
  const cases = [
    [{}, "intent"], [{ intent: "" }, "intent"], [{ intent: 5 }, "intent"],
    [{ intent: "x".repeat(513) }, "intent"], [{ intent: "\udc00" }, "intent"],
    [{ contentType: "json" }, "contentType"], [{ contentType: "a/b\r\nx: y" }, "contentType"],
    [{ key: "" }, "key"], [{ retries: 1 }, "submission.retries"],
    ...[0, -1, NaN, Infinity, 1.5, "3", null].map((n) => [{ limits: { attempts: n } }, "limits.attempts"]),
    [{ limits: { cost: 0 } }, "limits.cost"], [{ limits: { credits: 1 } }, "limits.credits"],
  ];
  for (const [more, field] of cases) {
    const submission = more.intent === undefined && !Object.keys(more).length ? { body: {} } : { intent: "a", body: {}, ...more };
    await assert.rejects(holdfast.submit("reports", submission), refused("INVALID_INPUT", field));
  }
  assert.equal(world.inits, 0);
});

test("an unknown service, a name of Object.prototype, and nobody signed in are refused", async (t) => {
  const { createHoldfast } = await loadPackage(t);
  const holdfast = createHoldfast(options());
  for (const name of ["report", "toString"]) {
    await assert.rejects(holdfast.submit(name, { intent: "a", body: {} }), refused("UNKNOWN_SERVICE", "service"));
    await assert.rejects(holdfast.find(name, "a"), refused("UNKNOWN_SERVICE", "service"));
  }
  const nobody = createHoldfast(options({ account: () => null }));
  await assert.rejects(nobody.submit("reports", { intent: "a", body: {} }), refused("NO_ACCOUNT", undefined));
});

test("the bytes are those of the moment of the call", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const seen = [];
  world.script.submit = (client, service, json, body) => {
    seen.push([service, JSON.parse(json), new TextDecoder().decode(body)]);
    return state();
  };
  const holdfast = createHoldfast(options());
  const body = { url: "a", list: [1, { b: null }] };
  const bytes = new Uint8Array([104, 105]);
  const pending = [
    holdfast.submit("reports", { intent: "a", body }),
    holdfast.submit("reports", { intent: "b", body: bytes, contentType: "text/plain; charset=utf-8" }),
  ];
  body.url = "changed";
  bytes.fill(0);
  await Promise.all(pending);
  assert.deepEqual(seen, [
    ["reports", { intent: "a", contentType: "application/json" }, '{"url":"a","list":[1,{"b":null}]}'],
    ["reports", { intent: "b", contentType: "text/plain; charset=utf-8" }, "hi"],
  ]);
});

test("a proxy is a path of the page's own origin, in the place of baseUrl and authorize", async (t) => {
  const { createHoldfast } = await loadPackage(t);
  const make = (service) => () => createHoldfast({ account: () => "a", services: { reports: { profile: "replay", ...service } } });
  make({ proxy: "/api/reports" })();
  const bad = ["", "api", "//evil.example", "/\\evil.example", "https://api.example.com", 1].map((proxy) => ({ proxy }));
  bad.push({ proxy: "/api?x=1" }, { proxy: "/api", baseUrl: "https://api.example.com" }, { proxy: "/api", authorize: () => null });
  for (const service of bad) assert.throws(make(service), refused("INVALID_INPUT", "services.reports.proxy"), JSON.stringify(service));
});

test("requests to the proxy carry the page's cookies, and others none", async (t) => {
  globalThis.location = new URL("https://app.example.com/page");
  t.after(() => delete globalThis.location);
  const { createHoldfast, world } = await loadPackage(t);
  const sent = [];
  const fetch = async (url, { credentials }) => sent.push([url, credentials]);
  const services = { own: { profile: "replay", proxy: "/api/own" }, other: { profile: "replay", baseUrl: "https://api.example.com" } };
  await createHoldfast({ account: () => "a", services, fetch }).start();
  assert.equal(JSON.parse(world.clients[0].config).services.own.baseUrl, "https://app.example.com/api/own");
  const urls = ["https://app.example.com/api/own/v1/map", "https://app.example.com/api/owner", "https://api.example.com/v1/map"];
  for (const url of urls) await world.clients[0].host.fetch(url, { credentials: "omit" });
  assert.deepEqual(sent, urls.map((url, index) => [url, index ? "omit" : "same-origin"]));
});

test("a relay is a path of the page's own origin, or a URL, in the place of profile, baseUrl and params", async (t) => {
  const { createHoldfast } = await loadPackage(t);
  const make = (service) => () => createHoldfast({ account: () => "local", services: { reports: service } });
  for (const relay of ["/operations", "https://relay.example.com/operations"]) make({ relay })();
  const bad = ["", "operations", "//evil.example", "/\\evil.example", "javascript:alert(1)", 1].map((relay) => ({ relay }));
  bad.push({ relay: "/operations", profile: "replay" }, { relay: "/operations", baseUrl: "https://api.example.com" });
  bad.push({ relay: "/operations", params: { service: "other" } });
  for (const service of bad) assert.throws(make(service), refused("INVALID_INPUT", "services.reports.relay"), JSON.stringify(service));
});

test("a relay's service goes by its own name", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  await createHoldfast({ account: () => "local", services: { reports: { relay: "https://relay.example.com/operations/" } } }).start();
  const { reports } = JSON.parse(world.clients[0].config).services;
  assert.deepEqual([reports.profile.name, reports.baseUrl, reports.params], ["relay", "https://relay.example.com/operations", { service: "reports" }]);
});
