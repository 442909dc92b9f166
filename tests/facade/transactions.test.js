// How a transaction of the store is told to have ended, with the browser's database played.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage, settle } from "./package.js";

/** A store over one played transaction, in a page that can be put aside. */
async function opened(t) {
  const page = new EventTarget();
  globalThis.addEventListener = page.addEventListener.bind(page);
  t.after(() => delete globalThis.addEventListener);
  const request = (value) => ({ result: value });
  const raw = {
    aborts: 0,
    commits: false,
    abort() {
      if (raw.commits) throw new DOMException("it commits", "InvalidStateError");
      raw.aborts += 1;
      queueMicrotask(() => raw.onabort?.({ type: "abort" }));
    },
    objectStore: (name) => ({ name, get: () => (raw.read = request(undefined)), put: () => request("key"), delete: () => request(undefined) }),
  };
  const { storeIn } = await loadPackage(t, "idb-transaction.js");
  const store = storeIn({ open: async () => ({ transaction: () => raw }), forget: () => undefined });
  const putAside = () => page.dispatchEvent(Object.assign(new Event("pagehide"), { persisted: true }));
  const comeBack = () => page.dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true }));
  return { raw, store, putAside, comeBack };
}

/** One that writes, and has read what it decides by. */
async function writing(t) {
  const { store, ...more } = await opened(t);
  const run = store.run("change", [[["lanes", "lane"]], () => [["lanes", Array(7).fill(1), "lane"]]]);
  await settle();
  more.raw.read.onsuccess();
  return { ...more, run };
}

test("what commits when its page is put aside is written, and told so", async (t) => {
  const { raw, run, putAside } = await writing(t);
  raw.commits = true;
  putAside();
  await settle();
  raw.oncomplete({ type: "complete" });
  await run.done;
});

test("what does not commit yet is given up when its page is put aside: left open it would keep every other tab out", async (t) => {
  const { raw, run, putAside } = await writing(t);
  const refused = assert.rejects(run.done, (told) => /^aborted /.test(told));
  putAside();
  assert.equal(raw.aborts, 1);
  await refused;
});

test("what nobody waits for any more, and commits, is told by its own event", async (t) => {
  const { raw, run } = await writing(t);
  raw.commits = true;
  run.drop();
  await settle();
  raw.oncomplete({ type: "complete" });
  await run.done;
});

test("what only reads is begun again when its page is back from being put aside", async (t) => {
  const { raw, store, putAside, comeBack } = await opened(t);
  const run = store.run("lane", ["lane"]);
  await settle();
  const first = raw.read;
  putAside();
  await settle();
  assert.equal(raw.read, first, "nothing is begun before it is back");
  comeBack();
  await settle();
  assert.notEqual(raw.read, first);
  raw.read.onsuccess();
  raw.oncomplete({ type: "complete" });
  await run.done;
});
