// A tab that somebody looks at, and one that nobody does: the one asks, the other gives.
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../browser/harness/until.mjs";
import { loadPackage, options, settle } from "./package.js";

/** A client in a tab that is seen or not, what others hear of it, and how often it was asked to give its work. */
async function tab(t, visibilityState) {
  const document = (globalThis.document = Object.assign(new EventTarget(), { visibilityState }));
  t.after(() => delete globalThis.document);
  const { createHoldfast, world } = await loadPackage(t);
  let offers = 0;
  world.script.offer = () => void (offers += 1);
  const holdfast = createHoldfast(options());
  t.after(() => holdfast.close());
  await holdfast.start();
  const other = new BroadcastChannel("holdfast:holdfast");
  t.after(() => other.close());
  const heard = [];
  other.onmessage = ({ data }) => heard.push(data);
  return { document, other, heard, offers: () => offers };
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
