// @ts-check
/** The alarm that wakes a background worker which has died, kept as far ahead as the work allows. */
/** @import * as Api from "./index.d.ts" */

const NAME = "holdfast";
/** The soonest alarm that browsers keep, in milliseconds (Chrome 120 and later). */
const SOONEST_MS = 30_000;
/** An alarm comes again and again until the worker has lived long enough to set another. */
const PERIOD_MINUTES = 1;
/** How often a worker at work shows the browser that it is, which ends one after 30 s without a sign; in milliseconds. */
const SIGN_MS = 20_000;
/** How many signs it shows of the same state of the work, which are 5 minutes: what hangs shall not keep it alive. */
const SIGNS_MAX = 15;
/** An alarm that is off by less is left as it is, in milliseconds. */
const SLACK_MS = 5000;

export class Alarm {
  #api;
  /** When the alarm goes off; `undefined`: it is not known whether there is one. @type {number | null | undefined} */
  #at;
  /** How much work is being taken on: while any is, the alarm stays. */
  #takingOn = 0;
  /** The browser's answers may come in another order than the calls: one at a time. @type {Promise<unknown>} */
  #last = Promise.resolve();
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #signs;
  #signsLeft = 0;
  /** What was at work when the signs began. */
  #shown = "";
  #closed = false;

  /** @param {any} api */
  constructor(api) {
    this.#api = api;
  }

  /** Whether an alarm that went off is ours. @param {{ name: string }} alarm */
  static isOurs = ({ name }) => name === NAME;

  /**
   * Does work that may leave something to do: the alarm is set before, and what kills the worker meanwhile
   * is survived.
   *
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async during(work) {
    this.#takingOn += 1;
    try {
      const soon = Date.now() + SOONEST_MS;
      // Where it cannot be set, the next change tries again and tells.
      await this.#ensure(soon, (at) => at <= soon + SLACK_MS).catch(() => undefined);
      return await work();
    } finally {
      this.#takingOn -= 1;
    }
  }

  /**
   * Sets the alarm to what the work waits for.
   *
   * @param {readonly Api.OperationState[]} states Of the work that is not over, and of nothing else.
   */
  async follow(states) {
    const now = Date.now();
    const due = firstDue(states, now);
    this.#showSigns(states.filter(isAtWork));
    if (due === Infinity) return;
    // What is being taken on is not among them yet.
    const wanted = Math.max(now + SOONEST_MS, this.#takingOn ? now : due);
    await this.#ensure(wanted, (at) => Math.abs(at - wanted) < SLACK_MS);
  }

  /**
   * Whether the alarm of such work is as soon as can be, whatever else there is.
   *
   * @param {readonly Api.OperationState[]} states
   */
  isSoon(states) {
    const now = Date.now();
    return firstDue(states, now) <= now + SOONEST_MS;
  }

  /** Ends the alarm: the store has nothing to do. Not while work is being taken on. */
  async rest() {
    this.#showSigns([]);
    if (this.#takingOn || this.#at === null) return;
    this.#at = null;
    await this.#inTurn(() => this.#api.alarms?.clear(NAME));
  }

  /** It went off: when it does next is the browser's to know. */
  hasGoneOff() {
    this.#at = undefined;
  }

  /** Nothing more is shown or set from here; an alarm that is set stays. */
  close() {
    this.#closed = true;
    this.#showSigns([]);
  }

  /**
   * Sets it, unless it stands as it should: the app's own code may have cleared every alarm.
   *
   * @param {number} at
   * @param {(at: number) => boolean} isNear
   */
  async #ensure(at, isNear) {
    if (this.#closed) return;
    const stands = typeof this.#at === "number" && this.#at > Date.now() && isNear(this.#at);
    if (stands && (await this.#inTurn(() => this.#api.alarms?.get(NAME)))) return;
    this.#at = at;
    try {
      await this.#inTurn(() => this.#api.alarms?.create(NAME, { when: at, periodInMinutes: PERIOD_MINUTES }));
    } catch (error) {
      this.#at = undefined;
      throw error;
    }
  }

  /** @param {() => unknown} call */
  #inTurn(call) {
    const done = this.#last.then(call);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /**
   * While a request is out, the worker must live. Where the work only waits, it may die; and where nothing
   * has changed for long, too.
   *
   * @param {readonly Api.OperationState[]} atWork
   */
  #showSigns(atWork) {
    if (this.#closed || !atWork.length) {
      clearInterval(this.#signs);
      this.#signs = undefined;
      this.#shown = "";
      return;
    }
    const shown = atWork.map(({ id, revision }) => `${id} ${revision}`).join();
    if (shown !== this.#shown) this.#signsLeft = SIGNS_MAX;
    this.#shown = shown;
    this.#signs ??= setInterval(() => {
      // Any call of the browser's interface is a sign.
      if (this.#signsLeft-- > 0) this.#api.runtime.getPlatformInfo?.();
    }, SIGN_MS);
  }
}

/** @param {Api.OperationState} state */
const isAtWork = (state) => !state.parked && !state.waiting && !state.offline;

/**
 * When an operation that is not over wants to be looked at.
 *
 * @param {Api.OperationState} state
 * @param {number} now
 */
function dueOf(state, now) {
  if (state.waiting) return state.waiting.until;
  return state.parked && state.endedAt === undefined ? Infinity : now;
}

/**
 * @param {readonly Api.OperationState[]} states
 * @param {number} now
 */
const firstDue = (states, now) => Math.min(...states.map((state) => dueOf(state, now)));
