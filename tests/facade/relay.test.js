// What a relay lets its callers say, and what it tells them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { jobs } from "../../pkg-template/jobs.js";
import { state } from "./package.js";
import { AT, edge, failed } from "./relay-edge.js";

const parked = { reason: "OutcomeUnknown", since: 5, candidates: ["job-9"] };
const EXITS = ["resume()", "resume({limits})", "resolve({found})", 'resolve("not-executed")', 'resume({acceptRisk: "duplicate"})', 'resolve("abandon")'];

/** What only a trusted caller may say: the verb, what is said, and the member that says it. */
const BEYOND = [
  ["resume", { limits: { cost: 1e9, attempts: 100_000 } }, "limits"],
  ["resume", { acceptRisk: "duplicate" }, "acceptRisk"],
  ["resolve", { found: "job-of-bob" }, "found"],
  ["retry", { reviewed: "f", limits: { cost: 1e9 } }, "limits"],
  ["retry", { reviewed: "f", anyway: true }, "anyway"],
  ["revise", { body: {}, limits: { attempts: 100_000 } }, "limits"],
];

test("a caller can neither name a job, nor widen bounds, nor take a risk, and nothing is asked of its object", async () => {
  const { told, asked } = edge();
  for (const [verb, body, field] of BEYOND) {
    const { code, error } = await told(`${AT}/${verb}`, { body });
    assert.deepEqual([verb, code, error.code, error.field], [verb, 409, "NOT_ALLOWED", field]);
    assert.ok(error.nextStep && error.message.endsWith(error.nextStep), error.message);
  }
  assert.deepEqual(asked, []);
});

test("a caller that the app trusts can", async () => {
  const answer = () => state({ intent: "reports:one" });
  const { told, asked } = edge({ command: answer, revise: answer });
  for (const [verb, body] of BEYOND) assert.equal((await told(`${AT}/${verb}`, { body, staff: true })).code, 200, verb);
  const commands = asked.filter(({ method }) => method === "command").map(({ args }) => JSON.parse(args[1]));
  assert.deepEqual(commands[2], { resolve: { found: "job-of-bob" } });
  assert.deepEqual(commands[0].resume.limits, { cost: 1e9, attempts: 100_000 });
});

test("what a caller may say goes on to its operation", async () => {
  const answer = () => state({ intent: "reports:one" });
  const { told, asked } = edge({ command: answer, revise: answer });
  const said = [
    ["resume", {}, { resume: {} }],
    ["resolve", "not-executed", { resolve: "not-executed" }],
    ["resolve", "abandon", { resolve: "abandon" }],
    ["retry", { reviewed: "f" }, { retry: { reviewed: "f", anyway: false } }],
    ["retry", { reviewed: "f", anyway: false }, { retry: { reviewed: "f", anyway: false } }],
    ["cancel", {}, { cancel: {} }],
    ["acknowledge", {}, { acknowledge: {} }],
  ];
  for (const [verb, body, command] of said) {
    assert.equal((await told(`${AT}/${verb}`, { body })).code, 200, verb);
    assert.deepEqual(JSON.parse(asked.at(-1).args[1]), command);
  }
  assert.equal((await told(`${AT}/revise`, { body: { body: { url: "b" } } })).code, 200);
  assert.equal(asked.at(-1).method, "revise");
});

test("a park is told with the exits that the caller may take, and with jobs that may be it to those who may name one", async () => {
  const { told } = edge({ load: () => state({ intent: "reports:one", status: "parked", parked: { ...parked, exits: EXITS } }) });
  assert.deepEqual((await told(AT)).parked, { reason: "OutcomeUnknown", since: 5, exits: ["resume()", 'resolve("not-executed")', 'resolve("abandon")'] });
  assert.deepEqual((await told(AT, { staff: true })).parked, { ...parked, exits: EXITS });
});

