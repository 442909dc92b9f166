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
const FRUITLESS_MS_MAX = 60_000;

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

export class DueWork {
  #sql;
  #columns;

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
   * Whose work an alarm takes up.
   *
   * @param {number} now
   * @param {number} limit How many are told at most.
   * @returns {{ callers: string[], isRound: boolean }} `isRound`: with them, all that is due was taken up once.
   */
  callers(now, limit) {
    const columns = this.#columns().map((column) => this.#rows(column, "@ <= ?", "DESC", [now], LOOKED_AT));
    const newest = columns.flat().sort((one, other) => other.at - one.at);
    const all = new Set(newest.map(({ account }) => account));
    const isAll = columns.every(({ length }) => length < LOOKED_AT);
    if (isAll && all.size <= limit) return { callers: [...all], isRound: true };
    const chosen = new Set([...all].slice(0, limit / 2));
    const isRound = this.#walk(chosen, now, limit);
    return { callers: [...chosen], isRound };
  }

  /**
   * Goes on with the walk, as far as there is room; begins the next one where it ends.
   *
   * @param {Set<string>} chosen Who is taken up; others join them.
   * @param {number} now
   * @param {number} limit
   * @returns {boolean} Whether a walk came to its end.
   */
  #walk(chosen, now, limit) {
    const columns = this.#columns();
    let { walk, fruitless } = this.rounds();
    let [begun, ended] = [false, false];
    for (let left = LOOKED_AT; left > 0; ) {
      if (!walk || walk.column >= columns.length) {
        ended ||= walk !== undefined;
        walk = undefined;
        if (begun) break;
        begun = true;
        walk = { column: 0, at: -1, account: "", until: now };
      }
      const { column, at, account, until } = walk;
      const rows = this.#rows(columns[column], "@ <= ? AND (@, account) > (?, ?)", "ASC", [until, at, account], left);
      const count = join(chosen, rows, limit);
      if (count) walk = { ...walk, ...rows[count - 1] };
      if (count < rows.length) break;
      if (rows.length < left) walk = { ...walk, column: column + 1, at: -1, account: "" };
      left -= rows.length;
    }
    // Before anything of it is taken up: what kills the object is not begun with again.
    this.keep({ walk, fruitless });
    return ended;
  }

  /**
   * How long what was due before an alarm, and still is, waits for the next one, in milliseconds; `undefined`:
   * there is nothing of the kind.
   *
   * @param {number} from When that alarm was.
   * @param {boolean} moved Whether it has moved anything.
   * @param {boolean} isRound Whether all that is due was taken up in it and those before.
   */
  pause(from, moved, isRound) {
    const isLeft = (this.first() ?? Infinity) <= from;
    const rounds = this.rounds();
    const fruitless = moved || !isLeft ? 0 : rounds.fruitless + Number(isRound);
    if (fruitless !== rounds.fruitless) this.keep({ ...rounds, fruitless });
    if (!isLeft) return undefined;
    // Whoever was not taken up yet comes next.
    return moved && !isRound ? 0 : Math.min(FRUITLESS_MS * 2 ** Math.max(fruitless - 1, 0), FRUITLESS_MS_MAX);
  }

  /** @returns {Rounds} */
  rounds() {
    const [row] = this.#sql.exec("SELECT value FROM holdfast_rounds WHERE name = 'all'").toArray();
    return row ? JSON.parse(String(row.value)) : { fruitless: 0 };
  }

  /** @param {Rounds} rounds */
  keep(rounds) {
    this.#sql.exec("INSERT OR REPLACE INTO holdfast_rounds VALUES ('all', ?)", JSON.stringify(rounds));
  }

  /**
   * Rows of a column. By its index, and no more than this: what is read must not grow with what is stored.
   *
   * @param {string} column
   * @param {string} where `@` stands for the column.
   * @param {"ASC" | "DESC"} order
   * @param {(number | string)[]} params
   * @param {number} limit
   * @returns {{ at: number, account: string }[]}
   */
  #rows(column, where, order, params, limit) {
    const by = `ORDER BY @ ${order}, account ${order} LIMIT ?`;
    const sql = `SELECT @ AS at, account FROM holdfast_operations INDEXED BY ${INDEXES[column]} WHERE ${where} ${by}`;
    const rows = this.#sql.exec(sql.replaceAll("@", column), ...params, limit).toArray();
    return rows.map(({ at, account }) => ({ at: Number(at), account: String(account) }));
  }
}

/**
 * Adds those whose rows these are, as far as there is room.
 *
 * @param {Set<string>} chosen
 * @param {{ account: string }[]} rows
 * @param {number} limit
 * @returns {number} Of how many rows.
 */
function join(chosen, rows, limit) {
  const count = rows.findIndex(({ account }) => chosen.add(account).size > limit && chosen.delete(account));
  return count < 0 ? rows.length : count;
}
