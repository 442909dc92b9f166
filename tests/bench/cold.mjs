// A page that has just been opened: how long from the navigation until a submission is durable, against a
// page that opens the floor's database and writes the floor's record, in turn, by the page's own clock; from the
// package's files as they lie there, which a server without a bundler sends one by one, and from the one script
// of `holdfast/inline`. First in sessions in which nothing is cached or stored, then again and again in one. Then, how long until a page
// that is opened anew shows a job that is under way, and how long after the tab that drives a job is gone
// another tab's first request comes.
import { bench, count, median, quantile } from "./lab.mjs";

const FIRST_VISITS = count(8);
const LATER_VISITS = count(12);
const REOPENINGS = count(12);
const TAKEOVERS = count(6);

await bench("cold", async (lab) => {
  const { browser, service } = lab;
  const kinds = ["ours", "inline", "floor"];
  const visit = async (page, kind) => {
    await page.goto(`${service.origin}/bench/cold.html?${kind}`);
    await page.waitForFunction(() => globalThis.told);
    return page.evaluate(() => globalThis.told);
  };
  const compare = async (what, rounds, goal, run) => {
    const told = { ours: [], inline: [], floor: [] };
    for (let round = -1; round < rounds; round++) {
      for (const kind of round % 2 ? kinds : kinds.toReversed()) {
        const ms = await run(kind);
        if (round >= 0) told[kind].push(ms);
      }
    }
    const floor = median(told.floor);
    lab.row(`${what}, in files`, { value: median(told.ours), floor, unit: "ms", goal });
    lab.row(`${what}, one script`, { value: median(told.inline), floor, unit: "ms", goal });
  };
  await compare("first visit to first durable submit", FIRST_VISITS, "≤ 1.3", async (kind) => {
    const session = await browser.session();
    try {
      return await visit(await session.page(), kind);
    } finally {
      await session.close();
    }
  });
  const page = await lab.page();
  await compare("later visit to first durable submit", LATER_VISITS, "≤ 1.3", (kind) => visit(page, kind));
  await page.goto(`${service.origin}/bench/bench.html`);
  await page.waitForFunction(() => globalThis.isReady);
  await page.evaluate(submitLong, "seen");
  const shown = [];
  for (let round = 0; round < REOPENINGS; round++) shown.push(await visit(page, "show"));
  percentiles(lab, "navigation to visible job", shown);
  await page.close();
  const takeover = [];
  for (let round = 0; round < TAKEOVERS; round++) takeover.push(await takeOver(lab));
  percentiles(lab, "tab closed to another's first request", takeover);
});

function percentiles(lab, what, numbers) {
  lab.row(`${what}, median`, { value: median(numbers), unit: "ms" });
  lab.row(`${what}, p95`, { value: quantile(numbers, 0.95), unit: "ms" });
}

/** In the page: takes a long job on, under way once it is polled. */
async function submitLong(intent) {
  globalThis.holdfast = open();
  const operation = await holdfast.submit("polled", { intent, body: { url: "https://example.com", duration_ms: 60_000 } });
  while (!operation.jobId) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Two tabs with one job; the one that drives it goes. */
async function takeOver(lab) {
  const { service } = lab;
  await service.reset();
  const intent = `taken over at ${Date.now()}`;
  const owner = await lab.page();
  await owner.evaluate(submitLong, intent);
  const other = await lab.page();
  await other.evaluate(submitLong, intent);
  const polls = async () => (await service.requests()).filter(({ call }) => call === "poll");
  while (!(await polls()).length) await new Promise((resolve) => setTimeout(resolve, 20));
  const closed = Date.now();
  await owner.close();
  let next;
  while (!next) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    next = (await polls()).find(({ time_ms }) => time_ms > closed);
  }
  await other.close();
  return next.time_ms - closed;
}
