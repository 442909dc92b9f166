// @ts-check
/** @import { OperationState } from "./index.d.ts" */

/**
 * The states of an operation, as an iterator. Between two reads it holds nothing and nobody holds
 * it: what a slow reader misses is skipped, and one that goes away leaves nothing behind.
 *
 * @implements {AsyncIterableIterator<OperationState>}
 */
export class Updates {
  #next;
  #isEnded;
  /** @type {OperationState | undefined} */
  #last;
  #over = false;
  /** The read before: reads are answered in order. @type {Promise<unknown>} */
  #before = Promise.resolve();
  #left = new AbortController();

  /**
   * @param {(last: OperationState | undefined, left: AbortSignal) => Promise<OperationState>} next
   *   Gives the first state that is not the last one.
   * @param {(state: OperationState) => boolean} isEnded
   */
  constructor(next, isEnded) {
    this.#next = next;
    this.#isEnded = isEnded;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  /** @returns {Promise<IteratorResult<OperationState>>} */
  next() {
    const read = this.#before.then(() => this.#read());
    this.#before = read.catch(() => undefined);
    return read;
  }

  /** @returns {Promise<IteratorResult<OperationState>>} */
  async return() {
    this.#over = true;
    this.#left.abort();
    return { done: true, value: undefined };
  }

  /** @returns {Promise<IteratorResult<OperationState>>} */
  async #read() {
    if (this.#over) return { done: true, value: undefined };
    try {
      const value = await this.#next(this.#last, this.#left.signal);
      this.#last = value;
      this.#over ||= this.#isEnded(value);
      return { done: false, value };
    } catch (error) {
      this.#over = true;
      if (this.#left.signal.aborted) return { done: true, value: undefined };
      throw error;
    }
  }
}
