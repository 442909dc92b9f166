// What errors and states say to somebody who has it wrong for the first time.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadPackage, options, settle, state } from "./package.js";

const LOST = [{ at: 1, event: "submit.lost", count: 1, purpose: "submit" }];
const ANSWERED = [{ at: 1, event: "submit.answered", count: 1, purpose: "submit", httpStatus: 503 }];

async function told(t, ...entries) {
  const { createHoldfast, world } = await loadPackage(t);
  const holdfast = createHoldfast(options());
  t.after(() => holdfast.close());
  await holdfast.start();
  let revision = 0;
  for (const own of entries) {
    world.clients[0].host.notify(state({ status: "submitting", revision: (revision += 1) }), JSON.stringify(own), "local");
    await settle();
  }
  return { holdfast, world, hint: holdfast.getSnapshot()[0].hint };
}

test("answers lost again and again, and none that ever came, hint at CORS and the address", async (t) => {
  globalThis.location = { origin: "https://app.example.com", protocol: "https:" };
  t.after(() => delete globalThis.location);
  const { hint, holdfast, world } = await told(t, LOST, LOST, LOST);
  assert.match(hint, /https:\/\/api\.example\.com.* 3 were lost.*address.*CORS/);
  world.script.load = () =>
    state({ status: "parked", parked: { reason: "DeadlineExceeded", since: 1, exits: ["resume({limits})"] }, revision: 9 });
  world.script.find = world.script.load;
  const { error } = await (await holdfast.find("reports", "one")).outcome();
  assert.match(error.message, /CORS/);
});

test("on a server the hint is at the address alone: nobody is asked for permission there", async (t) => {
  const { hint } = await told(t, LOST, LOST, LOST);
  assert.match(hint, /is the address right\?$/);
});

test("a service that answers a plain read, and not submissions, hints at its preflight", async (t) => {
  const asked = [{ at: 1, event: "diagnose.answered", count: 1, purpose: "diagnose" }];
  assert.match((await told(t, LOST, LOST, asked)).hint, /https:\/\/api\.example\.com answers.*Access-Control-Allow-Headers/);
  assert.equal((await told(t, LOST, LOST, asked, ANSWERED)).hint, undefined);
});

test("a service that has answered once is hinted at no more", async (t) => {
  assert.equal((await told(t, LOST, LOST)).hint, undefined);
  assert.equal((await told(t, ANSWERED, LOST, LOST, LOST)).hint, undefined);
  assert.equal((await told(t, LOST, LOST, LOST, ANSWERED)).hint, undefined);
});

test("a submission that is taken, and in whose answers no job is named, hints at where its id is looked for", async (t) => {
  const taken = [{ ...ANSWERED[0], httpStatus: 201 }];
  assert.match((await told(t, taken)).hint, /with 201.*facts\.id/);
});

test("work that was submitted to another address than its service has now says where it goes on", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const holdfast = createHoldfast(options());
  t.after(() => holdfast.close());
  world.script.find = () => state({ status: "submitting", origin: "https://old.example.com" });
  const { hint } = await holdfast.find("reports", "one");
  assert.match(hint, /submitted to https:\/\/old\.example\.com, and services\.reports names https:\/\/api\.example\.com/);
  world.script.find = () => state({ status: "submitting", origin: "https://api.example.com", revision: 2 });
  assert.equal((await holdfast.find("reports", "one")).hint, undefined);
});

test("where no address is named there is none to compare with: in an extension's page, and for a service that is gone", async (t) => {
  globalThis.location = { href: "chrome-extension://holdfast/popup.html" };
  t.after(() => delete globalThis.location);
  const { Reach } = await loadPackage(t, "reach.js");
  for (const services of [{ reports: {} }, {}]) {
    assert.equal(new Reach(services).hintOf(JSON.parse(state())), undefined);
  }
});

test("a park says what the service said last", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const fault = { httpStatus: 402, code: "INSUFFICIENT_CREDITS", message: "Top up." };
  const parked = { reason: "NeedsCredit", since: 1, exits: ["resume()"] };
  world.script.find = world.script.load = () => state({ status: "parked", parked, fault, revision: 2 });
  const { error } = await (await createHoldfast(options()).find("reports", "one")).outcome();
  assert.match(error.message, /^There is no credit left at the service: Top up \(INSUFFICIENT_CREDITS, HTTP 402\)\. Add credit, then call resume\(\)\./);
  assert.deepEqual([error.code, error.fault.code], ["PARKED", "INSUFFICIENT_CREDITS"]);
});

test("a refusal says what was asked for", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const fault = { httpStatus: 404, message: "Not found." };
  world.script.find = world.script.load = () => state({ status: "rejected", endedAt: 2, fault, revision: 2 });
  world.script.supportReport = () => JSON.stringify({ method: "POST", path: "/v9/reports" });
  const holdfast = createHoldfast(options());
  const operation = await holdfast.find("reports", "one");
  await assert.rejects(operation.result(), {
    code: "REJECTED",
    message: /^The service refused POST \/v9\/reports: Not found \(HTTP 404\)\./,
  });
});

test("a missing intent says what an intent is", async (t) => {
  const { createHoldfast } = await loadPackage(t);
  await assert.rejects(createHoldfast(options()).submit("reports", { body: {} }), {
    field: "intent",
    nextStep: /crypto\.randomUUID\(\)/,
  });
});

test("on a server the error names the entries for servers", async (t) => {
  const { createHoldfast, world } = await loadPackage(t);
  const expected = { code: "STORAGE_UNAVAILABLE", message: /runs in browsers.*"holdfast\/node"/ };
  world.initError = new TypeError("fetch failed");
  await assert.rejects(createHoldfast(options()).start(), expected);
  world.initError = undefined;
  world.script.start = () => {
    throw { code: "STORAGE_UNAVAILABLE", message: "indexedDB is missing", nextStep: "call again" };
  };
  await assert.rejects(createHoldfast(options()).start(), expected);
});

test("on a server the inspector says that it needs a document", async (t) => {
  const { inspect } = await loadPackage(t, "inspector.js");
  assert.throws(() => inspect({}), { code: "NOT_ALLOWED", message: /needs a document.* Call it in a page/ });
});

test("the types name every profile that comes with the package", () => {
  const folder = new URL("../../pkg-template/", import.meta.url);
  const types = readFileSync(new URL("index.d.ts", folder), "utf8");
  const [, union] = /type BuiltInProfile =([^;]+);/.exec(types);
  const files = readdirSync(new URL("profiles", folder)).map((file) => file.replace(/\.json$/, ""));
  assert.deepEqual(union.match(/[\w-]+/g), files.sort());
});

test("a better-sqlite3 that is installed and not built is told apart from a file that does not open", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of ["sql-servers.js", "sql-database.js", "error.js"]) {
    cpSync(new URL(`../../pkg-template/${name}`, import.meta.url), join(folder, name));
  }
  const own = join(folder, "node_modules/better-sqlite3");
  mkdirSync(own, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(own, "index.js"), 'module.exports = class { constructor() { throw new Error("Could not locate the bindings file. Tried:"); } };');
  // Where Node has a SQLite of its own it is told to leave it out.
  const flags = process.allowedNodeEnvironmentFlags.has("--experimental-sqlite") ? ["--no-experimental-sqlite"] : [];
  const program = 'import("./sql-servers.js").then(({ openFile }) => openFile("a.db")).catch(({ message }) => console.log(message))';
  assert.match(execFileSync(process.execPath, [...flags, "-e", program], { cwd: folder, encoding: "utf8" }), /npm rebuild better-sqlite3/);
});
