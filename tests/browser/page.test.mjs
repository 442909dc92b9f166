// The package in a page, and in workers, through its public surface: loading, waiting, tabs, the network's absence.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Site, until } from "./harness.mjs";

const site = await Site.open();
after(() => site.close());

/** A test in a world of its own. */
const story = (name, run) => test(name, () => site.visit(run));

/** Loads the page anew. */
async function reload(page) {
  await page.reload();
  await page.waitForFunction(() => globalThis.isReady);
}

/** The paths that a page has asked its own origin for. */
// Sorted: WebKit tells of them in the order in which they ended, and that may still change.
const requestsOf = (page) =>
  page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .map(({ name }) => new URL(name))
      .filter(({ origin }) => origin === location.origin)
      .map(({ pathname }) => pathname)
      .sort(),
  );

/** The same ledger whatever happened on the way: one execution, one charge. */
async function assertOnce(service) {
  const { executions, charges } = await service.ledger();
  assert.deepEqual({ executions, charges }, { executions: 1, charges: 1 });
}

describe("loading", () => {
  story("making a client loads, opens and sends nothing", async ({ visit, service }) => {
    const page = await visit();
    const before = await requestsOf(page);
    const databases = await page.evaluate(async () => {
      const holdfast = open();
      holdfast.subscribe(() => undefined)();
      holdfast.getSnapshot();
      await new Promise((resolve) => setTimeout(resolve, 200));
      return indexedDB.databases();
    });
    assert.deepEqual(databases, []);
    assert.deepEqual(await requestsOf(page), before);
    assert.deepEqual(before.filter((path) => /client|glue|\.wasm/.test(path)), []);
    assert.deepEqual(await service.requests(), []);
  });

  story("the first use loads the module, once for all that ask at the same time", async ({ visit }) => {
    const page = await visit();
    await page.evaluate(async () => {
      const [one, other] = [open(), open({ database: "other" })];
      await Promise.all([one.list(), one.find("reports", "a"), other.list(), other.start()]);
    });
    assert.equal((await requestsOf(page)).filter((path) => path.endsWith("/holdfast.wasm")).length, 1);
  });
});

describe("waiting", () => {
  story("a reload never polls before the point in time that is stored", async ({ visit, service }) => {
    // A reload of a busy machine is over long before.
    await service.faults([{ call: "poll", fault: "unavailable", retryAfter: 12, times: 1 }]);
    const page = await visit();
    const until = await page.evaluate(async () => {
      const operation = await open().submit("reports", { intent: "a", body: work(300) });
      for await (const { waiting } of operation.updates()) {
        if (waiting?.reason === "serverGuidance") return waiting.until;
      }
    });
    await reload(page);
    const reloaded = Date.now();
    const status = await page.evaluate(async () => {
      const holdfast = open();
      await holdfast.start();
      return (await (await holdfast.find("reports", "a")).outcome()).status;
    });
    assert.equal(status, "succeeded");
    assert.ok(reloaded < until - 1000, "the reload came in time to show something");
    const later = (await service.requests()).filter(({ time_ms }) => time_ms >= reloaded);
    assert.ok(later.length > 0);
    assert.ok(later[0].time_ms >= until, `${until - later[0].time_ms} ms early`);
    await assertOnce(service);
  });

  story("giving up a wait rejects the wait, and nothing else", async ({ visit, service }) => {
    const page = await visit();
    const told = await page.evaluate(async () => {
      const operation = await open().submit("reports", { intent: "a", body: work(1500) });
      const reason = new Error("enough");
      const controller = new AbortController();
      const waits = ["result", "outcome", "blob"].map((wait) => operation[wait]({ signal: controller.signal }));
      const settled = Promise.allSettled(waits);
      setTimeout(() => controller.abort(reason), 100);
      const same = (await settled).map(({ reason: given }) => given === reason);
      return { same, status: (await operation.outcome()).status };
    });
    assert.deepEqual(told, { same: [true, true, true], status: "succeeded" });
    assert.deepEqual((await service.requests()).filter(({ call }) => call === "cancel"), []);
    await assertOnce(service);
  });

  story("updates() tells states in order and ends with the ending", async ({ visit }) => {
    const page = await visit();
    const { statuses, revisions } = await page.evaluate(async () => {
      const operation = await open().submit("reports", { intent: "a", body: work(500) });
      const told = { statuses: [], revisions: [] };
      for await (const { status, revision } of operation.updates()) {
        told.statuses.push(status);
        told.revisions.push(revision);
      }
      return told;
    });
    assert.equal(statuses.at(-1), "succeeded");
    assert.equal(statuses.filter((status) => status === "succeeded").length, 1);
    assert.deepEqual(revisions, [...new Set(revisions)].sort((a, b) => a - b));
  });
});

