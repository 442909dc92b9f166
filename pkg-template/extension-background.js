// @ts-check
/** The background of an extension: the one context that drives, woken by an alarm whenever it has died. */
/** @import * as Api from "./index.d.ts" */
/** @import * as Extension from "./extension.d.ts" */
/** @import { Settings } from "./options.js" */
/** @import { Connection, Ways } from "./connection.js" */
import { checkFunction } from "./check.js";
import { Client } from "./client.js";
import { makeHoldfast } from "./create.js";
import { closedError, HoldfastError, invalid } from "./error.js";
import { Alarm } from "./extension-alarm.js";
import { Answers, ANSWER_MS, promised } from "./extension-answers.js";
import { checkManifest, extensionApi } from "./extension-manifest.js";
import { MAKES_WORK } from "./extension-messages.js";
import { checkOptions } from "./options.js";
import { connectPage } from "./page.js";
import { UNSETTLED } from "./status.js";
import { builtIn } from "./profiles/all.js";
import { report, tellFailure } from "./report.js";
import * as reset from "./reset.js";
import { unsettledOf } from "./sign-out.js";
import { currentAccount } from "./submission.js";

/** Of those that have ended, so many are looked at. */
const ENDED_MAX = 200;
/** Of so many operations all are remembered, in one life: of more, some may be known to the store only. */
const REMEMBERED = 250;
/** What is neither over nor waits for a person. */
const UNDER_WAY = UNSETTLED.filter((status) => status !== "parked");

/** There is one: two would both take on what a page submits. */
let begun = false;

/** @type {typeof Extension.background} */
export function background(given) {
  const { allow = isOwnPage, ready, ...options } = given ?? {};
  checkFunction(allow, "allow");
  checkFunction(options.fetch, "fetch");
  if (ready !== undefined && typeof ready?.then !== "function") {
    throw invalid("ready", "ready must be a promise.", "For example of what account() reads from storage.");
  }
  const settings = checkOptions({ ...options, fetch: answeredInTime(options.fetch) });
  const api = extensionApi();
  if (begun) {
    throw new HoldfastError("background() was called before.", {
      code: "NOT_ALLOWED",
      nextStep: "Call it once, with all services; after close() it may be called again.",
    });
  }
  const own = new Background(api, { ...settings, options: accountTold(settings.options) }, allow, ready);
  begun = true;
  own.listen();
  own.resume();
  return /** @type {any} */ (own.holdfast);
}

class Background {
  #api;
  #settings;
  #answers;
  #alarm;
  /** Told of any change. @type {Set<() => void>} */
  #listeners = new Set([() => this.#follow()]);
  /** @type {Client | undefined} */
  #client;
  /** @type {Connection | undefined} */
  #connection;
  /** Resolves once the app is there, whatever came of it. @type {Promise<unknown> | null} */
  #ready;
  /** @type {Promise<void> | undefined} */
  #starting;
  /** For whom. @type {string | null | undefined} */
  #startingFor;
  /** Whose work the pages were last told of. @type {string | null | undefined} */
  #toldOf;
  /** Of whom all that the store has to do is remembered. @type {string | null | undefined} */
  #readOf;
  /** The app could not say who is signed in, which is not to say nobody: the next life asks again. */
  #isUnsure = false;
  /** @type {Promise<void> | undefined} */
  #following;
  #changed = false;
  #closed = false;
  holdfast;

