// @ts-check
/** A whole world for tests: the real module over a disk, a line, services and time that are simulated. */
/** @import * as Api from "./testing.d.ts" */
import { checkNames } from "./check.js";
import { makeHoldfast } from "./create.js";
import { HoldfastError, invalid, isHoldfastError } from "./error.js";
import { checkOptions } from "./options.js";
import { builtIn } from "./profiles/built-in.js";
import { checkAdvance, checkCall, checkFaults, checkKnown, checkWorld } from "./testing-checks.js";
import { Clock } from "./testing-clock.js";
import { Disk } from "./testing-disk.js";
import { Line } from "./testing-line.js";
import { Machine } from "./testing-machine.js";

export { HoldfastError, isHoldfastError };

/** When a world begins: any time that is not now does. */
const BEGIN = Date.UTC(2026, 0, 1);
/** How many turns of the host nothing must happen in, before time goes on. */
const QUIET_TURNS = 3;
/** Most time that passes by itself for one wait, in milliseconds. */
const PASSING_MS_MAX = 48 * 3_600_000;

/** @type {Promise<WebAssembly.Module> | undefined} */
let compiled;

/** The shipped module, unchanged. */
async function shipped() {
  const place = new URL("./holdfast.wasm", import.meta.url);
  if (place.protocol !== "file:") return WebAssembly.compileStreaming(fetch(place));
  const { readFile } = await import(/** @type {string} */ ("node:fs/promises"));
  return WebAssembly.compile(await readFile(place));
}

/** @type {typeof Api.simulate} */
export const simulate = async (scripts, options = {}) => {
  checkWorld(scripts, options);
  return new World(await (compiled ??= shipped()), scripts, options);
};

/** @implements {Api.World} */
class World {
  #scripts;
  #faults;
  #clock;
  #disk = new Disk();
  #shared;
  /** @type {Map<string, Line>} */
  #lines = new Map();
  /** @type {Set<Machine>} */
  #alive = new Set();
  /** How much of the app is at work: time stands still for it. */
  #busy = 0;
  #running = false;