test("a refusal advises nothing that the caller may not say", async () => {
  const command = () => {
    throw failed("NOT_ALLOWED", "A bound is reached: give new ones, as in resume({limits: {totalMs: …}}). Look.", { nextStep: "Look." });
  };
  const { told } = edge({ command });
  const { error } = await told(`${AT}/resume`, { body: {} });
  assert.equal(error.code, "NOT_ALLOWED");
  assert.ok(!/limits/.test(error.message) && error.nextStep, error.message);
  assert.match((await told(`${AT}/resume`, { body: {}, staff: true })).error.message, /limits/);
});

test("ids in states and errors lead to their object", async () => {
  const load = () => state({ intent: "reports:one", ordinal: 1, parentId: "op-0" });
  const submit = () => {
    throw failed("INTENT_CONFLICT", "This intent stands for work at https://internal.example:8443/api, and not at https://new.example/api.", { operationId: "op-1", field: "intent" });
  };
  const { told, asked } = edge({ load, submit });
  const own = await told(AT);
  assert.deepEqual([own.id, own.parentId, own.receipt.operationId], ["000.op-1", "000.op-0", "000.op-1"]);
  const { code, error } = await told("/operations/reports", { body: {}, headers: { "idempotency-key": "one" } });
  assert.deepEqual([code, error.operationId], [422, `${asked.at(-1).object.replace("holdfast-", "")}.op-1`]);
});

test("a list names what can be read and what cannot by ids that lead to their objects", async () => {
  const unreadable = [{ id: "op-9", code: "NEWER_RECORD" }];
  let page = { operations: [JSON.parse(state({ intent: "reports:one", parentId: "op-0", ordinal: 1 }))], unreadable };
  const { told, asked, namespace } = edge({ list: () => JSON.stringify(page) });
  const { operations, unreadable: left, cursor } = await told("/operations/reports?limit=1&cursor=4000.");
  assert.deepEqual([operations[0].id, operations[0].parentId, operations[0].key, left], ["fa0.op-1", "fa0.op-0", "one", [{ ...unreadable[0], id: "fa0.op-9" }]]);
  assert.equal(cursor, "4001.");
  assert.deepEqual(JSON.parse(asked[0].args[0]), { limit: 1, service: "reports" });
  // In a Worker of the app's own they are operations, under their own ids.
  const own = await jobs(namespace).list({ limit: 1, cursor: "4000." });
  assert.deepEqual([own.operations[0].id, typeof own.operations[0].cancel, own.unreadable], ["op-1", "function", unreadable]);
  page = { operations: [] };
  assert.deepEqual(Object.keys(await told("/operations/reports?cursor=4000.")), ["code", "operations"]);
});

test("a job that another object's operation has is told as that, under no id that leads nowhere", async () => {
  const taken = () => {
    throw failed("KEY_CONFLICT", "This job belongs to another operation. Use the operation of this error's operationId.", { operationId: "elsewhere", field: "jobId" });
  };
  const { told, namespace } = edge({ command: taken, adopt: taken });
  const { error } = await told(`${AT}/resolve`, { body: { found: "job-1" }, staff: true });
  assert.deepEqual([error.code, error.field, error.operationId], ["KEY_CONFLICT", "jobId", undefined]);
  await assert.rejects(jobs(namespace).adopt("reports", { intent: "one", jobId: "job-1" }), (thrown) => {
    assert.deepEqual([thrown.code, thrown.field, "operationId" in thrown], ["KEY_CONFLICT", "jobId", false]);
    return !/operationId/.test(thrown.message) && thrown.message.includes(thrown.nextStep);
  });
});

