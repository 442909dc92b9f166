// Whose work an object's alarms take up, over a real SQLite with rows of the test's own.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { failPointsFolder } from "../browser/harness/environment.mjs";

const Sqlite = createRequire(import.meta.url)("better-sqlite3");
const script = (name) => import(pathToFileURL(join(failPointsFolder(), name)));
const { DueWork } = await script("object-due.js");
const { indexObject } = await script("object-storage.js");

const NOW = 1_800_000_000_000;
const CALLERS_MAX = 8;

/** Operations of an object: of callers by names, with the times at which they are due, and their deliveries. */
function world(t, rows) {
  const database = new Sqlite(":memory:");
  t.after(() => database.close());
  let read = 0;
  const exec = (sql, ...params) => {
    const statement = database.prepare(sql);
    const all = statement.reader ? statement.all(...params) : (statement.run(...params), []);
    read += all.length;
    return { toArray: () => all };
  };
  exec("CREATE TABLE holdfast_operations (id INTEGER PRIMARY KEY, account, due REAL, deliveryDue REAL)");
  indexObject({ sql: { exec } });
  const add = (account, due, deliveryDue = null) =>
    exec("INSERT INTO holdfast_operations (account, due, deliveryDue) VALUES (?, ?, ?)", account, due, deliveryDue);
  rows.forEach((row) => add(...row));
  // Each alarm may be a new instance's.
  const alarm = (now, work = () => undefined) => {
    const before = read;
    const due = new DueWork({ exec }, () => true);
    const callers = due.callers(now, CALLERS_MAX);
    work(callers);
    const pause = due.pause(now, false);
    return { callers, pause, rows: read - before };
  };
  return { add, alarm, exec };
}

/** Callers with much that is due, with something, and with deliveries; of many it is due since the beginning of time. */
const CROWD = [
  ...Array.from({ length: 300 }, () => ["much", 0]),
  ...Array.from({ length: 40 }, (_, at) => [`old ${at}`, 0]),
  ...Array.from({ length: 40 }, (_, at) => [`late ${at}`, NOW - at * 1000]),
  ...Array.from({ length: 20 }, (_, at) => [`delivered ${at}`, null, NOW - at * 1000]),
  ["\u{1f600} beyond", 0],
  ["\uffee", 0],
];

test("alarms take everybody up in turn whose work is due, whatever becomes due meanwhile, and read no more than a few rows", (t) => {
  const { add, alarm } = world(t, CROWD);
  const names = new Set(CROWD.map(([account]) => account));
  const seen = [new Set(), new Set()];
  for (const [round, own] of seen.entries()) {
    for (let at = 0; own.size < names.size; at++) {
      assert.ok(at < 200, `${own.size} of ${names.size} in round ${round}`);
      const now = NOW + (round * 100 + at) * 1000;
      for (let more = 0; more < 10; more++) add(`new ${at} ${more}`, now);
      const { callers, rows } = alarm(now);
      assert.ok(callers.length <= CALLERS_MAX && rows <= 300, `${callers.length} callers, ${rows} rows`);
      callers.filter((account) => names.has(account)).forEach((account) => own.add(account));
    }
  }
});

test("what has become due last is taken up at once, however much has been due for long", (t) => {
  const { add, alarm } = world(t, CROWD);
  alarm(NOW);
  add("fresh", NOW + 500);
  assert.ok(alarm(NOW + 1000).callers.includes("fresh"));
});

test("the pause doubles with each round that moves nothing, and begins anew when the walk moves something", (t) => {
  const { alarm, exec } = world(t, CROWD);
  const pauses = [];
  for (let at = 0; at < 200; at++) pauses.push(alarm(NOW + at).pause);
  assert.deepEqual([...new Set(pauses)], [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]);
  exec("DELETE FROM holdfast_operations WHERE account = 'much'");
  const due = new DueWork({ exec }, () => true);
  due.callers(NOW + 1000, CALLERS_MAX);
  exec("DELETE FROM holdfast_operations WHERE due = 0 OR deliveryDue > 0");
  assert.equal(due.pause(NOW + 1000, false), 0);
  exec("DELETE FROM holdfast_operations");
  assert.equal(due.pause(NOW + 1000, false), undefined);
});

for (const [stuck, healthy] of [[9, 40], [200, 100]]) {
  test(`of ${healthy} callers whose work becomes due together, none waits behind ${stuck} whose work cannot move`, (t) => {
    const { add, alarm, exec } = world(t, Array.from({ length: stuck }, (_, at) => [`stuck ${at}`, at]));
    for (let at = 0; at < 400; at++) alarm(NOW - 1000);
    for (let at = 0; at < healthy; at++) add(`healthy ${at}`, NOW);
    const left = () => exec("SELECT 1 FROM holdfast_operations WHERE account LIKE 'healthy%'").toArray().length;
    const work = (callers) => callers.forEach((account) => exec("DELETE FROM holdfast_operations WHERE account = ? AND due = ?", account, NOW));
    let [alarms, waited] = [0, 0];
    for (; left() > 0; alarms++) {
      const { pause } = alarm(NOW, work);
      if (left() > 0) waited += pause;
    }
    assert.ok(alarms <= healthy / 4, `${alarms} alarms`);
    assert.equal(waited, 0);
  });
}

test("the polls of one beside many whose work cannot move bring no further alarm, and no shorter pauses", (t) => {
  const { add, alarm, exec } = world(t, Array.from({ length: 30 }, (_, at) => [`stuck ${at}`, at]));
  for (let at = 0; at < 400; at++) alarm(NOW - 1000);
  add("polled", NOW);
  const pauses = [1, 2, 3, 4].map((at) => alarm(NOW, () => exec("UPDATE holdfast_operations SET due = ? WHERE account = 'polled'", NOW - at)).pause);
  assert.deepEqual(pauses, [60_000, 60_000, 60_000, 60_000]);
});

test("what is done of much that is due at one time counts as moved", (t) => {
  const many = Array.from({ length: 200 }, () => ["many", 0]);
  const { alarm, exec } = world(t, [...many, ...Array.from({ length: 20 }, (_, at) => [`stuck ${at}`, 1 + at])]);
  const first = "SELECT min(id) FROM holdfast_operations WHERE account = 'many'";
  assert.equal(alarm(NOW, () => exec(`DELETE FROM holdfast_operations WHERE id = (${first})`)).pause, 0);
});
