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
import { HoldfastError } from "./error.js";
import { Alarm } from "./extension-alarm.js";
import { checkManifest, extensionApi } from "./extension-manifest.js";
import { answerOf, argsOf, MAKES_WORK, objectOf, OF_A_SERVICE, PROTOCOL, refusalOf, TAKES_ALL } from "./extension-messages.js";
import { checkOptions } from "./options.js";
import { connectPage } from "./page.js";
import { UNSETTLED } from "./outcome.js";
import { builtIn } from "./profiles/all.js";
import { report } from "./report.js";
import { resetStorage } from "./reset.js";
import { checkServiceName, currentAccount, seal } from "./submission.js";

/** A background worker is ended where an answer is not there after 30 s; it is given up before. In milliseconds. */
const ANSWER_MS = 25_000;
/** How many operations are looked at when it begins; what they wait for sets the alarm. */
const LOOKED_AT_MAX = 200;

/** @type {typeof Extension.background} */
export function background(given) {
  const { allow = isOwnPage, ...options } = given ?? {};
  checkFunction(allow, "allow");
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
  #listeners = new Set([() => void this.#follow()]);
  /** @type {Client | undefined} */
  #client;
  /** @type {Connection | undefined} */
  #connection;
  /** @type {Promise<void> | undefined} */
  #resuming;
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
    const close = () => {
      this.#alarm.close();
      return holdfast.close();
    };
    this.holdfast = {
      ...holdfast,
      close,
      ...(Symbol.asyncDispose && { [Symbol.asyncDispose]: close }),
      submit: async (/** @type {string} */ service, /** @type {Api.Submission} */ submission) => {
        await this.#alarm.ahead();
        return holdfast.submit(service, submission);
      },
    };
    checkManifest(api, settings.options.services);
  }

  /** All in the first turn: what listens later misses the event that the worker was started for. */
  listen() {
    const { runtime, alarms } = this.#api;
    runtime.onStartup?.addListener(this.resume);
    runtime.onInstalled?.addListener(this.resume);
    alarms?.onAlarm.addListener((/** @type {{ name: string }} */ gone) => {
      if (Alarm.isOurs(gone)) this.#wake();
    });
    runtime.onMessage.addListener(this.#answer);
  }

  /** Goes on with what is stored; once at a time, whatever asks for it. */
  resume = () =>
    (this.#resuming ??= this.#goOn()
      .catch((error) => void report(this, "resuming", error))
      .finally(() => (this.#resuming = undefined)));

  #wake() {
    this.#alarm.hasGoneOff();
    this.resume();
  }

  async #goOn() {
    if (currentAccount(this.#settings.options) === null) return;
    const client = this.#open();
    await client.start();
    this.#connection?.wake();
    await client.list({ status: UNSETTLED, limit: LOOKED_AT_MAX });
    await this.#follow();
  }

  async #follow() {
    const consumes = this.#settings.options.onSettled !== undefined;
    await this.#alarm.follow(this.#open().snapshot(), consumes);
  }

  #open() {
    return (this.#client ??= new Client(this.#settings, this.#listeners, { connect: this.#connect }));
  }

  /** @type {(settings: Settings, host: OwnHost) => Connection} */
  #connect = (settings, host) => (this.#connection = connectPage(settings, host, builtIn));

  /** @type {(message: any, sender: any, answer: (answer: object) => void) => boolean} */
  #answer = (message, sender, answer) => {
    if (message?.protocol !== PROTOCOL) return false;
    const account = () => currentAccount(this.#settings.options);
    this.#carryOut(message, sender).then(
      (value) => answer(answerOf(account(), value)),
      (error) => answer(refusalOf(account(), error)),
    );
    return true;
  };

  /**
   * @param {any} message
   * @param {any} sender
   */
  async #carryOut(message, sender) {
    const args = argsOf(message);
    const { method } = message;
    await this.#checkAllowed(method, args[0], sender);
    if (OF_A_SERVICE.includes(method)) checkServiceName(this.#settings.options, /** @type {any} */ (args[0]));
    if (MAKES_WORK.includes(method)) {
      this.#checkAccount(message.account);
      await this.#alarm.ahead();
    }
    if (method === "start") return this.resume();
    const client = this.#open();
    if (method !== "submit") return client.call(/** @type {any} */ (method), args, method !== "command");
    const [service, json, body] = /** @type {[string, string, Uint8Array]} */ (args);
    const operation = await client.submit(seal(this.#settings.options, service, { ...objectOf(json), body }));
    return JSON.stringify(operation);
  }

  /**
   * @param {string} action
   * @param {any} first
   * @param {any} sender
   */
  async #checkAllowed(action, first, sender) {
    const of = OF_A_SERVICE.includes(action)
      ? { service: first }
      : TAKES_ALL.includes(action)
        ? {}
        : { operationId: first };
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
      report(this.#allow, "allow", error);
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
