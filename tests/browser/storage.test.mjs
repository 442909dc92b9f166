// Storage that refuses, fails or falls silent: a typed error and nothing sent, or one execution.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Site } from "./harness.mjs";

const site = await Site.open();
after(() => site.close());

const story = (name, run) => test(name, () => site.visit(run));

/** Submits the one intent; the error, or how it came out. */
const submit = (page) =>
  page.evaluate(async () => {
    let outcome;
    const error = await errorOf(async () => {
      const operation = await open().submit("reports", { intent: "a", body: work(100) });
      outcome = (await operation.outcome()).status;
    });
    return { code: error?.code, nextStep: error?.nextStep, outcome };
  });

/** The same page without the fault: the intent is free, or goes on; once, whatever came before. */
async function assertGoesOn(page, service) {
  await page.reload();
  await page.waitForFunction(() => globalThis.isReady);
  assert.equal((await submit(page)).outcome, "succeeded");
  const { executions, charges } = await service.ledger();
  assert.deepEqual({ executions, charges }, { executions: 1, charges: 1 });
}

/** A story in which submit says that nothing is stored, and nothing was sent. */
const refused = (name, fault, argument) =>
  story(name, async ({ visit, service }) => {
    const page = await visit();
    await page.evaluate(fault, argument);
    const told = await submit(page);
    assert.equal(told.code, "STORAGE_UNAVAILABLE");
    assert.ok(told.nextStep, "the error says what to do");
    // What is tried again in the background would be seen by now.
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.deepEqual(await service.requests(), []);
    await assertGoesOn(page, service);
  });

describe("a database that cannot be opened", () => {
  for (const error of ["InvalidStateError", "SecurityError", "UnknownError", "VersionError", "QuotaExceededError"]) {
    refused(`fails with ${error}`, (name) => {
      IDBFactory.prototype.open = () => {
        const request = new EventTarget();
        request.error = new DOMException("by the test", name);
        setTimeout(() => request.onerror?.(new Event("error")));
        return request;
      };
    }, error);
  }

  refused("throws", () => {
    IDBFactory.prototype.open = () => {
      throw new DOMException("by the test", "SecurityError");
    };
  });

  refused("never answers", () => {
    IDBFactory.prototype.open = () => new EventTarget();
  });

  refused("is blocked by another connection", async () => {
    // An older schema that nobody lets go of.
    await new Promise((resolve) => (indexedDB.open("holdfast", 1).onsuccess = resolve));
    const upgrade = IDBFactory.prototype.open;
    IDBFactory.prototype.open = function (name, version) {
      const request = upgrade.call(this, name, version === undefined ? undefined : version + 10);
      request.addEventListener("success", () => (globalThis.kept = request.result));
      return request;
    };
  });

  refused("is missing altogether", () => {
    Object.defineProperty(globalThis, "indexedDB", { value: undefined });
  });
});

describe("a transaction that fails", () => {
  refused("throws QuotaExceededError at a put", () => {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException("by the test", "QuotaExceededError");
    };
  });

  for (const error of ["QuotaExceededError", "DataError", "UnknownError"]) {
    refused(`is aborted with ${error} when it has written the record`, (name) => {
      const begin = IDBDatabase.prototype.transaction;
      IDBDatabase.prototype.transaction = function (stores, mode, ...more) {
        const transaction = begin.call(this, stores, mode, ...more);
        if (mode !== "readwrite" || ![...transaction.objectStoreNames].includes("bodies")) return transaction;
        Object.defineProperty(transaction, "error", { get: () => new DOMException("by the test", name) });
        const { objectStore } = transaction;
        transaction.objectStore = (store) => {
          const found = objectStore.call(transaction, store);
          found.put = (...values) => {
            const request = IDBObjectStore.prototype.put.apply(found, values);
            request.addEventListener("success", () => transaction.abort());
            return request;
          };
          return found;
        };
        return transaction;
      };
    }, error);
  }
});

describe("a commit of which nothing is heard", () => {
  /** Every commit of a record, or only the first, happens and does not tell. */
  const fallSilent = (times) => {
    const begin = IDBDatabase.prototype.transaction;
    IDBDatabase.prototype.transaction = function (stores, mode, ...more) {
      const transaction = begin.call(this, stores, mode, ...more);
      const isCommit = mode === "readwrite" && [...transaction.objectStoreNames].includes("bodies");
      if (isCommit && times-- > 0) {
        for (const name of ["oncomplete", "onabort"]) {
          Object.defineProperty(transaction, name, { set: () => undefined, get: () => null });
        }
      }
      return transaction;
    };
  };

  story("is found to have happened, and the operation goes on", async ({ visit, service }) => {
    const page = await visit();
    await page.evaluate(fallSilent, 1);
    assert.deepEqual(await submit(page), { code: undefined, nextStep: undefined, outcome: "succeeded" });
    const { executions, charges } = await service.ledger();
    assert.deepEqual({ executions, charges }, { executions: 1, charges: 1 });
  });

  story("is unconfirmed where it cannot be found out, and the same submit tells later", async ({ visit, service }) => {
    const page = await visit();
    await page.evaluate(fallSilent, 1000);
    const told = await submit(page);
    assert.equal(told.code, "SUBMIT_UNCONFIRMED");
    assert.match(told.nextStep, /same intent/);
    assert.deepEqual(await service.requests(), []);
    await assertGoesOn(page, service);
  });
});
