// @ts-check
/** A disk in memory, and the store on it: what the module writes to a database, as it writes it. */

/** Tables whose first value stays. */
const ONCE = ["bodies", "profiles"];
/** Tables of pieces, under keys that begin with the operation: all of them go at once. */
const PIECES = ["chunks", "journal"];
const TABLES = ["operations", "bodies", "chunks", "journal", "names", "service_ids", "lanes", "profiles"];
/** Where a row of operations has its members. */
const [ID, ACCOUNT, LANE, CREATED, DUE, DELIVERY_DUE] = [0, 1, 2, 3, 4, 5];

/** @typedef {{ key: any, value: any }} Entry */

export class Disk {
  /** @type {Record<string, Map<string, Entry>>} */
  #tables = Object.fromEntries(TABLES.map((name) => [name, new Map()]));
  /** How to take back what has not reached the plate: relaxed writes since the last strict one. @type {(() => void)[]} */
  #undo = [];

  /**
   * @param {string} table
   * @param {any} key
   */
  read(table, key) {
    return structuredClone(this.#tables[table].get(JSON.stringify(key))?.value);
  }

  /** @param {string} table */
  all(table) {
    return [...this.#tables[table].values()].map((entry) => structuredClone(entry.value));
  }

  /** @param {string} id */
  journal(id) {
    const own = [...this.#tables.journal.values()].filter((entry) => entry.key[0] === id);
    return own.map((entry) => structuredClone(entry.value)).sort((a, b) => a[0] - b[0]);
  }

  /**
   * Writes all of it, or takes back what would be half of it.
   *
   * @param {[string, any, any][]} writes Tables, values and keys.
   * @param {boolean} strict Whether everything so far is on the plate then.
   */
  write(writes, strict) {
    for (const [table, value, key] of writes) this.#put(table, structuredClone(value), key ?? value?.[ID]);
    if (strict) this.#undo = [];
  }

  /** The power fails: what was not written strictly is as it was. */
  lose() {
    for (const undo of this.#undo.reverse()) undo();
    this.#undo = [];
  }

  /**
   * @param {string} table
   * @param {any} value
   * @param {any} key
   */
  #put(table, value, key) {
    const own = this.#tables[table];
    const gone =
      value === undefined && PIECES.includes(table)
        ? [...own].filter(([, entry]) => entry.key[0] === key).map(([name]) => name)
        : [JSON.stringify(key)];
    for (const name of gone) {
      const before = own.get(name);
      if (before && ONCE.includes(table) && value !== undefined) continue;
      this.#undo.push(() => (before ? own.set(name, before) : own.delete(name)));
      if (value === undefined) own.delete(name);
      else own.set(name, { key, value });
    }
  }
}

/** @type {Record<string, (disk: Disk, ...args: any[]) => any>} */
const READS = {
  body: (disk, key) => disk.read("bodies", key),
  chunk: (disk, key) => disk.read("chunks", key),
  lane: (disk, key) => disk.read("lanes", key),
  profile: (disk, key) => disk.read("profiles", key),
  load: (disk, key) => disk.read("operations", key),
  owner: (disk, key) => disk.read("service_ids", key),
  journal: (disk, id) => disk.journal(id),
  find(disk, name) {
    const id = disk.read("names", name);
    return id === undefined ? undefined : disk.read("operations", id);
  },
  due(disk, index, lane, before, limit) {
    const column = index === "by_due" ? DUE : DELIVERY_DUE;
    const rows = disk.all("operations").filter((row) => row[LANE] === lane && row[column] !== undefined);
    rows.sort((a, b) => a[column] - b[column]);
    return [rows.filter((row) => row[column] <= before).slice(0, limit), rows.find((row) => row[column] > before)];
  },
  list(disk, account, limit, ...after) {
    const rows = disk.all("operations").filter((row) => row[ACCOUNT] === account);
    const place = (/** @type {any[]} */ row) => [row[CREATED], row[ID]];
    const beyond = after.length ? rows.filter((row) => compare(place(row), after) < 0) : rows;
    return beyond.sort((a, b) => compare(place(b), place(a))).slice(0, limit);
  },
};

/** Which transactions write, and whether what they write is on the plate before they are over. */
const IS_STRICT = /** @type {Record<string, boolean>} */ ({
  put: false, change: true, strict: true, relaxed: false, loose: false, whole: true,
});

/**
 * @param {readonly any[]} a
 * @param {readonly any[]} b
 */
const compare = (a, b) => (a[0] === b[0] ? (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0) : a[0] - b[0]);

/**
 * The store of one client on a disk, as the module drives it.
 *
 * @param {Disk} disk
 * @param {() => boolean} isAlive Whether the client hears of anything still.
 * @param {(error: unknown) => void} trapped Told of what has killed the module in a decision.
 */
export const storeOn = (disk, isAlive, trapped) => ({
  run(/** @type {string} */ what, /** @type {any[]} */ args) {
    let dropped = false;
    const done = (async () => {
      await null;
      if (!isAlive()) return new Promise(() => undefined);
      if (dropped) throw "aborted dropped";
      if (what in READS) return READS[what](disk, ...args);
      const [reads, decide] = args;
      const found = reads.map((/** @type {any} */ own) => own && disk.read(own[0], own[1]));
      let writes;
      try {
        writes = decide(found);
      } catch (error) {
        if (typeof error !== "string") trapped(error);
        throw `aborted ${typeof error === "string" ? error : "trap"}`;
      }
      disk.write(writes, IS_STRICT[what]);
    })();
    return { done, drop: () => void (dropped = true) };
  },
  forget() {},
});
