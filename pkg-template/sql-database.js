// @ts-check
/** The store's tables in an SQL database: their schema, and how rows go in and out. */

/**
 * What is asked of a database. All of it is synchronous, so that a transaction is one turn.
 *
 * @typedef {object} SqlPort
 * @property {(sql: string, params?: readonly any[]) => any[]} all Rows, as objects.
 * @property {(sql: string, params?: readonly any[]) => void} run
 * @property {<T>(work: () => T, durability: Durability) => T} transaction
 *   All of the work or nothing. What is written strictly is on the disk when this returns, or when
 *   `synced` resolves. Throws {@link CommitLost} where it cannot be told what became of it.
 * @property {() => Promise<void>} [synced] Resolves once all that was written is on the disk.
 * @property {(context: string) => void} [owned] Told of the context of ours that a lane goes to, inside
 *   the transaction: who lives is known together with what is theirs.
 * @property {() => void} [close]
 */

/** `""` reads only. @typedef {"" | "relaxed" | "strict"} Durability */

/** The commit failed, and what has become of the transaction is not known. */
export class CommitLost extends Error {
  name = "CommitLost";
}

/**
 * Longest piece of a value, in bytes. Durable Objects take rows of 2 MB at most.
 */
const PIECE_BYTES = 1_000_000;

/** Longest text, in UTF-16 code units: in UTF-8 that fits into the same rows. */
const TEXT_LENGTH_MAX = 600_000;

/**
 * The tables: of each the columns of its key, and those of its values in the order in which the
 * module knows them. What has no type is kept as it is; numbers are REAL, so that the end of time, which
 * no 64-bit integer holds, comes back as it went in.
 *
 * @type {Record<string, { key: string[], columns: string[] }>}
 */
const TABLES = {
  operations: {
    key: ["id"],
    columns: ["account", "lane", "createdAt REAL", "due REAL", "deliveryDue REAL", "revision REAL", "writeId", "document"],
  },
  bodies: { key: ["id", "part"], columns: ["value"] },
  chunks: { key: ["operation", "piece", "part"], columns: ["value"] },
  journal: { key: ["operation", "slot"], columns: ["number REAL", "document"] },
  names: { key: ["name"], columns: ["id"] },
  service_ids: { key: ["name"], columns: ["id"] },
  lanes: {
    key: ["lane"],
    columns: ["owner", "epoch REAL", "renewedAt REAL", "leaseUntil REAL", "gateSetAt REAL", "gateLengthMs REAL", "sent"],
  },
  profiles: { key: ["digest"], columns: ["text"] },
};

/** Tables whose rows are pieces of a value, numbered from 0. */
const SPLIT = ["bodies", "chunks"];

/** Tables whose rows name themselves: what the module gives begins with the key. */
const SELF_NAMED = ["operations"];

/** Columns that hold lists, as JSON. */
const LISTS = ["sent"];

/** Written once: the first stays. */
const ONCE = ["bodies", "profiles"];

/** Indexes of operations. Each is named after what it is for. */
const INDEXES = [
  "by_due ON holdfast_operations (lane, due) WHERE due IS NOT NULL",
  "by_delivery_due ON holdfast_operations (lane, deliveryDue) WHERE deliveryDue IS NOT NULL",
  "by_creation ON holdfast_operations (account, createdAt, id)",
];

/**
 * The schema's version, and the oldest that can work with what this one writes. Versions go in hundreds:
 * after a rollback, older code opens what newer code has made, unless that says that it must not.
 */
const [VERSION, READABLE_FROM] = [100, 100];

/** What makes the tables where they are missing, one statement each. */
const SCHEMA = [
  "CREATE TABLE IF NOT EXISTS holdfast_schema (version INTEGER PRIMARY KEY, readableFrom INTEGER)",
  `INSERT OR IGNORE INTO holdfast_schema VALUES (${VERSION}, ${READABLE_FROM})`,
  ...Object.entries(TABLES).map(([name, { key, columns }]) => {
    return `CREATE TABLE IF NOT EXISTS holdfast_${name} (${[...key, ...columns]}, PRIMARY KEY (${key})) WITHOUT ROWID`;
  }),
  ...INDEXES.map((index) => `CREATE INDEX IF NOT EXISTS holdfast_${index}`),
];

/**
 * Makes the tables where they are missing. What only newer code can work with is left as it is.
 *
 * @param {SqlPort} port
 */
export function prepare(port) {
  const [known] = port.all("SELECT 1 FROM sqlite_master WHERE name = 'holdfast_schema'");
  const newest = known && port.all("SELECT max(readableFrom) AS needed FROM holdfast_schema")[0].needed;
  if (newest > VERSION) throw "the database has a newer schema";
  SCHEMA.forEach((sql) => port.run(sql));
}

