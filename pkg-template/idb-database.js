// @ts-check
/** The database of the store: its schema, and its opening. */

/**
 * How long opening may take, in milliseconds: right after a crash, or on a busy machine, that is seconds. What wakes
 * Safari 14.0, whose first opening may never settle (`databases()`), is not here: it does not run the module either.
 */
const OPEN_MS = 20_000;
/** How long after what was lost on the way to the storage it is opened once more, in milliseconds. */
const AGAIN_MS = 1000;
/** Into how many parts a wait is split. */
const PARTS = 4;
/**
 * The schema's version. Versions go in hundreds, and a database is opened without one: after a
 * rollback, older code still opens what newer code has made. A new one is whole by that opening, as version 1.
 */
const VERSION = 100;

/**
 * The object stores, and the members of their values in the order in which the module knows them;
 * a value without names is stored as it is.
 *
 * @type {Record<string, string[]>}
 */
export const STORES = {
  operations: "id account lane createdAt due deliveryDue revision writeId document".split(" "),
  bodies: [],
  chunks: [],
  journal: ["number", "document"],
  names: [],
  service_ids: [],
  lanes: "owner epoch renewedAt leaseUntil gateSetAt gateLengthMs sent".split(" "),
  profiles: [],
};

/** Indexes of operations. @type {Record<string, string[]>} */
const INDEXES = {
  by_due: ["lane", "due"],
  by_delivery_due: ["lane", "deliveryDue"],
  by_creation: ["account", "createdAt", "id"],
};

/** A database, opened on first use, once, and again when its handle has died. */
export class Database {
  /** @type {Promise<IDBDatabase> | undefined} */
  #opening;
  #name;

  /** @param {string} name */
  constructor(name) {
    this.#name = name;
  }

  /** The open database: whoever comes second waits for the same opening. */
  open() {
    if (this.#opening) return this.#opening;
    const opening = (this.#opening = openAgain(this.#name));
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    return opening;
  }

  /** Opens it while the module comes: who asks first is told what is wrong with it. */
  ahead() {
    this.open().catch(() => undefined);
    return this;
  }

  /** Closes the database, once it is open and its transactions are over, and forgets it. */
  forget() {
    this.#opening?.then(
      (database) => database.close(),
      () => undefined,
    );
    this.#opening = undefined;
  }
}

/**
 * Opens it, and once more where the browser lost the request: a storage process that is killed, or comes up,
 * fails what it was asked, and serves the next. What is damaged stays so.
 *
 * @param {string} name
 */
async function openAgain(name) {
  try {
    return await open(name);
  } catch (error) {
    if (reason(error) !== "UnknownError") throw error;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    return open(name);
  }
}

/** @param {string} name */
async function open(name) {
  const { indexedDB } = globalThis;
  if (!indexedDB) throw "indexedDB is missing";
  let database = await made(indexedDB.open(name));
  if (!isComplete(database)) {
    database.close();
    database = await made(indexedDB.open(name, VERSION));
  }
  // Nobody's upgrade or deletion waits for this connection: the next call sees that it is closed and
  // opens another.
  database.onversionchange = () => database.close();
  if (isComplete(database)) return database;
  database.close();
  throw "the database has another schema";
}

/**
 * Waits for a request to open, and makes what is missing: all of it where there is no database yet.
 *
 * @param {IDBOpenDBRequest} request
 */
function made(request) {
  request.onupgradeneeded = () => create(request.result);
  return finished(request);
}

/**
 * Waits for a request to open. One that comes to its end too late is closed then.
 *
 * @param {IDBOpenDBRequest} request
 * @returns {Promise<IDBDatabase>}
 */
function finished(request) {
  return new Promise((resolve, reject) => {
    const fail = (/** @type {string} */ stuck) => {
      stop();
      request.onsuccess = () => request.result.close();
      try {
        reject(request.error ?? stuck);
      } catch {
        reject(stuck); // A request that is still pending has no error to read, and throws.
      }
    };
    const stop = after(OPEN_MS, () => fail("timeout"));
    request.onsuccess = () => {
      stop();
      resolve(request.result);
    };
    request.onerror = request.onblocked = () => fail("blocked");
  });
}

/**
 * Calls when so much time is over, and gives what prevents it. It passes in parts: a machine that slept, or a page
 * that stood still, has lost one of them, and hears in the others what has come meanwhile.
 *
 * @param {number} ms
 * @param {() => void} late
 */
export function after(ms, late) {
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  let left = PARTS;
  const wait = () => void (left-- ? (timer = setTimeout(wait, ms / PARTS)) : late());
  wait();
  return () => clearTimeout(timer);
}

/** @param {IDBDatabase} database */
const isComplete = (database) =>
  Object.keys(STORES).every((name) => database.objectStoreNames.contains(name));

/**
 * Makes the object stores that are missing, while an upgrade is under way.
 *
 * @param {IDBDatabase} database
 */
function create(database) {
  for (const name of Object.keys(STORES)) {
    if (database.objectStoreNames.contains(name)) continue;
    if (name !== "operations") {
      database.createObjectStore(name);
      continue;
    }
    const store = database.createObjectStore(name, { keyPath: "id" });
    for (const [index, path] of Object.entries(INDEXES)) store.createIndex(index, path);
  }
}

/**
 * A stored value's members, in the order of its object store.
 *
 * @param {string} store
 * @param {any} value
 */
export function pack(store, value) {
  const names = STORES[store];
  return value !== undefined && names?.length ? names.map((name) => value?.[name]) : value;
}

/** @param {any} value */
export const row = (value) => pack("operations", value);

/**
 * The value of such members.
 *
 * @param {string} store
 * @param {any} value
 */
export function unpack(store, value) {
  const names = STORES[store];
  if (!names.length) return value;
  const members = names.map((name, at) => [name, value[at]]).filter((own) => own[1] !== undefined);
  return Object.fromEntries(members);
}

/**
 * What the module is told of a failure.
 *
 * @param {string} kind
 * @param {string} name
 * @param {boolean} writes
 * @param {boolean} risky Whether something may have been written.
 */
export function told(kind, name, writes, risky) {
  if (kind === "timeout") return writes ? "unknown" : "unavailable";
  if (kind !== "abort") return "unavailable";
  if (name === "QuotaExceededError") return "full";
  // The two by which a transaction ends whose connection is lost: perhaps while its commit was on
  // the way.
  if (risky && (name === "UnknownError" || name === "AbortError")) return "unknown";
  return name === "UnknownError" ? "unavailable" : "aborted";
}

/**
 * What is told of an exception: its name (a DOMException's says what happened, and its message may
 * quote anything), or the text itself where text was thrown.
 *
 * @param {any} error
 */
export const reason = (error) => error?.name ?? (typeof error === "string" ? error : "no answer");

/**
 * Transactions under way. A page that is put aside for going back to it, in the middle of one, would keep
 * every other tab from the store: WebKit lets it. There each is aborted, and none begun until it is back;
 * one that only reads is then begun again. @type {Set<() => void>}
 */
export const underWay = new Set();
/** How often the page was put aside, and what resolves when it is back. */
export const putAside = { times: 0, over: /** @type {Promise<void> | undefined} */ (undefined) };

globalThis.addEventListener?.("pagehide", ({ persisted }) => {
  if (!persisted) return;
  putAside.times += 1;
  putAside.over = new Promise((resolve) => globalThis.addEventListener("pageshow", () => resolve(), { once: true }));
  for (const abort of underWay) abort();
});
globalThis.addEventListener?.("pageshow", () => (putAside.over = undefined));
