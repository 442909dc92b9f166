// The tests' own `fetch`, against a server of Node.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import test from "node:test";
import { fetch } from "./fetch.mjs";

/** A server that answers with the status that its path names. */
async function serve(t) {
  const server = createServer(({ url }, response) => response.writeHead(Number(url.slice(1)), { "x-own": "yes" }).end("text"));
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => server.close());
  return (status) => fetch(`http://127.0.0.1:${server.address().port}/${status}`);
}

test("an answer comes with its status, headers and body, and without one where its status has none", async (t) => {
  const get = await serve(t);
  for (const [status, body] of [[200, "text"], [404, "text"], [204, ""], [205, ""], [304, ""]]) {
    const answer = await get(status);
    assert.deepEqual([answer.status, answer.headers.get("x-own"), await answer.text()], [status, "yes", body]);
  }
});

test("an answer that no Response can be is an error of the call, and no death of the process", async (t) => {
  const get = await serve(t);
  await assert.rejects(get(999), RangeError);
});
