// What the benches share: a browser and a service on this machine, medians, and the two forms of a report.
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { Loopback, browserName, makeProfile, openBrowser, packageFolder, pagesFolder, removeProfile } from "../browser/harness.mjs";
import { lines } from "./table.mjs";

export const BENCH_PAGES = fileURLToPath(new URL("pages", import.meta.url));

/**
 * Runs a bench in a browser, over a fresh profile and a fresh service, and prints what it reports.
 *
 * @param {string} name
 * @param {(lab: Lab) => Promise<void>} run
 */
export async function bench(name, run) {
  const profile = await makeProfile();
  const browser = await openBrowser(profile);
  const service = await Loopback.start({ "/tests": pagesFolder(), "/bench": BENCH_PAGES, "/pkg": packageFolder() });
  const lab = new Lab(name, browser, service);
  try {
    await run(lab);
    lab.print();
  } finally {
    await browser.kill();
    await service.stop();
    await removeProfile(profile);
  }
}

/** A row of a report. `floor` is what the same takes without Holdfast, measured in turn with it. */
/** @typedef {{ what: string, unit: string, value: number, floor?: number, ratio?: number, goal?: string, note?: string }} Row */

class Lab {
  #name;
  /** @type {Row[]} */
  #rows = [];
  #agent = "";

  constructor(name, browser, service) {
    this.#name = name;
    this.browser = browser;
    this.service = service;
  }

  /** A tab with the bench's page, whose module has run. */
  async page(path = "bench.html", init, argument) {
    const page = await this.browser.page(init, argument);
    await page.goto(`${this.service.origin}/bench/${path}`);
    await page.waitForFunction(() => globalThis.isReady);
    this.#agent ||= await page.evaluate(() => navigator.userAgent);
    return page;
  }

  /**
   * Adds a row. With a floor, the ratio is what counts: machines differ, and so does this one from hour to hour.
   *
   * @param {string} what
   * @param {Omit<Row, "what">} row
   */
  row(what, row) {
    const ratio = row.ratio ?? (row.floor ? row.value / row.floor : undefined);
    this.#rows.push({ what, ...row, ...(ratio === undefined ? {} : { ratio }) });
  }

  /**
   * Adds a row for the median, and one for the 95th percentile.
   *
   * @param {string} what
   * @param {readonly number[]} numbers In milliseconds.
   */
  percentiles(what, numbers) {
    this.row(`${what}, median`, { value: median(numbers), unit: "ms" });
    this.row(`${what}, p95`, { value: quantile(numbers, 0.95), unit: "ms" });
  }

  print() {
    report(this.#name, browserName, this.#rows, browserOf(this.#agent));
  }
}

/**
 * Prints a table for people, then a line of JSON for each row.
 *
 * @param {string} name The bench.
 * @param {string} on Where it ran.
 * @param {readonly Row[]} rows
 * @param {string} [browser] Its name and version.
 */
export function report(name, on, rows, browser) {
  const columns = ["what", "value", "unit", "floor", "ratio", "goal", "note"];
  const versions = { holdfast: process.env.HOLDFAST_VERSION, browser, node: process.version, cpus: cpus().length };
  console.log(`\n${name} in ${browser ?? on}`);
  for (const line of lines(columns, rows, told)) console.log(`  ${line}`);
  for (const row of rows) console.log(JSON.stringify({ bench: name, on, ...rounded(row), versions }));
}

const told = (cell) => (typeof cell === "number" ? String(round(cell)) : (cell ?? ""));
const round = (number) => Number(number.toPrecision(number >= 1000 ? 6 : 3));
const rounded = (row) => Object.fromEntries(Object.entries(row).map(([name, own]) => [name, typeof own === "number" ? round(own) : own]));

/** A browser's name and version. WebKitGTK tells its own only as that of Safari. */
const browserOf = (agent) => /(?:Headless)?(?:Chrome|Firefox)\/[\d.]+/.exec(agent)?.[0] ?? /Version\/[\d.]+/.exec(agent)?.[0].replace("Version", "WebKit") ?? agent;

export const median = (numbers) => quantile(numbers, 0.5);

/** The value below which that share of the numbers lies. */
export function quantile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** How often, or how many: a variable says otherwise. */
export const count = (usual) => Number(process.env.HOLDFAST_BENCH_COUNT || usual);
