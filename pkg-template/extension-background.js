// @ts-check
/** The background of an extension: the one context that drives, woken by an alarm whenever it has died. */
/** @import * as Api from "./index.d.ts" */
/** @import * as Extension from "./extension.d.ts" */
/** @import { Settings } from "./options.js" */
/** @import { Connection } from "./connection.js" */
/** @import { OwnHost } from "./host.js" */
import { checkFunction } from "./check.js";
import { Client } from "./client.js";
import { makeHoldfast } from "./create.js";
import { closedError, HoldfastError } from "./error.js";
import { Alarm } from "./extension-alarm.js";
import { checkManifest, extensionApi } from "./extension-manifest.js";
import { answerOf, argsOf, CHANGES, MAKES_WORK, objectOf, OF_A_SERVICE, PROTOCOL, refusalOf, NAMES_NOTHING } from "./extension-messages.js";
import { checkOptions } from "./options.js";
import { connectPage } from "./page.js";
import { UNSETTLED } from "./status.js";
import { builtIn } from "./profiles/all.js";
import { report } from "./report.js";
import { resetStorage } from "./reset.js";
import { checkServiceName, currentAccount, seal } from "./submission.js";

/** A background worker is ended where an answer is not there after 30 s; it is given up before. In milliseconds. */
const ANSWER_MS = 25_000;
/** How many operations of a kind are looked at where none is known; what they wait for sets the alarm. */
const LOOKED_AT_MAX = 200;
/** What is neither over nor waits for a person. */
const UNDER_WAY = UNSETTLED.filter((status) => status !== "parked");

/** @type {typeof Extension.background} */
export function background(given) {
  const { allow = isOwnPage, ...options } = given ?? {};
  checkFunction(allow, "allow");
  checkFunction(options.fetch, "fetch");
  const settings = checkOptions({ ...options, fetch: answeredInTime(options.fetch) });
  const own = new Background(extensionApi(), settings, allow);
  own.listen();
  own.resume();
  return /** @type {any} */ (own.holdfast);
}

class Background {
  #api;
  #settings;
  #allow;
  #alarm;
  /** Told of any change. @type {Set<() => void>} */
  #listeners = new Set([() => this.#follow()]);
  /** @type {Client | undefined} */
  #client;
  /** @type {Connection | undefined} */
  #connection;
  /** @type {Promise<void> | undefined} */
  #starting;
  /** @type {Promise<void> | undefined} */
  #following;
  #changed = false;
  #closed = false;
  holdfast;

  /**
   * @param {any} api
   * @param {Settings} settings
   * @param {Extension.Allow} allow
   */
  constructor(api, settings, allow) {
    this.#api = api;
    this.#settings = settings;
    this.#allow = allow;
    this.#alarm = new Alarm(api);
    const holdfast = makeHoldfast(settings, {
      open: async (_, listeners) => {
        this.#listeners.add(() => listeners.forEach((listener) => listener()));
        return this.#open();
      },
      reset: async () => ({ resetStorage }),
    });
    this.begin = holdfast.start;
    const close = async () => {
      this.#closed = true;
      this.#alarm.close();
      await holdfast.close();
      await this.#client?.close();
    };
    this.holdfast = {
      ...holdfast,
      start: () => this.start(),
      close,
      ...(Symbol.asyncDispose && { [Symbol.asyncDispose]: close }),
    };
    checkManifest(api, settings.options.services);
  }

