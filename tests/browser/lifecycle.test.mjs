// A tab's life as browsers lead it: frozen, put aside, crashed, without Web Locks.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import {
  assertToldOf, assertWaitedFor, browserName, CHANGING_HANDS_MS, countAtRest, frozen, leaseIn, polled, Site, takenOver, until, WAITED_FOR_MS,
  wentBack, withoutLocks,
} from "./harness.mjs";

/** How often two tabs submit the same intent at the same instant. */
const TRIES = 100;

const site = await Site.open();
after(() => site.close());

const story = (name, run) => test(name, { timeout: 300_000 }, () => site.visit(run));

const submitIn = (page, length) =>
  page.evaluate(async (length) => {
    globalThis.holdfast ??= open();
    globalThis.operation = await holdfast.submit("reports", { intent: "a", body: work(length) });
    return operation.id;
  }, length);

const outcomeIn = (page) => page.evaluate(async () => (await operation.outcome()).status);

/** In a page: a call that returns once another tab has made it with the same number. */
const meeting = () => {
  const channel = new BroadcastChannel("meeting");
  let [reached, hear] = [-1, () => undefined];
  channel.onmessage = ({ data }) => hear((reached = data));
  globalThis.meetAt = async (number) => {
    channel.postMessage(number);
    while (reached < number) await new Promise((resolve) => (hear = resolve));
  };
};

/** Firefox puts no page aside that holds a Web Lock, and looks whether it does before it tells the page that it is left. */
const isKept = (init) => browserName !== "firefox" || init === withoutLocks;

async function assertOnce(service) {
  const { executions, charges, submits, key_mismatches } = await service.ledger();
  assert.deepEqual({ executions, charges, submits, key_mismatches }, { executions: 1, charges: 1, submits: 1, key_mismatches: 0 });
}

