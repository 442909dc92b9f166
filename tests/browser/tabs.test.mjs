// Several tabs over one storage.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { assertToldOf, CHANGING_HANDS_MS, leaseIn, polled, Site } from "./harness.mjs";

/** How long a job takes that two tabs wait for, in milliseconds. */
const WORK_MS = 4000;

const site = await Site.open();
after(() => site.close());

const story = (name, run) => test(name, () => site.visit(run));

/** Submits the one intent in a page, which then goes on with it. */
const submitIn = (page, length) =>
  page.evaluate(async (length) => {
    globalThis.holdfast = open();
    globalThis.operation = await holdfast.submit("reports", { intent: "a", body: work(length) });
    return operation.id;
  }, length);

const outcomeIn = (page) =>
  page.evaluate(async () => {
    const { status, data } = await operation.outcome();
    return { status, records: data.record_count };
  });

story("two tabs have one operation, drive it once, and both see its result", async ({ visit, service }) => {
  const pages = [await visit(), await visit()];
  const ids = await Promise.all(pages.map((page) => submitIn(page, WORK_MS)));
  assert.equal(ids[0], ids[1]);
  const outcomes = await Promise.all(pages.map(outcomeIn));
  assert.deepEqual(outcomes, Array(2).fill({ status: "succeeded", records: 1 }));
  const { executions, charges, submits, results } = await service.ledger();
  assert.deepEqual({ executions, charges, submits, results }, {
    executions: 1,
    charges: 1,
    submits: 1,
    results: 1,
  });
});

for (const [way, leave] of [
  ["closed", (page) => page.close()],
  ["sent elsewhere", (page) => page.goto("about:blank")],
]) {
  story(`when the tab that drives it is ${way}, another takes over`, async ({ visit, service }) => {
    const [owner, other] = [await visit(), await visit()];
    const id = await submitIn(owner, CHANGING_HANDS_MS);
    assert.equal(await submitIn(other, CHANGING_HANDS_MS), id);
    await polled(service);
    const promised = await leaseIn(other);
    await leave(owner);
    const before = (await service.requests()).length;
    assert.deepEqual(await outcomeIn(other), { status: "succeeded", records: 1 });
    await assertToldOf(service, before, promised);
    const { executions, charges, submits } = await service.ledger();
    assert.deepEqual({ executions, charges, submits }, { executions: 1, charges: 1, submits: 1 });
  });
}

/** A tab that nobody looks at, whose requests take so long that with many jobs there is always one under way. */
const hiddenAndSlow = () => {
  Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
  const { fetch } = globalThis;
  globalThis.fetch = async (...args) => {
    const answer = await fetch(...args);
    if (args[1]?.method !== undefined) await new Promise((resolve) => setTimeout(resolve, 3000));
    return answer;
  };
};

/** A tab that somebody looks at, and that counts its polls. */
const seenAndCounting = () => {
  const { fetch } = globalThis;
  globalThis.polls = 0;
  globalThis.fetch = (...args) => {
    polls += (args[1]?.method ?? args[0].method) === "GET";
    return fetch(...args);
  };
};

const hiddenOnly = () => Object.defineProperty(document, "visibilityState", { get: () => "hidden" });

for (const [what, init, jobs] of [
  ["what a tab that nobody looks at drives", hiddenOnly, 1],
  ["work that is never idle in a tab that nobody looks at", hiddenAndSlow, 12],
]) {
  story(`${what} goes to one that somebody looks at`, async ({ visit, service }) => {
    const [hidden, seen] = [await visit({ init }), await visit({ init: seenAndCounting })];
    const id = await submitIn(hidden, CHANGING_HANDS_MS);
    await hidden.evaluate(async ([jobs, length]) => {
      const more = Array.from({ length: jobs }, (_, job) => holdfast.submit("reports", { intent: `more ${job}`, body: work(length) }));
      await Promise.all(more);
    }, [jobs - 1, CHANGING_HANDS_MS]);
    await polled(service);
    assert.equal(await submitIn(seen, CHANGING_HANDS_MS), id);
    assert.deepEqual(await outcomeIn(seen), { status: "succeeded", records: 1 });
    assert.ok(await seen.evaluate(() => polls) > 0, "it was driven where nobody looked");
    const { executions, charges, submits } = await service.ledger();
    assert.deepEqual({ executions, charges, submits }, { executions: jobs, charges: jobs, submits: jobs });
  });
}

story("what a tab drives that has no credential any more goes to one that has", async ({ visit, service }) => {
  const [without, other] = [await visit(), await visit()];
  const submit = (page) =>
    page.evaluate(async (length) => {
      const authorize = () => {
        if (globalThis.isSignedOut) throw new Error("There is no session.");
        return service.authorize();
      };
      globalThis.holdfast = open({}, { authorize });
      globalThis.operation = await holdfast.submit("reports", { intent: "a", body: work(length) });
      return operation.id;
    }, CHANGING_HANDS_MS);
  const id = await submit(without);
  assert.equal(await submit(other), id);
  await polled(service);
  await without.evaluate(() => (globalThis.isSignedOut = true));
  assert.deepEqual(await Promise.all([other, without].map(outcomeIn)), Array(2).fill({ status: "succeeded", records: 1 }));
  const { executions, charges, submits } = await service.ledger();
  assert.deepEqual({ executions, charges, submits }, { executions: 1, charges: 1, submits: 1 });
});

story("a tab of another account neither sees nor drives what the first has left, which goes on when that is back", async ({ visit, service }) => {
  const [ada, grace] = [await visit(), await visit()];
  const as = (page, account) =>
    page.evaluate(async (account) => {
      globalThis.account = account;
      globalThis.holdfast = open({ account: () => globalThis.account });
      await holdfast.start();
    }, account);
  const intents = (page) => page.evaluate(async () => (await holdfast.list()).operations.map(({ intent }) => intent));
  await as(ada, "ada");
  await as(grace, "grace");
  await ada.evaluate(async (length) => void (await holdfast.submit("reports", { intent: "a", body: work(length) })), WORK_MS);
  await polled(service);
  await ada.close();
  const before = (await service.requests()).length;
  await new Promise((resolve) => setTimeout(resolve, WORK_MS));
  assert.deepEqual(await intents(grace), []);
  assert.equal((await service.requests()).length, before, "another account's tab went on with it");
  const outcome = await grace.evaluate(async () => {
    account = "ada";
    return (await (await holdfast.find("reports", "a")).outcome()).status;
  });
  assert.equal(outcome, "succeeded");
  assert.deepEqual(await intents(grace), ["a"]);
  const { executions, charges, submits } = await service.ledger();
  assert.deepEqual({ executions, charges, submits }, { executions: 1, charges: 1, submits: 1 });
});