test("no text names the service's address", async () => {
  const origin = "https://internal.example:8443";
  const fault = { message: `See ${origin}/docs, or ask internal.example:8443.` };
  const shown = { intent: "reports:one", origin, jobId: `${origin}/jobs/7`, receipt: { jobId: `${origin}/jobs/7` } };
  let load = () => state({ ...shown, status: "parked", parked: { ...parked, exits: EXITS, candidates: [`${origin}/jobs/8`] }, fault });
  const throwing = (code) => () => {
    throw failed(code, `It is at ${origin}/api, and not here.`, { nextStep: `Ask ${origin}.` });
  };
  const { told } = edge({ load: () => load(), submit: throwing("INTENT_CONFLICT"), command: throwing("STORAGE_UNAVAILABLE") });
  const headers = { "idempotency-key": "one" };
  const answers = [
    await told(AT),
    await told("/operations/reports", { body: {}, headers }),
    await told(`${AT}/cancel`, { body: {} }),
  ];
  load = () => state({ ...shown, status: "failed", failure: { id: "f", class: "unknown", ...fault } });
  answers.push(await told(AT));
  for (const answer of answers) assert.ok(!/internal\.example/.test(JSON.stringify(answer)), JSON.stringify(answer));
  assert.deepEqual([answers[0].jobId, answers[1].error.code, answers[3].failure.message], ["/jobs/7", "INTENT_CONFLICT", "See /docs, or ask [service]."]);
});

test("whom the app trusts is told jobs by the names that the service has for them", async () => {
  const jobs = ["https://internal.example/jobs/7", "https://internal.example/jobs/8"];
  const shown = { intent: "reports:one", origin: "https://internal.example", jobId: jobs[0] };
  const { told } = edge({ load: () => state({ ...shown, status: "parked", parked: { ...parked, exits: EXITS, candidates: jobs } }) });
  const { jobId, parked: own } = await told(AT, { staff: true });
  assert.deepEqual([jobId, own.candidates], [jobs[0], jobs]);
  assert.equal((await told(AT)).jobId, "/jobs/7");
});

test("where the relay itself fails, whoever asked is told to ask again with the same key", async (t) => {
  t.mock.method(console, "error", () => undefined);
  const shared = () => {
    throw new Error("internal");
  };
  const { code, error } = await edge({ shared }).told(AT, { limits: { requestsPerMinute: 5 } });
  assert.deepEqual([code, error.code], [503, "ABORTED"]);
  assert.match(error.nextStep, /same key/);
});

test("a rerun and a revision are counted like a submission, before they are asked for", async () => {
  let newest = "op-1";
  const answer = () => state({ intent: "reports:one", id: "op-2" });
  const load = () => state({ intent: "reports:one", status: "failed" });
  const { told, asked } = edge({ load, find: () => state({ id: newest }), command: answer, revise: answer, shared: () => false });
  const limits = { operations: 3 };
  for (const [verb, body] of [["retry", { reviewed: "f" }], ["revise", { body: {} }]]) {
    const { code, error } = await told(`${AT}/${verb}`, { body, limits });
    assert.deepEqual([code, error.code], [429, "TOO_MANY"]);
    const { admit, name, after } = asked.find(({ admit }) => admit);
    assert.deepEqual([admit, name, after], [3, '[0,"reports","reports:one"]', "op-1"]);
  }
  assert.ok(!asked.some(({ method }) => method === "command" || method === "revise"));
  // What was made of it already is told, however much there is.
  newest = "op-2";
  assert.equal((await told(`${AT}/retry`, { body: { reviewed: "f" }, limits })).id, "000.op-2");
});

test("whoever has heard the last state of what is over is told not to come again", async () => {
  let own = { status: "succeeded", revision: 7 };
  const { ask } = edge({ load: () => state({ intent: "reports:one", ...own }) });
  const heard = (id) => ask(`${AT}/events`, { headers: { "last-event-id": id } });
  const over = await heard("7");
  assert.deepEqual([over.status, await over.text(), over.headers.get("cache-control")], [204, "", "private, no-store"]);
  const behind = await heard("6");
  assert.deepEqual([behind.status, /^id: 7$/m.test(await behind.text())], [200, true]);
  own = { status: "active", revision: 7 };
  const running = await heard("7");
  assert.equal(running.status, 200);
  await running.body.cancel();
});