// They wait more than they work.
describe("a tab's life", { concurrency: 2 }, () => {
  for (const [kind, init] of [["with Web Locks", undefined], ["without Web Locks", withoutLocks]]) {
    story(`${kind}, a tab takes over from one that was frozen, which does nothing more when it thaws`, async ({ visit, service, browser }) => {
      const [owner, other] = [await visit({ init }), await visit({ init })];
      assert.equal(await owner.evaluate(() => !!navigator.locks), !init);
      await submitIn(owner, WAITED_FOR_MS);
      await submitIn(other, WAITED_FOR_MS);
      await polled(service);
      const thaw = await frozen(browser, owner);
      // What was on its way when it froze is its own still.
      const before = await countAtRest(service);
      const lease = await leaseIn(other);
      assert.equal(await outcomeIn(other), "succeeded");
      // It holds its Web Lock as well: nobody tells.
      await assertWaitedFor(service, before, lease);
      const made = (await service.requests()).length;
      await thaw();
      assert.equal(await outcomeIn(owner), "succeeded");
      assert.equal((await service.requests()).length, made, "a thawed tab asks for nothing more");
      await assertOnce(service);
    });

    story(`${kind}, a tab takes over from one whose process has crashed`, async ({ visit, service, browser }) => {
      const [owner, other] = [await visit({ init }), await visit({ init })];
      const length = init ? WAITED_FOR_MS : CHANGING_HANDS_MS;
      await submitIn(owner, length);
      await submitIn(other, length);
      await polled(service);
      const promised = await leaseIn(other);
      await browser.crash(owner);
      if (init) {
        const before = await countAtRest(service);
        const lease = await leaseIn(other);
        assert.equal(await outcomeIn(other), "succeeded");
        await assertWaitedFor(service, before, lease);
      } else {
        const before = (await service.requests()).length;
        assert.equal(await outcomeIn(other), "succeeded");
        await assertToldOf(service, before, promised);
      }
      await assertOnce(service);
    });

    story(`${kind}, a tab takes over from one that was closed`, async ({ visit, service }) => {
      const [owner, other] = [await visit({ init }), await visit({ init })];
      await submitIn(owner, CHANGING_HANDS_MS);
      await submitIn(other, CHANGING_HANDS_MS);
      await polled(service);
      const promised = await leaseIn(other);
      await owner.close({ runBeforeUnload: false });
      const before = (await service.requests()).length;
      assert.equal(await outcomeIn(other), "succeeded");
      // Without Web Locks it depends on whether what it does in its last turn reaches the storage.
      await (init ? takenOver(service, before) : assertToldOf(service, before, promised));
      await assertOnce(service);
    });

    story(`${kind}, two tabs that submit the same intent at the same instant have one operation, ${TRIES} times`, async ({ visit, service }) => {
      const pages = [await visit({ init }), await visit({ init })];
      for (const page of pages) await page.evaluate(meeting);
      const submitAll = (page) =>
        page.evaluate(async (tries) => {
          globalThis.holdfast = open();
          const ids = [];
          for (let index = 0; index < tries; index++) {
            // No timer: one of them is behind the other, where a browser delays those.
            await meetAt(index);
            ids.push((await holdfast.submit("reports", { intent: `try ${index}`, body: work(1) })).id);
          }
          return ids;
        }, TRIES);
      const [one, other] = await Promise.all(pages.map(submitAll));
      assert.deepEqual(one, other);
      assert.equal(new Set(one).size, TRIES);
      await until(async () => (await service.ledger()).executions >= TRIES, "Every job");
      const { executions, charges, key_mismatches } = await service.ledger();
      assert.deepEqual({ executions, charges, key_mismatches }, { executions: TRIES, charges: TRIES, key_mismatches: 0 });
    });

    const [put, whole] = isKept(init) ? ["goes into the back-forward cache", "whole"] : ["is left", "anew"];
    story(`${kind}, a page ${put} with work under way, another goes on, and it comes back ${whole}`, async ({ visit, service }) => {
      const page = await visit({ init });
      const length = init ? WAITED_FOR_MS : CHANGING_HANDS_MS;
      await submitIn(page, length);
      await polled(service);
      const promised = await leaseIn(page);
      await page.evaluate(() => {
        globalThis.cameBack = new Promise((resolve) => addEventListener("pageshow", ({ persisted }) => resolve(persisted)));
      });
      await page.goto(`${service.origin}/tests/app.html?another`);
      await page.waitForFunction(() => globalThis.isReady);
      const before = (await service.requests()).length;
      assert.equal(await submitIn(page, length).then(() => outcomeIn(page)), "succeeded");
      // Its store is out of reach for a page that is put aside: without Web Locks, nobody tells.
      if (!init) await assertToldOf(service, before, promised);
      await wentBack(page, () => location.search === "");
      const cameBack = await page.evaluate(() => globalThis.cameBack);
      if (isKept(init)) {
        assert.equal(cameBack, true, "something of ours keeps the page out of the cache");
        // Nobody waits here yet: what is shown has caught up by itself.
        await page.waitForFunction(() => holdfast.getSnapshot()[0].status === "succeeded");
      } else {
        assert.equal(cameBack, undefined, "it is kept now, and this need not be an exception");
        await page.waitForFunction(() => globalThis.isReady);
        await submitIn(page, length);
      }
      assert.equal(await outcomeIn(page), "succeeded");
      await assertOnce(service);
    });
  }

  story("what is known of the storage is told, and what this browser does not tell is named", async ({ visit }) => {
    const page = await visit();
    const health = await page.evaluate(() => open().storageHealth());
    assert.equal(health.opens, true);
    for (const name of ["persisted", "usage", "quota"]) {
      assert.equal(health[name] === undefined, health.unknown.includes(name), name);
    }
    const broken = await page.evaluate(() => {
      indexedDB.open = () => {
        throw new DOMException("private", "InvalidStateError");
      };
      return open({ database: "another" }).storageHealth();
    });
    assert.equal(broken.opens, false);
    assert.match(broken.fault, /storage/i);
  });
});
