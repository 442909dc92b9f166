// @ts-check
/** Tells the other tabs of the app what has changed, where the browser has BroadcastChannel. */

/** @typedef {{ service: string, id: string }} Change */

export class Tabs {
  /** @type {BroadcastChannel | undefined} */
  #channel;
  #name;
  #hear;
  #asked;
  #able;
  #life = new AbortController();

  /**
   * @param {string | null} database The tabs of one database share one channel; `null`: no other is told.
   * @param {(change: Change) => void} hear Told of a change in another tab.
   * @param {() => void} missed Called where changes may not have been heard, and somebody looks again.
   * @param {() => void} asked Called where nobody looks at this tab, and another that somebody looks at wants its work.
   * @param {() => boolean} able Whether it can go on with what it asks for.
   */
  constructor(database, hear, missed, asked, able) {
    this.#name = `holdfast:${database}`;
    this.#hear = hear;
    this.#asked = asked;
    this.#able = able;
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
    const wants = globalThis.document?.visibilityState === "visible" && this.#able();
    if (wants) this.#channel?.postMessage({ asks: true });
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
      if (typeof data?.service === "string" && typeof data.id === "string") this.#hear(data);
    };
  }

  #shut() {
    this.#channel?.close();
    this.#channel = undefined;
  }
}
