// Storage that refuses, fails or falls silent: a typed error and nothing sent, or one execution.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Site, until } from "./harness.mjs";

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
    return { code: error?.code ?? null, nextStep: error?.nextStep, outcome };
  });

/** The same page without the fault: the intent is free, or goes on; once, whatever came before. */
async function assertGoesOn(page, service) {
  await page.reload();
  await page.waitForFunction(() => globalThis.isReady);
  // Firefox lets go of what the page of before had open only after some seconds.
  const opens = async () => (told = await submit(page)).code !== "STORAGE_UNAVAILABLE";
  let told;
  await until(opens, "A storage that opens");
  assert.equal(told.outcome, "succeeded");
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
    // Of a database without the schema, which nobody lets go of.
    const request = indexedDB.open("holdfast", 1);
    await new Promise((resolve) => (request.onsuccess = resolve));
    globalThis.kept = request.result;
  });

  refused("is missing altogether", () => {
    Object.defineProperty(globalThis, "indexedDB", { value: undefined });
  });
});

/** The first opening is answered so much later than the browser answers it. */
const delayOpening = (ms) => {
  const begin = IDBFactory.prototype.open;
  IDBFactory.prototype.open = function (...given) {
    IDBFactory.prototype.open = begin;
    const request = begin.apply(this, given);
    let hear;
    Object.defineProperty(request, "onsuccess", { set: (heard) => (hear = heard) });
    request.addEventListener("success", (event) => setTimeout(() => hear(event), ms));
    return request;
  };
};

/** So many openings fail as they do while the browser's storage process dies and comes up. */
const loseOpenings = (times) => {
  const begin = IDBFactory.prototype.open;
  IDBFactory.prototype.open = function (...given) {
    if (times-- <= 0) return begin.apply(this, given);
    const request = new EventTarget();
    request.error = new DOMException("by the test", "UnknownError");
    setTimeout(() => request.onerror?.(new Event("error")));
    return request;
  };
};

describe("a database that opens late", () => {
  for (const [name, fault, argument] of [
    ["is slow", delayOpening, 8000],
    ["was lost on the way to it once", loseOpenings, 1],
  ]) {
    story(`is waited for by the call where it ${name}`, async ({ visit, service }) => {
      const page = await visit();
      await page.evaluate(fault, argument);
      const { code, outcome } = await submit(page);
      assert.deepEqual({ code, outcome }, { code: null, outcome: "succeeded" });
      const { executions, charges } = await service.ledger();
      assert.deepEqual({ executions, charges }, { executions: 1, charges: 1 });
    });
  }
});

