// holdfast/proxy in Node's `http`: how an answer is piped to a page that reads slowly, or leaves.
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { loadPackage } from "./package.js";

test("an answer that waits for its reader again and again leaves no listeners behind", { timeout: 60_000 }, async (t) => {
  const { toNodeHandler } = await loadPackage(t, "proxy.js");
  const incoming = { method: "GET", headers: {}, rawHeaders: [], resume() {} };
  for (const leavesAfter of [Infinity, 25]) {
    let [pieces, most, isEnded] = [0, 0, false];
    const outgoing = Object.assign(new EventEmitter(), {
      writeHead() {},
      write() {
        most = Math.max(most, outgoing.listenerCount("close"), outgoing.listenerCount("drain"));
        if (pieces < leavesAfter) setImmediate(() => outgoing.emit("drain"));
        else setImmediate(() => ((outgoing.destroyed = true), outgoing.emit("close")));
        return false;
      },
      end: () => (isEnded = true),
    });
    let isCancelled = false;
    const body = new ReadableStream({
      pull: (controller) => (pieces++ < 50 ? controller.enqueue(new Uint8Array(9)) : controller.close()),
      cancel: () => void (isCancelled = true),
    }, { highWaterMark: 0 });
    await toNodeHandler(async () => new Response(body))(incoming, outgoing);
    assert.ok(most <= 2, `${most} listeners`);
    const isRead = pieces > 50;
    assert.deepEqual([isEnded, isRead, isCancelled], [true, leavesAfter > 50, leavesAfter < 50]);
  }
});
