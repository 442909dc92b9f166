// Counts the rows that each transaction of the store reads in an object, with few operations stored and with many.
import { DurableObject } from "cloudflare:workers";
import { DueWork } from "pkg/object-due.js";
import { indexObject, isKnown, objectPort } from "pkg/object-storage.js";
import { sqlStore } from "pkg/sql-transaction.js";

const [NOW, LATER] = [1_790_000_000_000, 1_990_000_000_000];
/** Operations that are due, of however many there are. */
const DUE = 5;

const OPERATIONS = `
  WITH RECURSIVE numbers (n) AS (SELECT CAST(?1 AS INTEGER) UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?2)
  INSERT INTO holdfast_operations (id, account, lane, createdAt, due, deliveryDue, revision, writeId, document)
  SELECT 'id' || n, 'ann', 'lane', n, iif(n < ${DUE}, ${NOW} - n, ${LATER} + n), iif(n < ${DUE}, ${NOW} - n, NULL), 1, 'w', '{}'
  FROM numbers`;

/** What belongs to the operations, by name or id. */
const BESIDE = [
  "INSERT INTO holdfast_bodies SELECT id, 0, x'7b7d' FROM holdfast_operations WHERE true ON CONFLICT DO NOTHING",
  "INSERT INTO holdfast_chunks SELECT id, '1.0', 0, x'7b7d' FROM holdfast_operations WHERE true ON CONFLICT DO NOTHING",
  "INSERT INTO holdfast_journal SELECT id, 0, 0, '{}' FROM holdfast_operations WHERE true ON CONFLICT DO NOTHING",
  "INSERT INTO holdfast_names SELECT json_array('ann', id), id FROM holdfast_operations WHERE true ON CONFLICT DO NOTHING",
  "INSERT INTO holdfast_service_ids SELECT json_array('jobs', id), id FROM holdfast_operations WHERE true ON CONFLICT DO NOTHING",
];

const ROW = ["id3", "ann", "lane", 3, NOW, undefined, 2, "w2", "{}"];

const dueWork = ({ sql }) => new DueWork(sql, () => true);

/** What is asked of the store. @type {Record<string, (own: { store: any, storage: any }) => any>} */
const ASKED = {
  ...Object.fromEntries(
    Object.entries({
      due: ["by_due", "lane", NOW, 128],
      delivery: ["by_delivery_due", "lane", NOW, 128],
      list: ["ann", 3],
      "list on": ["ann", 3, 15, "id15"],
      load: ["id3"],
      find: [["ann", "id3"]],
      body: ["id3"],
      chunk: [["id3", 1, 0]],
      journal: ["id2"],
      owner: [["jobs", "id3"]],
      change: [[["operations", "id3"]], () => [["operations", ROW], ["journal", [1, "{}"], ["id3", 1]]]],
      whole: [[["operations", "id4"]], () => ["bodies", "chunks", "journal"].map((table) => [table, undefined, ["id4"]])],
    }).map(([name, args]) => {
      const what = { delivery: "due", "list on": "list" }[name] ?? name;
      return [name, ({ store }) => store.run(what, args).done];
    }),
  ),
  "first due": ({ storage }) => dueWork(storage).first(),
  "next due": ({ storage }) => dueWork(storage).first(NOW),
  "callers due": ({ storage }) => dueWork(storage).callers(NOW, 8),
  "callers of a walk": ({ storage }) => dueWork(storage).callers(NOW, 0),
  pause: ({ storage }) => dueWork(storage).pause(NOW, false),
  "is known": ({ storage }) => isKnown(storage, "id3"),
};

export class Rows extends DurableObject {
  async counted() {
    const { sql, transactionSync, sync } = this.ctx.storage;
    let read = 0;
    const exec = (...args) => {
      const cursor = sql.exec(...args);
      const rows = cursor.toArray();
      read += cursor.rowsRead;
      return { toArray: () => rows };
    };
    const own = this.ctx.storage;
    const storage = { sql: { exec }, transactionSync: transactionSync.bind(own), sync: sync.bind(own) };
    const store = sqlStore(() => objectPort(storage, () => undefined), console.error, () => indexObject(storage));
    await store.open();
    dueWork(own).keep({ fruitless: 0 });
    const counted = {};
    let from = 0;
    for (const to of [20, 2000]) {
      sql.exec(OPERATIONS, from, to);
      for (const statement of BESIDE) sql.exec(statement);
      from = to;
      for (const [what, ask] of Object.entries(ASKED)) {
        read = 0;
        await ask({ store, storage });
        (counted[what] ??= []).push(read);
      }
    }
    return counted;
  }
}

export default {
  async fetch(_, { ROWS }) {
    return Response.json(await ROWS.get(ROWS.idFromName("one")).counted());
  },
};
