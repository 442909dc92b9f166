// Long results in a page: kept in pieces while they come, and gone on with where the line broke.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Site, watchMemory } from "./harness.mjs";

const site = await Site.open();
after(() => site.close());

/** Longest result that is tried, in bytes. */
const LONG_BYTES = 32_000_000;

/** Length of the one that comes in one piece, in bytes: two copies of it would be more than memory may grow to. */
const PIECE_BYTES = 12_000_000;

/** What the module's memory may grow to, in bytes: far less than the result, whatever that is. */
const MEMORY_MAX = 16_000_000;

/** Submits work with a long result, and reads that as a stream and as a Blob. */
async function download({ bytes, atOnce }) {
  const profile = await (await fetch("/pkg/profiles/runharvester.json")).json();
  profile.calls.result.ranges = true;
  // What a browser does that gives all that has come while nobody read.
  const inOnePiece = async (...request) => {
    const answer = await fetch(...request);
    const whole = new Uint8Array(await answer.arrayBuffer());
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(whole);
        controller.close();
      },
    });
    return new Response(body, answer);
  };
  const options = atOnce ? { fetch: inOnePiece } : {};
  const operation = await open(options, { profile }).submit("reports", {
    intent: "long",
    body: work(100, { result_bytes: bytes }),
  });
  const { status } = await operation.outcome();
  let [size, longest] = [0, 0];
  for (const reader = (await operation.stream()).getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    longest = Math.max(longest, value.length);
  }
  const blob = await operation.blob();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await blob.arrayBuffer()));
  const sha256 = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const { result } = operation.state;
  const memory = moduleMemory.buffer.byteLength;
  return { status, size, longest, blob: blob.size, told: result.bytes, same: sha256 === result.sha256, memory };
}

/** It is there as it was told, and took no more memory than it may. */
function assertKept(bytes, { status, size, longest, blob, told, same, memory }) {
  assert.equal(status, "succeeded");
  assert.ok(size > bytes * 0.9, `${size} bytes`);
  assert.deepEqual([blob, told, same], [size, size, true]);
  assert.ok(longest < 1_000_000, `a piece of ${longest} bytes`);
  assert.ok(memory < MEMORY_MAX, `${memory} bytes of memory`);
}

describe("long results", () => {
  test("32 MB are kept in pieces, in bounded memory, and gone on with where they broke off", () =>
    site.visit(async ({ visit, service }) => {
      await service.faults([{ call: "result", fault: "truncate", times: 1 }]);
      const page = await visit({ init: watchMemory });
      assertKept(LONG_BYTES, await page.evaluate(download, { bytes: LONG_BYTES }));
      const ranges = (await service.requests()).filter(({ call }) => call === "result").map(({ range }) => range);
      assert.equal(ranges.length, 2);
      assert.equal(ranges[0], "bytes=0-");
      assert.ok(Number(/^bytes=(\d+)-$/.exec(ranges[1])[1]) > 1_000_000, ranges[1]);
    }));

  test("12 MB that come in one piece take no more memory", () =>
    site.visit(async ({ visit }) => {
      const page = await visit({ init: watchMemory });
      assertKept(PIECE_BYTES, await page.evaluate(download, { bytes: PIECE_BYTES, atOnce: true }));
    }));
});
