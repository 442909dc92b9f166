// The store over SQL, wherever it really lives: each behaviour that every store must show.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { failPointsFolder } from "../browser/harness/environment.mjs";
import { Edge } from "./edge.mjs";
import { newerNode } from "./programs.mjs";

const CONFORMANCE = fileURLToPath(new URL("./conformance.mjs", import.meta.url));

/** The names of all behaviours. */
const behaviours = () => {
  const source = readFileSync(new URL("../../src/driver/conformance.rs", import.meta.url), "utf8");
  const [, names] = /\$callback! \{([^}]*)\}/.exec(source);
  return names.trim().split(/\s+/);
};

async function temporary(t) {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-edge-"));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

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
