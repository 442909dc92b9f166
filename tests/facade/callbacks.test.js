// What the app's own functions throw is told: once to the console, without its message, and to observe.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { loadPackage, options, settle, state } from "./package.js";

/** A client whose events and lines on the console are caught. */
async function started(t, more, service) {
  const console_ = mock.method(console, "error", () => undefined);
  t.after(() => console_.mock.restore());
  const events = [];
  const { createHoldfast, world } = await loadPackage(t);
  const holdfast = createHoldfast(options({ observe: (event) => events.push(event), ...more }, service));
  t.after(() => holdfast.close());
  await holdfast.start();
  const lines = () => console_.mock.calls.map((call) => call.arguments.join(" "));
  return { holdfast, host: world.clients[0].host, script: world.script, events, lines };
}

const fails = () => {
  throw new TypeError("the token is s3cret");
};

test("an authorize that throws is told, and its message is not", async (t) => {
  const { host, events, lines } = await started(t, {}, { authorize: fails });
  for (let round = 0; round < 2; round++) await assert.rejects(host.authorize("reports", "poll", false), TypeError);
  await settle();
  assert.equal(lines().length, 1);
  assert.match(lines()[0], /authorize failed.*TypeError\n\s+at fails .*callbacks\.test\.js:\d+/s);
  assert.doesNotMatch(lines()[0], /s3cret/);
  assert.deepEqual(events.map(({ name, attributes }) => [name, attributes]), Array(2).fill([
    "callback.failed",
    { "holdfast.callback": "authorize", "error.type": "TypeError", "holdfast.service": "reports", "holdfast.purpose": "poll" },
  ]));
});

test("an onSettled that throws is told with its operation", async (t) => {
  const { host, events, lines } = await started(t, { onSettled: fails });
  await assert.rejects(host.settled(state({ status: "cancelled" }), "local"), TypeError);
  await settle();
  assert.match(lines()[0], /onSettled failed/);
  const [{ name, attributes }] = events;
  assert.deepEqual([name, attributes["holdfast.callback"], attributes["holdfast.operation.id"]], ["callback.failed", "onSettled", "op-1"]);
});

test("an account() that throws is told once, and reads as nobody", async (t) => {
  const { holdfast, host, events, lines } = await started(t, { account: fails });
  assert.deepEqual([host.account(), host.account()], [null, null]);
  await assert.rejects(holdfast.submit("reports", { intent: "a", body: {} }), { code: "NO_ACCOUNT" });
  await settle();
  assert.deepEqual([lines().length, events.length], [1, 1]);
  assert.equal(events[0].attributes["holdfast.callback"], "account");
});

test("an app's own logger is told in the place of the console", async (t) => {
  const said = [];
  const { host, lines } = await started(t, { onSettled: fails, logger: { error: (line) => said.push(line) } });
  await assert.rejects(host.settled(state({ status: "cancelled" }), "local"), TypeError);
  assert.match(said.join(), /onSettled failed/);
  assert.deepEqual(lines(), []);
  const { createHoldfast } = await loadPackage(t);
  assert.throws(() => createHoldfast(options({ logger: {} })), { field: "logger" });
});

test("what is no error at all can be thrown as well", async (t) => {
  const authorize = () => Promise.reject(undefined);
  const { host, lines } = await started(t, {}, { authorize });
  await host.authorize("reports", "submit", false).catch(() => undefined);
  assert.match(lines()[0], /authorize failed.* Error$/);
});

const parked = (reason) =>
  state({ status: "parked", parked: { reason, since: 1, exits: ["resume()"] }, revision: 2 });

test("a missing authorize does not read like a refused credential", async (t) => {
  const { holdfast, script } = await started(t, {}, {});
  script.find = script.load = () => parked("NeedsCredential");
  const { error } = await (await holdfast.find("reports", "one")).outcome();
  assert.match(error.message, /services\.reports has no authorize\. Add one, then call resume\(\)\.$/);
});

test("a credential that could not be had does not read like a refused one", async (t) => {
  let authorize = fails;
  const { holdfast, host, script } = await started(t, {}, { authorize: (request) => authorize(request) });
  script.find = script.load = () => parked("NeedsCredential");
  const operation = await holdfast.find("reports", "one");
  await host.authorize("reports", "submit", false).catch(() => undefined);
  assert.match((await operation.outcome()).error.message, /authorize failed with TypeError\. Mend it, then call resume/);
  for (const [given, told] of [
    ["secret", /^The service got no credential: authorize must give \{headers: \{name: value\}\}\. Mend it, then call resume\(\)\.$/],
    [{ headers: { authorization: "secret\u2026" } }, /authorize gave a header field that cannot be sent: .* Latin-1\. Mend it, then call resume/],
  ]) {
    authorize = () => given;
    await host.authorize("reports", "submit", true).catch(() => undefined);
    const { message } = (await operation.outcome()).error;
    assert.match(message, told);
    assert.doesNotMatch(message, /secret/);
  }
  authorize = () => ({ headers: {} });
  await host.authorize("reports", "submit", true);
  assert.match((await operation.outcome()).error.message, /^The credential was refused/);
});
