// @ts-check
/** Tells the other tabs of the app what has changed, where the browser has BroadcastChannel. */

/** @import * as Api from "./index.d.ts" */
import { currentAccount } from "./submission.js";

/** @typedef {{ service: string, id: string }} Change */

/** Credentials that do not come within so long after one that has not come count as one with it, in milliseconds. */
const AT_ONCE_MS = 500;
/** How long a tab without a credential asks for no work, unless it is given one, in milliseconds. */
const LACKS_MS = 300_000;

export class Tabs {
  /** @type {BroadcastChannel | undefined} */
  #channel;
  #name;
  #options;
  #hear;
  #asked;
  /**
   * Of services by their names: how often in a row there was no credential, and when it was asked for last.
   *
   * @type {Map<string, { failures: number, at: number }>}
   */
  #credentials = new Map();
  #life = new AbortController();

  /**
   * @param {string | null} database The tabs of one database share one channel; `null`: no other is told.
   * @param {Api.HoldfastOptions<any>} options
   * @param {(change: Change) => void} hear Told of a change in another tab.
   * @param {() => void} missed Called where changes may not have been heard, and somebody looks again.
   * @param {(service?: string) => void} asked Called where nobody looks at this tab, and another that somebody looks at
   *   wants its work; and where another can go on with that of a service for which there is no credential here.
   */
  constructor(database, options, hear, missed, asked) {
    this.#options = options;
    this.#name = `holdfast:${database}`;
    this.#hear = hear;
    this.#asked = asked;
    if (database === null) return;
    this.#open();
    // An open channel can keep a page out of the back-forward cache.
    const { signal } = this.#life;
    globalThis.addEventListener?.("pagehide", () => this.#shut(), { signal });
    const shown = (/** @type {any} */ { persisted }) => {
      this.#open();
      if (persisted) missed();
    };
    globalThis.addEventListener?.("pageshow", shown, { signal });
    const { document } = globalThis;
    const seen = () => {
      if (document.visibilityState === "visible") missed(); // Who died with its last word unsaid told nobody.
      this.ask();
    };
    document?.addEventListener("visibilitychange", seen, { signal });
  }

  /** @param {Change} change */
  tell({ service, id }) {
    this.#channel?.postMessage({ service, id });
  }

  /** Asks the tabs that nobody looks at for what they drive: a browser may let them run once a minute only. */
  ask() {
    const lacks = [...this.#credentials.keys()].some((service) => this.#lacks(service));
    if (globalThis.document?.visibilityState === "visible" && !lacks) this.#channel?.postMessage({ asks: true });
  }

  /**
   * Where there is no credential, twice in a row, another tab of that account that lacks none says so, and is given the
   * work.
   *
   * @param {string} service
   * @param {boolean} given Whether the app gave one.
   */
  authorized(service, given) {
    const now = performance.now();
    const { failures, at } = this.#credentials.get(service) ?? { failures: 0, at: 0 };
    if (!given && failures && now < at + AT_ONCE_MS) return;
    this.#credentials.set(service, { failures: given ? 0 : failures + 1, at: now });
    if (!given && failures) this.#channel?.postMessage({ lacks: service, account: currentAccount(this.#options) });
  }

  /** @param {string} service */
  #lacks(service) {
    const { failures, at } = this.#credentials.get(service) ?? { failures: 0, at: 0 };
    return failures > 1 && performance.now() < at + LACKS_MS;
  }

  /**
   * @param {unknown} service
   * @param {unknown} account
   */
  #goesOn(service, account) {
    const { services } = this.#options;
    if (typeof service !== "string" || !Object.hasOwn(services, service)) return false;
    return account !== null && account === currentAccount(this.#options) && !this.#credentials.get(service)?.failures;
  }

  close() {
    this.#life.abort();
    this.#shut();
  }

  #open() {
    if (this.#channel || typeof BroadcastChannel !== "function") return;
    try {
      this.#channel = new BroadcastChannel(this.#name);
    } catch {
      return; // Forbidden here: the store tells when it is looked at next.
    }
    // In Node an open channel would keep the process alive.
    /** @type {any} */ (this.#channel).unref?.();
    this.#channel.onmessage = ({ data }) => {
      if (data?.asks === true && globalThis.document?.visibilityState === "hidden") this.#asked();
      if (this.#goesOn(data?.lacks, data?.account)) this.#channel?.postMessage({ takes: data.lacks });
      if (this.#lacks(data?.takes)) this.#asked(data.takes);
      if (typeof data?.service === "string" && typeof data.id === "string") this.#hear(data);
    };
  }

  #shut() {
    this.#channel?.close();
    this.#channel = undefined;
  }
}
