// @ts-check
/** SQLite in servers: `node:sqlite`, `better-sqlite3`, and what has their shape. */
/** @import { Durability, SqlPort } from "./sql-database.js" */
import { HoldfastError } from "./error.js";
import { CommitLost } from "./sql-database.js";

/** How long a transaction waits for another process's, in milliseconds. */
const BUSY_MS = 5000;
/** Statements that are kept prepared. */
const PREPARED_MAX = 100;

/**
 * A port over a database of that shape. It is set to WAL; a strict commit waits for the disk.
 *
 * @param {import("./node.d.ts").SqliteDatabase} database
 * @param {boolean} owned Whether `close` closes it.
 * @returns {SqlPort}
 */
export function sqlitePort(database, owned) {
  /** @type {Map<string, any>} */
  const prepared = new Map();
  /** @param {string} sql */
  const statement = (sql) => {
    let own = prepared.get(sql);
    if (!own) {
      if (prepared.size >= PREPARED_MAX) prepared.clear();
      prepared.set(sql, (own = database.prepare(sql)));
    }
    return own;
  };
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  database.exec("PRAGMA journal_mode = WAL");
  let synchronous = "";
  const sync = (/** @type {Durability} */ durability) => {
    const wanted = durability === "strict" ? "FULL" : "NORMAL";
    if (synchronous !== wanted) database.exec(`PRAGMA synchronous = ${wanted}`);
    synchronous = wanted;
  };
  return {
    all: (sql, params = []) => statement(sql).all(...params),
    run: (sql, params = []) => void statement(sql).run(...params),
    transaction(work, durability) {
      if (durability) sync(durability);
      database.exec(durability ? "BEGIN IMMEDIATE" : "BEGIN");
      let done;
      try {
        done = work();
      } catch (error) {
        database.exec("ROLLBACK");
        throw error;
      }
      try {
        database.exec("COMMIT");
      } catch (error) {
        undo(database);
        throw new CommitLost("COMMIT failed", { cause: error });
      }
      return done;
    },
    close: () => owned && database.close(),
  };
}

/** @param {import("./node.d.ts").SqliteDatabase} database */
function undo(database) {
  try {
    database.exec("ROLLBACK");
  } catch {
    // SQLite has done that by itself.
  }
}

/**
 * Opens a database file with the SQLite that this server has: `node:sqlite`, else the package
 * `better-sqlite3`.
 *
 * @param {string} file
 * @returns {Promise<SqlPort>}
 */
export async function openFile(file) {
  const { default: Sqlite } = await sqlite();
  let database;
  try {
    database = new Sqlite(file);
    return sqlitePort(database, true);
  } catch (/** @type {any} */ cause) {
    database?.close();
    if (isUnbuilt(cause)) throw unbuilt(cause);
    throw new HoldfastError(`The file ${file} cannot be opened as a database: ${cause.message}. Nothing was sent.`, {
      code: "STORAGE_UNAVAILABLE",
      nextStep: "See that its folder is there and may be written, then call again.",
      cause,
    });
  }
}

/** @returns {Promise<{ default: new (file: string) => import("./node.d.ts").SqliteDatabase }>} */
async function sqlite() {
  const [own, other] = ["node:sqlite", "better-sqlite3"];
  try {
    return { default: (await import(own)).DatabaseSync };
  } catch {
    // Node before 22.5 has none.
  }
  try {
    return await import(other);
  } catch (cause) {
    if (isUnbuilt(cause)) throw unbuilt(cause);
    throw new HoldfastError("This server has no SQLite: neither node:sqlite nor better-sqlite3.", {
      code: "STORAGE_UNAVAILABLE",
      nextStep: "Use Node 22.13 or later (22.5 with --experimental-sqlite), or install better-sqlite3.",
      cause,
    });
  }
}

/**
 * Whether better-sqlite3 is there without what is compiled of it, or with that of another Node.
 *
 * @param {any} cause
 */
const isUnbuilt = (cause) =>
  cause?.code === "ERR_DLOPEN_FAILED" || /Could not locate the bindings file|NODE_MODULE_VERSION/.test(cause?.message);

/** @param {unknown} cause */
const unbuilt = (cause) =>
  new HoldfastError("better-sqlite3 is installed, and not built for this Node. Nothing was sent.", {
    code: "STORAGE_UNAVAILABLE",
    nextStep: "Run npm rebuild better-sqlite3 (npm 11 asks to approve its install script first), then call again.",
    cause,
  });
