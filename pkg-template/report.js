// @ts-check

/** @type {WeakSet<object>} */
const reported = new WeakSet();

/**
 * Says once for each of the app's functions that it threw where nobody waits for it.
 *
 * @param {object} callback
 * @param {string} name
 * @param {unknown} error
 */
export function report(callback, name, error) {
  if (reported.has(callback)) return;
  reported.add(callback);
  console.error(`Holdfast: ${name} failed. Work goes on; this is said once.`, error);
}
