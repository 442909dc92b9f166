// The browser is killed for real, at every fail point and at random moments; each time the same
// operation goes on to its end when the page is opened again, executed and charged once.
//
// HOLDFAST_SEED repeats a run's random moments; with HOLDFAST_DEEP there are ten times as many.
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { after, describe, test } from "node:test";
import { dieAfter, dieAt, kinds, record } from "./kill/life.mjs";
import { Seats } from "./kill/seats.mjs";

/** How many browsers run at a time. */
const SEATS = 3;
/** How many deaths at random moments. */
const RANDOM_DEATHS = process.env.HOLDFAST_DEEP ? 200 : 20;
/** How often a point that a life happens not to come by is tried. */
const TRIES = 3;
/** How long one death and the life after it may take, and the wait for a browser; in milliseconds. */
const TEST_MS = 300_000;
/** Random deaths fall into a life's first so many milliseconds. */
const LIFE_MS = 3500;

const seed = Number(process.env.HOLDFAST_SEED || Date.now() % 2 ** 31);
const seats = await Seats.open(SEATS);
const recorded = Object.fromEntries(
  await Promise.all(kinds.map(async (kind) => [kind, await seats.with((seat) => record(seat, kind))])),
);

/** Points that a life before has been killed at. */
const known = new Set();

/** What a life is killed at: the first time at each new point, and at commits every time. */
function deathsOf(points) {
  const seen = {};
  const deaths = points.flatMap((name) => {
    const occurrence = seen[name] ?? 0;
    seen[name] = occurrence + 1;
    const isNew = occurrence === 0 && !known.has(name);
    return isNew || name.startsWith("commit.") ? [{ name, occurrence }] : [];
  });
  points.forEach((name) => known.add(name));
  return deaths;
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function dice(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
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

for (const kind of kinds) {
  describe(`a life that ends with a ${kind}, killed at`, { concurrency: SEATS }, () => {
    for (const death of deathsOf(recorded[kind])) {
      test(`${death.name}, time ${death.occurrence + 1}`, { timeout: TEST_MS }, async (context) => {
        for (let round = 0; round < TRIES; round++) {
          if (await seats.with((seat) => dieAt(seat, kind, death))) return;
        }
        // How many commits a life makes depends on what falls together into one.
        assert.ok(death.occurrence > 0, "the point was never reached");
        context.diagnostic("not reached again: its writes fell into another commit");
      });
    }
  });
}

describe(`killed at random moments (HOLDFAST_SEED=${seed})`, { concurrency: SEATS }, () => {
  const roll = dice(seed);
  for (let index = 0; index < RANDOM_DEATHS; index++) {
    const kind = kinds[index % kinds.length];
    const afterMs = Math.round(roll() * LIFE_MS);
    test(`a life that ends with a ${kind}, after ${afterMs} ms`, { timeout: TEST_MS }, () =>
      seats.with((seat) => dieAfter(seat, kind, afterMs)),
    );
  }
});

test("no file that the browsers wrote holds a credential", async () => {
  assert.deepEqual(await seats.search(), { leaks: [], blind: [], searched: true });
});
