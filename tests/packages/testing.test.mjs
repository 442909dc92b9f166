// holdfast/testing: the published module in a simulated world, in milliseconds.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Workplace } from "./harness/workplace.mjs";

const place = new Workplace();
after(() => place.remove());
const { simulate } = await import(pathToFileURL(join(place.installed, "testing.js")));

const HOUR = 3_600_000;
const body = { url: "https://example.com" };
const services = {
  reports: {
    profile: "runharvester",
    baseUrl: "https://api.example.com",
    authorize: () => ({ headers: { authorization: "Bearer a" } }),
  },
};
const options = { account: () => "local", services };

/** One piece of work in a world of its own; gives how it came out and what the service did. */
async function outcomeOf(script, simulated = {}, service = services.reports, submission = { body }) {
  const world = await simulate({ reports: script }, simulated);
  const holdfast = world.createHoldfast({ account: () => "local", services: { reports: service } });
  const operation = await holdfast.submit("reports", { intent: "a", ...submission });
  const outcome = await operation.outcome();
  const ledger = world.service("reports").ledger();
  await holdfast.close();
  return { world, outcome, operation, ledger };
}

test("a client that is killed before the answer goes on with the same operation, and is charged once", async () => {
  const world = await simulate({ reports: { durationMs: 60_000, result: () => ({ rows: 3 }) } });
  const first = world.createHoldfast(options);
  await first.start();
  world.service("reports").hold();
  const submitted = await first.submit("reports", { intent: "a", body });
  await world.service("reports").held();
  const waiting = assert.rejects(submitted.result(), { code: "NOT_ALLOWED" });
  await world.crash();
  await waiting;
  world.service("reports").release();

  const again = world.createHoldfast(options);
  await again.start();
  const operation = await again.find("reports", "a");
  assert.deepEqual([operation.id, operation.key], [submitted.id, submitted.key]);
  assert.deepEqual(await operation.result(), { rows: 3 });
  const { executions, charges, submits } = world.service("reports").ledger();
  assert.deepEqual([executions, charges], [1, 1]);
  assert.ok(submits >= 2);
  assert.ok(world.now - submitted.createdAt > 60_000);
  await again.close();
});

test("a job of an hour takes its time in the world, and not here", async () => {
  const began = Date.now();
  const { outcome, operation } = await outcomeOf({ durationMs: HOUR });
  assert.equal(outcome.status, "succeeded");
  assert.ok(operation.endedAt - operation.createdAt >= HOUR);
  assert.ok(Date.now() - began < HOUR / 30);
});

for (const fault of ["lostBefore", "lostAfter", "truncated", "rateLimited", "unavailable", "htmlError"]) {
  test(`twice ${fault} costs time and no second execution`, async () => {
    const { outcome, ledger } = await outcomeOf({}, { faults: [{ fault, times: 2 }, { fault, call: "poll" }, { fault, call: "result" }] });
    assert.equal(outcome.status, "succeeded", outcome.error?.message);
    assert.deepEqual([ledger.executions, ledger.charges], [1, 1]);
  });
}

test("a wait that the service asks for is kept", async () => {
  const { world } = await outcomeOf({}, { faults: [{ fault: "rateLimited", retryAfter: 90 }] });
  const [first, second] = world.service("reports").requests().filter(({ call }) => call === "submit");
  assert.ok(second.at - first.at >= 90_000);
  assert.deepEqual([second.key, second.body], [first.key, first.body]);
});

test("jobs fail, are refused and park as a script says, and a failed one is run again", async () => {
  const failing = await outcomeOf({ outcome: ({ run }) => (run === 0 ? "failed" : "completed") });
  assert.equal(failing.outcome.status, "failed");
  const refused = await outcomeOf({ refuse: () => ({ status: 400, code: "bad", message: "No such page." }) });
  assert.equal(refused.outcome.status, "rejected");
  assert.match(refused.outcome.error.message, /^The service refused POST .*No such page/);
  assert.equal(refused.ledger.executions, 0);
  const parked = await outcomeOf({}, { faults: [{ fault: "noCredit", times: 50 }] });
  assert.deepEqual([parked.outcome.status, parked.outcome.reason], ["parked", "NeedsCredit"]);
});

