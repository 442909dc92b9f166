// The background's worker of a real extension dies, again and again: each job is done once, and the popup
// shows it whenever it is opened. HOLDFAST_KILLS says how often it is killed, HOLDFAST_SEED repeats a run's choices.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { dice, findSecret, Loopback, makeProfile, removeProfile, until } from "../browser/harness.mjs";
import { Extended, makeExtension, secret } from "./harness.mjs";

/** How often the worker is killed where no number is asked for: half of it at fail points. */
const KILLS = 20;
/** How long a fail point may take to be reached, in milliseconds; some are reached only now and then. */
const REACHED_MS = 6000;
/** A death takes at most so long on a busy machine, in milliseconds. */
const DEATH_MS = 6000;
/** The worker lives at most so long before a death at random, in milliseconds. */
const LIFE_MS = 1500;

const kills = Number(process.env.HOLDFAST_KILLS || KILLS);
const seed = Number(process.env.HOLDFAST_SEED || Date.now() % 2 ** 31);
const POINTS = [
  "commit.before", "commit.after", "send.before.submit", "send.after.submit", "answer.head.submit",
  "send.before.poll", "send.after.poll", "send.after.result", "chunk.before", "chunk.after",
];

const { token, storing } = secret();
const service = await Loopback.start({}, { token });
const { folder, remove } = await makeExtension(service, {
  manifest: (own) => ({ ...own, content_scripts: [{ matches: ["http://127.0.0.1/*"], js: ["content.js"] }] }),
  then: storing,
});
const profile = await makeProfile();
let browser = await Extended.open(profile, folder);

after(async () => {
  await browser.kill();
  await removeProfile(profile);
  await remove();
  await service.stop();
});

const submit = (page, intent) =>
  page.evaluate(async (intent) => {
    const body = { url: "https://example.com", duration_ms: 600, result_bytes: 300_000 };
    return (await holdfast.submit("reports", { intent, body })).id;
  }, intent);

/** Opens the popup, and reads how an intent came out. */
async function outcomeOf(intent) {
  const page = await browser.popup();
  try {
    return await page.evaluate(async (intent) => {
      const operation = await holdfast.find("reports", intent);
      const { status } = await operation.outcome();
      return { status, isWhole: (await operation.blob()).size > 250_000 };
    }, intent);
  } finally {
    await page.close();
  }
}

test(`a worker killed ${kills} times does each job once (HOLDFAST_SEED=${seed})`, { timeout: 600_000 + kills * DEATH_MS }, async (context) => {
  const roll = dice(seed);
  const intents = [];
  /** The lives of the worker that were ended: none of them answers again. */
  const ended = new Set();
  let killed = 0;
  let stood = 0;
  for (let round = 0; killed < kills; round++) {
    const intent = `job ${round}`;
    intents.push(intent);
    const page = await browser.popup();
    const point = round % 2 ? POINTS[Math.floor(roll() * POINTS.length)] : undefined;
    const seen = (await service.reached()).length;
    const life = await page.evaluate((arm) => chrome.runtime.sendMessage({ arm }), point ?? "nothing");
    assert.ok(!ended.has(life), "a worker that was killed went on");
    // Nobody may hear the answer: then the same intent is submitted again.
    const sent = submit(page, intent).catch(() => undefined);
    stood += await (point
      ? service.reachedName(`point:${point}`, seen, REACHED_MS).then(() => 1, () => 0)
      : new Promise((resolve) => setTimeout(resolve, roll() * LIFE_MS, 0)));
    if (await browser.killWorker()) {
      ended.add(life);
      killed += 1;
    }
    if (!(await sent)) await submit(page, intent);
    await page.close();
  }
  for (const intent of intents) assert.deepEqual(await outcomeOf(intent), { status: "succeeded", isWhole: true }, intent);
  const { executions, charges, key_mismatches } = await service.ledger();
  context.diagnostic(JSON.stringify({ killed, stood, intents: intents.length, executions, charges }));
  assert.ok(stood > 0, "no fail point was reached");
  assert.deepEqual({ executions, charges, key_mismatches }, { executions: intents.length, charges: intents.length, key_mismatches: 0 });
});

test("a killed browser goes on by itself when it is started again, and so does a reloaded extension", { timeout: 120_000 }, async () => {
  const { executions: before, results } = await service.ledger();
  await service.hold("submit");
  const page = await browser.popup();
  await submit(page, "killed browser");
  await service.held();
  await browser.kill();
  await service.release();
  browser = await Extended.open(profile, folder);
  // No page is open: the worker does this by itself.
  await until(async () => (await service.ledger()).results === results + 1, "the result");
  assert.equal((await outcomeOf("killed browser")).status, "succeeded");

  const again = await browser.popup();
  await submit(again, "reloaded");
  await again.evaluate(() => chrome.runtime.reload()).catch(() => undefined);
  await until(() => again.isClosed(), "the reload, which closes the extension's pages");
  await until(async () => (await service.ledger()).results === results + 2, "the result after the reload");
  assert.deepEqual(await outcomeOf("reloaded"), { status: "succeeded", isWhole: true });
  assert.equal((await service.ledger()).executions, before + 2);
});

test("the alarm is set while there is work, and ends with it", async () => {
  const alarms = (page) => page.evaluate(async () => (await chrome.alarms.getAll()).map(({ name }) => name));
  const page = await browser.popup();
  await service.hold("submit");
  await submit(page, "watched");
  assert.deepEqual(await alarms(page), ["holdfast"]);
  await service.release();
  await page.evaluate(async () => (await holdfast.find("reports", "watched")).outcome());
  await until(async () => (await alarms(page)).length === 0, "the alarm's end");
  await page.close();
});

test("a content script can spend nothing unless it is allowed to", async () => {
  const before = (await service.ledger()).executions;
  const page = await browser.page();
  await page.goto(`${service.origin}/a-page-of-the-web`);
  await page.waitForFunction(() => document.documentElement.dataset.answer);
  const { error } = JSON.parse(await page.evaluate(() => document.documentElement.dataset.answer));
  assert.equal(error.code, "NOT_ALLOWED");
  assert.match(error.nextStep, /allow\(request, sender\)/);
  assert.equal((await service.ledger()).executions, before);
  await page.close();
});

test("no file that the browser wrote holds a credential", async () => {
  const page = await browser.popup();
  const key = await page.evaluate(async () => (await holdfast.find("reports", "watched")).key);
  await browser.kill();
  assert.deepEqual((await findSecret(profile, token)).found, []);
  assert.ok((await findSecret(profile, key)).found.length, "the search finds what is stored");
});
