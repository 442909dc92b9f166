// @ts-check
/**
 * The one instance of the WebAssembly module that this page has, and its death.
 *
 * A trap leaves an instance that cannot be trusted. It is then treated like a killed tab: a new
 * instance takes over from what is stored.
 */
/** @import * as Api from "./index.d.ts" */
import init, * as glue from "./glue.js";
import { HoldfastError, notABrowser } from "./error.js";

/** @type {Promise<void> | undefined} */
let loading;
/** Grows with every instance. */
let generation = 0;
/** The instance that stands trapped, and another could not be made yet. */
let trapped = false;
/** @type {Set<(error: unknown) => void>} */
const bereaved = new Set();

/**
 * Loads and initialises the module, once whatever calls it; a failure is forgotten, so that a later
 * call may try again. The first caller's `module` counts.
 *
 * @param {Api.HoldfastOptions<any>["module"]} module
 * @returns {Promise<number>} The generation of the instance.
 */
export async function load(module) {
  loading ??= initialise(module).catch((error) => {
    loading = undefined;
    throw error;
  });
  await loading;
  if (trapped) renew();
  return generation;
}

/** The policy that lets WebAssembly run. */
const POLICY = "script-src 'self' 'wasm-unsafe-eval'";

const inExtension = () => globalThis.location?.protocol.endsWith("-extension:");

/** @param {Api.HoldfastOptions<any>["module"]} module */
async function initialise(module) {
  try {
    await init({ module_or_path: module ?? new URL("./holdfast.wasm", import.meta.url) });
  } catch (cause) {
    const text = String(cause);
    const blocked = /unsafe-eval|CSP|Content.Security/i.test(text);
    // A server has neither a place to keep things nor, by itself, a way to the module's file.
    if (!blocked && module === undefined && !("indexedDB" in globalThis)) throw notABrowser(cause);
    throw blocked
      ? new HoldfastError("The Content-Security-Policy blocks WebAssembly.", {
          code: "WASM_BLOCKED",
          nextStep: inExtension()
            ? `Add to manifest.json: "content_security_policy": {"extension_pages": "${POLICY}; object-src 'self'"}.`
            : `Add 'wasm-unsafe-eval' to it: ${POLICY}.`,
          cause,
        })
      : new HoldfastError(`Holdfast's WebAssembly module could not be loaded: ${text}.`, {
          code: "WASM_BLOCKED",
          nextStep: "Serve holdfast.wasm beside the package's files, or say where it is: module.",
          cause,
        });
  }
}

/** The generation of the present instance: what belongs to another is dead. */
export const present = () => generation;

/**
 * Makes a client in the present instance.
 *
 * @param {string} config
 * @param {import("./glue.js").Host} host
 */
export const makeClient = (config, host) => new glue.Client(config, host);

/**
 * Calls back whenever an instance has died, with what killed it. Gives what ends that.
 *
 * @param {(error: unknown) => void} listener
 */
export function onDeath(listener) {
  bereaved.add(listener);
  return () => void bereaved.delete(listener);
}

/**
 * Puts a new instance in the place of one that trapped; of one replaced before, nothing is heard.
 *
 * @param {number} dead
 * @param {unknown} error
 */
export function replace(dead, error) {
  if (dead !== generation) return;
  generation += 1;
  trapped = true;
  try {
    renew();
  } catch {
    // No memory for another instance: the next load tries again.
  }
  for (const listener of [...bereaved]) listener(error);
}

function renew() {
  glue.__wbg_reset_state();
  trapped = false;
}

/**
 * Whether an error that nobody caught is a trap of this package's module: it is raised in a
 * microtask of the module's own, where no promise tells of it.
 *
 * @param {any} error
 */
export function isOwnTrap(error) {
  if (!(error instanceof WebAssembly.RuntimeError)) return false;
  const stack = String(error.stack);
  return stack.includes("holdfast") || stack.includes(new URL(".", import.meta.url).href);
}
