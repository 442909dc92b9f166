// @ts-check
/**
 * What the objects of a class share, in objects that carry no work: which operation hands a request over
 * that no key tells from another's (`guard`), which one a service's id belongs to (`claim`), and when the
 * next request may leave under a stated rate. Each is told of in the turn in which it is stored; whoever
 * has it is asked before it goes to another, so that nobody need give anything back, and none is lost to a crash.
 */

/** A guard holds this long at most, in milliseconds; as long as an operation keeps others of its lane behind it. */
const GUARD_MS = 600_000;
/** A turn is given up to this far ahead, in milliseconds: so long it is waited for in memory. */
const AHEAD_MS = 10_000;
/** A request leaves this much after its turn at most, in milliseconds. */
const SLACK_MS = 1000;
/** How many operations of a caller are looked at for one more. */
const LOOKED_AT = 16;
/** How long it may take from there to a stored operation, in milliseconds. */
const UNSTORED_MS = 60_000;
/** Turns of one width are counted in this many pieces of it. */
const PIECES = 64;

/** @typedef {"guard" | "claim"} Kind */

export class Shared {
  #sql;
  #isHeld;

  /**
   * @param {{ exec(sql: string, ...params: any[]): { toArray(): any[] } }} sql
   * @param {(kind: Kind, holder: string) => Promise<boolean>} isHeld Asks a holder whether it still needs what it has.
   */
  constructor(sql, isHeld) {
    this.#sql = sql;
    this.#isHeld = isHeld;
    sql.exec("CREATE TABLE IF NOT EXISTS holdfast_shared (name TEXT PRIMARY KEY, value TEXT, at REAL) WITHOUT ROWID");
  }

  /**
   * Gives a name to a holder, where it is free or its holder needs it no more. Tells whose it is then.
   *
   * @param {Kind} kind
   * @param {string} name
   * @param {string} holder
   * @returns {Promise<string>}
   */
  async take(kind, name, holder) {
    const found = this.#read(name);
    const isOver = found && kind === "guard" && Math.abs(Date.now() - found.at) > GUARD_MS;
    if (found && found.value !== holder && !isOver) {
      if (await this.#isHeld(kind, found.value)) return found.value;
      // Somebody else may have come meanwhile.
      const now = this.#read(name);
      if (now && (now.value !== found.value || now.at !== found.at)) return now.value;
    }
    if (kind === "guard") this.#sql.exec("DELETE FROM holdfast_shared WHERE at < ?", Date.now() - GUARD_MS);
    this.#write(name, holder);
    return holder;
  }

  /**
   * Whose a name is; nobody's where its holder needs it no more.
   *
   * @param {Kind} kind
   * @param {string} name
   * @returns {Promise<string | undefined>}
   */
  async whose(kind, name) {
    const holder = this.#read(name)?.value;
    return holder !== undefined && (await this.#isHeld(kind, holder)) ? holder : undefined;
  }

  /**
   * The turn of the next request, so that no more than `requests` leave in any stretch of `perMs`: how
   * long to wait for it; or, where it is far away and not given, how long before asking again.
   *
   * @param {string} name
   * @param {{ requests: number, perMs: number, aheadMs?: number }} rate How far ahead a turn is given, too.
   * @returns {{ waitMs: number } | { laterMs: number }}
   */
  turn(name, { requests, perMs, aheadMs = AHEAD_MS }) {
    const now = Date.now();
    const piece = Math.ceil(perMs / PIECES);
    const width = perMs + SLACK_MS + piece;
    const soonest = Math.ceil(now / piece) * piece;
    /** @type {[number, number][]} */
    const all = JSON.parse(this.#read(name)?.value ?? "[]");
    // What a clock that has jumped back cannot have given counts for nothing.
    const times = all.filter(([at]) => at > now - width && at <= now + width + AHEAD_MS);
    let [left, at] = [times.reduce((sum, [, count]) => sum + count, 0), soonest];
    for (const [then, count] of times) {
      if (left < requests) break;
      left -= count;
      at = Math.max(at, Math.ceil((then + width) / piece) * piece);
    }
    if (at !== soonest && at - now > aheadMs) return { laterMs: at - now };
    const last = times.at(-1);
    if (last && last[0] >= at) last[1] += 1;
    else times.push([at, 1]);
    this.#write(name, JSON.stringify(times));
    return { waitMs: at === soonest ? 0 : at - now };
  }

  /**
   * Whether a caller may have one more that is not over; what it has already counts once.
   *
   * @param {string} caller
   * @param {string} name
   * @param {number} most
   * @param {(name: string, after?: string) => Promise<boolean | undefined>} isOver `undefined`: it is not stored, or not yet.
   * @param {string} [after] The operation in whose place it comes: until then its ending is no room for another.
   */
  async admit(caller, name, most, isOver, after) {
    const whole = `${JSON.stringify(caller)} `;
    const [from, to] = [whole, `${whole}\u{10ffff}`];
    const own = whole + name;
    const value = after === undefined ? `${Date.now()}` : `${Date.now()} ${after}`;
    if (this.#read(own)) {
      if (after !== undefined) this.#write(own, value);
      return true;
    }
    /** @type {(what: string, rest?: string) => any[]} */
    const rows = (what, rest = "") =>
      this.#sql.exec(`SELECT ${what} FROM holdfast_shared WHERE name >= ? AND name < ?${rest}`, from, to).toArray();
    const isFull = () => rows("COUNT(*) AS count")[0].count >= most;
    if (isFull()) {
      // Those that were looked at longest ago; what is not over is looked at again when its turn comes.
      for (const row of rows("name, value", ` ORDER BY at LIMIT ${LOOKED_AT}`)) {
        const [since, before] = row.value.split(" ");
        const isGone = (await isOver(row.name.slice(whole.length), before)) ?? Date.now() - Number(since) > UNSTORED_MS;
        // Somebody may have come back to it meanwhile.
        const same = "WHERE name = ? AND value = ?";
        if (isGone) this.#sql.exec(`DELETE FROM holdfast_shared ${same}`, row.name, row.value);
        else this.#sql.exec(`UPDATE holdfast_shared SET at = ? ${same}`, Date.now(), row.name, row.value);
      }
      if (isFull()) return false;
    }
    this.#write(own, value);
    return true;
  }

  /** @param {string} name */
  #read(name) {
    return this.#sql.exec("SELECT value, at FROM holdfast_shared WHERE name = ?", name).toArray()[0];
  }

  /**
   * @param {string} name
   * @param {string} value
   */
  #write(name, value) {
    this.#sql.exec("INSERT OR REPLACE INTO holdfast_shared VALUES (?, ?, ?)", name, value, Date.now());
  }
}
