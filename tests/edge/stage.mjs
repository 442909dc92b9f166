// What tests of servers and edges stand on: a service with a credential of its own, a folder, and Workers over it.
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failPointsFolder } from "../browser/harness/environment.mjs";
import { Loopback } from "../browser/harness/loopback.mjs";
import { until } from "../browser/harness/until.mjs";
import { Edge } from "./edge.mjs";

/** A folder that goes with the test. */
export async function temporary(t) {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-edge-"));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A service, its credential, a folder, and what starts a Worker whose objects are in that; all of it ends with the test. */
export async function stage(t) {
  const token = `secret-${randomUUID()}`;
  /** @type {Edge[]} */
  const edges = [];
  t.after(() => Promise.all(edges.map((edge) => edge.kill())));
  const service = await Loopback.start({}, { token });
  t.after(() => service.stop());
  const folder = await temporary(t);
  /** @param {object} options As the host takes them. */
  const start = async (options) => {
    const edge = await Edge.start({ package: failPointsFolder(), folder, objects: { JOBS: "Jobs" }, ...options });
    edges.push(edge);
    return edge;
  };
  return { token, service, folder, start };
}

/** Intents that no other test has. */
export const newIntents = (count) => Array.from({ length: count }, (_, own) => `intent ${own} ${randomUUID()}`);

/** Has a Worker do something that a test tells it. */
export const ask = (edge, what, given) => edge.ask(`/${what}`, { method: "POST", body: JSON.stringify(given) });

/** What objects have handed over, over all lives. */
export const settledOf = (edges) =>
  edges.flatMap(({ lines }) => lines.map((line) => /^settled (.*)/.exec(line)?.[1]).filter(Boolean).map((json) => JSON.parse(json)));

/**
 * What was handed over of each intent, once all were, with nobody calling; or as soon as it is given up.
 *
 * @param {readonly Edge[]} edges All lives.
 * @param {readonly string[]} intents
 * @param {number} limitMs
 * @param {{ given?: { up: boolean }, stateOf?: (intent: string) => Promise<any> }} [more] `stateOf` tells of what is missing.
 */
export async function settled(edges, intents, limitMs, { given = { up: false }, stateOf = async () => null } = {}) {
  const handedOver = () => {
    const all = settledOf(edges);
    return intents.map((intent) => all.find((own) => own.intent === intent));
  };
  const missing = async () => {
    const all = handedOver();
    const left = intents.filter((_, own) => !all[own]);
    const states = await Promise.all(left.map(async (intent) => [intent, await stateOf(intent).catch(String)]));
    return `an ending of every intent\n${edges.at(-1).lines.slice(-30).join("\n")}\n${JSON.stringify(states)}`;
  };
  await until(() => given.up || handedOver().every(Boolean), missing, limitMs);
  return handedOver();
}
