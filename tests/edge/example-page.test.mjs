// The page of the example Worker, before it is known who is signed in; the page and the package played.
import assert from "node:assert/strict";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const APP = new URL("../../www/worker/page/app.js", import.meta.url);

/** Loads the page's script where the session is asked so; gives the elements, and when it has run to its end. */
async function load(t, fetch) {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-example-page-"));
  t.after(() => rm(folder, { recursive: true }));
  await cp(APP, join(folder, "app.mjs"));
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await writeFile(join(folder, "holdfast.js"), "export const createHoldfast = () => ({ subscribe() {} });");
  const elements = {};
  const getElementById = (id) => (elements[id] ??= Object.assign(new EventTarget(), { listens: 0, addEventListener() { this.listens += 1; } }));
  Object.assign(globalThis, { document: { getElementById }, fetch });
  const loaded = import(pathToFileURL(join(folder, "app.mjs")));
  return { elements, loaded };
}

test("the page listens to its forms before it asks who is signed in", async (t) => {
  let asked;
  const asking = new Promise((resolve) => (asked = resolve));
  const { elements } = await load(t, () => (asked(), new Promise(() => undefined)));
  await asking;
  assert.deepEqual(["sign-in", "submit"].map((id) => elements[id]?.listens), [1, 1]);
});

test("a page that cannot ask who is signed in says so", async (t) => {
  const { elements, loaded } = await load(t, async () => Promise.reject(new TypeError("Failed to fetch")));
  await loaded;
  assert.equal(elements.said.textContent, "Failed to fetch");
});
