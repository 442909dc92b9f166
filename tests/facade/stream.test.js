// The events of a kept stream, as the value that the app gets.
import assert from "node:assert/strict";
import { test } from "node:test";
import { streamed } from "../../pkg-template/stream.js";

const EVENTS = [
  'event: run\ndata: {"runId":"run_1"}',
  'event: record\ndata: {"n":0}',
  ': still there',
  'event: record\ndata: {"n":\ndata: 1}',
  'event: summary\ndata: {"version":"1"}',
  'event: record\ndata: {"n":2}',
].join("\n\n") + "\n\n";

test("the result is its event's data, with what is gathered until the end", () => {
  const shape = { form: "sse", result: "summary", end: "summary", gather: { record: "records" } };
  const expected = { version: "1", records: [{ n: 0 }, { n: 1 }] };
  assert.deepEqual(streamed(EVENTS, shape), expected);
  assert.deepEqual(streamed(EVENTS.replaceAll("\n", "\r\n"), shape), expected);
  assert.deepEqual(streamed(EVENTS.replaceAll("\n", "\r"), shape), expected);
});

test("without a named event the result is all data, in their order", () => {
  assert.deepEqual(streamed("data: 1\n\ndata: two\n\ndata: 3\n", { form: "sse" }), [1, "two"]);
});

test("a text that ends the stream is no part of it", () => {
  const text = 'data: {"n":1}\n\ndata: [DONE]\n\ndata: {"n":2}\n\n';
  assert.deepEqual(streamed(text, { form: "sse", endData: "[DONE]" }), [{ n: 1 }]);
  assert.deepEqual(streamed('{"n":1}\r\n[DONE]\r\n', { form: "ndjson", endData: "[DONE]" }), [{ n: 1 }]);
});

test("lines of JSON name their events in a member", () => {
  const text = '{"event":"run"}\n\n{"type":"done","n":7}';
  assert.deepEqual(streamed(text, { form: "ndjson", result: "done" }), { type: "done", n: 7 });
  assert.deepEqual(streamed(text, { form: "ndjson" }), [{ event: "run" }, { type: "done", n: 7 }]);
});
