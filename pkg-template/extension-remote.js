// @ts-check
/** A client in a page of an extension: it shows and asks, and the background does. */
/** @import * as Extension from "./extension.d.ts" */
import { checkNames, checkText } from "./check.js";
import { Client } from "./client.js";
import { makeHoldfast } from "./create.js";
import { ONCE } from "./connection.js";
import { unanswered } from "./crossing.js";
import { closedError, HoldfastError, invalid } from "./error.js";
import { extensionApi } from "./extension-manifest.js";
import { CHANGES, messageOf, PROTOCOL, valueOf } from "./extension-messages.js";
import { inTime } from "./in-time.js";
import * as reset from "./reset.js";

/** How often a call is made again when the background dies of it, or has not begun to listen. */
const TRIES = 4;
/** The pause before the next, doubled each time, in milliseconds. */
const PAUSE_MS = 200;
/** An answer comes in so long, or not at all: where the background's script threw, browsers wait for ever. In milliseconds. */
const ANSWERED_MS = 60_000;

/** Errors which say that nothing was sent. */
const NOTHING_SENT = ["NO_ACCOUNT", "STORAGE_UNAVAILABLE"];

/** @type {typeof Extension.connect} */
export function connect(given) {
  checkNames(given, "", "services database");
  const { services, database } = given;
  if (database !== undefined) checkText(database, "database");
  if (typeof services !== "object" || !services || !Object.keys(services).length) {
    throw invalid("services", "services must name at least one service of background().");
  }
  const api = extensionApi();
  /** Whose work is shown is for the background to say: here accounts are told apart, and have no names. */
  let shown = 0;
  const options = { account: () => `background ${shown}`, services: { ...services }, database, persist: false };
  const settings = { options, config: "" };
  // A content script lives in a page of somebody else's: there, nothing is told over the page's channels.
  const isOwn = globalThis.location?.href.startsWith(api.runtime.getURL(""));
  /** @type {import("./create.js").Parts["open"]} */
  const open = async (own, listeners) => {
    const changed = (/** @type {string | null} */ left) => {
      // Nobody's work is none: what is asked for then is for whoever comes.
      if (left !== null) shown += 1;
      client.forgetShown();
    };
    const remote = new Remote(api, {
      changed,
      hinted: (hints) => client.reach.told(hints),
      orphaned: (error) => client.endWaits(error),
    });
    const client = new Client(own, listeners, { connect: () => remote, channel: isOwn ? database : null });
    return client;
  };
  return /** @type {any} */ (
    // The storage is the extension's: a content script has only that of the page it is in.
    makeHoldfast(/** @type {any} */ (settings), isOwn ? { open, reset: async () => reset } : { open })
  );
}

/**
 * What a page is told beside its answers.
 *
 * @typedef {{
 *   changed: (left: string | null) => void,
 *   hinted: (hints: Readonly<Record<string, string>>) => void,
 *   orphaned: (error: unknown) => void,
 * }} Told `changed`: it is somebody else's work, and whose it was. `hinted`: why services may never answer.
 *   `orphaned`: no answer will come any more.
 */

class Remote {
  #api;
  #isFirefox;
  #tell;
  #closed = false;
  /** Whose work the background last spoke of; `undefined` until it has. @type {string | null | undefined} */
  #account;
  /** How many messages were sent. */
  #sent = 0;
  /** The number of the newest message whose answer told that account: answers may cross. */
  #toldBy = 0;

  /**
   * @param {any} api
   * @param {Told} tell
   */
  constructor(api, tell) {
    this.#api = api;
    this.#isFirefox = api.runtime.getURL("").startsWith("moz-");
    this.#tell = tell;
  }

