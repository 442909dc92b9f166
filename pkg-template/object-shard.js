// @ts-check
/**
 * One object's share of the work: a client for each caller that has some, driven whenever the object is
 * awake, and by its alarm when nobody calls.
 *
 * The alarm stands at the first point in time at which anything is due, and is set in the turn of the
 * transaction that makes it due. It may come late, twice or not at all: what it does is decided by what
 * is stored, and every call looks at that too.
 */
/** @import * as Api from "./index.d.ts" */
/** @import { HoldfastObject } from "./cloudflare.d.ts" */
/** @import { ObjectTurns } from "./object-turns.js" */
import { Client } from "./client.js";
import { Connection } from "./connection.js";
import { HoldfastError } from "./error.js";
import { makeGlue } from "./glue-maker.js";
import { ownInstance } from "./module.js";
import { objectLocks } from "./object-locks.js";
import { dueAccounts, firstDue, indexObject, isKnown, isUsed, objectPort } from "./object-storage.js";
import { Work } from "./object-work.js";
import { checkOptions } from "./options.js";
import { builtIn } from "./profiles/all.js";
import { sqlStore } from "./sql-transaction.js";

/** The longest that one alarm works, in milliseconds. */
const ALARM_MS = 20_000;
/** The longest that a call's own work is waited for after its answer, in milliseconds. */
const AFTERWARDS_MS = 25_000;
/** Callers whose work one alarm takes up. */
const CALLERS_MAX = 8;
/** Callers whose clients stay in memory between alarms. */
const CLIENTS_MAX = 32;
/** The first pause after an alarm that has moved nothing, in milliseconds; it doubles each time. */
const FRUITLESS_MS = 1000;
/** The longest such pause, in milliseconds. */
const FRUITLESS_MS_MAX = 60_000;

/** What makes an operation where there was none. @type {import("./connection.js").Method[]} */
const BEGINNINGS = ["submit", "adopt"];

export class Shard {
  #storage;
  #declared;
  #module;
  #instance = ownInstance(makeGlue);
  #locks = objectLocks();
  #work = new Work();
  #turns;
  #store;
  /** @type {Map<string, Client>} */
  #clients = new Map();
  /** When the alarm is set to; `undefined`: not known to be set. @type {number | undefined} */
  #alarmAt;
  #inAlarm = false;
  /** Alarms in a row that have moved nothing. */
  #fruitless = 0;
  #used = false;

