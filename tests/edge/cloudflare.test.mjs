// Holdfast in a Worker's objects, in a real workerd with its objects in a folder: to the end with nobody
// calling, through deaths of the whole process.
import assert from "node:assert/strict";
import test from "node:test";
import { failPointsFolder } from "../browser/harness/environment.mjs";
import { freePort } from "./free-port.mjs";
import { quickProfile } from "./quick-profile.mjs";
import { ask, newIntents, settled as settledIn, settledOf, stage } from "./stage.mjs";

/** How often the whole process is killed at a random moment. In a long run, every fail point is died at. */
const RUNS = Number(process.env.HOLDFAST_RUNS || 5);
const IS_LONG = RUNS > 10;
/** Deaths between which some intents live; they are spread over as many objects, as a rule. */
const DEATHS = 5;
const INTENTS = 8;
/** The same in a plain workerd. */
const PLAIN_DEATHS = 3;
/** How long a life may take to its end, in milliseconds. */
const LIFE_MS = 90_000;

const body = { url: "https://example.com", duration_ms: 400, result_bytes: 300_000 };

/** A service, a folder of objects, and intents of their own; under miniflare, or plainly in workerd. */
async function world(t, count, plain = false) {
  const { service, token, start } = await stage(t);
  const startArmed = async (armed = null) =>
    start({
      ...(plain && { plain, port: await freePort() }),
      worker: "jobs.js",
      queue: "QUEUE",
      bindings: { PROFILE: quickProfile(failPointsFolder()), ORIGIN: service.origin, TOKEN: token, ARMED: armed },
    });
  return { service, start: startArmed, intents: newIntents(count) };
}

/** Submits all intents, as a caller does that is not sure whether it has. */
const submitAll = (edge, intents) => Promise.all(intents.map((intent) => ask(edge, "submit", { intent, body })));

/** Resolves when every intent was handed over, with nobody calling; or when it is given up. */
const settled = (edges, intents, given) =>
  settledIn(edges, intents, LIFE_MS, { given, stateOf: (intent) => ask(edges.at(-1), "find", { intent }) });

async function checkOnce(service, edges, intents) {
  const { executions, charges, key_mismatches, unauthorized, jobs } = await service.ledger();
  assert.deepEqual({ executions, charges, key_mismatches, unauthorized }, {
    executions: intents.length,
    charges: intents.length,
    key_mismatches: 0,
    unauthorized: 0,
  });
  const all = settledOf(edges);
  for (const { status, bytes } of all) assert.ok(status === "succeeded" && bytes > 0, status);
  assert.deepEqual([...new Set(all.map(({ key }) => key))].sort(), jobs.map(({ key }) => key).sort());
  assert.equal(new Set(all.map(({ id }) => id)).size, intents.length);
}

const pointsOf = ({ lines }) =>
  lines.flatMap((line) => {
    const [, name, occurrence] = /^point (\S+) (\d+)/.exec(line) ?? [];
    return name ? [{ name, occurrence: Number(occurrence) }] : [];
  });

test("an object carries a job to its kept result with nobody calling, and is found by whoever asks", { timeout: 2 * LIFE_MS }, async (t) => {
  const { service, start, intents } = await world(t, 1);
  const [intent] = intents;
  const edge = await start();
  const [submitted] = await submitAll(edge, intents);
  await settled([edge], intents);
  await checkOnce(service, [edge], intents);
  const found = await ask(edge, "find", { intent });
  assert.deepEqual([found.id, found.status], [submitted.id, "succeeded"]);
  const outcome = await ask(edge, "outcome", { intent });
  assert.deepEqual([outcome.status, outcome.receipt.key], ["succeeded", submitted.key]);
  assert.deepEqual(await ask(edge, "find", { intent, caller: "somebody else" }), null);
});

