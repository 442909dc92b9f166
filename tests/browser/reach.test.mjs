// What a page can learn of a service that its browser keeps it from.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Loopback, Site } from "./harness.mjs";

const site = await Site.open();
after(() => site.close());

/** Submits under a key whose header the service's answer to the preflight does not allow. */
async function submitBlocked(baseUrl) {
  const profile = await (await fetch("/pkg/profiles/runharvester.json")).json();
  profile.key.header = "X-Not-Allowed";
  profile.retry = { firstMs: 250, factor: 1, capMs: 250 };
  profile.calls.diagnose = { method: "GET", path: "/api/v1/data/requests/none" };
  const limits = { attempts: 3 };
  const operation = await open({}, { profile, baseUrl, limits }).submit("reports", { intent: "a", body: work(100) });
  const { status, reason } = await operation.outcome();
  const journal = (await operation.journal()).map(({ event }) => event);
  return { status, reason, hint: operation.state.hint, asked: journal.filter((event) => event === "diagnose.answered").length };
}

describe("a preflight that fails", () => {
  test("is told apart from a service that is not there, and nothing is ever sent past it", () =>
    site.visit(async ({ visit }) => {
      const elsewhere = await Loopback.start({});
      try {
        const page = await visit();
        const told = await page.evaluate(submitBlocked, elsewhere.origin);
        assert.deepEqual([told.status, told.reason], ["parked", "BudgetExhausted"]);
        assert.match(told.hint, /answers, but not submissions.*Access-Control-Allow-Headers/);
        assert.ok(told.asked > 0);
        const paths = (await elsewhere.requests()).filter(({ method }) => method !== "OPTIONS").map(({ path }) => path);
        assert.deepEqual([...new Set(paths)], ["/api/v1/data/requests/none"]);
        assert.equal((await elsewhere.ledger()).executions, 0);
      } finally {
        await elsewhere.stop();
      }
    }));

  test("does not look like a service that is not there", () =>
    site.visit(async ({ visit }) => {
      const gone = await Loopback.start({});
      await gone.stop();
      const page = await visit();
      const told = await page.evaluate(submitBlocked, gone.origin);
      assert.deepEqual([told.status, told.asked], ["parked", 0]);
      assert.match(told.hint, /^No answer has come/);
    }));
});
