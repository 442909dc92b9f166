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
import { makeGlue } from "./glue-maker.js";
import { ownInstance } from "./module.js";
import { Connections } from "./object-connections.js";
import { DueWork, PAUSE_MS_MAX } from "./object-due.js";
import { objectLocks } from "./object-locks.js";
import { indexObject, isKnown, isUsed, objectPort } from "./object-storage.js";
import { tracked, Work } from "./object-work.js";
import { checkOptions } from "./options.js";
import { builtIn } from "./profiles/all.js";
import { sqlStore } from "./sql-transaction.js";

/** The longest that one alarm works, in milliseconds. */
const ALARM_MS = 20_000;
/** The longest that a call's own work is waited for after its answer, in milliseconds. */
const AFTERWARDS_MS = 25_000;
/** Callers whose work one alarm takes up. */
const CALLERS_MAX = 8;
/** Callers whose clients stay in memory while nothing is under way for them. */
const CLIENTS_MAX = 32;
/** An alarm that is as late as this may be lost, in milliseconds. */
const LATE_MS = 60_000;

/** What makes an operation where there was none. @type {import("./connection.js").Method[]} */
const BEGINNINGS = ["submit", "adopt"];

/** A caller's client, and what is under way with it. @typedef {{ client: Client, work: Work }} Own */

