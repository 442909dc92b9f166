// holdfast/react, with the real React: in StrictMode in a browser, and rendered on a server.
import assert from "node:assert/strict";
import { mkdtempSync, copyFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as esbuild from "esbuild";
import { Loopback, makeProfile, openBrowser, packageFolder, removeProfile } from "../browser/harness.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));

/** Bundles a script with React; the client itself comes from the package as it is served. */
async function bundle(from, to, platform, format = "esm") {
  await esbuild.build({
    entryPoints: [join(here, "pages", from)],
    outfile: to,
    bundle: true,
    platform,
    format,
    nodePaths: [join(here, "node_modules")],
    define: { "process.env.NODE_ENV": '"development"' },
    alias: { "holdfast/react": join(packageFolder(), "react.js"), holdfast: "/pkg/index.js" },
    external: ["/pkg/*"],
    logLevel: "error",
  });
}

const world = {};

before(async () => {
  world.folder = mkdtempSync(join(tmpdir(), "holdfast-react-"));
  await bundle("react.js", join(world.folder, "react.js"), "browser");
  copyFileSync(join(here, "pages/react.html"), join(world.folder, "react.html"));
  world.service = await Loopback.start({ "/pkg": packageFolder(), "/tests": world.folder });
  world.profile = await makeProfile();
  world.browser = await openBrowser(world.profile);
});

after(async () => {
  await world.browser?.kill();
  await world.service?.stop();
  if (world.profile) await removeProfile(world.profile);
  rmSync(world.folder, { recursive: true, force: true });
});

/** A test with a storage and a service in which nothing is. */
const story = (name, run) =>
  test(name, async () => {
    await world.service.reset();
    const session = await world.browser.session();
    const visit = async () => {
      const page = await session.page();
      await page.goto(`${world.service.origin}/tests/react.html`);
      await page.waitForFunction(() => globalThis.isReady);
      return page;
    };
    try {
      await run({ visit, service: world.service });
    } finally {
      await session.close();
    }
  });

/** Waits until a place of the page says what begins so. */
async function says(page, id, text) {
  const wait = page.waitForFunction(([id, text]) => textOf(id)?.startsWith(text), [id, text], { timeout: 60_000 });
  await wait.catch(async () => assert.fail(`${id} says ${await page.evaluate((id) => textOf(id), id)}, and not ${text}`));
}

describe("in a page", () => {
  story("an intent goes from absent over every status to its result, once, in StrictMode", async ({ visit, service }) => {
    const page = await visit();
    await page.evaluate(() => void (globalThis.root = mount(h(Report, { holdfast: open(), intent: "a" }))));
    await says(page, "report", "absent");
    await page.evaluate(async () => {
      const { submit } = view;
      const both = await Promise.all([1, 2].map(() => submit({ body: { url: "https://example.com", duration_ms: 300 } })));
      if (both[0] !== both[1]) throw new Error("one intent, two operations");
      if (view.submit !== submit) throw new Error("the action changed with the state");
    });
    await says(page, "report", 'succeeded {"');
    const statuses = await page.evaluate(() => [...new Set(views.map((view) => view.status))]);
    assert.deepEqual(statuses.slice(0, 2), ["pending", "absent"]);
    assert.ok(statuses.includes("active"), statuses.join());
    assert.equal((await service.ledger()).executions, 1);
  });

  story("a reload shows the operation that was stored, and its result", async ({ visit }) => {
    const page = await visit();
    const show = () => page.evaluate(() => void mount(h(Report, { holdfast: open(), intent: "a" })));
    await page.evaluate(() => open().submit("reports", { intent: "a", body: { url: "https://example.com", duration_ms: 100 } }));
    await page.reload();
    await page.waitForFunction(() => globalThis.isReady);
    await show();
    await says(page, "report", 'succeeded {"');
    assert.equal(await page.evaluate(() => views.some((view) => view.status === "absent")), false);
  });

  story("what another tab submits appears, and lists follow", async ({ visit }) => {
    const [page, other] = [await visit(), await visit()];
    await page.evaluate(() => {
      const holdfast = open();
      mount(h(Report, { holdfast, intent: "a" }));
      mount(h(List, { holdfast, filter: { status: "succeeded" } }), "other");
    });
    await says(page, "report", "absent");
    await says(page, "list", "ready");
    await other.evaluate(() => open().submit("reports", { intent: "a", body: { url: "https://example.com", duration_ms: 100 } }));
    await says(page, "report", "succeeded");
    await says(page, "list", "readya:succeeded");
  });

  story("a failed job that is run again shows the new run", async ({ visit }) => {
    const page = await visit();
    await page.evaluate(() => void mount(h(Report, { holdfast: open(), intent: "a" })));
    await says(page, "report", "absent");
    await page.evaluate(() => view.submit({ body: { url: "https://example.com", duration_ms: 50, outcome: "failed" } }));
    await says(page, "report", "failed");
    const ordinal = await page.evaluate(async () => {
      await view.retry({ reviewed: view.state.failure.id });
      return view.state.ordinal;
    });
    assert.equal(ordinal, 1);
  });

  story("nobody sees what another account had, and an action reaches the operation that is shown", async ({ visit }) => {
    const page = await visit();
    await page.evaluate(async () => {
      globalThis.account = "anna";
      globalThis.holdfast = open(() => account);
      globalThis.root = mount(h(Report, { holdfast, intent: "a" }));
    });
    await says(page, "report", "absent");
    await page.evaluate(() => view.submit({ body: { url: "https://example.com", duration_ms: 60_000 } }));
    await says(page, "report", "active");
    await page.evaluate(() => view.cancel({ nativeEvent: {} }));
    await says(page, "report", "cancelled");
    await page.evaluate(() => {
      root.unmount();
      account = "bert";
      views.length = 0;
      root = mount(h(Report, { holdfast, intent: "a" }));
    });
    await says(page, "report", "absent");
    assert.deepEqual(await page.evaluate(() => [...new Set(views.map((view) => view.status))]), ["pending", "absent"]);
    await page.evaluate(() => void (account = null));
    await page.evaluate(() => (root.unmount(), (root = mount(h(Report, { holdfast, intent: "b" })))) && 0);
    await says(page, "report", "unavailable");
  });

  story("what a server has rendered is taken over without a word of complaint", async ({ visit }) => {
    const page = await visit();
    await page.evaluate(() => {
      const place = document.getElementById("root");
      place.innerHTML = '<p id="report">pending</p>';
      globalThis.complaints = [];
      const error = console.error;
      console.error = (...own) => (complaints.push(String(own[0])), error(...own));
      hydrateRoot(place, h(Report, { holdfast: open(), intent: "a" }), { onRecoverableError: (own) => complaints.push(String(own)) });
    });
    await says(page, "report", "absent");
    assert.deepEqual(await page.evaluate(() => complaints), []);
  });

  story("a view that does not change is the same object, and one that is gone holds nothing", async ({ visit }) => {
    const page = await visit();
    await page.evaluate(() => {
      globalThis.holdfast = open();
      globalThis.subscribed = 0;
      const { subscribe } = holdfast;
      holdfast.subscribe = (listener) => {
        const stop = subscribe(listener);
        subscribed += 1;
        return () => void ((subscribed -= 1), stop());
      };
      globalThis.root = mount(h(Report, { holdfast, intent: "a" }));
    });
    await says(page, "report", "absent");
    assert.equal(await page.evaluate(() => subscribed), 1);
    await page.evaluate(() => view.submit({ body: { url: "https://example.com", duration_ms: 50 } }));
    await says(page, "report", 'succeeded {"');
    const renders = await page.evaluate(async () => {
      const before = views.length;
      await holdfast.list();
      await new Promise((resolve) => setTimeout(resolve, 300));
      return views.length - before;
    });
    assert.equal(renders, 0);
    assert.equal(await page.evaluate(() => (root.unmount(), subscribed)), 0);
  });

  story("a client that hot reload puts in the place of another goes on with its work", async ({ visit, service }) => {
    const page = await visit();
    await page.evaluate(() => {
      globalThis.old = open();
      globalThis.root = mount(h(Report, { holdfast: old, intent: "a" }));
    });
    await says(page, "report", "absent");
    // It is under way for as long as nobody hears of it.
    await service.hold("poll");
    await page.evaluate(() => view.submit({ body: { url: "https://example.com", duration_ms: 50 } }));
    await says(page, "report", "active");
    await page.evaluate(async () => {
      await old.close();
      root.render(h(React.StrictMode, null, h(Report, { holdfast: open(), intent: "a" })));
    });
    await service.release();
    await says(page, "report", 'succeeded {"');
    assert.equal((await service.ledger()).executions, 1);
  });
});

describe("on a server", () => {
  test("it renders as pending, whole and streamed, and touches nothing", async () => {
    const file = join(world.folder, "server.cjs");
    await bundle("server.js", file, "node", "cjs");
    const { renderWhole, renderStreamed } = await import(pathToFileURL(file));
    const { createHoldfast } = await import(pathToFileURL(join(packageFolder(), "index.js")));
    const fails = () => assert.fail("a callback ran on the server");
    const holdfast = createHoldfast({
      account: fails,
      observe: fails,
      services: { reports: { profile: "runharvester", baseUrl: "https://api.example.com", authorize: fails }, own: { profile: "replay", proxy: "/api/own" } },
    });
    assert.match(renderWhole(holdfast), /<p>pending<\/p><ul>pending0<\/ul>/);
    assert.match(await renderStreamed(holdfast), /<p>pending<\/p><ul>pending0<\/ul>/);
  });
});
