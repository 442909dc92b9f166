// @ts-check
/**
 * What is due in an object, whosever it is: whose work an alarm takes up, and when the next one comes.
 *
 * Some work stays due for ever: that of a service which is declared no more, or what a later version wrote. So
 * an alarm that cannot take all of it up takes what has become due last, and beside that goes on with a walk
 * over everything. Where the walk stands is stored: each alarm may be a new instance's.
 */

/** How much of what is due is looked at for whose it is, at a time. */
const LOOKED_AT = 64;

/** The first pause after alarms that have moved nothing, in milliseconds; it doubles with each round of them. */
const FRUITLESS_MS = 1000;
/** The longest such pause, in milliseconds. */
export const PAUSE_MS_MAX = 60_000;

/** What is due, by the columns that say when. @type {Record<string, string>} */
const INDEXES = { due: "holdfast_by_time", deliveryDue: "holdfast_by_delivery_time" };

/** What is kept over alarms: it is made beside the store's tables. */
export const ROUNDS_TABLE = "CREATE TABLE IF NOT EXISTS holdfast_rounds (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID";

/**
 * What is kept of the rounds, each of which takes everything up once. `walk`: over what was due at `until`, column
 * by column and each in its order, of which all up to `at` and `account` was taken up. `fruitless`: rounds in
 * a row that have moved nothing.
 *
 * @typedef {{ column: number, at: number, account: string, until: number }} Walk
 * @typedef {{ walk?: Walk, fruitless: number }} Rounds
 */

/** Rows that were taken up, and what finds them again: a column, and the bounds. @typedef {{ by: [string, number, number, string], rows: Row[] }} Walked */

/** When something is due, whose it is, and which. @typedef {{ at: number, account: string, id: string }} Row */

export class DueWork {
  #sql;
  #columns;
  /** Whether all that was due was taken up with the last ones. */
  #isRound = true;
  /** What the walk has taken up last; `undefined`: there was no need of one. @type {Walked[] | undefined} */
  #walked;
  /** What of the newest was taken up beside the walk, by columns, and until when it was due. @type {{ until: number, columns: Row[][], taken: string[] }} */
  #newest = { until: 0, columns: [], taken: [] };
  /** What could not be kept. @type {Rounds | undefined} */
  #unkept;

  /**
   * @param {DurableObjectStorage["sql"]} sql
   * @param {() => boolean} delivers Whether endings are delivered here.
   */
  constructor(sql, delivers) {
    this.#sql = sql;
    this.#columns = () => (delivers() ? ["due", "deliveryDue"] : ["due"]);
  }

  /**
   * When the first of all that is due after a point in time is; `undefined`: nothing is.
   *
   * @param {number} [after]
   * @returns {number | undefined}
   */
  first(after = -1) {
    const rows = this.#columns().flatMap((column) => this.#rows(column, "@ > ?", "ASC", [after], 1));
    return rows.length ? Math.min(...rows.map(({ at }) => at)) : undefined;
  }

  /**
   * The same of operations that were written.
   *
   * @param {import("./object-storage.js").Written[]} operations
   * @returns {number | undefined}
   */
  firstOf(operations) {
    const all = operations.flatMap((own) => this.#columns().map((column) => own[column]));
    const times = all.filter((at) => typeof at === "number");
    return times.length ? Math.min(...times) : undefined;
  }

  /**
   * Whose work an alarm takes up.
   *
   * @param {number} now
   * @param {number} limit How many are told at most.
   * @returns {string[]}
   */
  callers(now, limit) {
    const columns = this.#columns().map((column) => this.#rows(column, "@ <= ?", "DESC", [now], LOOKED_AT));
    const newest = columns.flat().sort((one, other) => other.at - one.at);
    const all = new Set(newest.map(({ account }) => account));
    this.#isRound = columns.every(({ length }) => length < LOOKED_AT) && all.size <= limit;
    this.#walked = undefined;
    if (this.#isRound) return [...all];
    const taken = [...all].slice(0, limit / 2);
    const last = (/** @type {Row[]} */ rows) => rows.findLastIndex(({ account }) => taken.includes(account));
    this.#newest = { until: now, columns: columns.map((rows) => rows.slice(0, last(rows) + 1)), taken };
    const chosen = new Set(taken);
    this.#walk(chosen, now, limit);
    return [...chosen];
  }

  /**
   * Goes on with the walk, as far as there is room; begins the next one where it ends.
   *
   * @param {Set<string>} chosen Who is taken up; others join them.
   * @param {number} now
   * @param {number} limit
   */
  #walk(chosen, now, limit) {
    const columns = this.#columns();
    let { walk, fruitless } = this.rounds();
    let begun = false;
    this.#walked = [];
    for (let left = LOOKED_AT; left > 0; ) {
      if (!walk || walk.column >= columns.length) {
        this.#isRound ||= walk !== undefined;
        walk = undefined;
        if (begun) break;
        begun = true;
        walk = { column: 0, at: -1, account: "", until: now };
      }
      const { column, at, account, until } = walk;
      /** @type {Walked["by"]} */
      const by = [columns[column], until, at, account];
      const rows = this.#after(by, left);
      const count = join(chosen, rows, limit);
      this.#walked.push({ by, rows: rows.slice(0, count) });
      if (count) walk = { ...walk, at: rows[count - 1].at, account: rows[count - 1].account };
      if (count < rows.length) break;
      if (rows.length < left) walk = { ...walk, column: column + 1, at: -1, account: "" };
      left -= rows.length;
    }
    // Before anything of it is taken up: what kills the object is not begun with again.
    this.keep({ walk, fruitless });
  }

  /**
   * Whether anything of what was taken up is not where it was.
   *
   * @param {Walked[]} walked
   */
  #hasMoved(walked) {
    return walked.some(({ by, rows }) => {
      const now = this.#after(by, rows.length);
      return rows.some((row, own) => nameOf(row) !== nameOf(now[own]));
    });
  }

