// @ts-check
/** Time that passes when it is told to. */

export class Clock {
  /** The time, in milliseconds since the Unix epoch. */
  now;
  /** What is to be called, with its time: sooner set, sooner called. @type {Map<number, { at: number, call: () => void }>} */
  #timers = new Map();
  #count = 0;

  /** @param {number} now */
  constructor(now) {
    this.now = now;
  }

  /**
   * @param {() => void} call
   * @param {number} [ms]
   */
  setTimeout = (call, ms = 0) => {
    this.#timers.set((this.#count += 1), { at: this.now + Math.max(0, ms), call });
    return this.#count;
  };

  /** @param {any} timer */
  clearTimeout = (timer) => void this.#timers.delete(timer);

  /**
   * @param {number} ms
   * @param {AbortSignal} [signal]
   * @returns {Promise<void>}
   */
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      const timer = this.setTimeout(resolve, ms);
      signal?.addEventListener("abort", () => (this.clearTimeout(timer), reject(signal.reason)), { once: true });
    });
  }

  /** When something is to be called next. */
  next() {
    let next = Infinity;
    for (const { at } of this.#timers.values()) next = Math.min(next, at);
    return next;
  }

  /** Goes on to the next call, and makes it. */
  step() {
    const at = this.next();
    const due = [...this.#timers].find(([, timer]) => timer.at === at);
    if (!due) return;
    this.#timers.delete(due[0]);
    this.now = Math.max(this.now, at);
    due[1].call();
  }
}

/** The time for the module of one client, whose timers end with it. */
export class ClientTime {
  #clock;
  /** @type {Set<number>} */
  #timers = new Set();

  /** @param {Clock} clock */
  constructor(clock) {
    this.#clock = clock;
    this.Date = { now: () => Math.floor(clock.now) };
  }

  /**
   * @param {() => void} call
   * @param {number} [ms]
   */
  setTimeout = (call, ms) => {
    const timer = this.#clock.setTimeout(() => {
      this.#timers.delete(timer);
      call();
    }, ms);
    this.#timers.add(timer);
    return timer;
  };

  /** @param {any} timer */
  clearTimeout = (timer) => {
    this.#timers.delete(timer);
    this.#clock.clearTimeout(timer);
  };

  /** Nothing is called any more. */
  end() {
    for (const timer of this.#timers) this.#clock.clearTimeout(timer);
    this.#timers.clear();
  }
}