test("a rerun is a second execution, and says so", async () => {
  const world = await simulate({ reports: { outcome: ({ run }) => (run === 0 ? "failed" : "completed") } });
  const holdfast = world.createHoldfast(options);
  const operation = await holdfast.submit("reports", { intent: "a", body });
  const { error } = await operation.outcome();
  const rerun = await operation.retry({ reviewed: error.failure.id });
  assert.equal((await rerun.outcome()).status, "succeeded");
  assert.equal(world.service("reports").ledger().executions, 2);
  await holdfast.close();
});

test("onSettled hears of what ended while nobody looked, until it resolves", async () => {
  const world = await simulate({ reports: {} });
  let failures = 2;
  const told = [];
  const onSettled = async (operation) => {
    if (failures-- > 0) throw new Error("not now");
    told.push(operation.intent);
  };
  const first = world.createHoldfast(options);
  await first.submit("reports", { intent: "a", body });
  await world.crash();
  const { error } = console;
  console.error = () => undefined;
  const again = world.createHoldfast({ ...options, onSettled });
  await again.start();
  assert.deepEqual(await world.settle(), []);
  await world.advance(10 * 60_000);
  console.error = error;
  assert.deepEqual(told, ["a"]);
  await again.close();
});

test("time goes on by numbers alone, and never back", async () => {
  const world = await simulate({ reports: {} });
  const before = world.now;
  for (const ms of [NaN, -1, Infinity, "1000", undefined]) {
    await assert.rejects(world.advance(ms), { code: "INVALID_INPUT", field: "ms" });
  }
  assert.equal(world.now, before);
});

test("a power failure loses nothing that was promised", async () => {
  const world = await simulate({ reports: { durationMs: 10_000 } });
  const first = world.createHoldfast(options);
  const operation = await first.submit("reports", { intent: "a", body });
  await world.advance(4000);
  await world.crash({ lose: "relaxed" });
  const again = world.createHoldfast(options);
  await again.start();
  assert.equal((await (await again.find("reports", "a")).outcome()).status, "succeeded");
  assert.equal((await again.find("reports", "a")).key, operation.key);
  assert.equal(world.service("reports").ledger().executions, 1);
  await again.close();
});

test("each call of a client can be killed at, and work is done once all the same", async () => {
  for (const call of ["submit", "poll", "result"]) {
    const world = await simulate({ reports: { durationMs: 3000 } });
    let holdfast = world.createHoldfast(options);
    await holdfast.start();
    world.service("reports").hold(call);
    await holdfast.submit("reports", { intent: "a", body });
    await world.service("reports").held();
    await world.crash();
    world.service("reports").release();
    holdfast = world.createHoldfast(options);
    await holdfast.start();
    assert.equal((await (await holdfast.find("reports", "a")).outcome()).status, "succeeded", call);
    assert.equal(world.service("reports").ledger().executions, 1, call);
    await holdfast.close();
  }
});

const PROFILES = {
  replay: {},
  bulkgrid: { params: { endpoint: "crawl" } },
  cleanedweb: { params: { sourceId: "src_1", surface: "stream" } },
  "idempotency-key": { params: { path: "v1/reports" } },
  "http-async": { params: { path: "v1/reports" } },
  "google-lro": { params: { path: "v1/reports" } },
  "azure-lro": { params: { path: "v1/reports", apiVersion: "1" } },
};

for (const [profile, more] of Object.entries(PROFILES)) {
  test(`the service of ${profile} is simulated from its profile alone`, async () => {
    const service = { profile, baseUrl: "https://api.example.com/base", authorize: services.reports.authorize, ...more };
    const { outcome, ledger } = await outcomeOf({}, { faults: [{ fault: "lostAfter" }] }, service);
    assert.equal(outcome.status, "succeeded", `${outcome.reason} ${outcome.error?.message}`);
    assert.equal(ledger.executions, 1);
  });
}

/** Answers that come as events, each with what its result is made of. */
const STREAMS = {
  "events with one that is the result, and records beside it": {
    stream: { form: "sse", result: "summary", end: "summary", gather: { record: "records" } },
    data: { ok: true, records: [1, 2, 3] },
  },
  "events that are the result together, ended by a text": { stream: { form: "sse", endData: "[DONE]" }, data: [{ a: 1 }, { a: 2 }] },
  "lines, the last of them named": { stream: { form: "ndjson", end: "done" }, data: [{ a: 1 }, { a: 2, event: "done" }] },
};

