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
/** The same of one whose turn has come, which it has to use soon. */
const IN_TURN_MS = 500;
/** How soon a request asks again that has found no place, in milliseconds. */
const AGAIN_MS = 250;
/** How long such a request may stay away and be where it stood, in milliseconds. */
const STOOD_MS = 60_000;
/** How long a place is kept for a request that got it, in milliseconds. */
const KEPT_MS = 10_000;

/** Gives a place back; does nothing the second time. @typedef {() => void} Release */
/** Waits so many milliseconds without a place. Tells whether there is one again then. @typedef {(ms: number) => Promise<boolean>} Pause */
/** Whoever waits for a place: the lowest is the first, and told that it has one. @typedef {{ position: number, told: () => void }} Waiter */

/** Before all who wait: a request whose turn has come. */
const FIRST = 0;

export class Connections {
  #taken = 0;
  /** @type {Set<Waiter>} */
  #waiting = new Set();
  #count = FIRST;
  /** Where operations stood that found no place, and when they left. @type {Map<string, { position: number, at: number }>} */
  #stood = new Map();
  #life = new AbortController();

  /** The instance is dead whose requests these were: nobody waits for their answers. */
  died() {
    this.#life.abort(new Error("The instance has died."));
    this.#life = new AbortController();
  }

  /** The view of one client, whose requests take the places that it was given. */
  ofClient() {
    /** @type {Set<() => Release>} */
    const given = new Set();
    return {
      /**
       * Asks for a turn where there is a place. Tells how long to wait for both, in milliseconds.
       *
       * @param {string} id The operation's.
       * @param {(pause: Pause) => Promise<number>} ask
       */
      turn: async (id, ask) => {
        let release = await this.#place(WAIT_MS, this.#positionOf(id), id);
        if (!release) return AGAIN_MS;
        const pause = async (/** @type {number} */ ms) => {
          release?.();
          await new Promise((over) => setTimeout(over, ms));
          release = await this.#place(IN_TURN_MS, FIRST);
          return release !== undefined;
        };
        let waitMs = AGAIN_MS;
        try {
          return (waitMs = await ask(pause));
        } finally {
          if (waitMs) release?.();
          else if (release) keep(given, release);
        }
      },
      /**
       * `fetch`, in its place. What was given none waits for it here where it only reads, as a page of a result or
       * a diagnosis does; what may change something is written already, and leaves.
       *
       * @param {typeof fetch} send
       * @returns {typeof fetch}
       */
      fetching: (send) => async (input, init) => {
        const [take] = given;
        const waits = !take && (init?.method ?? "GET") === "GET";
        const { signal } = this.#life;
        const release = (waits && (await this.#place(WAIT_MS, (this.#count += 1)))) || (take?.() ?? this.#take());
        try {
          return await send(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, signal]) : signal });
        } finally {
          release();
        }
      },
    };
  }

  /**
   * @param {number} waitMs
   * @param {number} position
   * @param {string} [id] Of whoever comes again, to stand where it stood.
   * @returns {Promise<Release | undefined>} `undefined`: there was none in time.
   */
  async #place(waitMs, position, id) {
    if (this.#taken < OPEN_MAX) return this.#take();
    return new Promise((resolve) => {
      const waiter = {
        position,
        told: () => {
          clearTimeout(late);
          this.#waiting.delete(waiter);
          resolve(this.#take());
        },
      };
      const late = setTimeout(() => {
        this.#waiting.delete(waiter);
        if (id !== undefined) this.#stood.set(id, { position, at: Date.now() });
        resolve(undefined);
      }, waitMs);
      this.#waiting.add(waiter);
    });
  }

  /** @param {string} id */
  #positionOf(id) {
    for (const [other, { at }] of this.#stood) if (Date.now() - at > STOOD_MS) this.#stood.delete(other);
    const stood = this.#stood.get(id);
    this.#stood.delete(id);
    return stood?.position ?? (this.#count += 1);
  }

  /** @returns {Release} */
  #take() {
    this.#taken += 1;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#taken -= 1;
      if (this.#taken >= OPEN_MAX || !this.#waiting.size) return;
      [...this.#waiting].reduce((first, other) => (other.position < first.position ? other : first)).told();
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
