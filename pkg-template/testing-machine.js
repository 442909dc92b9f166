// @ts-check
/** One client with all that dies with it: its instance of the module, its timers, its locks, its exchanges. */
/** @import * as Api from "./index.d.ts" */
/** @import { Settings } from "./options.js" */
import { Client } from "./client.js";
import { Connection } from "./connection.js";
import { closedError } from "./error.js";
import { makeGlue } from "./glue-maker.js";
import { ownInstance } from "./module.js";
import { builtIn } from "./profiles/built-in.js";
import { isSettled, UNSETTLED } from "./status.js";
import { ClientTime } from "./testing-clock.js";
import { storeOn } from "./testing-disk.js";

/**
 * What all machines of a world share.
 *
 * @typedef {{
 *   module: WebAssembly.Module,
 *   disk: import("./testing-disk.js").Disk,
 *   clock: import("./testing-clock.js").Clock,
 *   locks: Set<string>,
 *   awaited: () => void,
 * }} Shared `awaited`: told that somebody waits.
 */

/** A client that tells when it is waited for. */
class AwaitedClient extends Client {
  waits = 0;
  onWait = () => {};

  /** @type {Client["until"]} */
  async until(...own) {
    this.waits += 1;
    this.onWait();
    try {
      return await super.until(...own);
    } finally {
      this.waits -= 1;
    }
  }
}

export class Machine {
  #shared;
  #time;
  #isAlive = true;
  /** The locks that it holds. @type {Set<string>} */
  #held = new Set();
  #calls = 0;
  /** @type {AwaitedClient | undefined} */
  #client;
  /** Its module is being loaded, which takes no time of the world. */
  isOpening = false;

  /** @param {Shared} shared */
  constructor(shared) {
    this.#shared = shared;
    this.#time = new ClientTime(shared.clock);
  }

  /** Whether somebody waits for it. */
  isAwaited() {
    return this.#isAlive && (this.#calls > 0 || (this.#client?.waits ?? 0) > 0);
  }

  /**
   * @param {Settings} settings
   * @param {ReadonlySet<() => void>} listeners
   */
  async open(settings, listeners) {
    const { module, disk, awaited } = this.#shared;
    const instance = ownInstance((later) =>
      makeGlue((task) => later(() => this.#isAlive && task()), this.#time),
    );
    this.isOpening = true;
    await instance.load(module).finally(() => (this.isOpening = false));
    const database = storeOn(disk, () => this.#isAlive, (error) => instance.replace(instance.generation, error));
    /** @type {import("./client.js").Ways["connect"]} */
    const connect = (own, host) => {
      const options = { ...own.options, module };
      const connection = new Connection({ ...own, options }, host, builtIn, { instance, database, locks: this.#locks() });
      return this.#counted(connection);
    };
    this.#client = new AwaitedClient(settings, listeners, { connect, channel: null });
    this.#client.onWait = awaited;
    return this.#client;
  }

  /**
   * What it hears, for as long as it lives.
   *
   * @template T
   * @param {Promise<T>} promise
   * @returns {Promise<T>}
   */
  hear(promise) {
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => this.#isAlive && resolve(value),
        (error) => this.#isAlive && reject(error),
      );
    });
  }

  /** It is dead from now on, in the middle of whatever it did. Who waits for it is told that it is closed. */
  crash() {
    this.#isAlive = false;
    this.#time.end();
    for (const name of this.#held) this.#shared.locks.delete(name);
    this.#client?.close();
  }

  /** Its account's operations that are neither over nor parked. @returns {Promise<Api.OperationState[]>} */
  async unsettled() {
    if (!this.#isAlive || !this.#client) return [];
    await this.#client.start();
    const { operations } = await this.#client.list({ status: UNSETTLED, limit: 200 });
    return operations.map((operation) => operation.state).filter((state) => !isSettled(state));
  }

  /** @param {Connection} connection */
  #counted(connection) {
    return {
      hint: (/** @type {string} */ service) => connection.hint(service),
      wake: () => connection.wake(),
      yield: () => connection.yield(),
      close: async () => (this.#isAlive ? connection.close() : undefined),
      /** @type {Connection["call"]} */
      call: async (...own) => {
        if (!this.#isAlive) throw closedError();
        this.#calls += 1;
        this.#shared.awaited();
        try {
          return await connection.call(...own);
        } finally {
          this.#calls -= 1;
        }
      },
    };
  }

  /** A `LockManager`, as far as the module uses one. */
  #locks() {
    const { locks } = this.#shared;
    return {
      request: async (/** @type {string} */ name, /** @type {{ ifAvailable?: boolean }} */ { ifAvailable }, /** @type {(lock: object | null) => any} */ callback) => {
        if (ifAvailable) return callback(locks.has(name) ? null : {});
        locks.add(name);
        this.#held.add(name);
        try {
          return await callback({});
        } finally {
          locks.delete(name);
          this.#held.delete(name);
        }
      },
    };
  }
}
