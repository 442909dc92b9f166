// What a caller asks of its operations over a relay, and what comes of it at the service.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { callerOf, is, world } from "./relay-world.mjs";

/** How long one of these may take to its end, in milliseconds. */
const timeout = 60_000;

let service, relay;
const ends = [];
before(async () => {
  const made = await world({ after: (end) => ends.push(end) });
  ({ service, relay } = made);
  await made.start();
}, { timeout });
after(async () => {
  for (const end of ends.reverse()) await end();
});

/** A caller that nobody else is. */
let callers = 0;
const someone = (headers) => callerOf(relay, `caller ${callers++}`, headers);
const jobOf = async ({ jobId }) => (await service.ledger()).jobs.find(({ id }) => id === jobId);
const answers = (status, code, more = {}) =>
  service.faults([{ call: "submit", fault: "status", status, body: JSON.stringify({ error: { code, message: "No." } }), ...more }]);

test("a job that is cancelled stops at the service", { timeout }, async () => {
  const ann = someone();
  const { id } = await ann.submit("one", { duration_ms: 60_000 });
  await ann.when(id, ({ jobId }) => jobId);
  assert.equal((await ann.verb(id, "cancel")).code, 200);
  const over = await ann.when(id, is("cancelled"));
  assert.equal((await jobOf(over)).status, "cancelled");
});

test("what is over can be acknowledged, and what is not over has no result yet", { timeout }, async () => {
  const ann = someone();
  const { id } = await ann.submit("one", { duration_ms: 1500 });
  const early = await ann.send(`/${id}/result`);
  assert.deepEqual([early.status, (await early.json()).error.code], [409, "RESULT_NOT_READY"]);
  assert.equal((await ann.verb(id, "acknowledge")).error.code, "NOT_ALLOWED");
  await ann.when(id, is("succeeded"));
  assert.equal((await ann.verb(id, "acknowledge")).acknowledged, true);
  assert.equal((await ann.state(id)).acknowledged, true);
});

test("work that has no credit says so with its ways out, and goes on as the same when it is resumed", { timeout }, async () => {
  const ann = someone();
  const before = (await service.ledger()).executions;
  await answers(402, "INSUFFICIENT_CREDITS");
  const { id } = await ann.submit("one");
  const { parked } = await ann.when(id, is("parked"));
  assert.equal(parked.reason, "NeedsCredit");
  assert.ok(parked.exits.includes("resume()") && parked.exits.includes('resolve("abandon")'), parked.exits.join());
  assert.equal((await ann.verb(id, "resume")).id, id);
  await ann.when(id, is("succeeded"));
  assert.equal((await service.ledger()).executions, before + 1);
});

test("work whose outcome is unknown is sent again where the caller says that it did not run, or is given up", { timeout }, async () => {
  const ann = someone();
  const before = (await service.ledger()).executions;
  for (const [how, status] of [["not-executed", "succeeded"], ["abandon", "abandoned"]]) {
    await answers(302, "MOVED");
    const { id } = await ann.submit(how);
    const { parked } = await ann.when(id, is("parked"));
    assert.deepEqual([parked.reason, parked.exits], ["OutcomeUnknown", ['resolve("not-executed")', 'resolve("abandon")']]);
    assert.equal((await ann.verb(id, "resolve", how)).code, 200);
    await ann.when(id, is(status));
  }
  assert.equal((await service.ledger()).executions, before + 1);
});

test("a failed job is run again by who has read its failure, as an operation of its own that leads back", { timeout }, async () => {
  const ann = someone();
  const { id } = await ann.submit("one", { fail_times: 1, failure_class: "transient" });
  const { failure } = await ann.when(id, ({ status, ledger }) => status === "failed" && !ledger.open);
  assert.equal((await ann.verb(id, "retry", { reviewed: "another" })).error.code, "NOT_ALLOWED");
  const again = await ann.verb(id, "retry", { reviewed: failure.id });
  assert.deepEqual([again.code, again.ordinal, again.parentId], [200, 1, id]);
  assert.equal((await ann.state(again.parentId)).status, "failed");
  await ann.when(again.id, is("succeeded"));
});

test("refused work is corrected under a key of its own", { timeout }, async () => {
  const ann = someone();
  await answers(400, "INVALID_BODY");
  const { id } = await ann.submit("one");
  const { failure } = await ann.when(id, is("rejected"));
  assert.deepEqual([failure.class, failure.code], ["input", "INVALID_BODY"]);
  const revised = await ann.verb(id, "revise", { body: { url: "https://example.com/other", duration_ms: 100 } });
  assert.deepEqual([revised.code, revised.parentId, revised.id === id], [200, id, false]);
  await ann.when(revised.id, is("succeeded"));
});

