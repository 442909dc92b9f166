// Strict reaches the disk: the browser's own calls to the kernel are counted.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Chromium, Loopback, makeProfile, onPath, packageFolder, pagesFolder, removeProfile } from "./harness.mjs";

/** How many operations are submitted, each one awaited. */
const SUBMITS = 15;

const strace = onPath("strace");

/** How often the browser has told the kernel to write to the disk. */
const syncsIn = async (log) => (await readFile(log, "utf8")).split("\n").filter((line) => /f(data)?sync\(/.test(line)).length;

/** Raw puts, each in a transaction of its own, awaited. */
const put = (page, durability) =>
  page.evaluate(
    async ({ count, durability }) => {
      const request = indexedDB.open("raw");
      request.onupgradeneeded = () => request.result.createObjectStore("all");
      await new Promise((resolve) => (request.onsuccess = resolve));
      for (let index = 0; index < count; index++) {
        const transaction = request.result.transaction("all", "readwrite", { durability });
        transaction.objectStore("all").put(index, index);
        await new Promise((resolve) => (transaction.oncomplete = resolve));
      }
      request.result.close();
    },
    { count: SUBMITS, durability },
  );

/** Submits that are stored and cannot be sent, because no credential comes. */
const submit = (page) =>
  page.evaluate(async (count) => {
    globalThis.holdfast ??= open({}, { authorize: () => new Promise(() => undefined) });
    for (let index = 0; index < count; index++) {
      await holdfast.submit("reports", { intent: crypto.randomUUID(), body: work(100) });
    }
  }, SUBMITS);

test("every submit that resolves has been written to the disk", async () => {
  assert.ok(strace, "strace is not installed: `cargo xtask setup`");
  const folder = await mkdtemp(join(tmpdir(), "holdfast-strace-"));
  const log = join(folder, "log");
  const profile = await makeProfile();
  const service = await Loopback.start({ "/tests": pagesFolder(), "/pkg": packageFolder() });
  let chromium;
  try {
    const wrap = [strace, "-f", "-qq", "--seccomp-bpf", "-e", "trace=fdatasync,fsync", "-e", "signal=none", "-o", log];
    chromium = await Chromium.open(profile, { wrap });
    const page = await chromium.page();
    await page.goto(`${service.origin}/tests/app.html`);
    await page.waitForFunction(() => globalThis.isReady);
    const counted = async (work) => {
      const before = await syncsIn(log);
      await work();
      return (await syncsIn(log)) - before;
    };
    await put(page, "relaxed");
    const relaxed = await counted(() => put(page, "relaxed"));
    const strict = await counted(() => put(page, "strict"));
    await submit(page);
    const submits = await counted(() => submit(page));
    assert.ok(relaxed < SUBMITS / 2, `${relaxed} for relaxed puts: the count tells nothing`);
    assert.ok(strict >= SUBMITS, `${strict} for strict puts: the count tells nothing`);
    assert.ok(submits >= SUBMITS, `${submits} for ${SUBMITS} submits`);
  } finally {
    await chromium?.kill();
    await service.stop();
    await removeProfile(profile);
    await rm(folder, { recursive: true });
  }
});
