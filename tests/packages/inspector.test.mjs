// holdfast/inspector in a page: what it shows, what it does, and whether everybody can use it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Loopback, makeProfile, openBrowser, packageFolder, removeProfile } from "../browser/harness.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const axe = readFileSync(join(here, "node_modules/axe-core/axe.min.js"), "utf8");
const world = {};

before(async () => {
  world.service = await Loopback.start({ "/pkg": packageFolder(), "/tests": join(here, "pages") });
  world.profile = await makeProfile();
  world.browser = await openBrowser(world.profile);
});

after(async () => {
  await world.browser?.kill();
  await world.service?.stop();
  if (world.profile) await removeProfile(world.profile);
});

const story = (name, run) =>
  test(name, async () => {
    await world.service.reset();
    const session = await world.browser.session();
    try {
      const page = await session.page();
      await page.goto(`${world.service.origin}/tests/inspector.html`);
      await page.waitForFunction(() => globalThis.isReady);
      await run(page, world.service);
    } finally {
      await session.close();
    }
  });

/** Waits until the inspector's text holds words. */
async function shows(page, words) {
  const wait = page.waitForFunction((own) => shown().includes(own), words, { timeout: 60_000 });
  await wait.catch(async () => assert.fail(`it shows no ${words}: ${await page.evaluate(() => shown())}`));
}

/** Presses a button by its name. */
const press = (page, name) => page.locator("holdfast-inspector").getByRole("button", { name, exact: true }).click();

story("an operation is shown as it goes on, with what happened and its result", async (page, service) => {
  await shows(page, "There is none.");
  // It is under way for as long as nobody hears of it.
  await service.hold("poll");
  await page.evaluate(() => submit("daily", { duration_ms: 50 }));
  for (const words of ["daily", "active", "1 submission", "submit.answered"]) await shows(page, words);
  // Where it is narrow, a shadow says that the journal goes on.
  const shade = await page.locator("holdfast-inspector .scroll").evaluate((own) => getComputedStyle(own).backgroundImage);
  assert.equal(shade.match(/linear-gradient/g)?.length, 4);
  await service.release();
  await shows(page, "succeeded");
  await page.locator("holdfast-inspector").getByText("Result", { exact: true }).click();
  await shows(page, '"records"');
});

story("what is parked says why, and its way out works", async (page) => {
  await page.evaluate(() => ((globalThis.isSignedOut = true), submit("parked", { duration_ms: 50 })));
  await shows(page, "needs you: NeedsCredential");
  await page.evaluate(() => void (globalThis.isSignedOut = false));
  await page.locator("holdfast-inspector").getByLabel("Show").selectOption("needs you");
  await press(page, "Resume");
  await shows(page, "There is none.");
  await page.locator("holdfast-inspector").getByLabel("Show").selectOption("all");
  await shows(page, "succeeded");
});

story("what cannot be taken back is asked twice, and what is refused is told", async (page) => {
  await page.evaluate(() => submit("long", { duration_ms: 60_000 }));
  await shows(page, "active");
  await press(page, "Cancel");
  assert.equal((await page.evaluate(() => holdfast.getSnapshot()[0])).status, "active");
  await press(page, "Cancel: sure?");
  await shows(page, "cancelled");
  await press(page, "Acknowledge");
  await shows(page, "acknowledged");
});

story("many are found by name, and chosen with the keyboard alone", async (page) => {
  await page.evaluate(async () => {
    for (const intent of ["alpha", "beta", "gamma"]) await submit(intent, { duration_ms: 20 });
  });
  await shows(page, "alpha");
  const inspector = page.locator("holdfast-inspector");
  await inspector.getByLabel("Find").fill("bet");
  assert.equal(await inspector.locator("li").count(), 1);
  await inspector.getByLabel("Find").fill("");
  await inspector.locator("li button").last().focus();
  await page.keyboard.press("Enter");
  assert.equal(await inspector.locator("h3").textContent(), "alpha");
  assert.equal(await inspector.locator('li button[aria-current="true"] .name').textContent(), "alpha");
  // The focus stays where it is while things change.
  await page.evaluate(() => submit("delta", { duration_ms: 20 }));
  await shows(page, "delta");
  assert.equal(await page.evaluate(() => document.activeElement.shadowRoot.activeElement.querySelector(".name").textContent), "alpha");
});

story("more than are shown at a time are turned over, and chosen by their service", async (page) => {
  await page.evaluate(async () => {
    globalThis.isSignedOut = true;
    const intents = Array.from({ length: 205 }, (_, at) => `many-${at}`);
    await Promise.all(intents.map((intent) => submit(intent, { duration_ms: 20 })));
  });
  await shows(page, "200 newest");
  const inspector = page.locator("holdfast-inspector");
  const first = () => document.querySelector("holdfast-inspector").shadowRoot.querySelector("li");
  const row = await page.evaluateHandle(first);
  await press(page, "Older");
  await shows(page, "5 older");
  assert.equal(await inspector.locator("li").count(), 5);
  assert.equal(await page.evaluate(() => document.querySelector("holdfast-inspector").shadowRoot.activeElement.textContent), "Newer");
  await press(page, "Newer");
  await shows(page, "200 newest");
  // What is turned away from is not kept.
  assert.equal(await page.evaluate(([own, other]) => own === other, [row, await page.evaluateHandle(first)]), false);
  assert.deepEqual(await inspector.getByLabel("Service").locator("option").allTextContents(), ["every service", "reports"]);
  await inspector.getByLabel("Service").selectOption("reports");
  await shows(page, "200 newest");
});

story("while the first page is read there is nothing to turn over", async (page) => {
  const isHidden = await page.evaluate(() => {
    const reading = { start: async () => {}, subscribe: () => () => {}, list: () => new Promise(() => {}) };
    const element = inspect(reading, document.body);
    const { hidden } = element.shadowRoot.querySelector(".pages");
    element.remove();
    return hidden;
  });
  assert.equal(isHidden, true);
});

story("axe finds no fault, in light and dark, wide and narrow", async (page) => {
  await page.evaluate(() => ((globalThis.isSignedOut = true), submit("parked", { duration_ms: 50 })));
  await shows(page, "needs you");
  await page.evaluate(() => void (globalThis.isSignedOut = false));
  await page.evaluate(() => submit("done", { duration_ms: 50 }));
  await shows(page, "succeeded");
  await page.locator("holdfast-inspector").getByText("Support report", { exact: true }).click();
  await shows(page, "recordFormat");
  await page.evaluate(axe);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1200, 380]) {
      await page.setViewportSize({ width, height: 900 });
      if (process.env.HOLDFAST_SCREENS) await page.screenshot({ path: join(process.env.HOLDFAST_SCREENS, `${colorScheme}-${width}.png`) });
      const violations = await page.evaluate(async () => {
        const { violations } = await axe.run(document, { resultTypes: ["violations"] });
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join("; ")}`);
      });
      assert.deepEqual(violations, [], `${colorScheme} ${width}`);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    }
  }
});

story("one that is removed looks at nothing any more, and put back it goes on", async (page) => {
  await page.evaluate(() => void (globalThis.inspector = document.querySelector("holdfast-inspector")).remove());
  await page.evaluate(() => submit("later", { duration_ms: 20 }));
  await page.evaluate(() => document.querySelector("main").append(inspector));
  await shows(page, "later");
});