export class Shard {
  #storage;
  #declared;
  #module;
  #instance = ownInstance(makeGlue);
  #locks = objectLocks();
  #work = new Work();
  #connections = new Connections();
  #due;
  #turns;
  #store;
  /** By callers, whoever has asked last the last. @type {Map<string, Own>} */
  #clients = new Map();
  /** When the alarm is set to; `undefined`: not known to be set. @type {number | undefined} */
  #alarmAt;
  #inAlarm = false;
  #isLettingGo = false;
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
    this.#due = new DueWork(storage.sql, () => this.#delivers);
    const store = sqlStore(
      () => objectPort(storage, (operations) => this.#arm(operations)),
      (error) => this.#instance.replace(this.#instance.generation, error),
      () => indexObject(storage),
    );
    this.#store = this.#turns.claiming(store);
    // What a dead instance held is free.
    this.#instance.onDeath(() => {
      this.#locks.clear();
      this.#connections.died();
    });
  }

  /** Whether anything was ever stored here. Once it was, the schema is not read anew for each write. */
  isUsed() {
    if (this.#used || !isUsed(this.#storage)) return this.#used;
    // What an earlier version has not made.
    indexObject(this.#storage);
    return (this.#used = true);
  }

  /**
   * Calls the module for a caller.
   *
   * @param {string} caller
   * @param {import("./connection.js").Method} method
   * @param {readonly unknown[]} args
   */
  async call(caller, method, args) {
    void this.#work.during(this.#rearm());
    const { client, work } = this.#ownOf(caller);
    const called = async () => {
      if (BEGINNINGS.includes(method)) await this.#checkTurns(client, args);
      return client.call(method, args);
    };
    try {
      return await work.during(called());
    } finally {
      void this.#work.during(this.#letGo());
    }
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
      const isStored = this.isUsed() && (await client.call("find", [service, intent])) !== undefined;
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
   * Does what is due. What has gone wrong is tried again by an alarm of our own reckoning, set when all else is
   * done, so that none is lost to an error. Fails only where that cannot be set: the platform calls again then.
   */
  async alarm() {
    this.#inAlarm = true;
    const [now, moves] = [Date.now(), this.#work.moves];
    /** @type {number | undefined} */
    let before;
    try {
      before = this.#first();
      if (this.isUsed()) await this.#drive(now);
    } catch (error) {
      console.error("Holdfast: an alarm failed. It is set again.", error);
    } finally {
      this.#inAlarm = false;
      await this.#setAlarm(now, () => this.#work.moves > moves || this.#first() !== before);
    }
  }

  /** @param {number} now */
  async #drive(now) {
    const callers = this.#due.callers(now, CALLERS_MAX);
    // A start is work too: one that does not come to its end keeps no alarm.
    const failed = (/** @type {unknown} */ error) => console.error("Holdfast: work could not be taken up. It is tried again.", error);
    for (const caller of callers) this.call(caller, "start", []).catch(failed);
    await this.#work.rest(ALARM_MS);
  }

  get #delivers() {
    return this.#declared.onSettled !== undefined;
  }

  #first() {
    return this.isUsed() ? this.#due.first() : undefined;
  }

  /**
   * Called in the turn of each write: nothing is due before the alarm. Where that is set, only for what was written:
   * all else has its time already, or the pause that it was given.
   *
   * @param {import("./object-storage.js").Written[]} [operations]
   */
  #arm(operations = []) {
    if (this.#inAlarm) return;
    const due = this.#alarmAt === undefined ? this.#first() : this.#due.firstOf(operations);
    if (due === undefined) return;
    // What is due since the beginning of time is due now: an alarm at 0 is refused.
    const at = Math.max(due, Date.now());
    if (this.#alarmAt !== undefined && this.#alarmAt <= at) return;
    this.#alarmAt = at;
    this.#storage.setAlarm(at).catch(() => (this.#alarmAt = undefined));
  }

  /** Sets the alarm again where it was lost, with an instance of ours or by the platform. */
  async #rearm() {
    const isSet = () => this.#inAlarm || (this.#alarmAt !== undefined && Date.now() - this.#alarmAt < LATE_MS);
    if (isSet() || this.#first() === undefined) return;
    const lost = (await this.#storage.getAlarm().catch(() => 0)) === null;
    if (!lost || isSet()) return;
    this.#alarmAt = undefined;
    this.#arm();
  }

  /**
   * Sets the alarm again, after one.
   *
   * @param {number} from When that was.
   * @param {() => boolean} moved Whether it has moved anything.
   */
  async #setAlarm(from, moved) {
    const at = this.#next(from, moved);
    this.#alarmAt = at;
    if (at === undefined) return;
    try {
      await this.#storage.setAlarm(at);
    } catch (error) {
      this.#alarmAt = undefined;
      throw error;
    }
  }

  /**
   * When the next alarm is: where something becomes due; and for what was due before and still is, at the end of
   * a pause, which is the longest where it cannot be told.
   *
   * @param {number} from When the last one was.
   * @param {() => boolean} moved Whether it has moved anything.
   * @returns {number | undefined} `undefined`: there is none.
   */
  #next(from, moved) {
    try {
      if (!this.isUsed()) return undefined;
      const hasMoved = moved();
      const pause = this.#due.pause(from, hasMoved) ?? Infinity;
      // What is under way is gone on with, as long as that moves anything.
      const again = Date.now() + (pause < Infinity && hasMoved && this.#work.isBusy ? 0 : pause);
      const at = Math.min(this.#due.first(from) ?? Infinity, again);
      return at === Infinity ? undefined : Math.max(at, Date.now());
    } catch (error) {
      console.error("Holdfast: what is due could not be read. An alarm looks again.", error);
      return Date.now() + PAUSE_MS_MAX;
    }
  }

  /** @param {string} caller */
  #ownOf(caller) {
    const own = this.#clients.get(caller) ?? this.#makeOwn(caller);
    this.#clients.delete(caller);
    this.#clients.set(caller, own);
    return own;
  }

  /** Lets clients go that are too many: of whoever has not asked for longest. What is stored of them is there when they do. */
  async #letGo() {
    if (this.#clients.size <= CLIENTS_MAX || this.#isLettingGo) return;
    this.#isLettingGo = true;
    try {
      for (const [caller, own] of [...this.#clients]) {
        // What a turn has ended may begin something in the same one.
        await new Promise((next) => setTimeout(next, 0));
        if (this.#clients.size <= CLIENTS_MAX) break;
        if (own.work.isBusy || this.#clients.get(caller) !== own) continue;
        this.#clients.delete(caller);
        await own.client.close();
      }
    } finally {
      this.#isLettingGo = false;
    }
  }

  /**
   * @param {string} caller
   * @returns {Own}
   */
  #makeOwn(caller) {
    const declared = this.#declared;
    const { observe, retention } = declared;
    const work = new Work(this.#work);
    const connections = this.#connections.ofClient();
    const settings = checkOptions(
      {
        account: () => caller,
        services: tracked(declared.services, work),
        ...(this.#delivers && { onSettled: (operation) => this.#settled(operation, work) }),
        ...(observe && { observe: (event) => observe.call(declared, event) }),
        ...(retention && { retention }),
        module: this.#module,
        fetch: work.fetching(connections.fetching((input, init) => fetch(input, init))),
      },
    );
    const client = new Client(settings, new Set(), {
      connect: (own, host) => {
        const hears = this.#hearing(caller, host, work, connections);
        const connection = new Connection(own, hears, builtIn, {
          instance: this.#instance,
          database: work.storing(this.#store),
          locks: this.#locks,
          arm: work.timer(() => connection.wake()),
        });
        return connection;
      },
      channel: null,
      isServer: true,
    });
    return { client, work };
  }

  /**
   * The host, which also asks for turns with places for what they are for, and is told what is written.
   *
   * @param {string} caller
   * @param {import("./host.js").OwnHost} host
   * @param {Work} work
   * @param {ReturnType<Connections["ofClient"]>} connections
   */
  #hearing(caller, host, work, connections) {
    const turns = this.#turns;
    return {
      ...host,
      turn: (/** @type {string} */ service, /** @type {string} */ id, /** @type {string | undefined} */ alone) =>
        work.during(connections.turn(id, (pause) => turns.turn(caller, service, id, alone, pause))),
      validate: (/** @type {Parameters<typeof host.validate>} */ ...asked) => work.during(host.validate(...asked)),
      notify(/** @type {string} */ json, /** @type {string} */ entries, /** @type {string} */ account) {
        turns.heard(json);
        host.notify(json, entries, account);
      },
    };
  }

  /**
   * @param {Api.Operation<any>} operation
   * @param {Work} work
   */
  async #settled(operation, work) {
    work.move();
    await work.during(Promise.resolve(this.#declared.onSettled?.(operation)));
  }
}