/** @param {string} column */
const nameOf = (column) => column.split(" ")[0];

/**
 * The columns of a table's values, in the module's order.
 *
 * @param {string} table
 */
export const columnsOf = (table) => {
  const { key, columns } = TABLES[table];
  return [...(SELF_NAMED.includes(table) ? key : []), ...columns.map(nameOf)];
};

/**
 * A row of named columns, as the module takes it: a list, or the one value there is.
 *
 * @param {string} table
 * @param {any} row
 */
export function valueOf(table, row) {
  const values = columnsOf(table).map((name) =>
    LISTS.includes(name) && row[name] ? JSON.parse(row[name]) : (row[name] ?? undefined),
  );
  return values.length > 1 ? values : values[0];
}

/**
 * The value under a key; `undefined` where there is none.
 *
 * @param {SqlPort} port
 * @param {string} table
 * @param {any} key
 */
export function read(port, table, key) {
  const rows = port.all(`SELECT ${columnsOf(table)} FROM holdfast_${table} WHERE ${where(table)}`, keyOf(table, key));
  if (!rows.length) return undefined;
  return SPLIT.includes(table) ? joined(rows) : valueOf(table, rows[0]);
}

/**
 * Writes a value under a key; what has none names itself.
 *
 * @param {SqlPort} port
 * @param {string} table
 * @param {any} value
 * @param {any} [key]
 */
export function write(port, table, value, key) {
  if (table === "lanes" && port.owned) takenUp(port, port.owned, key, value[0]);
  const given = SPLIT.includes(table) ? [] : Array.isArray(value) ? value : [value];
  for (const own of given) {
    if (typeof own === "string" && own.length > TEXT_LENGTH_MAX) throw "a text is too long to be kept";
  }
  if (!SPLIT.includes(table)) return insert(port, table, [...(key === undefined ? [] : keyOf(table, key)), ...given]);
  if (ONCE.includes(table) && read(port, table, key) !== undefined) return;
  remove(port, table, key);
  for (let part = 0; part === 0 || part * PIECE_BYTES < value.length; part++) {
    const piece = value.subarray(part * PIECE_BYTES, (part + 1) * PIECE_BYTES);
    insert(port, table, [...keyOf(table, key), part, piece]);
  }
}

/**
 * Whoever a lane goes to writes that itself; others leave its owner as it is.
 *
 * @param {SqlPort} port
 * @param {(context: string) => void} owned
 * @param {string} lane
 * @param {string | undefined} owner
 */
function takenUp(port, owned, lane, owner) {
  if (owner !== undefined && read(port, "lanes", lane)?.[0] !== owner) owned(owner);
}

/**
 * Removes what is under a key; under the beginning of one, all that begins so.
 *
 * @param {SqlPort} port
 * @param {string} table
 * @param {any} key
 */
export function remove(port, table, key) {
  const values = keyOf(table, key);
  port.run(`DELETE FROM holdfast_${table} WHERE ${where(table, values.length)}`, values);
}

/**
 * @param {SqlPort} port
 * @param {string} table
 * @param {any[]} values
 */
function insert(port, table, values) {
  const { key, columns } = TABLES[table];
  const how = ONCE.includes(table) ? "IGNORE" : "REPLACE";
  const names = [...key, ...columns.map(nameOf)];
  port.run(
    `INSERT OR ${how} INTO holdfast_${table} (${names}) VALUES (${names.map(() => "?")})`,
    values.map((value) => (Array.isArray(value) ? JSON.stringify(value) : (value ?? null))),
  );
}

/**
 * @param {string} table
 * @param {number} [count] How many columns of the key are given.
 */
function where(table, count) {
  const columns = TABLES[table].key.filter((name) => name !== "part").slice(0, count);
  const order = SPLIT.includes(table) && count === undefined ? " ORDER BY part" : "";
  return columns.map((name) => `${name} = ?`).join(" AND ") + order;
}

/**
 * The values of the columns of a key. A key of several parts in one column is their JSON.
 *
 * @param {string} table
 * @param {any} key
 * @returns {any[]}
 */
function keyOf(table, key) {
  if (!Array.isArray(key)) return [key];
  const [first, ...rest] = key;
  if (table === "names" || table === "service_ids") return [JSON.stringify(key)];
  return rest.length ? [first, table === "chunks" ? rest.join(".") : rest[0]] : [first];
}

/**
 * The bytes of a value from its pieces.
 *
 * @param {{ value: Uint8Array | ArrayBuffer }[]} rows
 */
function joined(rows) {
  const pieces = rows.map(({ value }) => new Uint8Array(value));
  if (pieces.length === 1) return pieces[0];
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
