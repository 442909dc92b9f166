// What a person does about an operation: resume, resolve, retry, cancel, acknowledge.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Site } from "./harness.mjs";

const site = await Site.open();
after(() => site.close());

const story = (name, run) => test(name, () => site.visit(run));

async function costs(service) {
  const { executions, charges, refunds } = await service.ledger();
  return { executions, charges, refunds };
}

story("a refused credential parks with its exit, and resume() goes on under the same key", async ({ visit, service }) => {
  const page = await visit();
  const told = await page.evaluate(async () => {
    let token = "wrong";
    const authorize = () => ({ headers: { authorization: `Bearer ${token}` }, scope: "one" });
    const operation = await open({}, { authorize }).submit("reports", { intent: "a", body: work(100) });
    const { status, reason, exits } = await operation.outcome();
    const error = await errorOf(() => operation.result());
    const { key } = operation;
    token = "demo-token";
    await operation.resume();
    const after = await operation.outcome();
    return { parked: { status, reason, first: exits[0] }, sameExits: `${error.exits}` === `${exits}`, code: error.code, after: after.status, sameKey: operation.key === key };
  });
  const parked = { status: "parked", reason: "NeedsCredential", first: "resume()" };
  assert.deepEqual(told, { parked, sameExits: true, code: "PARKED", after: "succeeded", sameKey: true });
  assert.deepEqual(await costs(service), { executions: 1, charges: 1, refunds: 0 });
});

story("a key conflict parks, and resolve() gives it up", async ({ visit, service }) => {
  const body = JSON.stringify({ error: { code: "IDEMPOTENCY_KEY_REUSED" } });
  await service.faults([{ call: "submit", fault: "status", status: 409, body }]);
  const page = await visit();
  const told = await page.evaluate(async () => {
    const operation = await open().submit("reports", { intent: "a", body: work(100) });
    const { reason, exits } = await operation.outcome();
    const error = await errorOf(() => operation.result());
    await operation.resolve("abandon");
    return { reason, exits, code: error.code, after: (await operation.outcome()).status };
  });
  assert.equal(told.reason, "KeyConflict");
  assert.ok(told.exits.includes('resolve("abandon")'));
  assert.equal(told.code, "KEY_CONFLICT");
  assert.equal(told.after, "abandoned");
  assert.deepEqual(await costs(service), { executions: 0, charges: 0, refunds: 0 });
});

story("a failed job runs again by retry(), as linked work under the same intent", async ({ visit, service }) => {
  const page = await visit();
  const told = await page.evaluate(async () => {
    const holdfast = open();
    const first = await holdfast.submit("reports", { intent: "a", body: work(100, { fail_times: 1 }) });
    const failed = await first.outcome();
    const unread = await errorOf(() => first.retry({ reviewed: "something else" }));
    const second = await first.retry({ reviewed: failed.error.failure.id });
    const outcome = await second.outcome();
    const found = await holdfast.find("reports", "a");
    return {
      failed: failed.error.code,
      unread: unread?.code,
      linked: second.parentId === first.id && second.ordinal === 1 && second.key !== first.key,
      newest: found.id === second.id,
      after: outcome.status,
    };
  });
  assert.deepEqual(told, { failed: "JOB_FAILED", unread: told.unread, linked: true, newest: true, after: "succeeded" });
  assert.ok(told.unread, "a failure that was not read is no ground for a retry");
  assert.deepEqual(await costs(service), { executions: 2, charges: 2, refunds: 1 });
});

story("a job that fails for its input is not run again unless the caller says anyway", async ({ visit, service }) => {
  const page = await visit();
  const told = await page.evaluate(async () => {
    const body = work(100, { fail_times: 1, failure_class: "input" });
    const first = await open().submit("reports", { intent: "a", body });
    const { error } = await first.outcome();
    const refused = await errorOf(() => first.retry({ reviewed: error.failure.id }));
    const second = await first.retry({ reviewed: error.failure.id, anyway: true });
    return { refused: refused?.code, after: (await second.outcome()).status };
  });
  assert.deepEqual(told, { refused: "NOT_ALLOWED", after: "succeeded" });
  assert.equal((await costs(service)).executions, 2);
});

story("cancel() asks the service, and its word decides", async ({ visit, service }) => {
  const page = await visit();
  const told = await page.evaluate(async () => {
    const operation = await open().submit("reports", { intent: "a", body: work(60_000) });
    for await (const { status } of operation.updates()) if (status === "active") break;
    await operation.cancel();
    const { status, error } = await operation.outcome();
    return { status, code: error?.code };
  });
  assert.deepEqual(told, { status: "cancelled", code: "CANCELLED" });
  const cancels = (await service.requests()).filter(({ call }) => call === "cancel");
  assert.deepEqual(cancels.map(({ status }) => status), [202]);
});

story("cancel() of what was never sent ends it without the service", async ({ visit, service }) => {
  const page = await visit();
  const told = await page.evaluate(async () => {
    const authorize = () => new Promise(() => undefined);
    const operation = await open({}, { authorize }).submit("reports", { intent: "a", body: work(100) });
    await operation.cancel();
    return (await operation.outcome()).status;
  });
  assert.equal(told, "cancelled");
  assert.deepEqual(await service.requests(), []);
});

story("acknowledge() is kept over a reload", async ({ visit }) => {
  const page = await visit();
  const submit = () =>
    page.evaluate(async () => {
      const operation = await open().submit("reports", { intent: "a", body: work(100) });
      await operation.result();
      const before = operation.acknowledged;
      await operation.acknowledge();
      return before;
    });
  assert.equal(await submit(), false);
  await page.reload();
  await page.waitForFunction(() => globalThis.isReady);
  assert.equal(await submit(), true);
});
