// What can only be asked of a browser that is driven from outside its pages: Chromium.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Site } from "./harness.mjs";

const site = await Site.open();
after(() => site.close());

const story = (name, run) => test(name, () => site.visit(run));

story("a page that forbids WebAssembly is told what to allow", async ({ visit, service }) => {
  const page = await visit({ path: "no-wasm.html" });
  const error = await page.evaluate(() =>
    errorOf(() => open().submit("reports", { intent: "a", body: work(100) })),
  );
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

story("what is submitted offline is kept, and sent when the network is back", async ({ visit, service, session }) => {
  const page = await visit();
  await page.evaluate(() => (globalThis.holdfast = open()).start());
  await session.setOffline(true);
  const id = await page.evaluate(async () => {
    globalThis.operation = await holdfast.submit("reports", { intent: "a", body: work(1000) });
    return operation.id;
  });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assert.equal((await service.ledger()).submits, 0);
  assert.notEqual(await page.evaluate(() => operation.status), "parked");
  await session.setOffline(false);
  assert.equal(await page.evaluate(async () => (await operation.outcome()).status), "succeeded");
  assert.equal(await page.evaluate(() => operation.id), id);
  const { executions, charges } = await service.ledger();
  assert.deepEqual({ executions, charges }, { executions: 1, charges: 1 });
});