  /**
   * @param {any} api
   * @param {Settings} settings
   * @param {Extension.Allow} allow
   * @param {PromiseLike<unknown> | undefined} ready
   */
  constructor(api, settings, allow, ready) {
    this.#api = api;
    this.#settings = settings;
    const unready = (/** @type {unknown} */ error) => {
      this.#isUnsure = true;
      report(/** @type {object} */ (ready), "ready", error, settings.options.logger);
    };
    this.#ready = ready ? promised(ready).catch(unready) : null;
    this.#answers = new Answers(api.runtime.id, settings, allow, {
      isClosed: () => this.#closed,
      ready: async () => this.#ready,
      start: () => this.start(),
      open: () => this.#open(),
      hints: () => this.#client?.reach.hints() ?? {},
    });
    this.#alarm = new Alarm(api);
    const holdfast = makeHoldfast(settings, {
      open: async (_, listeners) => {
        this.#listeners.add(() => listeners.forEach((listener) => listener()));
        return this.#open();
      },
      reset: async () => reset,
    });
    this.begin = holdfast.start;
    const close = async () => {
      if (!this.#closed) begun = false;
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
    runtime.onMessage.addListener(this.#answers.hear);
  }

  /** Goes on with what is stored, whatever comes of it. */
  resume = () => void this.start().catch((error) => this.#failed("resuming", error));

  /** @type {(what: string, error: unknown) => void} */
  #failed = (what, error) => void (this.#closed || report(this, what, error, this.#settings.options.logger));

  /** Goes on with what is stored; once at a time for an account, whatever asks for it. */
  start() {
    const account = currentAccount(this.#settings.options);
    if (this.#starting && this.#startingFor === account) return this.#starting;
    this.#startingFor = account;
    const own = this.#goOn(this.#starting).finally(() => {
      if (this.#starting === own) this.#starting = undefined;
    });
    return (this.#starting = own);
  }

  /** @param {Promise<void> | undefined} before Begun for somebody else. */
  async #goOn(before) {
    await Promise.allSettled([before, this.#ready]);
    if (this.#closed) throw closedError();
    const account = currentAccount(this.#settings.options);
    if (account !== this.#toldOf) this.#open().tellPages();
    this.#toldOf = account;
    if (account === null) return this.#rest();
    await this.begin();
    this.#connection?.wake();
    this.#follow();
    await this.#following;
  }

  /** Sets the alarm to what there is to do: once at a time, and again where something changed meanwhile. */
  #follow() {
    this.#changed = true;
    this.#following ??= this.#lookAgain()
      .catch((error) => this.#failed("setting the alarm", error))
      .finally(() => (this.#following = undefined));
  }

  async #lookAgain() {
    while (this.#changed && !this.#closed) {
      this.#changed = false;
      const account = currentAccount(this.#settings.options);
      const open = account === null ? [] : await this.#toDo(account);
      // Whoever has come meanwhile is looked for when the app says so.
      if (open) await (open.length ? this.#alarm.follow(open) : this.#rest(account));
    }
  }

  /**
   * There is nothing to do for an account, or nobody is there.
   *
   * @param {string | null} account
   */
  async #rest(account = null) {
    if (account !== null || !this.#isUnsure) await this.#alarm.rest();
  }

  /**
   * What there is to do, as far as the alarm depends on it; nothing is known where another account has come.
   *
   * @param {string} account
   */
  async #toDo(account) {
    const seen = this.#open().snapshot();
    const open = seen.filter(this.#isOpen);
    const isWhole = open.length && account === this.#readOf && seen.length <= REMEMBERED;
    // What only the store knows of may be due sooner, where that is possible.
    if (isWhole || this.#alarm.isSoon(open)) return open;
    try {
      const stored = await this.#stored(account);
      this.#readOf = account;
      return [...open, ...stored];
    } catch (/** @type {any} */ error) {
      if (error.code === "NO_ACCOUNT") return undefined;
      throw error;
    }
  }

  /**
   * What the store has to do: all that is under way, and the newest of what has ended and may not have been
   * delivered. What is older is delivered when something else wakes the worker.
   *
   * @param {string} account
   */
  async #stored(account) {
    const client = this.#open();
    const underWay = await unsettledOf(client, account, UNDER_WAY);
    const { operations } = await client.list({ acknowledged: false, limit: ENDED_MAX }, account);
    return [...underWay, ...operations].map(({ state }) => state).filter(this.#isOpen);
  }

  /** Whether there is something to do. @param {Api.OperationState} state */
  #isOpen = (state) => {
    // Of a service that is no longer there nothing can be done.
    if (!Object.hasOwn(this.#settings.options.services, state.service)) return false;
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
   * @type {Ways["connect"]}
   */
  #connect = (settings, host) => {
    const own = (this.#connection = connectPage(settings, host, builtIn));
    return {
      call: (method, args, check) =>
        MAKES_WORK.includes(method)
          ? this.#alarm.during(() => own.call(method, args, check)).finally(() => this.#follow())
          : own.call(method, args, check),
      hint: (service) => own.hint(service),
      wake: () => own.wake(),
      yield: () => own.yield(),
      close: () => own.close(),
    };
  };
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

/**
 * Options whose `account`, where it throws, says so: what is otherwise imported for that, a worker may not.
 *
 * @param {Settings["options"]} options
 * @returns {Settings["options"]}
 */
const accountTold = (options) => ({
  ...options,
  account() {
    try {
      return options.account();
    } catch (error) {
      if (report(options.account, "account()", error, options.logger)) tellFailure(options, "account", error);
      return null;
    }
  },
});
