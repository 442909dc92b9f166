// Lives of servers, with deaths in them.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const APP = fileURLToPath(new URL("./app-node.mjs", import.meta.url));

/** How long a life may last, in milliseconds. */
const LIFE_MS = 60_000;

/** Processes that run: nothing of them outlives this one. @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/**
 * Runs the app until it ends, or is killed; gives what it told.
 *
 * @param {string | string[]} server The program, and what it is told before the app.
 * @param {object} options As the app takes them.
 * @param {number} [killAfterMs]
 */
export async function live(server, options, killAfterMs) {
  const [program, ...args] = [server].flat();
  const child = spawn(program, [...args, APP, JSON.stringify(options)], { stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  const told = { points: [], settled: [], acknowledged: [], overs: undefined, killed: false, said: "" };
  child.stderr.on("data", (data) => (told.said += data));
  createInterface(child.stdout).on("line", (line) => {
    const { point, occurrence, settled, acknowledged, key, overs } = JSON.parse(line);
    if (point) told.points.push({ name: point, occurrence });
    if (settled) told.settled.push(settled);
    if (acknowledged) told.acknowledged.push({ id: acknowledged, key });
    if (overs) told.overs = overs;
  });
  const timers = [setTimeout(() => child.kill("SIGKILL"), killAfterMs ?? LIFE_MS)];
  const [, signal] = await once(child, "close");
  timers.forEach(clearTimeout);
  running.delete(child);
  told.killed = signal === "SIGKILL";
  return told;
}

/**
 * That everything happened once, and nothing is lost.
 *
 * @param {import("../browser/harness/loopback.mjs").Loopback} service
 * @param {object[]} lives What each life told, the last of which saw everything to its end.
 * @param {readonly string[]} intents
 */
export async function checkOnce(service, lives, intents) {
  const { overs, said } = lives.at(-1);
  assert.ok(overs, `the last life did not end: ${said}`);
  const { executions, charges, key_mismatches, unauthorized, jobs } = await service.ledger();
  assert.deepEqual({ executions, charges, key_mismatches, unauthorized }, {
    executions: intents.length,
    charges: intents.length,
    key_mismatches: 0,
    unauthorized: 0,
  });
  assert.deepEqual(overs.map(({ status, error }) => [status, error]), intents.map(() => ["succeeded", ""]));
  assert.deepEqual(jobs.map(({ key }) => key).sort(), overs.map(({ key }) => key).sort());
  for (const { bytes } of overs) assert.ok(bytes > 0);
  // What one life was told is stored is there in every later one, and of each ending somebody heard.
  const ids = new Set(overs.map(({ id }) => id));
  for (const { id } of lives.flatMap(({ acknowledged }) => acknowledged)) assert.ok(ids.has(id));
  assert.deepEqual(new Set(lives.flatMap(({ settled }) => settled)), ids);
}
