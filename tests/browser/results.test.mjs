// Long results in a page: kept in pieces while they come, and gone on with where the line broke.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Site, watchMemory } from "./harness.mjs";

const site = await Site.open();
after(() => site.close());

/** Longest result that is tried, in bytes. */
const LONG_BYTES = 32_000_000;

/** What the module's memory may grow to, in bytes: far less than the result, whatever that is. */
const MEMORY_MAX = 16_000_000;

/** Submits work with a long result, and reads that as a stream and as a Blob. */
async function download(bytes) {
  const profile = await (await fetch("/pkg/profiles/runharvester.json")).json();
  profile.calls.result.ranges = true;
  const operation = await open({}, { profile }).submit("reports", {
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

describe("long results", () => {
  test("32 MB are kept in pieces, in bounded memory, and gone on with where they broke off", () =>
    site.visit(async ({ visit, service }) => {
      await service.faults([{ call: "result", fault: "truncate", times: 1 }]);
      const page = await visit({ init: watchMemory });
      const told = await page.evaluate(download, LONG_BYTES);
      assert.equal(told.status, "succeeded");
      assert.ok(told.size > LONG_BYTES * 0.9, `${told.size} bytes`);
      assert.deepEqual([told.blob, told.told, told.same], [told.size, told.size, true]);
      assert.ok(told.longest < 1_000_000, `a piece of ${told.longest} bytes`);
      assert.ok(told.memory < MEMORY_MAX, `${told.memory} bytes of memory`);
      const ranges = (await service.requests()).filter(({ call }) => call === "result").map(({ range }) => range);
      assert.equal(ranges.length, 2);
      assert.equal(ranges[0], "bytes=0-");
      assert.ok(Number(/^bytes=(\d+)-$/.exec(ranges[1])[1]) > 1_000_000, ranges[1]);
    }));
});
