// Waiting for what a test expects: bounded, for a test that waits for ever tells nothing.
const LONGEST_MS = 60_000;
const PAUSE_MS = 20;

/**
 * What something is, once it is something: that it is true, or what was found.
 *
 * @template Found
 * @param {() => Found | Promise<Found>} look
 * @param {string | (() => string | Promise<string>)} what What is waited for; a function says it when it has not come.
 * @param {number} [longestMs]
 * @returns {Promise<Found>}
 */
export async function until(look, what, longestMs = LONGEST_MS) {
  for (const end = Date.now() + longestMs; ; ) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`In ${longestMs} ms there has not come: ${typeof what === "function" ? await what() : what}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
