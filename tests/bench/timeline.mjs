// What one operation does, and when: each transaction (its object stores, mode and durability, and how it
// went on), each request, each timer, from the call of `submit()` to the kept result; first Holdfast, then the
// floor of `pages/floor.js`. It compares nothing: it shows where time goes, after some operations that warm
// both up. Milliseconds since the call; of the last of some rounds.
import { bench, count } from "./lab.mjs";

const ROUNDS = count(15);

await bench("timeline", async (lab) => {
  const page = await lab.page("bench.html", watch);
  const told = await page.evaluate(run, ROUNDS);
  for (const [name, marks] of Object.entries(told)) {
    console.log(`\n${name}`);
    for (const [at, what] of marks) console.log(`  ${at.toFixed(2).padStart(7)}  ${what}`);
  }
});

/** Before the page's scripts: marks what it asks the browser for. */
function watch() {
  globalThis.marks = [];
  const mark = (globalThis.mark = (what) => marks.push([performance.now(), what]));
  const { transaction } = IDBDatabase.prototype;
  let last = 0;
  IDBDatabase.prototype.transaction = function (stores, mode, options) {
    const raw = transaction.call(this, stores, mode, options);
    const name = `#${(last += 1)} ${mode === "readwrite" ? options?.durability : "read"}`;
    mark(`${name} begins (${[stores].flat().join(" ")})`);
    for (const end of ["complete", "abort"]) raw.addEventListener(end, () => mark(`${name} ${end}`));
    const { commit } = raw;
    raw.commit = () => (mark(`${name} commit()`), commit.call(raw));
    return raw;
  };
  const { fetch, setTimeout } = globalThis;
  globalThis.fetch = async (...args) => {
    mark("fetch");
    const response = await fetch(...args);
    mark("head");
    return response;
  };
  globalThis.setTimeout = (call, ms, ...more) => (ms < 5000 && mark(`timer of ${ms} ms`), setTimeout(call, ms, ...more));
}

/** In the page: some rounds of each, the last of them told. */
async function run(rounds) {
  const body = (intent) => ({ url: "https://example.com", intent, duration_ms: 0, result_bytes: 2000 });
  const url = `${location.origin}/idempotency-key/v1/reports`;
  const holdfast = open({ database: crypto.randomUUID() });
  const floor = await new Floor().open();
  const all = {
    async holdfast(intent) {
      const operation = await holdfast.submit("answered", { intent, params: { path: "v1/reports" }, body: body(intent) });
      mark("submit() resolved");
      const { status } = await operation.outcome();
      mark(status);
    },
    async floor(intent) {
      await floor.answered(url, headers, intent, body(intent));
      mark("kept");
    },
  };
  const told = {};
  for (const [name, one] of Object.entries(all)) {
    for (let round = 0; round < rounds; round++) {
      marks.length = 0;
      const begun = performance.now();
      await one(`${name} ${round}`);
      // What comes later belongs to it too.
      await new Promise((resolve) => setTimeout(resolve, 100));
      told[name] = marks.map(([at, what]) => [at - begun, what]);
    }
  }
  return told;
}
