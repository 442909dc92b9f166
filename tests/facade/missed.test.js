// What other tabs have changed while nothing was heard of it here.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage, options, settle, state } from "./package.js";

const ENDED = { status: "succeeded", revision: 9, endedAt: 2000 };

/** A client that shows one operation and waits for nothing; `page` hears what a browser tells of its life. */
async function showing(t, { document } = {}) {
  const page = new EventTarget();
  for (const name of ["addEventListener", "removeEventListener"]) {
    globalThis[name] = page[name].bind(page);
    t.after(() => delete globalThis[name]);
  }
  if (document) {
    globalThis.document = document;
    t.after(() => delete globalThis.document);
  }
  const { createHoldfast, world } = await loadPackage(t);
  const stored = { state: state() };
  world.script.submit = () => state();
  world.script.load = () => stored.state;
  const holdfast = createHoldfast(options());
  t.after(() => holdfast.close());
  const operation = await holdfast.submit("reports", { intent: "one", body: {} });
  const shown = () => holdfast.getSnapshot().map(({ status }) => status);
  return { holdfast, operation, page, stored, shown };
}

const pageShow = (persisted) => Object.assign(new Event("pageshow"), { persisted });

test("a page that comes back from the back-forward cache shows what has changed meanwhile", async (t) => {
  const { page, stored, shown } = await showing(t);
  page.dispatchEvent(new Event("pagehide"));
  stored.state = state(ENDED);
  page.dispatchEvent(pageShow(true));
  await settle();
  assert.deepEqual(shown(), ["succeeded"]);
});

test("a page that comes back shows no more what was forgotten meanwhile", async (t) => {
  const { page, stored, shown } = await showing(t);
  page.dispatchEvent(new Event("pagehide"));
  stored.state = undefined;
  page.dispatchEvent(pageShow(true));
  await settle();
  assert.deepEqual(shown(), []);
});

for (const [host, forbid] of [
  // Who died between an ending and telling of it has told nobody.
  ["with BroadcastChannel", () => undefined],
  ["without BroadcastChannel", () => delete globalThis.BroadcastChannel],
]) {
  test(`${host}, a tab that is seen again shows what nobody has told it of`, async (t) => {
    const { BroadcastChannel } = globalThis;
    t.after(() => (globalThis.BroadcastChannel = BroadcastChannel));
    forbid();
    const document = Object.assign(new EventTarget(), { visibilityState: "visible" });
    const { stored, shown } = await showing(t, { document });
    stored.state = state(ENDED);
    document.dispatchEvent(new Event("visibilitychange"));
    await settle();
    assert.deepEqual(shown(), ["succeeded"]);
  });
}

test("who waits for what is not stored any more hears so, and does not wait for ever", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { operation, stored, shown } = await showing(t);
  const waiting = operation.outcome().catch((error) => error);
  await settle();
  stored.state = undefined;
  t.mock.timers.tick(3000);
  await settle();
  const told = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 1000, "nothing"))]);
  assert.equal(told.code, "NOT_ALLOWED");
  assert.match(told.nextStep, /may be charged again/);
  assert.deepEqual(shown(), []);
});
