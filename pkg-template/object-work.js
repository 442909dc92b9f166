// @ts-check
/**
 * What is under way in an object at this moment, and when its clients want to be woken. A long wait is
 * the alarm's: a timer would keep the object in memory.
 */
/** @import * as Api from "./index.d.ts" */
import { HoldfastError } from "./error.js";

/** A wait up to this length is waited for in memory, in milliseconds. */
const SOON_MS = 500;

export class Work {
  #whole;
  #busy = 0;
  #moves = 0;
  /** Told when nothing is under way any more. @type {Set<(value: undefined) => void>} */
  #watching = new Set();

  /** @param {Work} [whole] What this is a part of. */
  constructor(whole) {
    this.#whole = whole;
  }

  /** How many exchanges have begun, and endings were handed over. */
  get moves() {
    return this.#moves;
  }

  /** Whether anything is under way, or somebody wants to be woken soon. */
  get isBusy() {
    return this.#busy > 0;
  }

  /** Something has moved. */
  move() {
    this.#moves += 1;
    this.#whole?.move();
  }

  /**
   * Counts a promise as work until it settles.
   *
   * @template T
   * @param {Promise<T>} promise
   * @returns {Promise<T>}
   */
  async during(promise) {
    this.#begin();
    try {
      return await promise;
    } finally {
      this.#end();
    }
  }

  /**
   * `fetch`, with its answer's body counted as work while it is read.
   *
   * @param {typeof fetch} send
   * @returns {typeof fetch}
   */
  fetching = (send) => async (input, init) => {
    this.move();
    const { status, headers, body } = await this.during(send(input, init));
    const reading = body && {
      getReader: () => {
        const reader = body.getReader();
        return { read: () => this.during(reader.read()) };
      },
    };
    return /** @type {any} */ ({ status, headers, body: reading });
  };

  /**
   * A store whose transactions count as work.
   *
   * @template {{ run(what: string, args: any[]): { done: Promise<any>, drop(): void } }} Store
   * @param {Store} store
   * @returns {Store}
   */
  storing = (store) => ({
    ...store,
    run: (what, args) => {
      const running = store.run(what, args);
      this.during(running.done).catch(() => undefined);
      return running;
    },
  });

  /**
   * What arms a client's timer.
   *
   * @param {() => void} wake
   */
  timer(wake) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    return (/** @type {number | undefined} */ delayMs) => {
      clearTimeout(timer);
      if (timer !== undefined) this.#end();
      timer = undefined;
      if (delayMs === undefined || delayMs > SOON_MS) return;
      this.#begin();
      timer = setTimeout(() => {
        timer = undefined;
        wake();
        this.#end();
      }, delayMs);
    };
  }

  /**
   * Resolves once nothing is under way and nobody wants to be woken soon.
   *
   * @param {number} limitMs The longest that this takes.
   */
  async rest(limitMs) {
    let late = false;
    const end = () => {
      late = true;
      this.#tell();
    };
    const timer = setTimeout(end, limitMs);
    // What a turn has ended may begin something in the next.
    for (let still = 0; still < 2 && !late; ) {
      if (this.#busy) await new Promise((changed) => this.#watching.add(changed));
      await new Promise((next) => setTimeout(next, 0));
      still = this.#busy ? 0 : still + 1;
    }
    clearTimeout(timer);
  }

  #begin() {
    this.#busy += 1;
    if (this.#whole) this.#whole.#begin();
  }

  #end() {
    this.#busy -= 1;
    if (this.#whole) this.#whole.#end();
    if (!this.#busy) this.#tell();
  }

  #tell() {
    for (const changed of this.#watching) changed(undefined);
    this.#watching.clear();
  }
}

/**
 * The services, with what they are asked for counted as work.
 *
 * @param {Record<string, Api.Service<any>>} services
 * @param {Work} work
 */
export function tracked(services, work) {
  if (typeof services !== "object" || !services) {
    throw new HoldfastError("The object declares no services.", {
      code: "INVALID_INPUT",
      field: "services",
      nextStep: "Declare them in your class: services = { … }.",
    });
  }
  return Object.fromEntries(
    Object.entries(services).map(([name, service]) => {
      const { authorize } = service;
      if (typeof authorize !== "function") return [name, service];
      return [name, { ...service, authorize: (/** @type {any} */ request) => work.during(Promise.resolve(authorize(request))) }];
    }),
  );
}