test("what is deleted has no result any more, and stays as a tombstone", { timeout }, async () => {
  const ann = someone();
  const { id } = await ann.submit("one");
  await ann.when(id, is("succeeded"));
  assert.equal((await ann.delete(id)).code, 200);
  await ann.when(id, ({ deletedAt }) => deletedAt);
  const gone = await ann.send(`/${id}/result`);
  assert.deepEqual([gone.status, (await gone.json()).error.code], [410, "RESULT_EXPIRED"]);
  assert.equal((await ann.submit("one")).id, id);
});

test("nobody comes to another's job by its id, whom the app does not trust", { timeout }, async () => {
  const [bob, mallory] = [someone(), someone()];
  const { id: bobs } = await bob.submit("one", { duration_ms: 60_000 });
  const { jobId } = await bob.when(bobs, (state) => state.jobId);
  await answers(422, "IDEMPOTENCY_KEY_REUSED");
  const { id } = await mallory.submit("two");
  const { parked } = await mallory.when(id, is("parked"));
  assert.deepEqual([parked.reason, parked.exits], ["KeyConflict", ["revise({body})", 'resolve("abandon")']]);
  const { code, error } = await mallory.verb(id, "resolve", { found: jobId });
  assert.deepEqual([code, error.code, error.field], [409, "NOT_ALLOWED", "found"]);
  await mallory.verb(id, "cancel");
  await mallory.delete(id);
  assert.equal((await mallory.state(id)).jobId, undefined);
  const { status } = await jobOf({ jobId });
  assert.ok(["pending", "running"].includes(status), status);
  await bob.verb(bobs, "cancel");
});

test("a caller whom the app trusts says which job an operation's is", { timeout }, async () => {
  const [ann, staff] = [callerOf(relay, "ann"), callerOf(relay, "ann", { "x-staff": "yes" })];
  const { id: first } = await ann.submit("one");
  const { jobId } = await ann.when(first, is("succeeded"));
  await answers(422, "IDEMPOTENCY_KEY_REUSED");
  const { id } = await ann.submit("two");
  await ann.when(id, is("parked"));
  assert.ok((await staff.state(id)).parked.exits.includes("resolve({found})"));
  assert.equal((await staff.verb(id, "resolve", { found: jobId })).code, 200);
  assert.equal((await ann.when(id, is("succeeded"))).jobId, jobId);
});

test("states go on after the last that was heard, while the work goes on", { timeout }, async () => {
  const ann = someone();
  const { id } = await ann.submit("one", { duration_ms: 1500 });
  const listen = async (after, count = Infinity) => {
    const answer = await ann.send(`/${id}/events`, { headers: after && { "last-event-id": after } });
    let text = "";
    const heard = () => [...text.matchAll(/^id: (\d+)\nevent: state\ndata: (.*)\n$/gm)].map(([, own, data]) => ({ own: Number(own), ...JSON.parse(data) }));
    if (!answer.body) return { status: answer.status, states: [] };
    for await (const piece of answer.body) {
      text += Buffer.from(piece);
      if (heard().length >= count) break;
    }
    return { status: answer.status, states: heard() };
  };
  const { states: [first] } = await listen(undefined, 1);
  assert.notEqual(first.status, "succeeded");
  const { states: rest } = await listen(`${first.own}`);
  assert.ok(rest.every(({ own }) => own > first.own));
  assert.equal(rest.at(-1).status, "succeeded");
  const settled = await ann.when(id, ({ ledger }) => !ledger.open);
  const { status, states } = await listen(`${settled.revision}`);
  assert.deepEqual([status, states], [204, []]);
});

test("a result of several pieces comes whole and in parts as it is kept", { timeout }, async () => {
  const ann = someone();
  const { id } = await ann.submit("one", { result_bytes: 700_000 });
  await ann.when(id, is("succeeded"));
  const whole = await ann.send(`/${id}/result`);
  const bytes = Buffer.from(await whole.arrayBuffer());
  assert.ok(bytes.length > 2 * 262_144, `${bytes.length}`);
  assert.equal(Number(whole.headers.get("content-length")), bytes.length);
  for (const [from, to] of [[262_140, 262_150], [bytes.length - 10, bytes.length - 1]]) {
    const part = await ann.send(`/${id}/result`, { headers: { range: `bytes=${from}-${to}` } });
    assert.deepEqual([part.status, part.headers.get("etag"), part.headers.get("content-length")], [206, whole.headers.get("etag"), `${to - from + 1}`]);
    assert.ok(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(from, to + 1)));
  }
});
