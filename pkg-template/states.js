// @ts-check
/** The newest known state of each operation that this client has seen. */
/** @import * as Api from "./index.d.ts" */
import { report } from "./report.js";

/** How many states are remembered beyond those that somebody holds. */
const STATES_MAX = 500;

/**
 * One operation's newest state and those who wait for its next.
 *
 * @typedef {{
 *   state: Api.OperationState,
 *   account: string | null,
 *   toldAt: number,
 *   waiting: Set<() => void>,
 *   operation?: WeakRef<Api.Operation<any>>,
 *   forgotten?: boolean,
 *   gone?: boolean,
 * }} Entry `toldAt`: when the module last told it, by `performance`. `forgotten`: it is shown to nobody until it is read again. `gone`: nothing is stored of it any more.
 */

export class States {
  /** By id and account: an extension's page knows an account that comes back as another. @type {Map<string, Entry>} */
  #entries = new Map();
  /** @type {readonly Api.OperationState[] | undefined} */
  #snapshot;
  /** @type {string | null | undefined} */
  #account;
  #told = true;
  /** @type {ReadonlySet<() => void>} */
  #listeners;
  #currentAccount;
  #hintOf;
  #logger;

  /**
   * @param {ReadonlySet<() => void>} listeners Told of any change.
   * @param {() => string | null} currentAccount
   * @param {(state: Api.OperationState) => string | undefined} hintOf Why it may never go on.
   * @param {Api.Logger} [logger]
   */
  constructor(listeners, currentAccount, hintOf, logger) {
    this.#logger = logger;
    this.#listeners = listeners;
    this.#currentAccount = currentAccount;
    this.#hintOf = hintOf;
  }

  /**
   * Takes a state in, as the module tells it. An older one never replaces a newer.
   *
   * @param {string} json
   * @param {string | null} account Whose it is: who is signed in by now may be somebody else.
   * @returns {Entry}
   */
  accept(json, account) {
    const state = freeze(this.#marked(JSON.parse(json)));
    const name = nameOf(state.id, account);
    const entry = this.#entries.get(name);
    const toldAt = performance.now();
    if (!entry) {
      const made = { state, account, toldAt, waiting: new Set() };
      this.#bound();
      // Last, for nobody holds it yet: it must not be what goes.
      this.#entries.set(name, made);
      this.#changed();
      return made;
    }
    if (entry.forgotten) {
      entry.forgotten = false;
      this.#changed();
    }
    entry.toldAt = toldAt;
    if (state.revision > entry.state.revision) {
      entry.state = state;
      for (const tell of [...entry.waiting]) tell();
      this.#changed();
    }
    return entry;
  }

  /** The browser's network has gone, or is back: what is not over shows it. */
  network() {
    for (const entry of this.#entries.values()) {
      const state = this.#marked(entry.state);
      if (state.offline === entry.state.offline) continue;
      entry.state = freeze(state);
      for (const tell of [...entry.waiting]) tell();
      this.#changed();
    }
  }

  /**
   * Nothing is stored of an operation any more: it is no longer shown, and who waits for it hears so.
   *
   * @param {string} id
   * @param {string | null} account Whose it was: another's is not looked at.
   */
  drop(id, account) {
    const name = nameOf(id, account);
    const entry = this.#entries.get(name);
    if (!entry) return;
    this.#entries.delete(name);
    entry.gone = true;
    for (const tell of [...entry.waiting]) tell();
    this.#changed();
  }

  /** Forgets all. What somebody holds is shown no more, and is found again when its account is back. */
  clear() {
    for (const [name, entry] of this.#entries) this.#forget(name, entry);
    this.#changed();
  }

  /**
   * Forgets the states of an account, but those that somebody still waits for.
   *
   * @param {string} account
   */
  dropAccount(account) {
    for (const [name, entry] of this.#entries) {
      if (entry.account === account && !entry.waiting.size) this.#forget(name, entry);
    }
    this.#changed();
  }

  /** The current account's states, newest first; the same array as long as nothing changes. */
  snapshot() {
    const account = this.#currentAccount();
    if (account !== this.#account) this.#snapshot = undefined;
    this.#account = account;
    return (this.#snapshot ??= Object.freeze(
      [...this.#entries.values()]
        .filter((entry) => entry.account === account && !entry.forgotten)
        .map((entry) => entry.state)
        .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)),
    ));
  }

  /** Those that somebody waits for. */
  awaited() {
    return [...this.#entries.values()].filter((entry) => entry.waiting.size > 0);
  }

  /**
   * @param {string} name
   * @param {Entry} entry
   */
  #forget(name, entry) {
    if (isHeld(entry)) entry.forgotten = true;
    else this.#entries.delete(name);
  }

  /** Makes room for one more. */
  #bound() {
    if (this.#entries.size < STATES_MAX) return;
    for (const [name, entry] of this.#entries) {
      if (isHeld(entry)) continue;
      this.#entries.delete(name);
      if (this.#entries.size < STATES_MAX) return;
    }
  }

  /**
   * A state that shows whether the browser says that it has no network, and why nothing answers.
   *
   * @param {Api.OperationState} state
   * @returns {Api.OperationState}
   */
  #marked({ offline, hint, ...state }) {
    if (state.endedAt !== undefined) return state;
    if (globalThis.navigator?.onLine === false) return { ...state, offline: true };
    const why = this.#hintOf(state);
    return why ? { ...state, hint: why } : state;
  }

  /** Tells the listeners, later and once for all that happens until then. */
  #changed() {
    this.#snapshot = undefined;
    if (!this.#told) return;
    this.#told = false;
    queueMicrotask(() => {
      this.#told = true;
      for (const listener of [...this.#listeners]) {
        try {
          listener();
        } catch (error) {
          report(listener, "a listener of subscribe()", error, this.#logger);
        }
      }
    });
  }
}

/** @type {(entry: Entry) => boolean} */
const isHeld = (entry) => entry.waiting.size > 0 || !!entry.operation?.deref();

/** @type {(id: string, account: string | null) => string} */
const nameOf = (id, account) => `${id} ${account}`;

/**
 * @template T
 * @param {T} value
 * @returns {T}
 */
export function freeze(value) {
  if (typeof value === "object" && value) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}
