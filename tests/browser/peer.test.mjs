// Against a service side of others, over HTTP from a page of another origin: what its keys do to a
// request in flight, to a repeated one and to a changed one ends right.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { Peer } from "./harness/peer.mjs";
import { Site } from "./harness.mjs";

const site = await Site.open();
after(() => site.close());

const story = (name, run) =>
  test(name, () =>
    site.visit(async ({ visit }) => {
      const peer = await Peer.start();
      try {
        await run({ peer, visit });
      } finally {
        await peer.stop();
      }
    }),
  );

/** Submits in a page; its operation goes on there. */
const submitIn = (page, { origin }, { body = { n: 1 }, profile = "idempotency-key", ...options } = {}) =>
  page.evaluate(
    async ({ origin, body, profile, options, database }) => {
      globalThis.holdfast = open({ database }, { profile, baseUrl: origin, params: { path: "work" } });
      globalThis.operation = await holdfast.submit("reports", { intent: "a", body, ...options });
      return operation.id;
    },
    { origin, body, profile, options: { key: options.key }, database: options.database },
  );

const outcomeIn = (page) =>
  page.evaluate(async () => {
    const { status, data, replayed, reason, exits } = await operation.outcome();
    return { status, data, replayed, reason, exits };
  });

/** All that was sent for one piece of work: one key, in quotes, and the same bytes. */
function assertSameRequest({ answers }) {
  assert.equal(new Set(answers.map(({ key, text }) => `${key} ${text}`)).size, 1);
  assert.match(answers[0].key, /^"[\w-]+"$/);
}

story("a page that goes away while the work runs waits for it and gets its answer replayed", async ({ visit, peer }) => {
  const finish = peer.hold();
  const page = await visit();
  const id = await submitIn(page, peer);
  await peer.begun();
  await page.reload();
  await page.waitForFunction(() => globalThis.isReady);
  assert.equal(await submitIn(page, peer), id);
  await peer.answered(409);
  finish();
  const { status, data, replayed } = await outcomeIn(page);
  assert.deepEqual({ status, data, replayed }, {
    status: "succeeded",
    data: { execution: 1, of: { n: 1 } },
    replayed: true,
  });
  assert.equal(peer.executions, 1);
  assertSameRequest(peer);
});

story("the same key from a wiped store gets the first answer, and nothing is done again", async ({ visit, peer }) => {
  const page = await visit();
  await submitIn(page, peer, { key: "mine-1" });
  const first = await outcomeIn(page);
  await submitIn(page, peer, { key: "mine-1", database: "another" });
  const again = await outcomeIn(page);
  assert.deepEqual([first.status, first.replayed], ["succeeded", false]);
  assert.deepEqual([again.status, again.replayed, again.data], ["succeeded", true, first.data]);
  assert.equal(peer.executions, 1);
  assertSameRequest(peer);
});

story("the same key with another request parks as a conflict, and no other key is made", async ({ visit, peer }) => {
  const page = await visit();
  await submitIn(page, peer, { key: "mine-1" });
  await outcomeIn(page);
  await submitIn(page, peer, { key: "mine-1", body: { n: 2 }, database: "another" });
  const { status, reason, exits } = await outcomeIn(page);
  assert.deepEqual({ status, reason }, { status: "parked", reason: "KeyConflict" });
  assert.ok(exits.includes("revise({body})"));
  assert.deepEqual(peer.answers.map((answer) => answer.status), [201, 422]);
  assert.equal(peer.executions, 1);
});

/** The built-in profile with a read that tells whether the service is there. */
function diagnosing() {
  const file = new URL("../../pkg-template/profiles/idempotency-key.json", import.meta.url);
  const profile = JSON.parse(readFileSync(file, "utf8"));
  const retry = { firstMs: 300, factor: 1, capMs: 300 };
  return { ...profile, retry, calls: { ...profile.calls, diagnose: { method: "GET", path: "/health" } } };
}

story("a preflight that does not allow the key's header is told of, and nothing is sent without it", async ({ visit, peer }) => {
  const allowed = peer.cors["access-control-allow-headers"];
  peer.cors["access-control-allow-headers"] = "authorization, content-type";
  const page = await visit();
  await submitIn(page, peer, { profile: diagnosing() });
  await page.waitForFunction(() => operation.hint?.includes("Access-Control-Allow-Headers"));
  assert.deepEqual([peer.executions, peer.answers], [0, []]);
  assert.ok(peer.reads.length > 0);
  for (const headers of peer.reads) {
    assert.deepEqual([headers.authorization, headers["idempotency-key"]], [undefined, undefined]);
  }
  peer.cors["access-control-allow-headers"] = allowed;
  const { status, replayed } = await outcomeIn(page);
  assert.deepEqual([status, replayed, peer.executions], ["succeeded", false, 1]);
  assert.equal(await page.evaluate(() => operation.hint), undefined);
  assertSameRequest(peer);
});
