// @ts-check
/** The storage of a Durable Object: its SQL, and its alarm, which is set with what it is for. */
/** @import { SqlPort } from "./sql-database.js" */
import { ROUNDS_TABLE } from "./object-due.js";

/** What finds the next of all that is due, whosever it is. */
const INDEXES = [
  "by_time ON holdfast_operations (due, account) WHERE due IS NOT NULL",
  "by_delivery_time ON holdfast_operations (deliveryDue, account) WHERE deliveryDue IS NOT NULL",
];

/** What writes an operation. */
const WRITE = /INTO holdfast_operations \((.*?)\)/;

/** When an operation that was written is due, by columns. @typedef {Record<string, unknown>} Written */

/**
 * @param {DurableObjectStorage} storage
 * @param {(operations: Written[]) => void} changed Called after each write, in the turn of its transaction.
 * @returns {SqlPort}
 */
export function objectPort(storage, changed) {
  /** Of the transaction that there is. @type {Written[]} */
  let operations = [];
  return {
    all: (sql, params = []) => storage.sql.exec(sql, ...params).toArray(),
    run(sql, params = []) {
      storage.sql.exec(sql, ...params);
      const names = WRITE.exec(sql)?.[1].split(",");
      if (names) operations.push(Object.fromEntries(names.map((name, at) => [name, params[at]])));
    },
    transaction(work, durability) {
      if (!durability) return work();
      operations = [];
      const done = storage.transactionSync(work);
      changed(operations);
      return done;
    },
    synced: () => storage.sync(),
  };
}

/**
 * Makes what an object has beside its tables, which are there.
 *
 * @param {DurableObjectStorage} storage
 */
export const indexObject = (storage) => {
  for (const index of INDEXES) storage.sql.exec(`CREATE INDEX IF NOT EXISTS holdfast_${index}`);
  storage.sql.exec(ROUNDS_TABLE);
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
