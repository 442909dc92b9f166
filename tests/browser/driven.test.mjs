// What a page meets in its browser: a policy, no network, a storage that it may ask to be kept.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { browserName, Site } from "./harness.mjs";

const site = await Site.open();
after(() => site.close());

const story = (name, run, options = {}) => test(name, options, () => site.visit(run));

const isWebKit = browserName === "webkit";
/** Its pages drive it, and these cannot take the network from it. */
const wheneverOffline = { skip: isWebKit && "nothing tells WebKit's browser that there is no network" };
/** WebKitGTK builds it and leaves it turned off. */
const whereManaged = { skip: isWebKit && "WebKitGTK has no navigator.storage" };

story("a page that forbids WebAssembly is told what to allow", async ({ visit, service }) => {
  const page = await visit();
  // From without: what is evaluated in such a page is forbidden as well.
  const error = await page.evaluate(async () => {
    const frame = document.createElement("iframe");
    const loaded = new Promise((resolve) => (frame.onload = resolve));
    frame.src = "no-wasm.html";
    document.body.append(frame);
    await loaded;
    const { errorOf, open, work } = frame.contentWindow;
    return errorOf(() => open().submit("reports", { intent: "a", body: work(100) }));
  });
  assert.equal(error.code, "WASM_BLOCKED");
  assert.match(error.nextStep, /'wasm-unsafe-eval'/);
  assert.deepEqual(await service.requests(), []);
});

story("a page whose module's file is not there is told its status and address, and not of a policy", async ({ visit }) => {
  const page = await visit();
  const [error, origin] = await page.evaluate(async () => [
    await errorOf(() => open({ module: "/nowhere/holdfast.wasm?token=secret" }).start()),
    location.origin,
  ]);
  assert.equal(error.code, "WASM_BLOCKED");
  assert.ok(error.message.includes(`the file was not found: status 404 from ${origin}/nowhere/holdfast.wasm. `), error.message);
  assert.doesNotMatch(error.message, /secret/);
});

story("what is submitted offline is kept, and sent when the network is back", async ({ visit, service, browser }) => {
  const page = await visit();
  await page.evaluate(() => (globalThis.holdfast = open()).start());
  await browser.setOffline(true);
  const id = await page.evaluate(async () => {
    globalThis.operation = await holdfast.submit("reports", { intent: "a", body: work(1000) });
    return operation.id;
  });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assert.equal((await service.ledger()).submits, 0);
  assert.notEqual(await page.evaluate(() => operation.status), "parked");
  await browser.setOffline(false);
  assert.equal(await page.evaluate(async () => (await operation.outcome()).status), "succeeded");
  assert.equal(await page.evaluate(() => operation.id), id);
  const { executions, charges } = await service.ledger();
  assert.deepEqual({ executions, charges }, { executions: 1, charges: 1 });
}, wheneverOffline);

story("what is submitted offline is not sent once its time is over, and goes on where a person gives it more", async ({ visit, service, browser }) => {
  const page = await visit();
  await page.evaluate(async () => {
    // Not on this machine, as far as the client knows: that would be there without a network too.
    const baseUrl = "https://service.test";
    const here = (url, init) => fetch(url.replace(baseUrl, location.origin), init);
    globalThis.holdfast = open({ fetch: here }, { baseUrl });
    await holdfast.start();
  });
  await browser.setOffline(true);
  const id = await page.evaluate(async () => {
    const limits = { sendWithinMs: 1000 };
    globalThis.operation = await holdfast.submit("reports", { intent: "a", body: work(100), limits });
    return operation.id;
  });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await browser.setOffline(false);
  const parked = await page.evaluate(async () => {
    const { status, reason } = await operation.outcome();
    return { status, reason };
  });
  assert.deepEqual(parked, { status: "parked", reason: "DeadlineExceeded" });
  assert.equal((await service.ledger()).submits, 0);
  const resumed = await page.evaluate(async () => {
    await operation.resume({ limits: { sendWithinMs: 60_000 } });
    return { id: operation.id, status: (await operation.outcome()).status };
  });
  assert.deepEqual(resumed, { id, status: "succeeded" });
  const { executions, charges, submits } = await service.ledger();
  assert.deepEqual({ executions, charges, submits }, { executions: 1, charges: 1, submits: 1 });
}, wheneverOffline);

story("the browser is asked to keep the storage once there is work in it, and not where the app forbids that", async ({ visit }) => {
  const init = () => {
    globalThis.asked = 0;
    StorageManager.prototype.persist = async () => (asked++, false);
  };
  const askedIn = async (options) => {
    const page = await visit({ init });
    return page.evaluate(async (options) => {
      const holdfast = open(options);
      await holdfast.list();
      const before = asked;
      const operation = await holdfast.submit("reports", { intent: crypto.randomUUID(), body: work(100) });
      await operation.outcome();
      return [before, asked];
    }, options);
  };
  assert.deepEqual(await askedIn({}), [0, 1]);
  assert.deepEqual(await askedIn({ persist: false }), [0, 0]);
}, whereManaged);
