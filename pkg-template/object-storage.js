// @ts-check
/** The storage of a Durable Object: its SQL, and its alarm, which is set with what it is for. */
/** @import { SqlPort } from "./sql-database.js" */

/** What finds the next of all that is due, whosever it is. */
const INDEXES = [
  "by_time ON holdfast_operations (due, account) WHERE due IS NOT NULL",
  "by_delivery_time ON holdfast_operations (deliveryDue, account) WHERE deliveryDue IS NOT NULL",
];

/** How much of what is due is looked at for whose it is. */
const DUE_MAX = 64;

/**
 * @param {DurableObjectStorage} storage
 * @param {() => void} changed Called after each write, in the turn of its transaction.
 * @returns {SqlPort}
 */
export const objectPort = (storage, changed) => ({
  all: (sql, params = []) => storage.sql.exec(sql, ...params).toArray(),
  run: (sql, params = []) => void storage.sql.exec(sql, ...params),
  transaction(work, durability) {
    if (!durability) return work();
    const done = storage.transactionSync(work);
    changed();
    return done;
  },
  synced: () => storage.sync(),
});

/**
 * Makes the indexes of an object, whose tables are there.
 *
 * @param {DurableObjectStorage} storage
 */
export const indexObject = (storage) => {
  for (const index of INDEXES) storage.sql.exec(`CREATE INDEX IF NOT EXISTS holdfast_${index}`);
};

/**
 * Whether anything was ever stored here.
 *
 * @param {DurableObjectStorage} storage
 */
export const isUsed = (storage) =>
  storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'holdfast_by_time'").toArray().length > 0;

/**
 * Whether an operation is stored here.
 *
 * @param {DurableObjectStorage} storage
 * @param {string} id
 */
export const isKnown = (storage, id) =>
  storage.sql.exec("SELECT 1 FROM holdfast_operations WHERE id = ?", id).toArray().length > 0;

/**
 * When the first of all that is stored is due; `undefined`: nothing is.
 *
 * @param {DurableObjectStorage} storage
 * @param {boolean} delivers Whether endings are delivered here.
 * @returns {number | undefined}
 */
export function firstDue(storage, delivers) {
  const times = (delivers ? ["due", "deliveryDue"] : ["due"]).flatMap((column) =>
    storage.sql
      .exec(`SELECT ${column} AS at FROM holdfast_operations WHERE ${column} IS NOT NULL ORDER BY ${column} LIMIT 1`)
      .toArray()
      .map(({ at }) => Number(at)),
  );
  return times.length ? Math.min(...times) : undefined;
}

/**
 * Whose work is due, soonest first.
 *
 * @param {DurableObjectStorage} storage
 * @param {boolean} delivers
 * @param {number} now
 * @param {number} limit How many are told at most.
 * @returns {string[]}
 */
export function dueAccounts(storage, delivers, now, limit) {
  const indexes = { due: "by_time", ...(delivers && { deliveryDue: "by_delivery_time" }) };
  // By the index, and no further than this: what is read must not grow with what is stored.
  const rows = Object.entries(indexes).flatMap(([column, index]) =>
    storage.sql
      .exec(
        `SELECT account, ${column} AS at FROM holdfast_operations INDEXED BY holdfast_${index} WHERE ${column} <= ? ORDER BY ${column} LIMIT ?`,
        now,
        DUE_MAX,
      )
      .toArray(),
  );
  const soonest = rows.sort((one, other) => Number(one.at) - Number(other.at));
  return [...new Set(soonest.map(({ account }) => String(account)))].slice(0, limit);
}