test("how a job failed is told through jobs() as in a page", { timeout: 2 * LIFE_MS }, async (t) => {
  const { start, intents } = await world(t, 1);
  const edge = await start();
  const [intent] = intents;
  await ask(edge, "submit", { intent, body: { ...body, fail_times: 1 } });
  const { status, error } = await ask(edge, "told", { intent });
  assert.deepEqual([status, error.name, error.code], ["failed", "HoldfastError", "JOB_FAILED"]);
  assert.match(error.nextStep, /retry\(/);
});

test("an object killed at any fail point ends its work once, by its alarm", { timeout: 600_000 }, async (t) => {
  const rehearsal = await world(t, 1);
  const first = await rehearsal.start();
  await submitAll(first, rehearsal.intents);
  await settled([first], rehearsal.intents);
  const points = pointsOf(first).filter(({ occurrence }) => occurrence < 2);
  assert.ok(points.length > 20, JSON.stringify(points));
  await first.kill();
  const taken = IS_LONG ? points : points.filter((_, own) => own % 9 === 4);
  let died = 0;
  for (const armed of taken) {
    const { service, start, intents } = await world(t, 1);
    const dying = await start(armed);
    const answer = submitAll(dying, intents).then(() => true, () => false);
    const given = { up: false };
    const dead = await Promise.race([dying.says(/^died at/, LIFE_MS).then(() => true), settled([dying], intents, given).then(() => false)]);
    given.up = true;
    died += dead ? 1 : 0;
    await dying.kill();
    const living = await start();
    // Whoever was not told that it is stored asks again; all else is the alarm's.
    if (!(await answer)) await submitAll(living, intents);
    await settled([dying, living], intents);
    await checkOnce(service, [dying, living], intents);
    await living.kill();
  }
  t.diagnostic(`died at ${died} of ${taken.length} points`);
  assert.ok(died > taken.length / 2);
});

for (const { where, plain, runs, deaths, count } of [
  { where: "objects", plain: false, runs: RUNS, deaths: DEATHS, count: INTENTS },
  { where: "objects of a plain workerd, on a disk,", plain: true, runs: Math.ceil(RUNS / 10) * PLAIN_DEATHS, deaths: PLAIN_DEATHS, count: 4 },
]) {
  test(`${where} killed again and again, at random moments, end their work once, by their alarms`, { timeout: LIFE_MS * (runs + 1) }, async (t) => {
    let killed = 0;
    while (killed < runs) {
      const { service, start, intents } = await world(t, count, plain);
      const edges = [];
      let unsure = intents;
      for (let death = 0; death < deaths; death++) {
        const edge = await start();
        edges.push(edge);
        const answers = Promise.allSettled(unsure.map((intent) => ask(edge, "submit", { intent, body })));
        await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 1200));
        await edge.kill();
        killed += 1;
        unsure = (await answers).flatMap(({ status }, at) => (status === "rejected" ? [unsure[at]] : []));
      }
      edges.push(await start());
      await submitAll(edges.at(-1), unsure);
      await settled(edges, intents);
      await checkOnce(service, edges, intents);
      await edges.at(-1).kill();
    }
    t.diagnostic(`killed ${killed} times, with ${count} intents each ${deaths} times`);
  });
}

test("an object whose module has trapped goes on in a new instance, and another object beside it does not notice", { timeout: 2 * LIFE_MS }, async (t) => {
  const { service, start, intents } = await world(t, 6);
  const edge = await start({ name: "send.after.submit", occurrence: 1, how: "trap" });
  await submitAll(edge, intents);
  await edge.says(/^trapped at/);
  await settled([edge], intents);
  await checkOnce(service, [edge], intents);
});

test("work that was stored and never sent is ended by the alarm after a kill", { timeout: 2 * LIFE_MS }, async (t) => {
  const { service, start, intents } = await world(t, 1);
  const dying = await start({ how: "slow" });
  await submitAll(dying, intents);
  await dying.kill();
  assert.equal((await service.ledger()).submits, 0);
  const living = await start();
  await settled([dying, living], intents);
  await checkOnce(service, [dying, living], intents);
});

test("an object that is replaced between its write and its request sends once", { timeout: 2 * LIFE_MS }, async (t) => {
  const { service, start, intents } = await world(t, 3);
  const edge = await start({ how: "replace" });
  await Promise.allSettled(intents.map((intent) => ask(edge, "submit", { intent, body })));
  await edge.says(/^replaced/);
  await settled([edge], intents);
  await checkOnce(service, [edge], intents);
  const { submits } = await service.ledger();
  assert.equal(submits, intents.length);
});

test("work that a message of a queue submits is done once, though the message comes again", { timeout: 2 * LIFE_MS }, async (t) => {
  const { service, start, intents } = await world(t, 1);
  const edge = await start();
  await ask(edge, "enqueue", { intent: intents[0], body });
  await edge.says(/^message 2/);
  await settled([edge], intents);
  await checkOnce(service, [edge], intents);
  const ids = edge.lines.flatMap((line) => /^message \d+ submitted (\S+)/.exec(line)?.[1] ?? []);
  assert.ok(ids.length > 1 && new Set(ids).size === 1, ids.join());
});
