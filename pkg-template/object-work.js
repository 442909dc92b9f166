// @ts-check
/**
 * What is under way in an object at this moment, and when its clients want to be woken. A long wait is
 * the alarm's: a timer would keep the object in memory.
 */

/** A wait up to this length is waited for in memory, in milliseconds. */
const SOON_MS = 500;

export class Work {
  #busy = 0;
  #exchanges = 0;
  /** @type {Set<ReturnType<typeof setTimeout>>} */
  #timers = new Set();
  /** Told when something has ended. @type {Set<(value: undefined) => void>} */
  #watching = new Set();

  /** How many exchanges have begun. */
  get exchanges() {
    return this.#exchanges;
  }

  /**
   * Counts a promise as work until it settles.
   *
   * @template T
   * @param {Promise<T>} promise
   * @returns {Promise<T>}
   */
  async during(promise) {
    this.#busy += 1;
    try {
      return await promise;
    } finally {
      this.#busy -= 1;
      if (!this.#busy) this.#tell();
    }
  }

  /**
   * `fetch`, with its answer's body counted as work while it is read.
   *
   * @param {typeof fetch} send
   * @returns {typeof fetch}
   */
  fetching = (send) => async (input, init) => {
    this.#exchanges += 1;
    const { status, headers, body } = await this.during(send(input, init));
    const reading = body && {
      getReader: () => {
        const reader = body.getReader();
        return { read: () => this.during(reader.read()) };
      },
    };
    return /** @type {any} */ ({ status, headers, body: reading });
  };

  /**
   * What arms a client's timer.
   *
   * @param {() => void} wake
   */
  timer(wake) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    return (/** @type {number | undefined} */ delayMs) => {
      clearTimeout(timer);
      if (timer !== undefined && this.#timers.delete(timer)) this.#tell();
      timer = undefined;
      if (delayMs === undefined || delayMs > SOON_MS) return;
      const own = setTimeout(() => {
        this.#timers.delete(own);
        wake();
        this.#tell();
      }, delayMs);
      timer = own;
      this.#timers.add(own);
    };
  }

  /**
   * Resolves once nothing is under way and nobody wants to be woken soon.
   *
   * @param {number} limitMs The longest that this takes.
   */
  async rest(limitMs) {
    let late = false;
    const end = () => {
      late = true;
      this.#tell();
    };
    const timer = setTimeout(end, limitMs);
    // What a turn has ended may begin something in the next.
    for (let still = 0; still < 2 && !late; ) {
      if (this.#busy || this.#timers.size) await new Promise((changed) => this.#watching.add(changed));
      await new Promise((next) => setTimeout(next, 0));
      still = this.#busy || this.#timers.size ? 0 : still + 1;
    }
    clearTimeout(timer);
  }

  #tell() {
    for (const changed of this.#watching) changed(undefined);
    this.#watching.clear();
  }
}
