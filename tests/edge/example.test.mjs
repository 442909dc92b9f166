// The example Worker in a real workerd, its page in a real Chromium, and a service without idempotency.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import test from "node:test";
import { Chromium } from "../browser/harness/chromium.mjs";
import { failPointsFolder } from "../browser/harness/environment.mjs";
import { makeProfile, removeProfile } from "../browser/harness/process.mjs";
import { findSecret } from "../browser/harness/secrets.mjs";
import { until } from "../browser/harness/until.mjs";
import { buildExample } from "./example.mjs";
import { freePort } from "./free-port.mjs";
import { stage } from "./stage.mjs";

/** How long a run may take, in milliseconds. */
const LIFE_MS = 240_000;

/** The service, the Worker before it, and a browser's profile; each may be killed and started again. */
async function world(t) {
  const { token, service, folder, start } = await stage(t);
  const profile = await makeProfile();
  const secrets = { API_KEY: token, SESSION_SECRET: randomUUID(), PASSWORD: randomUUID() };
  const example = await buildExample(failPointsFolder(), join(folder, "worker"));
  const port = await freePort();
  let browser;
  t.after(async () => {
    await browser?.kill();
    await removeProfile(profile);
  });
  return {
    grid: service.at("/bulkgrid"),
    secrets,
    objects: join(folder, "objects"),
    startEdge: () => {
      const bindings = { SERVICE: `${service.origin}/bulkgrid`, ...secrets };
      return start({ ...example, folder: join(folder, "objects"), port, bindings });
    },
    openPage: async () => {
      browser = await Chromium.open(profile);
      const page = await browser.page();
      await page.goto(`http://127.0.0.1:${port}/`);
      await page.waitForFunction(() => document.querySelector("form:not([hidden])"));
      await page.evaluate(signIn, secrets.PASSWORD);
      await page.waitForFunction(() => !document.getElementById("submit").hidden);
      return { browser, page };
    },
  };
}

/** As a person does; a browser that was killed soon after may have forgotten its cookie. */
function signIn(password) {
  const form = document.getElementById("sign-in");
  if (form.hidden) return;
  form.elements.name.value = "ann";
  form.elements.password.value = password;
  form.querySelector("button").click();
}

const shown = (status) => ({ wanted: status });
const isShown = ({ wanted }) => document.querySelector(`li[data-status="${wanted}"]`);

test("browser killed, edge killed, and the service's answer lost, in one run: one execution, and both ledgers agree", { timeout: LIFE_MS }, async (t) => {
  const { grid, secrets, objects, startEdge, openPage } = await world(t);
  await grid.hold("submit");
  let edge = await startEdge();
  let { browser, page } = await openPage();
  await page.evaluate(() => document.querySelector("#submit button").click());
  // The service has done the work and charged for it; the edge has not heard, and dies, and so does the browser.
  await grid.held();
  await edge.kill();
  await grid.release();
  await browser.kill();
  // With nobody calling, the edge finds in the listing what was accepted.
  edge = await startEdge();
  await edge.says(/^settled succeeded/, LIFE_MS / 2);
  ({ browser, page } = await openPage());
  await page.waitForFunction(isShown, shown("succeeded"), { timeout: LIFE_MS / 2 });
  const told = await page.evaluate(async () => {
    const { operations } = await holdfast.list();
    const own = operations[0];
    const result = await own.result();
    return { key: own.key, count: operations.length, charged: own.state.ledger.charged, result, cookie: document.cookie };
  });
  const { executions, charges, charged_credits } = await grid.ledger();
  assert.deepEqual([executions, charges, told.count, told.charged], [1, 1, 1, `${charged_credits}`]);
  assert.ok(JSON.stringify(told.result).length > 2);
  assert.equal(told.cookie, "", "no script reads who asks");
  const kept = await page.evaluate(async () => JSON.stringify(await (await holdfast.list()).operations[0].supportReport()));
  for (const secret of Object.values(secrets)) assert.ok(!kept.includes(secret));
  // Submitted again, on the same day: the same crawl.
  await page.evaluate(() => document.querySelector("#submit button").click());
  await until(async () => (await page.evaluate(() => document.getElementById("said").textContent)).startsWith("Stored"), "An answer");
  assert.equal((await grid.ledger()).executions, 1);
  // The page's key is the intent in its object.
  await edge.kill();
  assert.deepEqual((await findSecret(objects, ...Object.values(secrets))).found, []);
  assert.ok((await findSecret(objects, told.key)).found.length, "the search finds what is stored");
});