  /**
   * @param {DurableObjectStorage} storage
   * @param {HoldfastObject<any>} declared The object, whose services are read when they are needed.
   * @param {WebAssembly.Module} module
   * @param {(services: () => Record<string, Api.Service<any>>) => ObjectTurns} turns
   */
  constructor(storage, declared, module, turns) {
    this.#storage = storage;
    this.#declared = declared;
    this.#module = module;
    this.#turns = turns(() => declared.services);
    const store = sqlStore(
      () => objectPort(storage, () => this.#arm()),
      (error) => this.#instance.replace(this.#instance.generation, error),
      () => indexObject(storage),
    );
    this.#store = this.#turns.claiming(store);
    // What a dead instance held is free.
    this.#instance.onDeath(() => this.#locks.clear());
  }

  /** Whether anything was ever stored here. Once it was, the schema is not read anew for each write. */
  isUsed() {
    return (this.#used ||= isUsed(this.#storage));
  }

  /**
   * Calls the module for a caller.
   *
   * @param {string} caller
   * @param {import("./connection.js").Method} method
   * @param {readonly unknown[]} args
   */
  async call(caller, method, args) {
    const client = this.#clientOf(caller);
    if (BEGINNINGS.includes(method)) await this.#checkTurns(client, args);
    return this.#work.during(client.call(method, args));
  }

  /**
   * Refuses what would wait for ever for its turn. Of an intent that has its operation nothing begins: that is found.
   *
   * @param {Client} client
   * @param {readonly unknown[]} args
   */
  async #checkTurns(client, [service, json]) {
    try {
      await this.#turns.check(String(service));
    } catch (refusal) {
      const { intent } = JSON.parse(String(json));
      const isStored = this.isUsed() && (await this.#work.during(client.call("find", [service, intent]))) !== undefined;
      if (!isStored) throw refusal;
    }
  }

  /**
   * Whether an operation still needs what it has among all objects.
   *
   * @param {import("./object-shared.js").Kind} kind
   * @param {string} id
   * @param {string} caller
   */
  isHeld(kind, id, caller) {
    const isStored = (/** @type {string} */ own) => this.isUsed() && isKnown(this.#storage, own);
    return this.#turns.isHeld(kind, id, isStored, (own) => this.call(caller, "load", [own]));
  }

  /** Resolves once what a call has begun is over, or has to wait. */
  afterwards = () => this.#work.rest(AFTERWARDS_MS);

  /**
   * Does what is due. Never fails: what has gone wrong is tried again by an alarm of our own reckoning,
   * set when all else is done, so that none is lost to an error.
   */
  async alarm() {
    this.#inAlarm = true;
    const [exchanges, before] = [this.#work.exchanges, this.#due()];
    try {
      if (this.isUsed()) await this.#drive();
    } catch (error) {
      console.error("Holdfast: an alarm failed. It is set again.", error);
    } finally {
      this.#inAlarm = false;
      const due = this.#due();
      const moved = this.#work.exchanges > exchanges || due !== before;
      this.#fruitless = moved ? 0 : this.#fruitless + 1;
      await this.#setAlarm(due);
    }
  }

  async #drive() {
    const callers = dueAccounts(this.#storage, this.#delivers, Date.now(), CALLERS_MAX);
    // A start is work too: one that does not come to its end keeps no alarm.
    const failed = (/** @type {unknown} */ error) => console.error("Holdfast: work could not be taken up. It is tried again.", error);
    for (const caller of callers) this.call(caller, "start", []).catch(failed);
    await this.#work.rest(ALARM_MS);
    // Whoever has not asked for longest; what is stored of them is there when they do.
    for (const [caller, client] of this.#clients) {
      if (this.#clients.size <= CLIENTS_MAX) break;
      this.#clients.delete(caller);
      await client.close();
    }
  }

  get #delivers() {
    return this.#declared.onSettled !== undefined;
  }

  #due() {
    return this.isUsed() ? firstDue(this.#storage, this.#delivers) : undefined;
  }

  /** Called in the turn of each write: nothing is due before the alarm. */
  #arm() {
    if (this.#inAlarm) return;
    const due = this.#due();
    if (due === undefined) return;
    // What is due since the beginning of time is due now: an alarm at 0 is refused.
    const at = Math.max(due, Date.now());
    if (this.#alarmAt !== undefined && this.#alarmAt <= at) return;
    this.#alarmAt = at;
    this.#storage.setAlarm(at).catch(() => (this.#alarmAt = undefined));
  }

  /** @param {number | undefined} due */
  async #setAlarm(due) {
    this.#alarmAt = due;
    if (due === undefined) return;
    const pause = this.#fruitless && Math.min(FRUITLESS_MS * 2 ** (this.#fruitless - 1), FRUITLESS_MS_MAX);
    this.#alarmAt = Math.max(due, Date.now() + pause);
    await this.#storage.setAlarm(this.#alarmAt);
  }

  /** @param {string} caller */
  #clientOf(caller) {
    const client = this.#clients.get(caller) ?? this.#makeClient(caller);
    this.#clients.delete(caller);
    this.#clients.set(caller, client);
    return client;
  }

  /** @param {string} caller */
  #makeClient(caller) {
    const declared = this.#declared;
    const { observe, retention } = declared;
    const settings = checkOptions(
      {
        account: () => caller,
        services: tracked(declared.services, this.#work),
        ...(this.#delivers && { onSettled: (operation) => this.#settled(operation) }),
        ...(observe && { observe: (event) => observe.call(declared, event) }),
        ...(retention && { retention }),
        module: this.#module,
        fetch: this.#work.fetching((input, init) => fetch(input, init)),
      },
    );
    return new Client(settings, new Set(), {
      connect: (own, host) => {
        const hears = this.#hearing(caller, host);
        const connection = new Connection(own, hears, builtIn, {
          instance: this.#instance,
          database: this.#store,
          locks: this.#locks,
          arm: this.#work.timer(() => connection.wake()),
        });
        return connection;
      },
      channel: null,
      isServer: true,
    });
  }

  /**
   * The host, which also asks for turns and is told what is written.
   *
   * @param {string} caller
   * @param {import("./host.js").OwnHost} host
   */
  #hearing(caller, host) {
    const turns = this.#turns;
    return {
      ...host,
      turn: (/** @type {string} */ service, /** @type {string} */ id, /** @type {string | undefined} */ alone) =>
        this.#work.during(turns.turn(caller, service, id, alone)),
      notify(/** @type {string} */ json, /** @type {string} */ entries, /** @type {string} */ account) {
        turns.heard(json);
        host.notify(json, entries, account);
      },
    };
  }

  /** @param {Api.Operation<any>} operation */
  async #settled(operation) {
    await this.#work.during(Promise.resolve(this.#declared.onSettled?.(operation)));
  }
}

/**
 * The services, with what they are asked for counted as work.
 *
 * @param {Record<string, Api.Service<any>>} services
 * @param {Work} work
 */
function tracked(services, work) {
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
