// @ts-check
/**
 * What a promise gives, or an error where that takes too long.
 *
 * @template T
 * @param {PromiseLike<T> | T} promise
 * @param {number} ms
 * @param {() => unknown} late Makes the error, when it is too late.
 * @returns {Promise<T>}
 */
export async function inTime(promise, ms, late) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const over = new Promise((_, reject) => (timer = setTimeout(() => reject(late()), ms)));
  try {
    return /** @type {T} */ (await Promise.race([promise, over]));
  } finally {
    clearTimeout(timer);
  }
}
