// One operation, from `submit()` to the kept result: Holdfast against the floor of `pages/floor.js`, which
// makes the same durable writes and the same requests by hand. The service's answer is the result, and comes
// at once, so that no wait hides what the client costs. Both run in one tab, in turn, some operations a
// round; clocks that count whole milliseconds (Firefox, WebKit) are read once for all of a round. Besides:
// how long after the call the POST leaves, against one strict write; and, in a tab of its own where every
// import and export of the module is wrapped, how often an operation crosses the boundary, and how many
// transactions it makes.
import { bench, count, median } from "./lab.mjs";

const ROUNDS = count(20);
/** Operations in a round. */
const OPERATIONS = 5;

await bench("operation", async (lab) => {
  const page = await lab.page();
  await page.evaluate(prepare);
  const times = { ours: [], floors: [], leaving: [], floorLeaving: [], strict: [] };
  for (let round = -2; round < ROUNDS; round++) {
    const told = await page.evaluate((given) => globalThis.round(given), { round, operations: OPERATIONS });
    // What comes first warms both up.
    if (round >= 0) for (const [name, value] of Object.entries(told)) times[name].push(value);
  }
  const { ours, floors, leaving, floorLeaving, strict } = Object.fromEntries(
    Object.entries(times).map(([name, all]) => [name, median(all)]),
  );
  lab.row("submit to kept result", { value: ours, floor: floors, unit: "ms", goal: "≤ 1.15" });
  lab.row("submit to POST leaving, over one strict write", { value: leaving, floor: strict, unit: "ms", goal: "≤ 1.2" });
  lab.row("the floor's own, over one strict write", { value: floorLeaving, floor: strict, unit: "ms" });
  const counted = await lab.page("bench.html", countCrossings);
  await counted.evaluate(prepare);
  await counted.evaluate(() => globalThis.run("first"));
  const counts = await counted.evaluate(countOne);
  for (const [what, value] of Object.entries(counts)) lab.row(what, { value, unit: "an operation" });
});

/** In the page: what a round runs. */
async function prepare() {
  const body = (intent) => ({ url: "https://example.com", intent, duration_ms: 0, result_bytes: 2000 });
  const url = `${location.origin}/idempotency-key/v1/reports`;
  // Of its own, for a tab that shares one leaves its work to another.
  const holdfast = open({ database: crypto.randomUUID() });
  const floor = await new Floor().open();
  globalThis.run = async (intent) => {
    const operation = await holdfast.submit("answered", { intent, params: { path: "v1/reports" }, body: body(intent) });
    const { status } = await operation.outcome();
    if (status !== "succeeded") throw new Error(status);
  };
  const runFloor = (intent) => floor.answered(url, headers, intent, body(intent));
  const time = async (operations, each) => {
    left.length = 0;
    const started = [];
    for (let at = 0; at < operations; at++) {
      started.push(performance.now());
      await each(at);
    }
    const ms = performance.now() - started[0];
    const leaving = started.reduce((sum, at, own) => sum + (left[own] ?? at) - at, 0);
    return [ms / operations, leaving / operations];
  };
  globalThis.round = async ({ round, operations }) => {
    const measure = {
      ours: () => time(operations, (at) => run(`${round}:${at}`)),
      floor: () => time(operations, (at) => runFloor(`${round}:${at}`)),
      strict: () => time(operations, (at) => floor.begin(`${round}:${at}`, body(`${at}`))),
    };
    const told = {};
    // Whoever comes first in one round comes last in the next.
    const order = Object.keys(measure);
    for (const name of round % 2 ? order : order.reverse()) told[name] = await measure[name]();
    const { ours, floor: floors, strict } = told;
    return { ours: ours[0], leaving: ours[1], floors: floors[0], floorLeaving: floors[1], strict: strict[0] };
  };
}

/** Before the page's scripts: counts what crosses the module's boundary, and transactions. */
function countCrossings() {
  const counts = (globalThis.counts = { imports: 0, exports: 0, strict: 0, relaxed: 0, reads: 0 });
  const wrap = (what, call) => (typeof call === "function" ? (...args) => ((counts[what] += 1), call(...args)) : call);
  const wrapAll = (what, all) => Object.fromEntries(Object.entries(all).map(([name, own]) => [name, wrap(what, own)]));
  for (const name of ["instantiate", "instantiateStreaming"]) {
    const instantiate = WebAssembly[name];
    WebAssembly[name] = async (source, imports) => {
      const all = Object.fromEntries(Object.entries(imports).map(([room, own]) => [room, wrapAll("imports", own)]));
      const { instance, module } = await instantiate.call(WebAssembly, source, all);
      const shell = Object.create(WebAssembly.Instance.prototype, { exports: { value: wrapAll("exports", instance.exports) } });
      return { instance: shell, module };
    };
  }
  const { transaction } = IDBDatabase.prototype;
  IDBDatabase.prototype.transaction = function (stores, mode, options) {
    counts[mode !== "readwrite" ? "reads" : options?.durability === "strict" ? "strict" : "relaxed"] += 1;
    return transaction.call(this, stores, mode, options);
  };
}

/** In the page: what one operation counts, late writes included. */
async function countOne() {
  const before = { ...counts };
  await run("counted");
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const since = (name) => counts[name] - before[name];
  return {
    "calls from the module": since("imports"),
    "calls into the module": since("exports"),
    "strict transactions": since("strict"),
    "relaxed transactions": since("relaxed"),
    "reading transactions": since("reads"),
  };
}
