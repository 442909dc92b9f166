// @ts-check
/** Tells the other tabs of the app what has changed, where the browser has BroadcastChannel. */

/** @typedef {{ service: string, id: string }} Change */

/** How long a tab without a credential counts as one, unless it is given one, in milliseconds. */
const LACKS_MS = 60_000;

export class Tabs {
  /** @type {BroadcastChannel | undefined} */
  #channel;
  #name;
  #hear;
  #asked;
  /** When there was no credential for a service, by its name. @type {Map<string, number>} */
  #lacked = new Map();
  #life = new AbortController();

  /**
   * @param {string | null} database The tabs of one database share one channel; `null`: no other is told.
   * @param {(change: Change) => void} hear Told of a change in another tab.
   * @param {() => void} missed Called where changes may not have been heard, and somebody looks again.
   * @param {(service?: string) => void} asked Called where nobody looks at this tab, and another that somebody looks at
   *   wants its work; and where another can go on with that of a service for which there is no credential here.
   */
  constructor(database, hear, missed, asked) {
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
    const lacks = [...this.#lacked.keys()].some((service) => this.#lacks(service));
    if (globalThis.document?.visibilityState === "visible" && !lacks) this.#channel?.postMessage({ asks: true });
  }

  /**
   * Where there is no credential, another tab may have one: it says so, and is given the work.
   *
   * @param {string} service
   * @param {boolean} given Whether the app gave one.
   */
  authorized(service, given) {
    if (given) return void this.#lacked.delete(service);
    this.#lacked.set(service, performance.now());
    this.#channel?.postMessage({ lacks: service });
  }

  /** @param {string} service */
  #lacks(service) {
    return performance.now() - (this.#lacked.get(service) ?? -Infinity) < LACKS_MS;
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
      if (typeof data?.lacks === "string" && !this.#lacks(data.lacks)) this.#channel?.postMessage({ takes: data.lacks });
      if (this.#lacks(data?.takes)) this.#asked(data.takes);
      if (typeof data?.service === "string" && typeof data.id === "string") this.#hear(data);
    };
  }

  #shut() {
    this.#channel?.close();
    this.#channel = undefined;
  }
}
