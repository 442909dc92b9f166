// @ts-check
/**
 * News of deaths among the processes that share a database: whoever gets a lane is in a table, with its
 * process, from that transaction on. Like Web Locks it only makes takeover quicker; the lease decides.
 */
/** @import { SqlPort } from "./sql-database.js" */
import { hostname } from "node:os";

const TABLE = "CREATE TABLE IF NOT EXISTS holdfast_contexts (name TEXT PRIMARY KEY, place, process) WITHOUT ROWID";
const REMOVE = "DELETE FROM holdfast_contexts WHERE name = ?";

/** What the module's name of a lock begins with. */
const PREFIX = "holdfast:";

/** The contexts of this process that live. @type {Set<string>} */
const own = new Set();

/**
 * A port that keeps who gets a lane.
 *
 * @param {SqlPort} port
 * @returns {SqlPort}
 */
export function withContexts(port) {
  port.run(TABLE);
  return {
    ...port,
    owned(context) {
      const name = PREFIX + context;
      if (own.has(name)) return;
      own.add(name);
      for (const { name: other } of port.all("SELECT name FROM holdfast_contexts")) {
        if (isDead(port, other)) port.run(REMOVE, [other]);
      }
      port.run("INSERT OR REPLACE INTO holdfast_contexts VALUES (?, ?, ?)", [name, hostname(), process.pid]);
    },
  };
}

/**
 * A `LockManager` as far as the module uses one.
 *
 * @param {() => Promise<SqlPort>} open
 */
export const serverLocks = (open) => ({
  /**
   * @param {string} name
   * @param {{ ifAvailable?: boolean }} options
   * @param {(lock: object | null) => any} callback
   */
  async request(name, { ifAvailable }, callback) {
    if (ifAvailable) return callback(isDead(await open(), name) ? {} : null);
    try {
      return await callback({});
    } finally {
      // Its row stays: of this process and not among its own, it is known to be dead.
      own.delete(name);
    }
  },
});

/**
 * Whether a context is known to be dead: it was of this machine, and its process is gone, or is this
 * one and has it no longer.
 *
 * @param {SqlPort} port
 * @param {string} name
 */
function isDead(port, name) {
  const [row] = port.all("SELECT place, process FROM holdfast_contexts WHERE name = ?", [name]);
  if (row?.place !== hostname()) return false;
  return row.process === process.pid ? !own.has(name) : !isAlive(row.process);
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Whatever else it is, it may be alive.
    return /** @type {any} */ (error).code !== "ESRCH";
  }
}