for (const [what, { stream, data }] of Object.entries(STREAMS)) {
  test(`a stream is simulated: ${what}`, async () => {
    const profile = {
      profile: 1, name: "streaming", key: { header: "Idempotency-Key" }, facts: { id: ["/run"] },
      calls: { submit: { method: "POST", path: "/runs", stream } },
    };
    const service = { profile, baseUrl: "https://api.example.com", authorize: services.reports.authorize };
    for (const faults of [[], [{ fault: "truncated" }], [{ fault: "lostAfter" }]]) {
      const { outcome, ledger } = await outcomeOf({ result: () => data }, { faults }, service);
      assert.deepEqual([outcome.status, outcome.data, ledger.executions], ["succeeded", data, 1], outcome.error?.message);
    }
  });
}

test("a service that the world has not is named when the client is made", async () => {
  const world = await simulate({ other: {} });
  assert.throws(() => world.createHoldfast(options), { code: "INVALID_INPUT", field: "services.reports" });
});

test("what a world does not know is refused by its field, for a fault that never happens proves nothing", async () => {
  const cases = [
    [{ reports: { duration: 5 } }, {}, "services.reports.duration", /durationMs/],
    [{ reports: { prise: 5 } }, {}, "services.reports.prise", /price/],
    [{ reports: { outcome: "complete" } }, {}, "services.reports.outcome", /completed, failed/],
    [{ reports: { durationMs: "5s" } }, {}, "services.reports.durationMs", /number/],
    [{ reports: {} }, { fault: [] }, "fault", /faults/],
    [{ reports: {} }, { faults: [{ fault: "lostafter" }] }, "faults[0].fault", /lostAfter/],
    [{ reports: {} }, { faults: [{}] }, "faults[0].fault", /lostAfter/],
    [{ reports: {} }, { faults: [{ fault: "lostAfter" }, { fault: "lostAfter", call: "sumbit" }] }, "faults[1].call", /submit/],
    [{ reports: {} }, { faults: [{ fault: "lostAfter", service: "nope" }] }, "faults[0].service", /reports/],
    [{ reports: {} }, { faults: [{ fault: "lostAfter", time: 2 }] }, "faults[0].time", /times/],
  ];
  for (const [scripts, given, field, message] of cases) {
    await assert.rejects(simulate(scripts, given), { code: "INVALID_INPUT", field, message });
  }
  const world = await simulate({ reports: {} });
  assert.throws(() => world.service("nope"), { code: "INVALID_INPUT", message: /reports/ });
  const service = world.service("reports");
  assert.throws(() => service.hold("nocall"), { code: "INVALID_INPUT", message: /submit, poll/ });
  assert.throws(() => service.fault({ fault: "lost" }), { code: "INVALID_INPUT", field: "faults[0].fault" });
  await assert.rejects(world.crash({ loose: "relaxed" }), { code: "INVALID_INPUT", field: "crash.loose" });
});

test("the options of an app in a server are taken, and its file is left alone", async () => {
  const world = await simulate({ reports: {} });
  const holdfast = world.createHoldfast({ ...options, storage: "/nowhere/jobs.db" });
  const operation = await holdfast.submit("reports", { intent: "a", body });
  assert.deepEqual(await operation.result(), { ok: true });
  await holdfast.close();
});

test("the example of its types is true, and runs in Vitest", { skip: process.env.HOLDFAST_DEEP !== "1" && "with --deep" }, async () => {
  const types = readFileSync(join(place.installed, "testing.d.ts"), "utf8");
  const [, example] = /@example\n(.*?)\*\//s.exec(types);
  const given = 'import assert from "node:assert/strict"; import { test } from "vitest"; import { simulate } from "holdfast/testing"; const url = "https://example.com", authorize = () => ({ headers: {} });';
  const whole = [given, 'test("recovery", async () => {', example.replace(/^ \* ?/gm, ""), "});"];
  const folder = place.project("vitest");
  writeFileSync(join(folder, "recovery.test.js"), whole.join("\n"));
  const vitest = fileURLToPath(new URL("node_modules/vitest/vitest.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, "run", "--root", folder, "--reporter", "json"], { cwd: folder });
  const { numPassedTests, numFailedTests } = JSON.parse(stdout.slice(stdout.indexOf("{")));
  assert.deepEqual([numPassedTests, numFailedTests], [1, 0]);
});
