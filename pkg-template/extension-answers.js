// @ts-check
/** What the background answers to messages: to whom it may, about the account that is meant. */
/** @import * as Extension from "./extension.d.ts" */
/** @import { Client } from "./client.js" */
/** @import { Settings } from "./options.js" */
import { HoldfastError, isHoldfastError } from "./error.js";
import { answerOf, argsOf, CHANGES, objectOf, OF_A_SERVICE, PROTOCOL, refusalOf, NAMES_NOTHING } from "./extension-messages.js";
import { inTime } from "./in-time.js";
import { described, report } from "./report.js";
import { checkServiceName, currentAccount, seal } from "./submission.js";

/** A background worker is ended where an answer is not there after 30 s; it is given up before. In milliseconds. */
export const ANSWER_MS = 25_000;

/**
 * What is behind the answers.
 *
 * @typedef {{
 *   isClosed: () => boolean,
 *   ready: () => Promise<unknown>,
 *   start: () => Promise<void>,
 *   open: () => Client,
 *   hints: () => Readonly<Record<string, string>>,
 * }} Behind
 */

export class Answers {
  #id;
  #settings;
  #allow;
  #behind;

  /**
   * @param {string} id The extension's.
   * @param {Settings} settings
   * @param {Extension.Allow} allow
   * @param {Behind} behind
   */
  constructor(id, settings, allow, behind) {
    this.#id = id;
    this.#settings = settings;
    this.#allow = allow;
    this.#behind = behind;
  }

  /**
   * Hears a message; whether it will be answered.
   *
   * @type {(message: any, sender: any, answer: (answer: object) => void) => boolean}
   */
  hear = (message, sender, answer) => {
    if (message?.protocol !== PROTOCOL || this.#behind.isClosed()) return false;
    this.#answered(message, sender).then(answer);
    return true;
  };

  /**
   * @param {any} message
   * @param {any} sender
   */
  async #answered(message, sender) {
    await this.#behind.ready();
    const account = this.#account();
    let isAllowed = false;
    try {
      const args = argsOf(message);
      await this.#checkAllowed(message.method, args, sender);
      isAllowed = true;
      const value = await this.#carryOut(message, args, account);
      return { ...answerOf(account, value), hints: this.#behind.hints() };
    } catch (error) {
      if (!isHoldfastError(error)) this.#say(`${message.method} failed in the background. ${described(error)}`);
      // Who may ask for nothing is not told either who is signed in.
      return refusalOf(isAllowed ? this.#account() : undefined, error);
    }
  }

  /**
   * @param {any} message
   * @param {any[]} args
   * @param {string | null} account Whose the call is.
   */
  async #carryOut(message, args, account) {
    const { method, account: believed = account } = message;
    if (OF_A_SERVICE.includes(method)) checkServiceName(this.#settings.options, args[0]);
    if (method === "start") return this.#behind.start();
    const client = this.#behind.open();
    if (!CHANGES.includes(method)) {
      /** @type {string | null} */
      let asked = null;
      const value = await client.call(method, args, () => void (asked = this.#account()));
      // What was read for one account is not shown as another's, who may have been there before as well.
      if (account !== asked || account !== this.#account()) throw changed("Nothing is shown.");
      return value;
    }
    // Once it is done it is told as done, whoever has come meanwhile.
    const check = () => {
      if (account !== this.#account() || account !== believed) throw changed("Nothing was sent.");
    };
    check();
    const [service, json, body] = args;
    // What is gone must not be shown here either, nor keep the alarm.
    if (method === "forget") return client.forget(service, json, account);
    if (method !== "submit") return client.call(method, args, check);
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
    const allowed = sender?.id === this.#id && (await this.#asked({ action, ...of }, sender));
    if (allowed === true) return;
    throw new HoldfastError(`This sender may not call ${action}.`, {
      code: "NOT_ALLOWED",
      nextStep: "allow(request, sender) of background() decides; without it, the extension's own pages may, and nobody else.",
    });
  }

  /**
   * @param {any} request
   * @param {any} sender
   */
  async #asked(request, sender) {
    try {
      return await promised((async () => this.#allow(request, sender))());
    } catch (error) {
      report(this.#allow, "allow", error, this.#settings.options.logger);
      return false;
    }
  }

  #account = () => currentAccount(this.#settings.options);

  /** @param {string} line */
  #say = (line) => (this.#settings.options.logger ?? console).error(`Holdfast: ${line}`);
}

/** @param {string} what What came of it. */
const changed = (what) =>
  new HoldfastError(`The account changed in the background. ${what}`, {
    code: "NO_ACCOUNT",
    nextStep: "Look again at what is shown, and submit for the account that is the current one.",
  });

/**
 * What the app promised, or an error where that takes too long.
 *
 * @param {PromiseLike<unknown>} promise
 */
export const promised = (promise) =>
  inTime(promise, ANSWER_MS, () => new HoldfastError("It took longer than 25 s.", { code: "ABORTED" }));
