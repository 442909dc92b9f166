// @ts-check
/**
 * The hands of the store. The module says what to read, and decides what is written: inside the
 * transaction, in the callback of its last read.
 */
/** @import { Database } from "./idb-database.js" */
import { after, pack, putAside, reason, row, STORES, told, underWay, unpack } from "./idb-database.js";

/** How long a transaction may take, in milliseconds. */
const COMPLETE_MS = 10_000;

/** Kept in pieces, under keys that begin with the operation: all of them go at once. */
const PIECES = ["chunks", "journal"];

/** What a commit touches, unless it erases or holds a piece of a result: others come in beside it. */
const COMMIT = Object.keys(STORES).filter((name) => name !== "chunks");

/** After every key that begins with the parts before it: arrays sort after numbers and strings. */
const END = /** @type {any} */ ([]);

/**
 * What a transaction is asked for: its object stores, its durability where it writes, and its first
 * requests.
 *
 * @type {Record<string, [string[], IDBTransactionDurability | "", (run: Run, ...args: any[]) => void]>}
 */
const PLANS = {
  body: [["bodies"], "", (run, key) => run.get("bodies", key)],
  chunk: [["chunks"], "", (run, key) => run.get("chunks", key)],
  lane: [["lanes"], "", (run, key) => run.get("lanes", key)],
  profile: [["profiles"], "", (run, key) => run.get("profiles", key)],
  load: [["operations"], "", (run, key) => run.get("operations", key)],
  find: [["names", "operations"], "", find],
  due: [["operations"], "", due],
  list: [["operations"], "", list],
  journal: [["journal"], "", journal],
  owner: [["service_ids"], "", (run, key) => run.get("service_ids", key)],
  put: [["lanes", "chunks"], "relaxed", change],
  change: [["lanes"], "strict", change],
  strict: [COMMIT, "strict", change],
  relaxed: [COMMIT, "relaxed", change],
  loose: [Object.keys(STORES), "relaxed", change],
  whole: [Object.keys(STORES), "strict", change],
};

/**
 * The row that a name leads to.
 *
 * @param {Run} run
 * @param {IDBValidKey} name
 */
function find(run, name) {
  run.follow(run.store("names").get(name), (id) => {
    if (id === undefined) return run.give(id);
    if (typeof id !== "string") throw "malformed row";
    run.get("operations", id);
  });
}

/**
 * What is due by one of the indexes, soonest first; and the first that is later.
 *
 * @param {Run} run
 * @param {string} index
 * @param {string} lane
 * @param {number} before
 * @param {number} limit
 */
function due(run, index, lane, before, limit) {
  const by = run.store("operations").index(index);
  const rows = by.getAll(IDBKeyRange.bound([lane], [lane, before]), limit);
  run.follow(by.get(IDBKeyRange.bound([lane, before], [lane, END], true)), (later) => {
    run.give([rows.result.map(row), later && row(later)]);
  });
}

/**
 * A page of an account's operations, newest first, by a cursor that goes backwards.
 *
 * @param {Run} run
 * @param {string} account
 * @param {number} limit
 * @param {any[]} after The time and id to go on after, if any.
 */
function list(run, account, limit, ...after) {
  const upper = [account, ...(after.length ? after : [END])];
  const range = IDBKeyRange.bound([account], upper, false, true);
  const rows = /** @type {any[]} */ ([]);
  run.follow(run.store("operations").index("by_creation").openCursor(range, "prev"), (cursor) => {
    if (!cursor || rows.length >= limit) return run.give(rows);
    rows.push(row(cursor.value));
    cursor.continue();
  });
}

/**
 * The journal's ring, in the order of its numbers.
 *
 * @param {Run} run
 * @param {string} id
 */
function journal(run, id) {
  run.follow(run.store("journal").getAll(pieces(id)), (entries) => {
    const all = entries.map((/** @type {any} */ entry) => pack("journal", entry));
    run.give(all.sort((/** @type {any[]} */ a, /** @type {any[]} */ b) => a[0] - b[0]));
  });
}

/** @param {IDBValidKey} id */
const pieces = (id) => IDBKeyRange.bound([id], [id, END]);

/**
 * Reads, lets the module decide, and writes; the last read is never an absent one. Nothing is awaited
 * in between: a transaction that has no request left when control returns to the browser commits by
 * itself, so that the whole of a compare-and-set happens in one turn.
 *
 * @param {Run} run
 * @param {([string, IDBValidKey] | undefined)[]} reads Stores and keys.
 * @param {(found: any[]) => [string, any, ...IDBValidKey[]][]} decide From what was read to what is
 *   written: stores, values and keys. What has no value goes.
 */
function change(run, reads, decide) {
  const requests = reads.map((read) => read && run.store(read[0]).get(read[1]));
  // Requests succeed in the order in which they were made.
  run.follow(/** @type {IDBRequest} */ (requests.at(-1)), () => {
    const found = requests.map((request, at) => request && pack(reads[at]?.[0] ?? "", request.result));
    run.commit(decide(found).map(([name, value, ...key]) => write(run.store(name), value, key)));
  });
}

/**
 * @param {IDBObjectStore} store
 * @param {any} value
 * @param {IDBValidKey[]} key None where the value names itself.
 */
function write(store, value, key) {
  const { name } = store;
  if (value !== undefined) return store.put(unpack(name, value), ...key);
  return store.delete(PIECES.includes(name) ? pieces(key[0]) : key[0]);
}

/**
 * The newest that looks up names. Those who look up in one turn share it: each of their own would wait, one
 * after the other, for the commits between them. @type {IDBTransaction | undefined}
 */
let lookup;

/**
 * The store in a database, as the module drives it.
 *
 * @param {Database} database
 */
