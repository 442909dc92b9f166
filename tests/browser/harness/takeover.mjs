// Work that goes from one tab to another.
import assert from "node:assert/strict";
import { until } from "./until.mjs";

/**
 * How long the jobs take that change hands: there is something left to do, however busy the machine is. In
 * milliseconds.
 */
export const CHANGING_HANDS_MS = 12_000;

/**
 * Resolves once the service has been asked how a job is.
 *
 * @param {import("./loopback.mjs").Loopback} service
 */
export const polled = (service) => until(async () => (await service.ledger()).polls > 0, "A poll");

/**
 * What came after a tab was gone is another's: it began in time.
 *
 * @param {import("./loopback.mjs").Loopback} service
 * @param {number} before How many requests there were when it was gone.
 * @param {number} left When it left.
 * @param {number} limitMs
 */
export async function assertTakenOver(service, before, left, limitMs) {
  const next = (await service.requests())[before];
  assert.ok(next, "the job was over before the tab was gone");
  assert.ok(next.time_ms - left < limitMs, `it took ${next.time_ms - left} ms`);
}
