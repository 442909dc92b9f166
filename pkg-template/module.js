// @ts-check
/**
 * An instance of the WebAssembly module, and its death.
 *
 * A trap leaves an instance that cannot be trusted. It is then treated like a killed tab: a new
 * instance takes over from what is stored.
 */
/** @import * as Api from "./index.d.ts" */
import { HoldfastError, notABrowser } from "./error.js";

/**
 * What binds the module to JavaScript.
 *
 * @typedef {Pick<typeof import("./glue.js"), "default" | "__wbg_reset_state" | "Client">} Glue
 */

export class Instance {
  /** The module's file, where it is on its way before it is loaded. @type {Promise<Response | undefined> | undefined} */
  early;
  #glue;
  /** @type {Promise<void> | undefined} */
  #loading;
  /** Grows with every instance. */
  #generation = 0;
  /** The instance stands trapped, and another could not be made yet. */
  #trapped = false;
  /** @type {Set<(error: unknown) => void>} */
  #bereaved = new Set();

  /** @param {Glue} glue */
  constructor(glue) {
    this.#glue = glue;
  }

  /**
   * Loads and initialises the module, once whatever calls it; a failure is forgotten, so that a later
   * call may try again. The first caller's `module` counts.
   *
   * @param {Api.HoldfastOptions<any>["module"]} module
   * @returns {Promise<number>} The generation of the instance.
   */
  async load(module) {
    this.#loading ??= initialise(this.#glue, module ?? this.early).catch((error) => {
      this.#loading = undefined;
      throw error;
    });
    await this.#loading;
    if (this.#trapped) this.#renew();
    return this.#generation;
  }

  /** The generation of the present instance: what belongs to another is dead. */
  get generation() {
    return this.#generation;
  }

  /**
   * Makes a client in the present instance.
   *
   * @param {string} config
   * @param {import("./glue.js").Host} host
   */
  makeClient(config, host) {
    return new this.#glue.Client(config, host);
  }

  /**
   * Calls back whenever an instance has died, with what killed it. Gives what ends that.
   *
   * @param {(error: unknown) => void} listener
   */
  onDeath(listener) {
    this.#bereaved.add(listener);
    return () => void this.#bereaved.delete(listener);
  }

  /**
   * Puts a new instance in the place of one that trapped; of one replaced before, nothing is heard.
   *
   * @param {number} dead
   * @param {unknown} error
   */
  replace(dead, error) {
    if (dead !== this.#generation) return;
    this.#generation += 1;
    this.#trapped = true;
    try {
      this.#renew();
    } catch {
      // No memory for another instance: the next load tries again.
    }
    for (const listener of [...this.#bereaved]) listener(error);
  }

  #renew() {
    this.#glue.__wbg_reset_state();
    this.#trapped = false;
  }
}

/** The policy that lets WebAssembly run. */
const POLICY = "script-src 'self' 'wasm-unsafe-eval'";

const inExtension = () => globalThis.location?.protocol.endsWith("-extension:");

/**
 * An instance with a glue of its own, that hears of its death in its own tasks. Of an instance that was
 * replaced meanwhile nothing is heard.
 *
 * @param {typeof import("./glue-maker.js").makeGlue} makeGlue
 */
export function ownInstance(makeGlue) {
  /** @type {(task: () => void) => void} */
  const later = (task) => {
    const { generation } = instance;
    queueMicrotask(() => {
      try {
        task();
      } catch (error) {
        instance.replace(generation, error);
      }
    });
  };
  const instance = new Instance(makeGlue(later));
  return instance;
}

/**
 * @param {Glue} glue
 * @param {Api.HoldfastOptions<any>["module"] | Instance["early"]} module
 */
async function initialise(glue, module) {
  try {
    const given = await module;
    // An answer is read once.
    const isUsed = given instanceof Response && given.bodyUsed;
    await glue.default({ module_or_path: isUsed ? own() : (given ?? own()) });
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
      : notLoaded((await refusalOf(module)) ?? text, cause);
  }
}

/** How long a server may take to say why there is no module, in milliseconds. */
const ASKED_MS = 5000;

/** Where the module lies, unless the app says so: asked in the call, for not every host has an address of its scripts. */
const own = () => new URL("./holdfast.wasm", import.meta.url);

/**
 * What the server said of the module's file, where that was a refusal: what browsers tell of it names neither the
 * status nor the address. Asked once more, for an answer is not told to who was given a failure.
 *
 * @param {Api.HoldfastOptions<any>["module"] | Instance["early"]} module
 * @returns {Promise<string | undefined>}
 */
async function refusalOf(module) {
  try {
    const given = (await module) ?? own();
    const isAddress = typeof given === "string" || given instanceof URL;
    if (!isAddress && !(given instanceof Response)) return undefined;
    const answer = isAddress ? await fetch(given, { signal: AbortSignal.timeout(ASKED_MS) }) : given;
    if (isAddress) answer.body?.cancel().catch(() => undefined);
    const found = answer.status === 404 ? "was not found" : "is not served";
    // What follows the path may be a credential.
    return answer.ok ? undefined : `the file ${found}: status ${answer.status} from ${answer.url.split(/[?#]/)[0]}`;
  } catch {
    return undefined; // There was no answer: what was told before says so.
  }
}

/**
 * @param {string} why
 * @param {unknown} cause
 */
export const notLoaded = (why, cause) =>
  new HoldfastError(`Holdfast's WebAssembly module could not be loaded: ${why}.`, {
    code: "WASM_BLOCKED",
    nextStep: "Serve holdfast.wasm beside the package's files, or say where it is: module.",
    cause,
  });

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
