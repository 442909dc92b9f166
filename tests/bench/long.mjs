// Many operations through one tab, some at a time, each from its submit to the kept result, acknowledged and
// deleted by retention, tombstone and all. A tenth, which fills every pool and cache, comes first; then memory after a
// garbage collection, the module's memory, listeners, and the rows in every object store are compared at a
// third of the rest and at its end. Nothing should have grown. `--count 20000` is the whole; the usual number
// is for every day.
import { watchMemory } from "../browser/harness.mjs";
import { bench, count } from "./lab.mjs";

const OPERATIONS = count(1500);
const AT_A_TIME = 10;

await bench("long", async (lab) => {
  const page = await lab.page("bench.html", watchMemory);
  await page.addInitScript(countTimers);
  await page.reload();
  await page.waitForFunction(() => globalThis.isReady);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("HeapProfiler.enable");
  await page.evaluate(prepare, { atATime: AT_A_TIME });
  const look = async () => {
    // Whatever was finished last has been forgotten.
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 2000)));
    for (let again = 0; again < 3; again++) await devtools.send("HeapProfiler.collectGarbage");
    const { usedSize } = await devtools.send("Runtime.getHeapUsage");
    const { jsEventListeners, nodes, documents } = await devtools.send("Memory.getDOMCounters");
    const { module, rows, timers } = await page.evaluate(() => globalThis.look());
    return { heap: usedSize / 2 ** 20, module: module / 2 ** 20, listeners: jsEventListeners, nodes, documents, timers, ...rows };
  };
  const run = (share) => page.evaluate((many) => globalThis.run(many), Math.round(OPERATIONS * share));
  await run(0.1);
  const warm = await run(0.3).then(look);
  const took = await run(0.6);
  const end = await look();
  const many = Math.round(OPERATIONS * 0.6);
  lab.row(`${many} more operations`, { value: took / many, unit: "ms each" });
  const units = { heap: "MB", module: "MB" };
  for (const [name, value] of Object.entries(end)) {
    lab.row(name, { value, floor: warm[name], unit: units[name] ?? "", ...(units[name] && { goal: "≤ 1.1" }) });
  }
});

/** Before the page's scripts: counts timers. */
function countTimers() {
  const timers = (globalThis.timers = new Set());
  const { setTimeout, clearTimeout } = globalThis;
  globalThis.setTimeout = (call, ...more) => {
    const timer = setTimeout((...args) => (timers.delete(timer), call(...args)), ...more);
    timers.add(timer);
    return timer;
  };
  globalThis.clearTimeout = (timer) => (timers.delete(timer), clearTimeout(timer));
}

/** In the page: runs operations, and looks at what there is. */
function prepare({ atATime }) {
  const holdfast = open({ retention: { resultMs: 0, tombstoneMs: 1 } });
  let next = 0;
  const one = async () => {
    const intent = `intent ${(next += 1)}`;
    const operation = await holdfast.submit("answered", {
      intent,
      params: { path: "v1/reports" },
      body: { url: "https://example.com", intent, duration_ms: 0, result_bytes: 2000 },
    });
    const { status } = await operation.outcome();
    if (status !== "succeeded") throw new Error(status);
    await operation.acknowledge();
  };
  globalThis.run = async (many) => {
    const begun = performance.now();
    const last = next + many;
    const lane = async () => {
      while (next < last) await one();
    };
    await Promise.all(Array.from({ length: atATime }, lane));
    return performance.now() - begun;
  };
  globalThis.look = async () => {
    const database = await done(indexedDB.open("holdfast"));
    const rows = {};
    const transaction = database.transaction([...database.objectStoreNames], "readonly");
    const reads = [...database.objectStoreNames].map(async (name) => {
      rows[`rows of ${name}`] = await done(transaction.objectStore(name).count());
    });
    await Promise.all(reads);
    database.close();
    return { module: moduleMemory.buffer.byteLength, rows, timers: timers.size };
  };
}
