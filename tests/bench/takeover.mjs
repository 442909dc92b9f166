// How long after the tab that drives a job is gone another tab's first request comes: it is closed, its process
// crashes, it stands still between two requests, or it is put aside for going back to it; with Web Locks, and without.
// Where nobody can tell, the other waits for the lease, and many wait at the same time, each pair at an origin of its own.
import { Loopback, frozen, packageFolder, pagesFolder, polled, withoutLocks } from "../browser/harness.mjs";
import { BENCH_PAGES, bench, count } from "./lab.mjs";

const ROUNDS = count(10);

const CASES = [
  ["close, with Web Locks", undefined, closed],
  ["close, without", withoutLocks, closed],
  ["crash, with Web Locks", undefined, crashed],
  ["crash, without", withoutLocks, crashed],
  ["freeze, with Web Locks", undefined, frozen],
  ["freeze, without", withoutLocks, frozen],
  ["back-forward cache, with Web Locks", undefined, putAside],
  ["back-forward cache, without", withoutLocks, putAside],
];

/** Those of which the other tab can be told. */
const TOLD = ["close, with Web Locks", "close, without", "crash, with Web Locks", "back-forward cache, with Web Locks"];

await bench("takeover", async (lab) => {
  await (await lab.page()).close();
  for (const [what, init, leave] of CASES) {
    const together = TOLD.includes(what) ? 1 : ROUNDS;
    const told = [];
    while (told.length < ROUNDS) {
      told.push(...(await Promise.all(Array.from({ length: together }, () => takeOver(lab.browser, init, leave)))));
    }
    lab.percentiles(what, told);
  }
});

function closed(browser, page) {
  return page.close();
}

function crashed(browser, page) {
  return browser.crash(page);
}

/** Sends a page elsewhere within its site, which keeps it whole. */
async function putAside(browser, page) {
  await page.evaluate(() => void (location.href = "bench.html?another"));
  await page.waitForURL(/another/);
  return async () => {
    await page.evaluate(() => history.back());
    await page.waitForFunction(() => globalThis.operation, undefined, { timeout: 10_000 });
  };
}

/** In the page: takes a long job on, under way once it is polled. */
async function submit() {
  globalThis.holdfast = open();
  globalThis.operation = await holdfast.submit("polled", { intent: "a", body: { url: "https://example.com", duration_ms: 120_000 } });
}

/** Two tabs with one job, of which the one that drives it goes; how long after that the other asks how the job is. */
async function takeOver(browser, init, leave) {
  const service = await Loopback.start({ "/tests": pagesFolder(), "/bench": BENCH_PAGES, "/pkg": packageFolder() });
  const pages = [];
  try {
    for (let tab = 0; tab < 2; tab++) {
      const page = await browser.page(init);
      pages.push(page);
      await page.goto(`${service.origin}/bench/bench.html`);
      await page.waitForFunction(() => globalThis.isReady);
      await page.evaluate(submit);
      if (!tab) await polled(service);
    }
    const comeBack = await leave(browser, pages[0]);
    const gone = Date.now();
    let next;
    while (!next) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      next = (await service.requests()).find(({ call, time_ms }) => call === "poll" && time_ms > gone);
    }
    await comeBack?.();
    return next.time_ms - gone;
  } finally {
    await Promise.all(pages.map((page) => page.close()));
    await service.stop();
  }
}
