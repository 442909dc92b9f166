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
/** For how long it does, for the same state of the work: what hangs shall not keep it alive. In milliseconds. */
const SIGNS_MS = 300_000;
/** An alarm that is off by less is left as it is, in milliseconds. */
const SLACK_MS = 5000;

export class Alarm {
  #api;
  /** When the alarm goes off; `undefined`: it is not known whether there is one. @type {number | null | undefined} */
  #at;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #signs;
  #signsUntil = 0;
  #closed = false;

  /** @param {any} api */
  constructor(api) {
    this.#api = api;
  }

  /** Whether an alarm that went off is ours. @param {{ name: string }} alarm */
  static isOurs = ({ name }) => name === NAME;

  /** Sets the alarm before work is taken on: what kills the worker then is survived. */
  async ahead() {
    const soon = Date.now() + SOONEST_MS;
    if (typeof this.#at === "number" && this.#at <= soon + SLACK_MS && this.#at > Date.now()) return;
    await this.#set(soon);
  }

  /**
   * Sets the alarm to what the work waits for, or ends it where nothing is left to do.
   *
   * @param {readonly Api.OperationState[]} states
   * @param {boolean} consumes Whether endings are delivered to somebody.
   */
  async follow(states, consumes) {
    const now = Date.now();
    const due = states.map((state) => dueOf(state, consumes, now)).filter((at) => at < Infinity);
    this.#showSigns(!this.#closed && states.some(isAtWork), now);
    if (!due.length) {
      if (this.#at !== null) await this.#api.alarms?.clear(NAME);
      this.#at = null;
      return;
    }
    const at = Math.max(now + SOONEST_MS, Math.min(...due));
    if (typeof this.#at === "number" && this.#at > now && Math.abs(this.#at - at) < SLACK_MS) return;
    await this.#set(at);
  }

  /** It went off: when it does next is the browser's to know. */
  hasGoneOff() {
    this.#at = undefined;
  }

  /** Nothing more is shown or set from here; an alarm that is set stays. */
  close() {
    this.#closed = true;
    this.#showSigns(false, 0);
  }

  /** @param {number} at */
  async #set(at) {
    if (this.#closed) return;
    this.#at = at;
    await this.#api.alarms?.create(NAME, { when: at, periodInMinutes: PERIOD_MINUTES });
  }

  /**
   * While a request is out, the worker must live. Where the work only waits, it may die.
   *
   * @param {boolean} needed
   * @param {number} now
   */
  #showSigns(needed, now) {
    if (!needed) {
      clearInterval(this.#signs);
      this.#signs = undefined;
      return;
    }
    this.#signsUntil = now + SIGNS_MS;
    this.#signs ??= setInterval(() => {
      if (Date.now() > this.#signsUntil) return this.#showSigns(false, 0);
      // Any call of the browser's interface is a sign.
      this.#api.runtime.getPlatformInfo?.();
    }, SIGN_MS);
  }
}

/** @param {Api.OperationState} state */
const isAtWork = (state) => state.endedAt === undefined && !state.parked && !state.waiting && !state.offline;

/**
 * When an operation wants to be looked at.
 *
 * @param {Api.OperationState} state
 * @param {boolean} consumes
 * @param {number} now
 */
function dueOf(state, consumes, now) {
  if (state.waiting) return state.waiting.until;
  if (state.parked || state.deletedAt) return Infinity;
  const isOver = state.endedAt !== undefined && !state.deletion && (state.delivered || !consumes);
  return isOver ? Infinity : now;
}
