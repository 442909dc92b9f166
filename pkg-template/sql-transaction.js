// @ts-check
/**
 * The hands of the store over SQL: the twin of `idb-transaction.js`. The module says what to read, and
 * decides what is written, inside the transaction.
 */
/** @import { Durability, SqlPort } from "./sql-database.js" */
import { columnsOf, CommitLost, prepare, read, remove, valueOf, write } from "./sql-database.js";

/**
 * What a transaction is asked for: its durability, and what it does.
 *
 * @type {Record<string, [Durability, (port: SqlPort, ...args: any[]) => any]>}
 */
const PLANS = {
  body: ["", (port, key) => read(port, "bodies", key)],
  chunk: ["", (port, key) => read(port, "chunks", key)],
  lane: ["", (port, key) => read(port, "lanes", key)],
  profile: ["", (port, key) => read(port, "profiles", key)],
  load: ["", (port, key) => read(port, "operations", key)],
  find: ["", find],
  due: ["", due],
  list: ["", list],
  journal: ["", journal],
  owner: ["", (port, key) => read(port, "service_ids", key)],
  put: ["relaxed", change],
  change: ["strict", change],
  strict: ["strict", change],
  relaxed: ["relaxed", change],
  loose: ["relaxed", change],
  whole: ["strict", change],
};

/**
 * The row that a name leads to.
 *
 * @param {SqlPort} port
 * @param {any} name
 */
function find(port, name) {
  const id = read(port, "names", name);
  return id === undefined ? undefined : read(port, "operations", id);
}

/**
 * What is due by one of the indexes, soonest first; and the first that is later.
 *
 * @param {SqlPort} port
 * @param {string} index
 * @param {string} lane
 * @param {number} before
 * @param {number} limit
 */
function due(port, index, lane, before, limit) {
  const column = index === "by_due" ? "due" : "deliveryDue";
  const rows = select(port, `lane = ? AND ${column} <= ? ORDER BY ${column}, id LIMIT ?`, [lane, before, limit]);
  const [later] = select(port, `lane = ? AND ${column} > ? ORDER BY ${column}, id LIMIT 1`, [lane, before]);
  return [rows, later];
}

/**
 * A page of an account's operations, newest first.
 *
 * @param {SqlPort} port
 * @param {string} account
 * @param {number} limit
 * @param {any[]} after The time and id to go on after, if any.
 */
function list(port, account, limit, ...after) {
  const beyond = after.length ? "AND (createdAt, id) < (?, ?) " : "";
  const order = "ORDER BY createdAt DESC, id DESC LIMIT ?";
  return select(port, `account = ? ${beyond}${order}`, [account, ...after, limit]);
}

/**
 * The journal's ring, in the order of its numbers.
 *
 * @param {SqlPort} port
 * @param {string} id
 */
function journal(port, id) {
  const sql = "SELECT number, document FROM holdfast_journal WHERE operation = ? ORDER BY number";
  return port.all(sql, [id]).map((row) => valueOf("journal", row));
}

/**
 * Reads, lets the module decide, and writes.
 *
 * @param {SqlPort} port
 * @param {([string, any] | undefined)[]} reads Tables and keys.
 * @param {(found: any[]) => [string, any, ...any[]][]} decide From what was read to what is written:
 *   tables, values and keys. What has no value goes.
 */
function change(port, reads, decide) {
  const found = reads.map((own) => own && read(port, ...own));
  for (const [table, value, key] of decided(decide, found)) {
    if (value === undefined) remove(port, table, key);
    else write(port, table, value, key);
  }
}

/**
 * @template T
 * @param {(found: any[]) => T} decide
 * @param {any[]} found
 */
function decided(decide, found) {
  try {
    return decide(found);
  } catch (error) {
    throw typeof error === "string" ? error : new Trap(error);
  }
}

/** The module has died in a decision. */
class Trap {
  name = "trap";

  /** @param {unknown} cause */
  constructor(cause) {
    this.cause = cause;
  }
}

/**
 * Rows of operations.
 *
 * @param {SqlPort} port
 * @param {string} where
 * @param {any[]} params
 */
function select(port, where, params) {
  const rows = port.all(`SELECT ${columnsOf("operations")} FROM holdfast_operations WHERE ${where}`, params);
  return rows.map((row) => valueOf("operations", row));
}

/**
 * The store over a database, as the module drives it. It is opened by the first transaction, once, and
 * again after a failure.
 *
 * @param {() => SqlPort | Promise<SqlPort>} connect
 * @param {(error: unknown) => void} trapped Told of what has killed the module in a decision.
 * @param {() => void} [extend] Makes what a host has beside the tables.
 */
export function sqlStore(connect, trapped, extend = () => undefined) {
  /** @type {Promise<SqlPort> | undefined} */
  let opening;
  const open = () =>
    (opening ??= connected(connect, extend).catch((error) => {
      opening = undefined;
      throw error;
    }));
  return {
    open,
    run(/** @type {string} */ what, /** @type {any[]} */ args) {
      let dropped = false;
      const done = carry(open, () => dropped, what, args, trapped);
      return { done, drop: () => void (dropped = true) };
    },
    forget() {
      opening?.then(
        (port) => port.close?.(),
        () => undefined,
      );
      opening = undefined;
    },
  };
}

/**
 * @param {() => SqlPort | Promise<SqlPort>} connect
 * @param {() => void} extend
 */
async function connected(connect, extend) {
  const port = await connect();
  try {
    port.transaction(() => {
      prepare(port);
      extend();
    }, "strict");
    return port;
  } catch (error) {
    // The next try opens one of its own.
    port.close?.();
    throw error;
  }
}

/**
 * Carries a transaction out. It fails with one of four kinds, a space and a reason.
 *
 * @param {() => Promise<SqlPort>} open
 * @param {() => boolean} isDropped Whether nobody waits for it any more.
 * @param {string} what
 * @param {any[]} args
 * @param {(error: unknown) => void} trapped
 */
async function carry(open, isDropped, what, args, trapped) {
  const [durability, work] = PLANS[what];
  let kind = "unavailable";
  try {
    const port = await open();
    if (isDropped()) throw "dropped";
    kind = "aborted";
    const found = port.transaction(() => work(port, ...args), durability);
    kind = "unknown";
    if (durability === "strict") await port.synced?.();
    return found;
  } catch (error) {
    if (error instanceof Trap) trapped(error.cause);
    throw `${kindOf(kind, error)} ${reason(error)}`;
  }
}

/**
 * @param {string} kind
 * @param {any} error
 */
function kindOf(kind, error) {
  if (error instanceof CommitLost) return "unknown";
  if (kind !== "aborted") return kind;
  const text = `${error?.code} ${error?.errstr} ${error?.message}`;
  if (/SQLITE_FULL|disk is full/i.test(text)) return "full";
  return /SQLITE_(BUSY|CANTOPEN|READONLY|NOTADB|IOERR)|locked|not open/i.test(text) ? "unavailable" : kind;
}

/**
 * What is told of an exception: its code or name, or the text itself where text was thrown.
 *
 * @param {any} error
 */
const reason = (error) => (typeof error === "string" ? error : (error?.errstr ?? error?.code ?? error?.name ?? "no answer"));
