// What the linter of Mozilla's shop says of the example extension.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const example = fileURLToPath(new URL("../../www/extension", import.meta.url));
const program = fileURLToPath(new URL("node_modules/.bin/addons-linter", import.meta.url));

/** One manifest for all browsers names a worker, and Firefox ignores that: `scripts` beside it is what it takes. */
const EXPECTED = ["BACKGROUND_SERVICE_WORKER_IGNORED"];

test("a linter of extensions finds nothing but that Firefox takes the other of two backgrounds", { timeout: 240_000 }, async () => {
  // Warnings end it with another status than zero where it is told to; here they are read.
  const told = await new Promise((resolve, reject) =>
    execFile(program, ["--output", "json", example], { maxBuffer: 2 ** 26 }, (error, stdout) => (stdout ? resolve(stdout) : reject(error))),
  );
  const { errors, notices, warnings } = JSON.parse(told);
  assert.deepEqual([...errors, ...notices, ...warnings].map(({ code }) => code), EXPECTED);
});