  /**
   * Whether those after the newest may move like these: the last that was taken up did, or more than one. Another's
   * polls, before what cannot move, are no sign of it.
   */
  #goesOn() {
    const { until, columns, taken } = this.#newest;
    const names = this.#columns();
    const moved = new Set();
    for (const [at, rows] of columns.entries()) {
      const still = new Set(this.#rows(names[at], "@ <= ?", "DESC", [until], rows.length).map(nameOf));
      for (const row of rows) if (taken.includes(row.account) && !still.has(nameOf(row))) moved.add(row.account);
    }
    return moved.size > 1 || moved.has(taken.at(-1));
  }

  /**
   * How long what was due before an alarm, and still is, waits for the next one, in milliseconds; `undefined`:
   * there is nothing of the kind.
   *
   * @param {number} from When that alarm was.
   * @param {boolean} moved Whether it has moved anything. Beside a walk it is looked at what has: only what the walk took up makes pauses short again.
   */
  pause(from, moved) {
    const isLeft = (this.first() ?? Infinity) <= from;
    const walked = this.#walked;
    const isFruitful = walked ? this.#hasMoved(walked) : moved;
    const rounds = this.rounds();
    const fruitless = isFruitful || !isLeft ? 0 : rounds.fruitless + Number(this.#isRound);
    if (fruitless !== rounds.fruitless) this.keep({ ...rounds, fruitless });
    if (!isLeft) return undefined;
    // Whoever was not taken up yet comes next.
    if (walked && (isFruitful || this.#goesOn())) return 0;
    return Math.min(FRUITLESS_MS * 2 ** Math.max(fruitless - 1, 0), PAUSE_MS_MAX);
  }

  /** @returns {Rounds} */
  rounds() {
    if (this.#unkept) return this.#unkept;
    const [row] = this.#sql.exec("SELECT value FROM holdfast_rounds WHERE name = 'all'").toArray();
    return row ? JSON.parse(String(row.value)) : { fruitless: 0 };
  }

  /**
   * Keeps it in memory where there is no room in the storage: work goes on all the same.
   *
   * @param {Rounds} rounds
   */
  keep(rounds) {
    try {
      this.#sql.exec("INSERT OR REPLACE INTO holdfast_rounds VALUES ('all', ?)", JSON.stringify(rounds));
      this.#unkept = undefined;
    } catch (error) {
      if (!this.#unkept) console.error("Holdfast: the rounds of alarms could not be stored.", error);
      this.#unkept = rounds;
    }
  }

  /**
   * The first rows after some, in their order.
   *
   * @param {Walked["by"]} by
   * @param {number} limit
   */
  #after([column, until, at, account], limit) {
    return this.#rows(column, "@ <= ? AND (@, account) > (?, ?)", "ASC", [until, at, account], limit);
  }

  /**
   * Rows of a column. By its index, and no more than this: what is read must not grow with what is stored.
   *
   * @param {string} column
   * @param {string} where `@` stands for the column.
   * @param {"ASC" | "DESC"} order
   * @param {(number | string)[]} params
   * @param {number} limit
   * @returns {Row[]}
   */
  #rows(column, where, order, params, limit) {
    const by = `ORDER BY @ ${order}, account ${order} LIMIT ?`;
    const sql = `SELECT @ AS at, account, id FROM holdfast_operations INDEXED BY ${INDEXES[column]} WHERE ${where} ${by}`;
    const rows = this.#sql.exec(sql.replaceAll("@", column), ...params, limit).toArray();
    return rows.map(({ at, account, id }) => ({ at: Number(at), account: String(account), id: String(id) }));
  }
}

/** What tells one row from another. @param {Row} [row] */
const nameOf = (row) => row && `${row.at} ${row.id}`;

/**
 * Adds those whose rows these are, as far as there is room.
 *
 * @param {Set<string>} chosen
 * @param {Row[]} rows
 * @param {number} limit
 * @returns {number} Of how many rows.
 */
function join(chosen, rows, limit) {
  const count = rows.findIndex(({ account }) => chosen.add(account).size > limit && chosen.delete(account));
  return count < 0 ? rows.length : count;
}