describe("results", () => {
  story("result() is parsed, and blob() are the bytes that it was parsed from", async ({ visit }) => {
    const page = await visit();
    const told = await page.evaluate(async () => {
      const operation = await open().submit("reports", {
        intent: "a",
        body: work(100, { result_bytes: 700_000 }),
      });
      const [result, blob] = [await operation.result(), await operation.blob()];
      const same = JSON.stringify(JSON.parse(await blob.text())) === JSON.stringify(result);
      return { same, size: blob.size, type: blob.type, kept: operation.state.result.bytes, records: result.record_count };
    });
    assert.ok(told.size > 600_000 && told.size === told.kept);
    assert.equal(told.same, true);
    assert.match(told.type, /json/);
    assert.equal(told.records, 700);
  });

  story("a result of many pages is one value, and gone on with after a reload", async ({ visit, service: site }) => {
    const page = await visit();
    const service = site.at("/bulkgrid");
    // Nobody waits for it: the reload comes first, on any machine.
    await service.faults([{ call: "result", fault: "slow", ms: 30_000, skip: 1, times: 1 }]);
    const submit = async () => {
      const profile = await (await fetch("/pkg/profiles/bulkgrid.json")).json();
      const changes = {
        profile: { ...profile, serverOnly: false },
        baseUrl: `${location.origin}/bulkgrid`,
        authorize: () => ({ headers: { "x-api-key": "demo-token" } }),
      };
      globalThis.operation = await open({}, changes).submit("reports", {
        intent: "a",
        params: { endpoint: "crawl" },
        body: work(100, { result_bytes: 250_000 }),
      });
    };
    const results = async () => (await service.requests()).filter(({ call }) => call === "result").length;
    await page.evaluate(submit);
    await until(async () => (await results()) >= 2, "The second page");
    await reload(page);
    await page.evaluate(submit);
    const told = await page.evaluate(async () => {
      const { run_id, total, results } = await operation.result();
      const { bytes, mediaType, items } = operation.state.result;
      const blob = await operation.blob();
      return { run_id: typeof run_id, total, results: results.length, same: blob.size === bytes, mediaType, items };
    });
    const expected = { run_id: "string", total: 250, results: 250, same: true };
    assert.deepEqual(told, { ...expected, mediaType: "application/json-seq", items: "/results" });
    assert.equal(await results(), 4, "the first page once, the second twice, the third once");
    await assertOnce(service);
  });

  story("a kept result is there after a reload, without asking the service", async ({ visit, service }) => {
    const page = await visit();
    const read = () =>
      page.evaluate(async () => {
        const operation = await open().submit("reports", { intent: "a", body: work(100) });
        return operation.result();
      });
    const first = await read();
    const asked = (await service.requests()).length;
    await reload(page);
    assert.deepEqual(await read(), first);
    assert.equal((await service.requests()).length, asked);
  });
});

describe("onSettled", () => {
  const submitAndSettle = (page) =>
    page.evaluate(async () => {
      globalThis.settled = [];
      const holdfast = open({ onSettled: (operation) => void settled.push(operation.status) });
      for (const [intent, more] of [["good", {}], ["bad", { outcome: "failed" }]]) {
        const operation = await holdfast.submit("reports", { intent, body: work(100, more) });
        for (let round = 0; !operation.delivered && round < 3_000; round++) await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return settled;
    });

  story("is called once for each ending", async ({ visit }) => {
    const page = await visit();
    assert.deepEqual(await submitAndSettle(page), ["succeeded", "failed"]);
    await reload(page);
    assert.deepEqual(await submitAndSettle(page), []);
  });

  story("is called again where the page went away before it resolved", async ({ visit }) => {
    const page = await visit();
    const called = () =>
      page.evaluate(
        () =>
          new Promise((called) => {
            // Never resolves: whatever it does for the app is not done.
            const holdfast = open({ onSettled: (operation) => new Promise(() => called(operation.id)) });
            holdfast.submit("reports", { intent: "a", body: work(100) });
          }),
      );
    const first = await called();
    await reload(page);
    assert.equal(await called(), first);
    await reload(page);
    assert.deepEqual(
      await page.evaluate(async () => {
        const settled = [];
        const holdfast = open({ onSettled: ({ id }) => void settled.push(id) });
        const operation = await holdfast.submit("reports", { intent: "a", body: work(100) });
        for (let round = 0; !operation.delivered && round < 3_000; round++) await new Promise((resolve) => setTimeout(resolve, 20));
        return settled;
      }),
      [first],
    );
  });
});

describe("snapshots", () => {
  story("are identical until something changes, and then the listeners hear of it", async ({ visit }) => {
    const page = await visit();
    const told = await page.evaluate(async () => {
      const holdfast = open();
      let [heard, unheard] = [0, 0];
      holdfast.subscribe(() => (heard += 1));
      holdfast.subscribe(() => (unheard += 1))();
      const empty = holdfast.getSnapshot() === holdfast.getSnapshot();
      const operation = await holdfast.submit("reports", { intent: "a", body: work(100) });
      const [before, again] = [holdfast.getSnapshot(), holdfast.getSnapshot()];
      const state = operation.state === before[0];
      await operation.outcome();
      const after = holdfast.getSnapshot();
      return { empty, same: before === again, state, changed: before !== after, status: after[0].status, heard, unheard };
    });
    assert.ok(told.heard > 0);
    delete told.heard;
    assert.deepEqual(told, { empty: true, same: true, state: true, changed: true, status: "succeeded", unheard: 0 });
  });
});

for (const kind of ["Worker", "SharedWorker"]) {
  story(`the client runs in a ${kind}, and its work is a page's too`, async ({ visit, service }) => {
    const page = await visit();
    const told = await page.evaluate(async (kind) => {
      const worker = new globalThis[kind]("/tests/worker.js", { type: "module" });
      const port = worker.port ?? worker;
      const heard = [];
      const over = new Promise((resolve) => {
        port.onmessage = ({ data }) => (heard.push(data), data.status && resolve());
      });
      port.postMessage({ intent: "a", body: work(300) });
      await over;
      const found = await open().find("reports", "a");
      return { heard: heard.at(-1), same: found.id === heard[0].id, status: found.status };
    }, kind);
    assert.deepEqual({ ...told, heard: { ...told.heard, id: undefined } }, {
      heard: { id: undefined, status: "succeeded", records: 1 },
      same: true,
      status: "succeeded",
    });
    await assertOnce(service);
  });
}
