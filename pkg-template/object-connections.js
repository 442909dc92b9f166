// @ts-check
/**
 * The requests of an object that wait for their headers. The platform lets six of them wait, and makes the
 * next ones wait before they leave: past the time at which they may. So they wait for their place here, before
 * their attempt is written.
 */

/** Requests that wait for their headers at a time. */
const OPEN_MAX = 6;
/** The longest that a request waits for its place in one go, in milliseconds. */
const WAIT_MS = 5000;
/** How soon a request asks again that has found no place, in milliseconds. */
const AGAIN_MS = 250;
/** How long a place is kept for a request that got it, in milliseconds. */
const KEPT_MS = 10_000;

/** Gives a place back; does nothing the second time. @typedef {() => void} Release */

export class Connections {
  #taken = 0;
  /** Told that they have a place: who came first is the first. @type {Set<() => void>} */
  #waiting = new Set();

  /** The view of one client, whose requests take the places that it was given. */
  ofClient() {
    /** @type {Set<() => Release>} */
    const given = new Set();
    return {
      /**
       * Asks for a turn where there is a place. Tells how long to wait for both, in milliseconds.
       *
       * @param {() => Promise<number>} ask
       */
      turn: async (ask) => {
        const release = await this.#place();
        if (!release) return AGAIN_MS;
        let waitMs = AGAIN_MS;
        try {
          return (waitMs = await ask());
        } finally {
          if (waitMs) release();
          else keep(given, release);
        }
      },
      /**
       * `fetch`, in its place. What comes without one, as a question for a price does, waits for nobody.
       *
       * @param {typeof fetch} send
       * @returns {typeof fetch}
       */
      fetching: (send) => async (input, init) => {
        const [take = () => this.#take()] = given;
        const release = take();
        try {
          return await send(input, init);
        } finally {
          release();
        }
      },
    };
  }

  /** @returns {Promise<Release | undefined>} `undefined`: there was none in time. */
  async #place() {
    if (this.#taken < OPEN_MAX && !this.#waiting.size) return this.#take();
    return new Promise((resolve) => {
      const told = () => {
        clearTimeout(late);
        this.#waiting.delete(told);
        resolve(this.#take());
      };
      const late = setTimeout(() => {
        this.#waiting.delete(told);
        resolve(undefined);
      }, WAIT_MS);
      this.#waiting.add(told);
    });
  }

  /** @returns {Release} */
  #take() {
    this.#taken += 1;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#taken -= 1;
      const [next] = this.#waiting;
      if (this.#taken < OPEN_MAX) next?.();
    };
  }
}

/**
 * Keeps a place for a request that is about to leave, which takes it; not for one that does not come.
 *
 * @param {Set<() => Release>} given
 * @param {Release} release
 */
function keep(given, release) {
  const take = () => {
    clearTimeout(late);
    given.delete(take);
    return release;
  };
  const late = setTimeout(() => take()(), KEPT_MS);
  given.add(take);
}
