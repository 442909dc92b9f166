// @ts-check
/** Turns: so many at a time, the others wait in their order. */

export class Turns {
  #free;
  /** @type {(() => void)[]} */
  #waiting = [];

  /** @param {number} most */
  constructor(most) {
    this.#free = most;
  }

  /**
   * Runs something when it is its turn.
   *
   * @template T
   * @param {() => Promise<T>} run
   * @returns {Promise<T>}
   */
  async take(run) {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise((resolve) => this.#waiting.push(/** @type {() => void} */ (resolve)));
    try {
      return await run();
    } finally {
      // The turn is handed on: nobody who comes meanwhile gets in between.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
