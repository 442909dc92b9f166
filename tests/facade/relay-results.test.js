// How a relay hands out kept results: piece by piece, in parts, and put together.
import assert from "node:assert/strict";
import { test } from "node:test";
import { settle, state } from "./package.js";
import { AT, edge } from "./relay-edge.js";

const PIECE = 256 * 1024;
const RESULT = `${AT}/result`;

/** A relay over a result of such pieces. */
function kept(lengths, result = {}) {
  const whole = Buffer.alloc(lengths.reduce((sum, length) => sum + length, 0));
  for (let at = 0; at < whole.length; at++) whole[at] = (at * 31 + (at >> 12)) % 251;
  return keptOf(whole, lengths, { mediaType: "application/octet-stream", ...result });
}

function keptOf(whole, lengths, result) {
  const starts = lengths.map((_, own) => lengths.slice(0, own).reduce((sum, length) => sum + length, 0));
  const read = [];
  const chunk = async (id, index) => {
    read.push(index);
    return index < lengths.length ? new Uint8Array(whole.subarray(starts[index], starts[index] + lengths[index])) : undefined;
  };
  const load = () => state({ intent: "reports:one", status: "succeeded", result: { bytes: whole.length, sha256: "abc", capturedAt: 5, ...result } });
  return { ...edge({ load, chunk }), whole, read };
}

const bytesOf = async (answer) => Buffer.from(await answer.arrayBuffer());
const ranged = (from, to = "") => ({ headers: { range: `bytes=${from}-${to}` } });

test("a part is read from the pieces that hold it, and from the last", async () => {
  const { ask, whole, read } = kept([...Array(40).fill(PIECE), 100]);
  const parts = [
    [10, 19, [0]],
    [PIECE * 20 + 5, PIECE * 20 + 14, [40, 20]],
    [PIECE * 20 - 5, PIECE * 20 + 4, [40, 19, 20]],
    [PIECE * 40 + 90, "", [40, 40]],
  ];
  for (const [from, to, pieces] of parts) {
    read.length = 0;
    const answer = await ask(RESULT, ranged(from, to));
    const end = to === "" ? whole.length : to + 1;
    assert.deepEqual([answer.status, answer.headers.get("content-range"), answer.headers.get("content-length")],
      [206, `bytes ${from}-${end - 1}/${whole.length}`, `${end - from}`]);
    assert.ok((await bytesOf(answer)).equals(whole.subarray(from, end)));
    assert.deepEqual(read, pieces);
  }
});

test("a part of a result whose download was gone on with is right, wherever its short pieces are", async () => {
  const { ask, whole } = kept([PIECE, 7, PIECE, PIECE - 7, PIECE, 3]);
  for (const [from, to] of [[PIECE + 3, PIECE + 12], [3 * PIECE - 2, 3 * PIECE + 5], [whole.length - 5, whole.length - 1]]) {
    assert.ok((await bytesOf(await ask(RESULT, ranged(from, to)))).equals(whole.subarray(from, to + 1)), `${from}-${to}`);
  }
});

test("what goes on from other bytes has the whole, and what is beyond is refused before anything is read", async () => {
  const { ask, told, whole, read } = kept([100]);
  assert.deepEqual([(await told(RESULT, ranged(100))).error.code, read], ["RANGE_NOT_SATISFIABLE", []]);
  const headers = { range: "bytes=10-19" };
  assert.equal((await ask(RESULT, { headers: { ...headers, "if-range": '"abc"' } })).status, 206);
  const other = await ask(RESULT, { headers: { ...headers, "if-range": '"xyz"' } });
  assert.deepEqual([other.status, (await bytesOf(other)).length], [200, whole.length]);
});