  /**
   * @param {string} method
   * @param {readonly unknown[]} args
   * @param {() => void} [check] Called before anything is sent, when it is known for whom.
   * @returns {Promise<any>}
   */
  async call(method, args, check) {
    const changes = CHANGES.includes(method);
    if (changes && !this.#account) await this.#askWhose();
    check?.();
    // A call that is made again must not come to another account than the first time.
    const again = !ONCE.includes(method) && !(changes && this.#account === undefined);
    const message = messageOf(this.#account, method, args);
    // Whether an earlier message may have been carried out.
    let heard = false;
    for (let round = 1; ; round++) {
      if (this.#closed) throw closedError();
      if (!this.#api.runtime?.id) throw this.#orphaned(heard && changes ? method : undefined);
      const sent = (this.#sent += 1);
      const { answer, cause, nobody = false } = await this.#send(message);
      if (answer?.protocol === PROTOCOL) {
        const isOfOneWhoLeft = this.#told(answer, sent);
        // It tells of the last message alone.
        if (heard && changes && NOTHING_SENT.includes(answer.error?.code)) throw unheard(method, undefined);
        // What was done is told as done; what was read is shown to nobody else, and read again.
        if (changes || !isOfOneWhoLeft) return valueOf(answer);
        if (round === TRIES) throw changedAgain();
        continue;
      }
      // Where nobody listens, nothing was done: that may be asked again whatever it is.
      if (cause === LATE || round === TRIES || !(again || nobody)) throw unheard(method, cause);
      heard ||= !nobody;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * 2 ** (round - 1)));
    }
  }

  /**
   * Sends a message once. What another listener of the extension answers, or nobody, is no answer: the background
   * may have died while it carried the message out.
   *
   * @param {object} message
   * @returns {Promise<{ answer?: any, cause?: unknown, nobody?: boolean }>} `nobody`: it was not even heard.
   */
  async #send(message) {
    try {
      return { answer: await inTime(this.#api.runtime.sendMessage(message), ANSWERED_MS, () => LATE) };
    } catch (cause) {
      // Firefox says the same of a background that ended while it answered.
      return { cause, nobody: !this.#isFirefox && /Receiving end/.test(String(cause)) };
    }
  }

  /**
   * The error for every call from a page, of the web mostly, that was there before its extension was updated or loaded
   * again: the browser lets it send nothing more.
   *
   * @param {string} [method] A call that may have been carried out.
   */
  #orphaned(method) {
    const error = new HoldfastError("The extension was updated or loaded again: this page belongs to what it was before.", {
      code: "ABORTED",
      nextStep: "Load the page again.",
    });
    this.#tell.orphaned(error);
    return method ? unheard(method, error) : error;
  }

  /** Learns whose work it is, where that may be learned: not all who may submit may read. */
  async #askWhose() {
    try {
      await this.call("list", ['{"limit":1}']);
    } catch (/** @type {any} */ error) {
      if (!["NOT_ALLOWED", "NO_ACCOUNT"].includes(error.code)) throw error;
    }
  }

  /**
   * Takes in what an answer tells beside its value.
   *
   * @param {any} answer
   * @param {number} sent The number of its message.
   * @returns {boolean} Whether it tells of an account that has left since: a newer message was answered before.
   */
  #told({ account, hints }, sent) {
    if (hints) this.#tell.hinted(hints);
    if (account === undefined) return false;
    const left = this.#account;
    if (account !== left && sent < this.#toldBy) return true;
    this.#account = account;
    this.#toldBy = Math.max(this.#toldBy, sent);
    if (left !== undefined && left !== account) this.#tell.changed(left);
    return false;
  }

  hint() {
    // The background hears of changes itself.
  }

  wake() {
    // Nothing is owned here.
  }

  yield() {
    // Nor given back.
  }

  async close() {
    this.#closed = true;
  }
}

const LATE = new Error(`No answer has come in ${ANSWERED_MS / 1000} s.`);

/**
 * @param {string} method
 * @param {unknown} cause
 */
const unheard = (method, cause) =>
  unanswered(
    method,
    "The extension's background did not answer.",
    "Look at the console of the background: its script must call background() of holdfast/extension in its first turn, and not throw.",
    cause,
  );

/** Another account has come each time. */
const changedAgain = () =>
  new HoldfastError("The account changed in the background, again and again. Nothing is shown.", {
    code: "NO_ACCOUNT",
    nextStep: "Look again when it is known who is signed in.",
  });
