// A page that has just been opened: how long from the navigation until a submission is durable, against a
// page that opens the floor's database and writes the floor's record, in turn, by the page's own clock; from the
// package's files as they lie there, which a server without a bundler sends one by one, and from the one script
// of `holdfast/inline`. First in sessions in which nothing is cached or stored, then again and again in one. Then, how long until a page
// that is opened anew shows a job that is under way.
import { bench, count, median } from "./lab.mjs";

const FIRST_VISITS = count(8);
const LATER_VISITS = count(12);
const REOPENINGS = count(12);

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
  lab.percentiles("navigation to visible job", shown);
  await page.close();
});

/** In the page: takes a long job on, under way once it is polled. */
async function submitLong(intent) {
  globalThis.holdfast = open();
  const operation = await holdfast.submit("polled", { intent, body: { url: "https://example.com", duration_ms: 60_000 } });
  while (!operation.jobId) await new Promise((resolve) => setTimeout(resolve, 20));
}
