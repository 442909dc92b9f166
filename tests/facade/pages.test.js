// The pages of a kept result, as the value that the app gets.
import assert from "node:assert/strict";
import { test } from "node:test";
import { valueOf } from "../../pkg-template/result.js";

const kept = (...pages) => new TextEncoder().encode(pages.map((page) => `\x1e${page}\n`).join(""));
const shape = (items, at) => ({ mediaType: "application/json-seq", items, at });

test("the first page holds the items of all", async () => {
  const bytes = kept('{"run_id":"r","total":3,\n"results":[1,2]}', '{"run_id":"r","results":[3]}');
  const expected = { run_id: "r", total: 3, results: [1, 2, 3] };
  assert.deepEqual(await valueOf(undefined, bytes, shape("/results")), expected);
  assert.deepEqual(await valueOf(undefined, bytes, shape("/results", "/results")), [1, 2, 3]);
});

test("pages that are lists are one list", async () => {
  assert.deepEqual(await valueOf(undefined, kept("[1]", "[2,3]"), shape("")), [1, 2, 3]);
});

test("items that stand deep, under names that pointers escape", async () => {
  const bytes = kept('{"a/b":{"c":[1]}}', '{"a/b":{"c":[2]}}', '{"a/b":null}');
  assert.deepEqual(await valueOf(undefined, bytes, shape("/a~1b/c")), { "a/b": { c: [1, 2] } });
});

test("a schema sees all pages together", async () => {
  const seen = [];
  const validate = (value) => (seen.push(value), { value });
  await valueOf({ "~standard": { version: 1, vendor: "t", validate } }, kept("[1]", "[2]"), shape(""));
  assert.deepEqual(seen, [[1, 2]]);
});

test("what is no sequence of pages stays bytes", async () => {
  const bytes = kept("[1]", "<html>");
  assert.equal(await valueOf(undefined, bytes, shape("")), bytes);
});
