// The module's file: asked for while the scripts come, and by them where that brings nothing.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { loadPackage, options } from "./package.js";

const FILE = { headers: { "content-type": "application/wasm" } };

/** The package beside a host with a database, whose module's file is answered so. */
async function served(t, answer) {
  globalThis.indexedDB = {};
  t.after(() => delete globalThis.indexedDB);
  const asked = mock.method(globalThis, "fetch", answer);
  t.after(() => asked.mock.restore());
  const { createHoldfast, world } = await loadPackage(t);
  return { asked: () => asked.mock.calls.map(({ arguments: [url] }) => String(url)), createHoldfast, world };
}

test("the module's file is on its way before the scripts are there, once, and not before the first use", async (t) => {
  const answer = new Response("", FILE);
  const { asked, createHoldfast, world } = await served(t, async () => answer);
  const [holdfast, other] = [createHoldfast(options()), createHoldfast(options())];
  assert.deepEqual(asked(), []);
  const started = holdfast.start();
  assert.match(asked()[0], /\/holdfast\.wasm$/);
  await Promise.all([started, other.start()]);
  assert.equal(asked().length, 1);
  assert.equal(world.files[0], answer);
});

for (const [what, answer] of Object.entries({
  "is refused": async () => new Response("", { ...FILE, status: 404 }),
  "is a page": async () => new Response("<html>", { headers: { "content-type": "text/html" } }),
  "does not come": async () => Promise.reject(new TypeError("Failed to fetch")),
})) {
  test(`a module's file that ${what} on its way is asked for again by the scripts`, async (t) => {
    const { createHoldfast, world } = await served(t, answer);
    await createHoldfast(options()).start();
    assert.match(String(world.files[0]), /\/holdfast\.wasm$/);
  });
}

test("a module's file that has been read once is asked for again, where it made no module", async (t) => {
  const { createHoldfast, world } = await served(t, async () => new Response("no module", FILE));
  world.initError = new WebAssembly.CompileError("no module");
  const holdfast = createHoldfast(options());
  await assert.rejects(holdfast.start(), { code: "WASM_BLOCKED" });
  await world.files[0].text();
  world.initError = undefined;
  await createHoldfast(options()).start();
  assert.match(String(world.files[1]), /\/holdfast\.wasm$/);
});

test("a module of the app's own is used in the place of the package's, which is not asked for", async (t) => {
  const { asked, createHoldfast, world } = await served(t, async () => new Response("", FILE));
  await createHoldfast(options({ module: "/mine.wasm" })).start();
  assert.deepEqual([asked(), world.files], [[], ["/mine.wasm"]]);
});
