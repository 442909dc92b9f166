// 1,000 submits at once in one tab: Holdfast, which lets those that wait share a transaction, against the
// floor, which makes a strict transaction for each. Both promise the same when a call resolves: this record
// is on the disk. The floor is let off its requests, while Holdfast sends its own already; then both carry
// all of it to the kept result, each with its requests. Beside the whole time: the longest that a single
// call waits, and the longest that the main thread does not come to anything else, by a timer that should
// come every 4 ms. In turn, some rounds of each.
import { bench, count, median } from "./lab.mjs";

const ROUNDS = 3;
const OPERATIONS = count(1000);

await bench("many", async (lab) => {
  const page = await lab.page();
  await page.evaluate(prepare);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const told = {};
    // Whoever comes first in one round comes last in the next.
    const order = ["ours", "floor"];
    for (const name of round % 2 ? order : order.reverse()) {
      told[name] = await page.evaluate((given) => globalThis[given.name](given.operations), { name, operations: OPERATIONS });
    }
    rounds.push(told);
  }
  const of = (name, what) => median(rounds.map((told) => told[name][what]));
  const row = (what, label, goal) => lab.row(label, { value: of("ours", what), floor: of("floor", what), unit: "ms", goal });
  const ratio = of("floor", "durable") / of("ours", "durable");
  row("durable", `${OPERATIONS} submits, all durable`);
  lab.row("times faster", { value: ratio, unit: "×", goal: "≥ 3" });
  row("longest", "longest wait of one call");
  row("kept", `${OPERATIONS} results kept`);
  row("task", "longest task until durable", "< 50 ms");
  row("laterTask", "longest task until kept", "< 50 ms");
});

/** In the page: one round of each. */
async function prepare() {
  const holdfast = open();
  const floor = await new Floor().open();
  const params = { path: "v1/reports" };
  const url = `${location.origin}/idempotency-key/${params.path}`;
  const body = (intent) => ({ url: "https://example.com", intent, duration_ms: 0, result_bytes: 2000 });
  const longestTask = () => {
    let [last, longest, timer] = [performance.now(), 0];
    const tick = () => {
      const now = performance.now();
      longest = Math.max(longest, now - last - 4);
      last = now;
      timer = setTimeout(tick, 4);
    };
    tick();
    return () => (tick(), clearTimeout(timer), Math.max(0, longest));
  };
  const time = async (count, first, then) => {
    const intents = Array.from({ length: count }, () => crypto.randomUUID());
    let longest = 0;
    let task = longestTask();
    const started = performance.now();
    const since = () => performance.now() - started;
    const wait = (promise) => promise.finally(() => (longest = Math.max(longest, since())));
    const begun = await Promise.all(intents.map((intent) => wait(first(intent, body(intent)))));
    const told = { durable: since(), longest, task: task() };
    task = longestTask();
    await Promise.all(begun.map(then));
    return { ...told, kept: since(), laterTask: task() };
  };
  // Each goes on with everything before the next begins.
  globalThis.ours = (count) => time(count, (intent, body) => holdfast.submit("answered", { intent, params, body }), (operation) => operation.outcome());
  globalThis.floor = (count) => time(count, (intent, body) => floor.begin(intent, body), ({ operation, bytes }) => floor.finish(url, headers, operation, bytes));
  await ours(20);
  await globalThis.floor(20);
}
