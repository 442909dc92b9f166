// The store over SQL, wherever it really lives: each behaviour that every store must show.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { failPointsFolder } from "../browser/harness/environment.mjs";
import { Edge } from "./edge.mjs";
import { newerNode } from "./programs.mjs";
import { temporary } from "./stage.mjs";

const [CONFORMANCE, UNUSABLE] = ["conformance", "unusable"].map((name) => fileURLToPath(new URL(`./${name}.mjs`, import.meta.url)));

/** The names of all behaviours. */
const behaviours = () => {
  const source = readFileSync(new URL("../../src/driver/conformance.rs", import.meta.url), "utf8");
  const [, names] = /\$callback! \{([^}]*)\}/.exec(source);
  return names.trim().split(/\s+/);
};

async function shownBy(t, node) {
  const args = [CONFORMANCE, failPointsFolder(), await temporary(t)];
  const { stdout } = await promisify(execFile)(node, args, { timeout: 60_000 });
  return stdout.trim().split("\n");
}

test("better-sqlite3 in this Node shows every behaviour of a store", async (t) => {
  assert.deepEqual(await shownBy(t, process.execPath), behaviours());
});

test("node:sqlite in a newer Node shows every behaviour of a store", async (t) => {
  assert.deepEqual(await shownBy(t, newerNode()), behaviours());
});

test("a Durable Object in workerd shows every behaviour of a store", async (t) => {
  const edge = await Edge.start({
    package: failPointsFolder(),
    worker: "conformance.js",
    folder: await temporary(t),
    objects: { TRIED: "Tried" },
  });
  t.after(() => edge.kill());
  assert.deepEqual(await edge.ask("/"), behaviours());
});

test("tables that only newer code can work with are refused and left alone; those that newer code has added to are opened", async (t) => {
  const Sqlite = createRequire(import.meta.url)("better-sqlite3");
  const { createHoldfast } = await import(pathToFileURL(join(failPointsFolder(), "node.js")));
  const storage = new Sqlite(":memory:");
  t.after(() => storage.close());
  const services = { reports: { profile: "runharvester", baseUrl: "http://127.0.0.1:9" } };
  const opened = async (work) => {
    const holdfast = createHoldfast({ storage, account: () => "ann", services });
    try {
      return await work(holdfast);
    } finally {
      await holdfast.close();
    }
  };
  const submit = (holdfast) => holdfast.submit("reports", { intent: "one", body: {} });
  const { id } = await opened(submit);
  storage.exec("INSERT INTO holdfast_schema VALUES (900, 100)");
  assert.equal((await opened(submit)).id, id);
  storage.exec("INSERT INTO holdfast_schema VALUES (1000, 1000)");
  const error = await opened(submit).catch((thrown) => thrown);
  assert.equal(error.code, "STORAGE_UNAVAILABLE");
  assert.match(error.message, /newer schema/);
  assert.deepEqual(storage.prepare("SELECT id FROM holdfast_operations").all(), [{ id }]);
  storage.exec("DELETE FROM holdfast_schema WHERE version = 1000");
  assert.equal((await opened((holdfast) => holdfast.find("reports", "one"))).id, id);
});

test("a file that cannot be used is not left open by what tries it", { skip: !existsSync("/proc/self/fd") }, async (t) => {
  const { stdout } = await promisify(execFile)(newerNode(), [UNUSABLE, failPointsFolder(), await temporary(t)], { timeout: 60_000 });
  const told = stdout.trim().split("\n").map((line) => JSON.parse(line));
  const why = [/newer schema/, /cannot be opened/, /not a database/];
  told.forEach(({ message }, at) => assert.match(message, why[Math.floor(at / 3)]));
  assert.deepEqual(told.map(({ open }) => open), Array(9).fill(0));
});