/** Every transaction that writes a record is aborted with that error once it has written. */
const abortCommits = (name) => {
  const begin = IDBDatabase.prototype.transaction;
  IDBDatabase.prototype.transaction = function (stores, mode, ...more) {
    const transaction = begin.call(this, stores, mode, ...more);
    if (mode !== "readwrite" || !transaction.objectStoreNames.contains("bodies")) return transaction;
    Object.defineProperty(transaction, "error", { get: () => new DOMException("by the test", name) });
    // What commits could not be aborted any more.
    transaction.commit = () => undefined;
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
};

/** So many commits of a record happen and do not tell. */
const silenceCommits = (times) => {
  const begin = IDBDatabase.prototype.transaction;
  IDBDatabase.prototype.transaction = function (stores, mode, ...more) {
    const transaction = begin.call(this, stores, mode, ...more);
    const isCommit = mode === "readwrite" && transaction.objectStoreNames.contains("bodies");
    if (isCommit && times-- > 0) {
      for (const name of ["oncomplete", "onabort"]) {
        Object.defineProperty(transaction, name, { set: () => undefined, get: () => null });
      }
    }
    return transaction;
  };
};

describe("a transaction that fails", () => {
  for (const error of ["QuotaExceededError", "DataCloneError", "TransactionInactiveError"]) {
    refused(`throws ${error} at a put`, (name) => {
      IDBObjectStore.prototype.put = () => {
        throw new DOMException("by the test", name);
      };
    }, error);
  }

  for (const error of ["QuotaExceededError", "DataError"]) {
    refused(`is aborted with ${error} when it has written the record`, abortCommits, error);
  }
});

describe("a commit whose fate is unknown", () => {
  story("is found to have happened, and the operation goes on", async ({ visit, service }) => {
    const page = await visit();
    await page.evaluate(silenceCommits, 1);
    const { code, outcome } = await submit(page);
    assert.deepEqual({ code, outcome }, { code: null, outcome: "succeeded" });
    const { executions, charges } = await service.ledger();
    assert.deepEqual({ executions, charges }, { executions: 1, charges: 1 });
  });

  for (const [name, fault, argument] of [
    ["it never tells", silenceCommits, 1000],
    ["the connection to the storage is lost", abortCommits, "UnknownError"],
  ]) {
    story(`is unconfirmed where ${name}, and the same submit settles it`, async ({ visit, service }) => {
      const page = await visit();
      await page.evaluate(fault, argument);
      const told = await submit(page);
      assert.equal(told.code, "SUBMIT_UNCONFIRMED");
      assert.match(told.nextStep, /same call again/);
      assert.deepEqual(await service.requests(), []);
      await assertGoesOn(page, service);
    });
  }
});

describe("storage that never opens again", () => {
  /** Every opening fails, as it does in Chromium and WebKit where a database is damaged. */
  const damage = (name) => {
    IDBFactory.prototype.open = () => {
      const request = new EventTarget();
      request.error = new DOMException("by the test", name);
      setTimeout(() => request.onerror?.(new Event("error")));
      return request;
    };
  };
  const reset = (page, accepted = { acceptRisk: "duplicate" }) =>
    page.evaluate(async (accepted) => {
      const error = await errorOf(() => open().resetStorage(accepted));
      // WebKit lists one whose creation was given up, without a version.
      const databases = (await indexedDB.databases()).filter(({ version }) => version);
      return { code: error?.code ?? null, databases: databases.length };
    }, accepted);

  story("is named, and a reset that is asked for begins anew", async ({ visit, service }) => {
    const page = await visit();
    assert.equal((await submit(page)).outcome, "succeeded");
    await page.reload();
    await page.waitForFunction(() => globalThis.isReady);
    await page.evaluate(damage, "UnknownError");
    const told = await submit(page);
    assert.equal(told.code, "STORAGE_UNAVAILABLE");
    assert.match(told.nextStep, /resetStorage\(\)/);
    assert.deepEqual(await reset(page, {}), { code: "INVALID_INPUT", databases: 1 });
    assert.deepEqual(await reset(page), { code: null, databases: 0 });
    await page.reload();
    await page.waitForFunction(() => globalThis.isReady);
    assert.equal((await submit(page)).outcome, "succeeded");
    assert.equal((await service.ledger()).executions, 2, "what the lost storage knew is charged again");
  });

  story("is not deleted where the browser refuses any storage", async ({ visit }) => {
    const page = await visit();
    await submit(page);
    await page.evaluate(damage, "SecurityError");
    assert.deepEqual(await reset(page), { code: "STORAGE_UNAVAILABLE", databases: 1 });
  });

  story("is not what opens: that stays", async ({ visit }) => {
    const page = await visit();
    assert.deepEqual(await reset(page), { code: "NOT_ALLOWED", databases: 0 });
    await submit(page);
    assert.deepEqual(await reset(page), { code: "NOT_ALLOWED", databases: 1 });
  });
});

story("a client that is closed keeps nobody from deleting its database, although its page hears of nothing", async ({ visit }) => {
  // As a page that stands still: it would else close its connection when it is told of the deletion.
  const init = () => Object.defineProperty(IDBDatabase.prototype, "onversionchange", { set: () => undefined });
  const [page, other] = [await visit({ init }), await visit()];
  await page.evaluate(async () => {
    const holdfast = open();
    await holdfast.submit("reports", { intent: "a", body: work(60_000) });
    await holdfast.close();
  });
  const told = await other.evaluate(
    () =>
      new Promise((resolve) => {
        const request = indexedDB.deleteDatabase("holdfast");
        // Told at once too where the last write is still on its way: what counts is whether that is the end of it.
        request.onblocked = () => setTimeout(resolve, 3000, "blocked");
        request.onsuccess = () => resolve("deleted");
      }),
  );
  assert.equal(told, "deleted");
});