test("the whole comes piece by piece as it is taken, under its length, and a reader that leaves ends it", async () => {
  const { ask, whole, read } = kept([...Array(40).fill(PIECE), 100]);
  const answer = await ask(RESULT);
  const { headers } = answer;
  assert.deepEqual([headers.get("content-length"), headers.get("etag"), headers.get("accept-ranges"), headers.get("content-type")],
    [`${whole.length}`, '"abc"', "bytes", "application/octet-stream"]);
  const reader = answer.body.getReader();
  for (let piece = 0; piece < 3; piece++) await reader.read();
  for (let turn = 0; turn < 20; turn++) await settle();
  assert.ok(read.length <= 4, `${read.length} pieces were read for three`);
  await reader.cancel();
  const left = read.length;
  for (let turn = 0; turn < 20; turn++) await settle();
  assert.equal(read.length, left);
  assert.ok((await bytesOf(await ask(RESULT))).equals(whole));
});

test("a result that is not there, or no more, is a typed error, also where it goes between two looks", async () => {
  let own = { status: "active" };
  const result = { bytes: 10, sha256: "abc", capturedAt: 5 };
  const { told, calls } = edge({ load: () => state({ intent: "reports:one", ...own }), chunk: () => undefined });
  const refusal = async (init) => {
    const { code, error } = await told(RESULT, init);
    return [code, error.code];
  };
  assert.deepEqual(await refusal(), [409, "RESULT_NOT_READY"]);
  own = { status: "succeeded", result, deletedAt: 7 };
  assert.deepEqual(await refusal(), [410, "RESULT_EXPIRED"]);
  own = { status: "succeeded", result };
  calls.chunk = () => void (own = { status: "succeeded", result, deletedAt: 7 });
  assert.deepEqual(await refusal(), [410, "RESULT_EXPIRED"]);
  own = { status: "succeeded", result };
  assert.deepEqual(await refusal(ranged(2, 3)), [410, "RESULT_EXPIRED"]);
});

test("a result of many pages is put together page by page", async () => {
  const pages = Array.from({ length: 9 }, (_, page) => ({
    total: 9, data: { "a/b": page === 4 ? [] : [{ page, text: "ä".repeat(60_000) }, page] }, next: page, data_end: "\"",
  }));
  const whole = Buffer.from(pages.map((page) => `\x1e${JSON.stringify(page)}\n`).join(""));
  const lengths = Array(Math.floor(whole.length / 100_001)).fill(100_001);
  lengths.push(whole.length - lengths.length * 100_001);
  const { ask, read } = keptOf(whole, lengths, { items: "/data/a~1b" });
  const answer = await ask(RESULT);
  assert.ok(read.length <= 3, `${read.length} pieces were read for the first page`);
  const expected = { ...pages[0], data: { "a/b": pages.flatMap((page) => page.data["a/b"]) } };
  assert.deepEqual(await answer.json(), expected);
});

test("a page that is its items, and a result without a page, are put together too", async () => {
  for (const [pages, items, expected] of [[[[1, 2], [], [3]], "", [1, 2, 3]], [[], "/rows", []], [[{}, { rows: [1] }], "/rows", { rows: [1] }]]) {
    const whole = Buffer.from(pages.map((page) => `\x1e${JSON.stringify(page)}\n`).join(""));
    const { ask } = keptOf(whole, whole.length ? [whole.length] : [], { items });
    assert.deepEqual(await (await ask(RESULT)).json(), expected);
  }
});

test("what is put together in memory is bounded, and refused before it is read", async () => {
  const stream = { form: "ndjson" };
  const small = Buffer.from('{"n":1}\n{"n":2}\n');
  const { ask } = keptOf(small, [small.length], { stream });
  assert.deepEqual(await (await ask(RESULT)).json(), [{ n: 1 }, { n: 2 }]);
  for (const shape of [{ stream }, { at: "/data" }, { at: "/data", items: "/data/rows" }]) {
    const { told, read } = keptOf(Buffer.alloc(0), [], { ...shape, bytes: 17 * 1024 * 1024 });
    const { code, error } = await told(RESULT);
    assert.deepEqual([code, error.code, read], [413, "TOO_LARGE", []]);
  }
});
