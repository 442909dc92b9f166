// What the store reads in an object: it does not grow with what is stored there.
import assert from "node:assert/strict";
import test from "node:test";
import { failPointsFolder } from "../browser/harness/environment.mjs";
import { Edge } from "./edge.mjs";
import { temporary } from "./stage.mjs";

test("what a transaction reads in an object does not grow with the number of operations stored", async (t) => {
  const edge = await Edge.start({
    package: failPointsFolder(),
    worker: "rows.js",
    folder: await temporary(t),
    objects: { ROWS: "Rows" },
  });
  t.after(() => edge.kill());
  const counted = Object.entries(await edge.ask("/"));
  assert.equal(counted.length, 18);
  for (const [what, [few, many]] of counted) assert.ok(many <= few, `${what}: ${few} rows, and ${many} of more`);
});
