// @ts-check
/** A client of the module that outlives the module's instances. */
import { unanswered } from "./crossing.js";
import { closedError, HoldfastError, isHoldfastError, notABrowser } from "./error.js";
import { configure } from "./profiles.js";
/** @import { Settings } from "./options.js" */
/** @import { Client as WasmClient, Host } from "./glue.js" */
/** @import { OwnHost } from "./host.js" */
/** @import { Instance } from "./module.js" */

/** Pause before a new instance goes on with pending work; doubles with each death, in milliseconds. */
const RESTART_MS = 500;
/** The longest such pause, in milliseconds. */
const RESTART_MS_MAX = 60_000;

/**
 * What differs between hosts.
 *
 * @typedef {object} Platform
 * @property {Instance} instance The module's.
 * @property {Host["database"]} database Where work is stored.
 * @property {Host["locks"]} [locks] Who tells of deaths, where that is not the navigator.
 * @property {Host["arm"]} [arm] Who wakes the client in the place of a timeout, told the milliseconds.
 * @property {(life: Life) => () => void} [watch] Follows the life of the page; gives what ends that.
 */

/**
 * What the life of a page leads to.
 *
 * @typedef {object} Life
 * @property {() => void} wake It is back, or the network.
 * @property {() => void} yield It goes away.
 * @property {(error: unknown) => void} trapped The module has died of this.
 */

/** @typedef {Exclude<keyof WasmClient, "free" | "yield" | "offer" | "wake" | "hint">} Method */

/**
 * How a client is made.
 *
 * @typedef {{
 *   connect: (settings: Settings, host: OwnHost) =>
 *     Pick<Connection, "call" | "hint" | "wake" | "yield" | "close"> & Partial<Pick<Connection, "offer">>,
 *   channel?: string | null,
 *   isServer?: boolean,
 * }} Ways `connect`: to its module; without `offer`, to one that gives its work to no other tab. `channel`: by which other
 *   contexts are told of changes; `null`: they are not. `isServer`: its network does not come and go.
 */

/** What is not called a second time by itself: whether it has happened is for the app to look at. */
export const ONCE = ["command", "revise"];

export class Connection {
  /** @type {Settings} */
  #settings;
  /** @type {Host} */
  #host;
  #profiles;
  /** @type {Promise<string> | undefined} */
  #config;
  /** @type {WasmClient | undefined} */
  #client;
  #generation = 0;
  #deaths = 0;
  #closed = false;
  /** Rejects the calls under way: a dead instance never settles them. @type {Set<(error: any) => void>} */
  #pending = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #restart;
  #platform;
  /** Ends following the page's life. @type {(() => void) | undefined} */
  #leave;
  /** Ends hearing of deaths. @type {(() => void) | undefined} */
  #mourn;

  /**
   * @param {Settings} settings
   * @param {OwnHost} host
   * @param {import("./profiles.js").Profiles} profiles Those that come with the package.
   * @param {Platform} platform
   */
  constructor(settings, host, profiles, platform) {
    this.#settings = settings;
    const { database, locks, arm } = platform;
    this.#host = { ...host, database, locks, arm };
    this.#profiles = profiles;
    this.#platform = platform;
  }

