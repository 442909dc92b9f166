// The process of a tab, in browsers whose drivers neither end nor stop one. It is told by the thread of a worker that the
// tab starts: each tab of Firefox and WebKitGTK has a process of its own.
import { createServer } from "node:http";
import { membersOf, threadsOf } from "./process.mjs";
import { until } from "./until.mjs";

/** What Firefox and WebKitGTK call the thread of a worker. */
const WORKERS = ["DOM Worker", "WebCore: Worker"];

/** How many of them each process of a browser has, but for the first, whose workers are no page's. */
const workersIn = (group) =>
  membersOf(group)
    .map(Number)
    .filter((pid) => pid !== group)
    .map((pid) => [pid, threadsOf(pid).filter((name) => WORKERS.includes(name)).length]);

async function processOf(group, page) {
  const before = new Map(workersIn(group));
  await page.evaluate(() => void (globalThis.sign = new Worker(URL.createObjectURL(new Blob()))));
  const [pid, ...more] = await until(() => {
    const grown = workersIn(group).filter(([pid, count]) => count > (before.get(pid) ?? 0));
    return grown.length && grown.map(([pid]) => pid);
  }, "The thread of a worker");
  await page.evaluate(() => sign.terminate());
  if (more.length) throw new Error(`Workers were started by ${[pid, ...more]}.`);
  return pid;
}

/**
 * Ends a tab's process as a crash does.
 *
 * @param {number} group The browser's processes.
 * @param {import("./browser.mjs").Page} page
 */
export async function crashed(group, page) {
  const pid = await processOf(group, page);
  process.kill(pid, "SIGKILL");
  await until(() => !membersOf(group).includes(String(pid)), "The end of a tab's process");
}

/**
 * Stops a tab's process while its page stands still in a request, so that it is stopped just there.
 *
 * @param {number} group The browser's processes.
 * @param {import("./browser.mjs").Page} page
 * @param {(address: string) => void} arm What makes the page ask there, and wait for the answer.
 * @returns {Promise<() => Promise<void>>} Lets it go on from the same place.
 */
export async function frozen(group, page, arm) {
  const pid = await processOf(group, page);
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const asked = new Promise((resolve) => server.once("request", (_, answer) => resolve(answer)));
  await page.evaluate(arm, `http://127.0.0.1:${server.address().port}/`);
  const answer = await asked;
  process.kill(pid, "SIGSTOP");
  answer.writeHead(204, { "access-control-allow-origin": "*", connection: "close" }).end();
  server.close();
  return async () => void process.kill(pid, "SIGCONT");
}
