// Waiting for what a test expects: bounded, for a test that waits for ever tells nothing.
const LONGEST_MS = 60_000;
const PAUSE_MS = 20;

/**
 * Resolves once something is true.
 *
 * @param {() => boolean | Promise<boolean>} isTrue
 * @param {string} what
 * @param {number} [longestMs]
 */
export async function until(isTrue, what, longestMs = LONGEST_MS) {
  for (const end = Date.now() + longestMs; !(await isTrue()); ) {
    if (Date.now() > end) throw new Error(`${what} has not come in ${longestMs} ms.`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