  /**
   * @param {WebAssembly.Module} module
   * @param {Readonly<Record<string, Api.ServiceScript>>} scripts
   * @param {Api.SimulateOptions} options
   */
  constructor(module, scripts, { faults = [], now = BEGIN }) {
    this.#scripts = scripts;
    this.#faults = faults;
    const clock = (this.#clock = new Clock(now));
    this.#shared = { module, clock, disk: this.#disk, locks: new Set(), awaited: () => void this.#run() };
  }

  get now() {
    return this.#clock.now;
  }

  /** @type {Api.World["createHoldfast"]} */
  createHoldfast = (given) => {
    // Where a server would store its work; this world has a disk of its own.
    const { storage, ...own } = /** @type {any} */ (given);
    const settings = checkOptions({ ...own, persist: false });
    for (const name of Object.keys(settings.options.services)) {
      if (!Object.hasOwn(this.#scripts, name)) {
        throw invalid(`services.${name}`, `simulate() was given no service "${name}".`, `It has: ${Object.keys(this.#scripts).join(", ")}.`);
      }
    }
    const machine = new Machine(this.#shared);
    this.#alive.add(machine);
    const whole = { ...settings, options: this.#inside(settings.options, machine) };
    return /** @type {any} */ (
      makeHoldfast(whole, {
        open: async (own, listeners) => {
          await this.#prepare(settings);
          return machine.open(own, listeners);
        },
      })
    );
  };

  /** @param {{ lose?: "relaxed" }} [options] */
  async crash(options = {}) {
    checkNames(options, "crash", "lose");
    const { lose } = options;
    checkKnown(lose, "crash.lose", ["relaxed"]);
    for (const machine of this.#alive) machine.crash();
    this.#alive.clear();
    if (lose) this.#disk.lose();
    await turns(QUIET_TURNS);
  }

  /** @param {number} ms */
  async advance(ms) {
    checkAdvance(ms);
    const end = this.#clock.now + ms;
    await this.#quiet();
    while (this.#clock.next() <= end) {
      this.#clock.step();
      await this.#quiet();
    }
    this.#clock.now = Math.max(this.#clock.now, end);
    await this.#quiet();
  }

  async settle() {
    const end = this.#clock.now + PASSING_MS_MAX;
    for (;;) {
      await this.#quiet();
      const left = (await Promise.all([...this.#alive].map((machine) => machine.unsettled()))).flat();
      if (!left.length || this.#clock.next() > end) return left;
      this.#clock.step();
    }
  }

  /** @param {string} service */
  service(service) {
    checkKnown(service ?? null, "service", Object.keys(this.#scripts));
    const line = () => {
      const own = this.#lines.get(service);
      if (own) return own;
      throw invalid("service", `No client has used the service "${service}" yet.`, "Open one and call start() first.");
    };
    return Object.freeze({
      ledger: () => line().ledger(),
      requests: () => Object.freeze([...line().requests]),
      fault: (/** @type {Api.Fault[]} */ ...faults) => {
        checkFaults(faults, this.#scripts);
        line().add(faults);
      },
      hold: (call = "submit") => {
        checkCall(call, "hold");
        line().hold(call);
      },
      held: () => this.#wait(line().held()),
      release: () => line().release(),
    });
  }

  /**
   * The options as the client has them: what it sends goes to the scripted services, and while the app's own
   * functions run, time stands still.
   *
   * @param {any} options
   * @param {Machine} machine
   */
  #inside(options, machine) {
    const during = (/** @type {any} */ own) =>
      own &&
      (async (/** @type {any[]} */ ...args) => {
        this.#busy += 1;
        try {
          return await own(...args);
        } finally {
          this.#busy -= 1;
        }
      });
    const services = Object.fromEntries(
      Object.entries(options.services).map(([name, /** @type {any} */ service]) => [name, { ...service, authorize: during(service.authorize) }]),
    );
    return { ...options, services, onSettled: during(options.onSettled), fetch: (/** @type {any} */ url, /** @type {any} */ init) => machine.hear(this.#fetch(String(url), init)) };
  }

  /**
   * Makes the services that the options name, as their profiles describe them.
   *
   * @param {import("./options.js").Settings} settings
   */
  async #prepare({ config }) {
    const { services } = JSON.parse(config);
    for (const [name, { profile, baseUrl }] of Object.entries(services)) {
      if (this.#lines.has(name)) continue;
      const whole = typeof profile === "string" ? (await builtIn[profile]?.())?.default : profile;
      if (!whole) continue; // Said by the client, in a sentence.
      const faults = this.#faults.filter(({ service = name }) => service === name);
      this.#lines.set(name, new Line(baseUrl, whole, this.#scripts[name], faults, this.#clock));
    }
  }

  /**
   * @param {string} url
   * @param {RequestInit} init
   */
  async #fetch(url, init) {
    for (const line of this.#lines.values()) if (line.isAt(url)) return line.fetch(url, init);
    throw new TypeError(`Nothing is simulated at ${url}.`);
  }

  /**
   * Lets time pass until something has come.
   *
   * @template T
   * @param {Promise<T>} promise
   * @returns {Promise<T>}
   */
  async #wait(promise) {
    let over = false;
    promise.then(() => (over = true), () => (over = true));
    const end = this.#clock.now + PASSING_MS_MAX;
    for (;;) {
      await this.#quiet();
      if (over || this.#clock.next() > end) return promise;
      this.#clock.step();
    }
  }

  /** Lets time pass by itself, as long as somebody waits for a client. */
  async #run() {
    if (this.#running) return;
    this.#running = true;
    try {
      const end = this.#clock.now + PASSING_MS_MAX;
      for (;;) {
        await this.#quiet();
        if (![...this.#alive].some((machine) => machine.isAwaited())) return;
        const next = this.#clock.next();
        if (next > end && next < Infinity) return;
        if (next < Infinity) this.#clock.step();
      }
    } finally {
      this.#running = false;
    }
  }

  /** Resolves when nothing happens any more without time. */
  async #quiet() {
    for (let still = 0; still < QUIET_TURNS; still++) {
      await turns(1);
      if (this.#busy || [...this.#alive].some((machine) => machine.isOpening)) still = -1;
    }
  }
}

/** The host's own, before a test puts others in their places. @type {(call: () => void) => void} */
const soon = /** @type {any} */ (globalThis).setImmediate ?? globalThis.setTimeout;

/** @param {number} count */
async function turns(count) {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => soon(() => resolve(undefined)));
}
