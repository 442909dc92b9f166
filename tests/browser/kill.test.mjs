// A browser is killed for real, at fail points and at random moments; each time the same operations go on
// to their ends when the tabs are opened again, executed and charged once.
//
// HOLDFAST_BROWSER says which browser. HOLDFAST_KILLS says how often: half of them at fail points that
// the seed draws, half at random moments; without it, it dies at every fail point that a life in one tab
// comes by, and at 20 random moments. HOLDFAST_SEED repeats a run's choices.
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { after, describe, test } from "node:test";
import { browserName, dice } from "./harness.mjs";
import { dieAfter, dieAt, kinds, record, totals } from "./kill/life.mjs";
import { Seats } from "./kill/seats.mjs";

/** How many browsers run at a time: a life waits more than it works. */
const SEATS = 4;
/** How many tabs are open, but where every fail point has its turn. */
const TABS = 3;
/** How many deaths at random moments, where no number is asked for. */
const RANDOM_DEATHS = 20;
/** How often a point that a life happens not to come by is tried. */
const TRIES = 3;
/** How long one death and the life after it may take, and the wait for a browser; in milliseconds. */
const TEST_MS = 300_000;
/** Random deaths fall into a life's first so many milliseconds. */
const LIFE_MS = 3500;

const seed = Number(process.env.HOLDFAST_SEED || Date.now() % 2 ** 31);
const kills = Number(process.env.HOLDFAST_KILLS || 0);
const roll = dice(seed);
const seats = await Seats.open(SEATS);
const recorded = Object.fromEntries(
  await Promise.all(kinds.map(async (kind) => [kind, await seats.with((seat) => record(seat, { kind, tabs: 1 }))])),
);

/** What a life is killed at: the first time at each point that is new, and at commits every time where a number is asked for. */
function deathsOf(kind, known) {
  const seen = {};
  return recorded[kind].flatMap((name) => {
    const occurrence = (seen[name] ??= 0);
    seen[name] += 1;
    const isNew = occurrence === 0 && !known.has(name);
    known.add(name);
    return isNew || (kills && name.startsWith("commit.")) ? [{ kind, name, occurrence }] : [];
  });
}

/** All deaths at fail points, or as many as are asked for, drawn by the seed. */
function pointDeaths() {
  const known = new Set();
  const all = kinds.flatMap((kind) => deathsOf(kind, known));
  if (!kills) return all;
  return Array.from({ length: Math.ceil(kills / 2) }, () => all[Math.floor(roll() * all.length)]);
}

/** The names of the fail points that the driver's source has. */
async function namesInSource() {
  const folder = new URL("../../src/driver/", import.meta.url);
  const files = (await readdir(folder)).filter((name) => name.endsWith(".rs"));
  const source = (await Promise.all(files.map((name) => readFile(new URL(name, folder), "utf8")))).join("\n");
  const found = (pattern) => [...source.matchAll(pattern)].map(([, name]) => name);
  const purposes = ["submit", "poll", "result", "cancel", "settle"];
  return [
    ...found(/\breach\("([^"]+)"\)/g),
    ...found(/\breach_for\("([^"]+)"/g).flatMap((name) => purposes.map((purpose) => `${name}.${purpose}`)),
  ];
}

after(() => seats.close());

test("the lives come by every fail point that there is", async () => {
  const reached = new Set(Object.values(recorded).flat());
  const names = await namesInSource();
  assert.ok(names.length > 20, "the source is read");
  assert.deepEqual(names.filter((name) => !reached.has(name)), []);
});

describe(`${browserName} killed at`, { concurrency: SEATS }, () => {
  for (const { kind, ...death } of pointDeaths()) {
    const name = `${death.name}, time ${death.occurrence + 1}, of a life that ends with a ${kind}`;
    test(name, { timeout: TEST_MS }, async (context) => {
      for (let round = 0; round < TRIES; round++) {
        if (await seats.with((seat) => dieAt(seat, { kind, tabs: kills ? TABS : 1 }, death))) return;
      }
      // How many commits a life makes depends on what falls together into one.
      assert.ok(death.occurrence > 0, "the point was never reached");
      context.diagnostic("not reached again: its writes fell into another commit");
    });
  }
});

describe(`${browserName} killed at random moments (HOLDFAST_SEED=${seed})`, { concurrency: SEATS }, () => {
  const count = kills ? Math.floor(kills / 2) : RANDOM_DEATHS;
  for (let index = 0; index < count; index++) {
    const kind = kinds[index % kinds.length];
    const afterMs = Math.round(roll() * LIFE_MS);
    test(`a life that ends with a ${kind}, after ${afterMs} ms`, { timeout: TEST_MS }, () =>
      seats.with((seat) => dieAfter(seat, { kind, tabs: TABS }, afterMs)),
    );
  }
});

test("executions are intents, each has its result or was cancelled, and nothing is lost", (context) => {
  context.diagnostic(JSON.stringify(totals));
  const { lives, intents, executions, results, cancelled, duplicates, lost } = totals;
  assert.ok(lives > 0);
  assert.deepEqual(
    { executions, ended: results + cancelled, duplicates, lost },
    { executions: intents, ended: intents, duplicates: 0, lost: 0 },
  );
});

test("no file that the browsers wrote holds a credential", async () => {
  assert.deepEqual(await seats.search(), { leaks: [], blind: [], searched: true });
});
