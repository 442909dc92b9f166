// Waiting for what a test expects: bounded, for a test that waits for ever tells nothing.
const LONGEST_MS = 60_000;
const PAUSE_MS = 20;

/**
 * Resolves once something is true.
 *
 * @param {() => boolean | Promise<boolean>} isTrue
 * @param {string} what
 */
export async function until(isTrue, what) {
  for (const end = Date.now() + LONGEST_MS; !(await isTrue()); ) {
    if (Date.now() > end) throw new Error(`${what} has not come in ${LONGEST_MS} ms.`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