export const storeIn = (database) => ({
  run: (/** @type {string} */ what, /** @type {any[]} */ args) => new Run(database, what, args),
  forget: () => database.forget(),
});

/** A transaction under way, tried again where its handle was dead and nothing can be written. */
class Run {
  /** What is found, once it is complete. It fails with one of four kinds, a space and a reason. */
  done;
  /** @type {any} */
  #found;
  #dropped = false;
  /** What is to be told is told: there is nothing to abort. */
  #over = false;
  /** @type {IDBTransaction | undefined} */
  #raw;
  /** Why the run itself has aborted it. @type {any} */
  #error;
  /** Reads have succeeded: something may have been written. */
  #stepped = false;
  #isLookup;
  /** Ends the waiting. @type {((kind: "complete" | "abort" | "timeout") => void) | undefined} */
  #end;

  /**
   * @param {Database} database
   * @param {string} what
   * @param {any[]} args
   */
  constructor(database, what, args) {
    this.#isLookup = what === "find";
    const abort = () => this.#abort(true);
    underWay.add(abort);
    this.done = this.#carry(database, what, args).finally(() => {
      this.#over = true;
      underWay.delete(abort);
    });
  }

  /** Nobody waits for it any more. */
  drop() {
    this.#dropped = true;
    this.#abort();
  }

  /** @param {string} name */
  store(name) {
    return /** @type {IDBTransaction} */ (this.#raw).objectStore(name);
  }

  /**
   * Nothing more is asked for: the browser need not wait for answers. What fails then may end with another reason.
   *
   * @param {IDBRequest[]} writes
   */
  commit(writes) {
    for (const own of writes) own.onerror = () => own.error?.name !== "AbortError" && (this.#error ??= own.error);
    this.#raw?.commit?.();
  }

  /**
   * All that was to be read is there: who only reads need not wait for the transaction's end.
   *
   * @param {any} found
   */
  give(found) {
    this.#found = found;
    this.#end?.("complete");
  }

  /**
   * Goes on when a request has succeeded. An error aborts the transaction.
   *
   * @param {IDBRequest} request
   * @param {(result: any) => void} step
   */
  follow(request, step) {
    request.onsuccess = () => {
      this.#stepped = true;
      try {
        step(request.result);
      } catch (error) {
        this.#error = error;
        this.#abort();
        // Neither the browser's word nor the module's: the module is dead, and the page hears of it.
        if (typeof error !== "string" && !(error instanceof DOMException)) throw error;
      }
    };
  }

  /**
   * Reads one value.
   *
   * @param {string} store
   * @param {IDBValidKey} key
   */
  get(store, key) {
    this.follow(this.store(store).get(key), (value) => this.give(pack(store, value)));
  }

  /**
   * @param {Database} database
   * @param {string} what
   * @param {any[]} args
   */
  async #carry(database, what, args) {
    const [stores, durability, begin] = PLANS[what];
    for (let reopened = 0, before = putAside.times; ; before = putAside.times) {
      let [kind, error] = ["unavailable", /** @type {any} */ (undefined)];
      try {
        const opened = await database.open();
        while (putAside.over) await putAside.over;
        if (this.#dropped) throw "dropped";
        this.#stepped = false;
        this.#error = undefined;
        kind = "begin";
        if (!(what === "find" && this.#joins(opened, args))) {
          this.#raw = opened.transaction(stores, durability ? "readwrite" : "readonly", {
            durability: durability || "default",
          });
          // Who looks up after a change has begun waits for that.
          if (durability) lookup = undefined;
          if (what === "find") lookup = this.#raw;
          kind = "abort";
          begin(this, ...args);
        }
        kind = await this.#ended(/** @type {IDBTransaction} */ (this.#raw));
        if (kind === "complete") return this.#found;
        error = this.#error ?? this.#raw?.error;
      } catch (thrown) {
        error = thrown;
      }
      if (putAside.times > before && !durability && !this.#dropped) continue;
      if (kind !== "begin") this.#abort(kind === "timeout");
      const name = kind === "timeout" ? kind : reason(error);
      const risky = durability && this.#stepped;
      const lost = name === "UnknownError" || name === "InvalidStateError";
      const dead = kind === "begin" || (kind === "abort" && !risky && lost);
      if (dead || kind === "timeout") database.forget();
      if (dead && !reopened++) continue;
      throw `${told(kind, name, !!durability, !!risky)} ${name}`;
    }
  }

  /**
   * Looks up with others, as long as their turn is not over.
   *
   * @param {IDBDatabase} opened
   * @param {any[]} args
   */
  #joins(opened, args) {
    if (lookup?.db !== opened) return false;
    this.#raw = lookup;
    try {
      find(this, args[0]);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * How a transaction ends.
   *
   * @param {IDBTransaction} raw
   * @returns {Promise<"complete" | "abort" | "timeout">}
   */
  async #ended(raw) {
    /** @type {(() => void) | undefined} */
    let stop;
    try {
      return await new Promise((resolve) => {
        this.#end = resolve;
        stop = after(COMPLETE_MS, () => resolve("timeout"));
        const tell = (/** @type {Event} */ { type }) => resolve(/** @type {any} */ (type));
        // Several may wait for a lookup.
        if (this.#isLookup) for (const name of ["complete", "abort"]) raw.addEventListener(name, tell);
        else raw.oncomplete = raw.onabort = tell;
      });
    } finally {
      stop?.();
    }
  }

  /** @param {boolean} [whole] With all who look up in it: else those who share it go on. */
  #abort(whole) {
    if (this.#over) return;
    if (this.#isLookup && !whole) return this.#end?.("abort");
    try {
      this.#raw?.abort();
    } catch {
      // It is over, or commits already: its own event tells.
    }
  }
}