  /** All in the first turn: what listens later misses the event that the worker was started for. */
  listen() {
    const { runtime, alarms } = this.#api;
    runtime.onStartup?.addListener(this.resume);
    runtime.onInstalled?.addListener(this.resume);
    alarms?.onAlarm.addListener((/** @type {{ name: string }} */ gone) => {
      if (!Alarm.isOurs(gone)) return;
      this.#alarm.hasGoneOff();
      this.resume();
    });
    runtime.onMessage.addListener(this.#answer);
  }

  /** Goes on with what is stored, whatever comes of it. */
  resume = () => void this.start().catch((error) => report(this, "resuming", error, this.#settings.options.logger));

  /** Goes on with what is stored; once at a time, whatever asks for it. */
  start() {
    return (this.#starting ??= this.#goOn().finally(() => (this.#starting = undefined)));
  }

  async #goOn() {
    if (this.#closed) throw closedError();
    if (currentAccount(this.#settings.options) === null) return this.#alarm.rest();
    await this.begin();
    this.#connection?.wake();
    this.#follow();
    await this.#following;
  }

  /** Sets the alarm to what there is to do: once at a time, and again where something changed meanwhile. */
  #follow() {
    this.#changed = true;
    this.#following ??= this.#lookAgain()
      .catch((error) => void (this.#closed || report(this, "setting the alarm", error, this.#settings.options.logger)))
      .finally(() => (this.#following = undefined));
  }

  async #lookAgain() {
    while (this.#changed && !this.#closed) {
      this.#changed = false;
      const shown = this.#open().snapshot().filter(this.#isOpen);
      const open = shown.length ? shown : await this.#stored();
      await (open.length ? this.#alarm.follow(open) : this.#alarm.rest());
    }
  }

  /**
   * What the store has to do: all that is under way, and the newest of what has ended and may not have been
   * delivered. What is older is delivered when something else wakes the worker.
   */
  async #stored() {
    const client = this.#open();
    /** @type {Api.OperationState[]} */
    const states = [];
    for (const filter of [{ status: UNDER_WAY }, { acknowledged: false }]) {
      const { operations } = await client.list({ ...filter, limit: LOOKED_AT_MAX });
      states.push(...operations.map(({ state }) => state));
    }
    return states.filter(this.#isOpen);
  }

  /** Whether there is something to do. @param {Api.OperationState} state */
  #isOpen = (state) => {
    if (state.endedAt === undefined) return !state.parked;
    const delivers = this.#settings.options.onSettled !== undefined && !state.delivered;
    return !state.deletedAt && (delivers || !!state.waiting || (!!state.deletion && !state.deletion.parked));
  };

  #open() {
    if (this.#closed) throw closedError();
    return (this.#client ??= new Client(this.#settings, this.#listeners, { connect: this.#connect }));
  }

  /**
   * The connection, of which each call that may leave something to do is made with the alarm set.
   *
   * @type {(settings: Settings, host: OwnHost) => Pick<Connection, "call" | "hint" | "yield" | "close">}
   */
  #connect = (settings, host) => {
    const own = (this.#connection = connectPage(settings, host, builtIn));
    return {
      call: (method, args) =>
        MAKES_WORK.includes(method) ? this.#alarm.during(() => own.call(method, args)) : own.call(method, args),
      hint: (service) => own.hint(service),
      yield: () => own.yield(),
      close: () => own.close(),
    };
  };

  /** @type {(message: any, sender: any, answer: (answer: object) => void) => boolean} */
  #answer = (message, sender, answer) => {
    if (message?.protocol !== PROTOCOL || this.#closed) return false;
    const account = currentAccount(this.#settings.options);
    this.#carryOut(message, sender)
      .then((value) => {
        // What was read for one account is not shown as another's.
        this.#checkAccount(account);
        return answerOf(account, value);
      })
      .catch((error) => refusalOf(error.code === "NOT_ALLOWED" ? undefined : account, error))
      .then(answer);
    return true;
  };

  /**
   * @param {any} message
   * @param {any} sender
   */
  async #carryOut(message, sender) {
    const args = argsOf(message);
    const { method } = message;
    await this.#checkAllowed(method, args, sender);
    if (OF_A_SERVICE.includes(method)) checkServiceName(this.#settings.options, /** @type {any} */ (args[0]));
    if (CHANGES.includes(method)) this.#checkAccount(message.account);
    if (method === "start") return this.start();
    const client = this.#open();
    if (method !== "submit") return client.call(/** @type {any} */ (method), args);
    const [service, json, body] = /** @type {[string, string, Uint8Array]} */ (args);
    const operation = await client.submit(seal(this.#settings.options, service, { ...objectOf(json), body }));
    return JSON.stringify(operation);
  }

  /**
   * @param {string} action
   * @param {any[]} args
   * @param {any} sender
   */
  async #checkAllowed(action, [first, json], sender) {
    const of = OF_A_SERVICE.includes(action)
      ? { service: first }
      : NAMES_NOTHING.includes(action)
        ? {}
        : { operationId: first, ...(action === "command" && { command: Object.keys(objectOf(json))[0] }) };
    // Messages of other extensions come by another event: an id that is not ours would be a fault.
    const allowed = sender?.id === this.#api.runtime.id && (await this.#asked({ action, ...of }, sender));
    if (allowed === true) return;
    throw new HoldfastError(`This sender may not call ${action}.`, {
      code: "NOT_ALLOWED",
      nextStep: "Pages of the extension may; others where allow(request, sender) of background() gives true.",
    });
  }

  /**
   * @param {any} request
   * @param {any} sender
   */
  async #asked(request, sender) {
    try {
      return await this.#allow(request, sender);
    } catch (error) {
      report(this.#allow, "allow", error, this.#settings.options.logger);
      return false;
    }
  }

  /** @param {unknown} expected Whose work the sender believes that it is. */
  #checkAccount(expected) {
    if (expected === undefined || expected === currentAccount(this.#settings.options)) return;
    throw new HoldfastError("The account changed in the background. Nothing was sent.", {
      code: "NO_ACCOUNT",
      nextStep: "Look again at what is shown, and submit for the account that is the current one.",
    });
  }
}

/**
 * Only pages of the extension itself; no content script, whatever page it is in.
 *
 * @type {Extension.Allow}
 */
const isOwnPage = (_, { url }) => typeof url === "string" && url.startsWith(extensionApi().runtime.getURL(""));

/**
 * A fetch whose answer begins in time, or is given up: the outcome is unknown then, and settled in the
 * usual ways. What comes after the answer's head may take longer.
 *
 * @param {typeof fetch} [given]
 * @returns {typeof fetch}
 */
const answeredInTime = (given) => async (input, init) => {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ANSWER_MS);
  const signal = init?.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
  try {
    return await (given ?? fetch)(input, { ...init, signal });
  } finally {
    clearTimeout(timer);
  }
};
