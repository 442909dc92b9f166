// @ts-check
/** The life of a page, as far as its client follows it. */
/** @import { Life } from "./connection.js" */

/**
 * @param {Life} life
 * @param {(error: unknown) => boolean} [isOwnTrap] Whether an error that nobody caught is the module's death,
 *   where the module does not hear of it by itself.
 */
export function watch({ wake, yield: leave, trapped }, isOwnTrap) {
  if (typeof globalThis.addEventListener !== "function") return () => undefined;
  const controller = new AbortController();
  const { signal } = controller;
  /** @type {(on: EventTarget, name: string, then: (event: any) => void) => void} */
  const listen = (on, name, then) => on.addEventListener(name, then, { signal });
  const { document } = globalThis;
  if (document) listen(document, "visibilitychange", () => document.visibilityState === "visible" && wake());
  listen(globalThis, "online", wake);
  listen(globalThis, "pageshow", wake);
  listen(globalThis, "pagehide", leave);
  const overheard = (/** @type {unknown} */ error) => isOwnTrap?.(error) && trapped(error);
  listen(globalThis, "error", (event) => overheard(event.error));
  listen(globalThis, "unhandledrejection", (event) => overheard(event.reason));
  return () => controller.abort();
}