  /**
   * Calls a method. Where the instance dies of it, a call that may be made again is, once.
   *
   * @param {Method} method
   * @param {readonly unknown[]} args
   * @param {() => void} [check] Called when the module is there, in the turn of the call.
   * @returns {Promise<any>}
   */
  async call(method, args, check) {
    for (let round = 0; ; round++) {
      const client = await this.#open();
      try {
        check?.();
      } catch (error) {
        // What was called before the module died may have been done.
        throw round ? crashed(method, error) : error;
      }
      const generation = this.#generation;
      const { promise, settle } = this.#guard();
      try {
        return await Promise.race([promise, /** @type {any} */ (client)[method](...args)]);
      } catch (thrown) {
        const error = told(thrown);
        if (error) throw error;
        this.#platform.instance.replace(generation, thrown);
        if (this.#closed) throw closedError();
        if (ONCE.includes(method) || round) throw crashed(method, thrown);
      } finally {
        settle();
      }
    }
  }

  /** Looks again at what is due: the page is back, or the network. */
  wake = () => this.#nudge("wake");

  /** Gives the lanes back at once, as far as that can be done in one turn. */
  yield = () => this.#nudge("yield");

  /**
   * Gives the lanes back as soon as nothing is under way, for a tab that somebody looks at.
   *
   * @param {string} [service] That of one service only, for a tab that can go on with it.
   */
  offer(service) {
    this.#nudge("offer", service);
  }

  /**
   * Another context has changed something of this service.
   *
   * @param {string} service
   */
  hint(service) {
    if (!Object.hasOwn(this.#settings.options.services, service)) return;
    this.#nudge("hint", service);
  }

  async close() {
    if (this.#closed) return;
    const client = this.#client;
    this.#client = undefined;
    this.#closed = true;
    this.#leave?.();
    this.#mourn?.();
    clearTimeout(this.#restart);
    this.#fail(closedError());
    if (client && this.#generation === this.#platform.instance.generation) await client.close().catch(() => undefined);
    // What gives the lanes back has the connection by then.
    this.#host.database.forget();
  }

  /** @returns {Promise<WasmClient>} */
  async #open() {
    if (this.#closed) throw closedError();
    const { module } = this.#settings.options;
    const { instance } = this.#platform;
    const [config] = await Promise.all([this.#configure(), instance.load(module)]);
    // The instance may have died while profiles were loading.
    const generation = await instance.load(module);
    if (this.#closed) throw closedError();
    if (this.#client && this.#generation === generation) return this.#client;
    this.#watch();
    try {
      this.#client = instance.makeClient(config, this.#host);
    } catch (thrown) {
      const error = told(thrown);
      if (error) throw error;
      instance.replace(generation, thrown);
      throw crashed("start", thrown);
    }
    this.#generation = generation;
    if (this.#deaths) this.#client.start().catch(() => undefined);
    return this.#client;
  }

  /** The module's configuration, made once; a failure is forgotten. */
  #configure() {
    return (this.#config ??= configure(this.#settings, this.#profiles).catch((error) => {
      this.#config = undefined;
      throw error;
    }));
  }

  /** A promise that rejects when the instance dies or the client closes, until it is settled. */
  #guard() {
    /** @type {(error: unknown) => void} */
    let reject = () => undefined;
    const promise = new Promise((_, no) => (reject = no));
    // Nobody waits for it where the call itself throws.
    promise.catch(() => undefined);
    this.#pending.add(reject);
    return { promise, settle: () => this.#pending.delete(reject) };
  }

  /** @param {unknown} error */
  #fail(error) {
    const pending = [...this.#pending];
    this.#pending.clear();
    for (const reject of pending) reject(error);
  }

  /**
   * @param {"wake" | "yield" | "offer" | "hint"} what
   * @param {...(string | undefined)} args
   */
  #nudge(what, ...args) {
    if (!this.#client || this.#generation !== this.#platform.instance.generation) return;
    try {
      /** @type {any} */ (this.#client)[what](...args);
    } catch (thrown) {
      if (!told(thrown)) this.#platform.instance.replace(this.#generation, thrown);
    }
  }

  /**
   * The instance is dead: those who wait for it hear of it, and another goes on soon.
   *
   * @param {unknown} error
   */
  #lost(error) {
    this.#client = undefined;
    this.#fail(error);
    if (this.#restart !== undefined) return;
    const pause = Math.min(RESTART_MS * 2 ** this.#deaths++, RESTART_MS_MAX);
    this.#restart = setTimeout(() => {
      this.#restart = undefined;
      this.#open().catch(() => undefined);
    }, pause);
  }

  /** Follows the page's life from the first use on, where there is a page. */
  #watch() {
    const { instance, watch } = this.#platform;
    this.#mourn ??= instance.onDeath((error) => this.#lost(error));
    this.#leave ??= watch?.({
      wake: this.wake,
      yield: this.yield,
      trapped: (error) => this.#client && instance.replace(this.#generation, error),
    });
  }
}

/**
 * What the module said, as an error of ours; `undefined` when the module did not say it.
 *
 * @param {any} thrown
 */
function told(thrown) {
  if (isHoldfastError(thrown)) return thrown;
  if (typeof thrown?.code !== "string" || thrown instanceof Error) return undefined;
  const { message, nextStep, ...details } = thrown;
  if (message.includes("indexedDB is missing") && !("indexedDB" in globalThis)) return notABrowser(message);
  const { field } = details;
  const named = field && !message.startsWith(field) ? `${field}: ${message}` : message;
  return new HoldfastError(sentence(named), { ...details, nextStep: sentence(nextStep) });
}

/** @param {string} text */
const sentence = (text) =>
  text && text.replace(/^[a-z](?=[a-z]* )/, (first) => first.toUpperCase()).replace(/([^.])$/, "$1.");

/**
 * @param {string} method
 * @param {unknown} cause
 */
const crashed = (method, cause) =>
  unanswered(
    method,
    "Holdfast's module failed during the call.",
    "Look at the operation's state and call again; if it persists, reload the page.",
    cause,
  );
