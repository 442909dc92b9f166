// @ts-check
/** The bulk of a client: everything but what must be there before the first use. */
/** @import * as Api from "./index.d.ts" */
/** @import { Settings } from "./options.js" */
/** @import { Sealed } from "./submission.js" */
/** @import { Entry } from "./states.js" */
/** @import { Connection, Method } from "./connection.js" */
/** @import { OwnHost } from "./host.js" */
import { sealAdoption } from "./adoption.js";
import { closedError, HoldfastError } from "./error.js";
import { checkFilter } from "./filter.js";
import { askToPersist, storageHealth } from "./health.js";
import { makeHost } from "./host.js";
import { Operation } from "./operation.js";
import { notOfAccount } from "./outcome.js";
import { Reach } from "./reach.js";
import { cancelAll, checkSignOut, GIVES_WORK, notOver, unsettledOf } from "./sign-out.js";
import { States } from "./states.js";
import { checkIntent, currentAccount } from "./submission.js";
import { Tabs } from "./tabs.js";
import { Turns } from "./turns.js";
import { toldJustNow, whenHolds } from "./wait.js";

/** How often an operation that somebody waits for is read again, in milliseconds: another tab may drive it. */
const REFRESH_MS = 3000;

/** How many are read again at a time. */
const REFRESH_MAX = 50;

/** Submissions under way at a time: twice what one transaction takes, so that the next fills up meanwhile. */
const SUBMITS_MAX = 128;

/** How often something is read where the account is another each time. */
const READS_MAX = 4;

/** @typedef {import("./connection.js").Ways} Ways */

export class Client {
  #options;
  #connection;
  #states;
  #tabs;
  #submits = new Turns(SUBMITS_MAX);
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #refreshing;
  /** How many of those that are awaited have had their turn. */
  #refreshed = 0;
  /** Ends every wait when the client closes. */
  #closing = new AbortController();
  /** Whether an account was left, and nothing was given to do since. */
  #left = false;
  /** Ends every wait when it is somebody else's work that is shown. */
  #shown = new AbortController();

  /**
   * @param {Settings} settings
   * @param {ReadonlySet<() => void>} listeners Told of any change.
   * @param {Ways} ways
   */
  constructor(settings, listeners, { connect, channel = settings.options.database ?? "holdfast", isServer = false }) {
    this.#options = settings.options;
    this.reach = new Reach(settings.options.services);
    this.#states = new States(
      listeners,
      () => currentAccount(this.#options),
      (state) => this.reach.hintOf(state),
      settings.options.logger,
    );
    const host = makeHost(
      settings.options,
      (json, account) => this.operationOf(json, account),
      () => this.#tabs,
      this.reach,
    );
    this.#connection = connect(settings, host);
    for (const name of isServer ? [] : ["online", "offline"]) {
      globalThis.addEventListener?.(name, () => this.#states.network(), { signal: this.#closing.signal });
    }
    const offer = (/** @type {string=} */ service) => this.#connection.offer?.(service);
    this.#tabs = new Tabs(channel, settings.options, (change) => this.#heard(change), () => this.#catchUp(), offer);
  }

  /** @param {Sealed} sealed */
  async submit(sealed) {
    const operation = await this.#submits.take(() => this.#submit(sealed));
    if (this.#options.persist !== false) void askToPersist();
    return operation;
  }

  /** @param {Sealed} sealed */
  async #submit({ service, json, body, account }) {
    return this.operationOf(await this.call("submit", [service, json, body], () => this.#checkAccount(account)), account);
  }

  /**
   * @param {string} service
   * @param {{ intent: string, jobId: string }} adoption
   * @param {string | null} account
   */
  async adopt(service, adoption, account) {
    const args = [service, sealAdoption(adoption)];
    return this.operationOf(await this.call("adopt", args, () => this.#checkAccount(account)), account);
  }

  /** @param {{ service: string, json: string, body: Uint8Array }} inquiry */
  async quote({ service, json, body }) {
    return Object.freeze(JSON.parse(await this.call("quote", [service, json, body])));
  }

  /**
   * @param {string} service
   * @param {string} intent
   */
  async find(service, intent) {
    checkIntent(intent);
    const [json, account] = await this.#read("find", [service, intent]);
    return json === undefined ? undefined : this.operationOf(json, account);
  }

  /**
   * @param {string} service
   * @param {string} intent
   * @param {string | null} account
   * @returns {Promise<readonly string[]>} The operations that are gone.
   */
  async forget(service, intent, account) {
    checkIntent(intent);
    /** @type {string[]} */
    const gone = await this.call("forget", [service, intent], () => this.#checkAccount(account));
    for (const id of gone) {
      this.#states.drop(id, account);
      this.#tabs.tell({ service, id });
    }
    return gone;
  }

  /**
   * @param {Api.ListFilter} [filter]
   * @param {string | null} [of] Who must be the current account.
   * @returns {Promise<Api.OperationPage>}
   */
  async list(filter = {}, of) {
    checkFilter(filter);
    const [json, account] = await this.#read("list", [JSON.stringify(filter)]);
    if (of !== undefined && of !== account) throw accountChanged();
    const page = JSON.parse(json);
    const operations = page.operations.map((/** @type {object} */ state) =>
      this.operationOf(JSON.stringify(state), account),
    );
    const { cursor, unreadable = [] } = page;
    return { operations, ...(unreadable.length && { unreadable }), ...(cursor !== undefined && { cursor }) };
  }

  /**
   * @param {{ unsettled: "keep" | "cancel" }} options
   * @param {string | null} account
   * @returns {Promise<readonly Api.OperationState[]>}
   */
  async signOut(options, account) {
    const { unsettled } = checkSignOut(options);
    if (account === null) return [];
    const operations = await unsettledOf(this, account);
    this.#checkAccount(account);
    if (unsettled === "cancel") await cancelAll(operations);
    const left = notOver(operations);
    this.#connection.yield();
    this.#left = true;
    this.#states.dropAccount(account);
    return left;
  }

  /** Somebody else's work is to be shown: what was shown goes, and what is waited for will not come. */
  forgetShown() {
    this.#states.clear();
    this.endWaits(
      new HoldfastError("The account changed in the background.", {
        code: "NOT_ALLOWED",
        nextStep: "Find the operation again when the account that submitted it is the current one.",
      }),
    );
  }

  /** @param {unknown} reason Why nothing that is waited for will come. */
  endWaits(reason) {
    this.#shown.abort(reason);
    this.#shown = new AbortController();
  }

  /** Makes the pages that show this client's work look again: it may be somebody else's now. */
  tellPages() {
    this.#tabs.tell({ service: "", id: "" });
  }

  /** @param {() => Promise<string | undefined>} whyClosed */
  storageHealth(whyClosed) {
    return storageHealth(() => this.list({ limit: 1 }), whyClosed);
  }

  async start() {
    await this.call("start", []);
  }

  async close() {
    clearInterval(this.#refreshing);
    this.#closing.abort(closedError());
    this.#tabs.close();
    await this.#connection.close();
  }

  snapshot() {
    return this.#states.snapshot();
  }

  /**
   * @param {Method} method
   * @param {readonly unknown[]} args
   * @param {() => void} [check] Called when the module is there: what it throws is thrown in the place of the call.
   */
  call(method, args, check) {
    return this.#connection.call(method, args, () => {
      check?.();
      if (!this.#left || !GIVES_WORK.includes(method)) return;
      // Somebody is signed in: what was given back is asked for at once.
      this.#left = false;
      this.#connection.wake();
    });
  }

  /**
   * Made in the turn in which the module is called: it takes the account that is the current one then.
   *
   * @param {string | null} account Whose the call is.
   */
  #checkAccount(account) {
    if (currentAccount(this.#options) !== account) throw accountChanged();
  }

  /**
   * Reads again where the account changed meanwhile: what one has is not shown as another's.
   *
   * @param {Method} method
   * @param {readonly unknown[]} args
   * @returns {Promise<[any, string | null]>} What was read, and for whom.
   */
  async #read(method, args) {
    for (let round = 1; ; round++) {
      let account = currentAccount(this.#options);
      // For whom it is read is settled in the turn of the call, however long the module took to come.
      const settle = () => void (account = currentAccount(this.#options));
      const value = await this.call(method, args, settle);
      if (account === currentAccount(this.#options) || round === READS_MAX) return [value, account];
    }
  }

  /** @param {string} service */
  schemaOf(service) {
    return this.#options.services[service]?.result;
  }

  /**
   * The one object of an operation, whose state is taken in.
   *
   * @param {string} json
   * @param {string | null} account Whose it is.
   * @returns {Api.Operation<any>}
   */
  operationOf(json, account) {
    const entry = this.#states.accept(json, account);
    const known = entry.operation?.deref();
    if (known) return known;
    const made = /** @type {Api.Operation<any>} */ (/** @type {unknown} */ (new Operation(this, entry)));
    entry.operation = new WeakRef(made);
    return made;
  }

  /**
   * Waits for a state. Every way out takes its listeners with it.
   *
   * @param {Entry} entry
   * @param {(state: Api.OperationState) => boolean} holds
   * @param {readonly (AbortSignal | undefined)[]} signals Each rejects the wait with its reason.
   * @param {boolean} [fresh] What is known is read again first, unless it is an ending.
   * @returns {Promise<Api.OperationState>}
   */
  until(entry, holds, signals, fresh = false) {
    const all = [...signals, this.#closing.signal, this.#shown.signal];
    return whenHolds(entry, holds, all, fresh, async () => {
      this.#keepFresh();
      const isFresh = toldJustNow(entry) && entry.account === currentAccount(this.#options);
      if (!isFresh || holds(entry.state)) await this.#load(entry);
    });
  }

  /**
   * Another tab has changed an operation: what is shown here follows, and the store is looked at.
   *
   * @param {import("./tabs.js").Change} change
   */
  #heard({ service, id }) {
    this.#connection.hint(service);
    void this.#refresh(id);
  }

  /** What other tabs have changed was not heard here: what is shown is read again, one after the other. */
  async #catchUp() {
    for (const { id } of this.snapshot()) await this.#refresh(id);
  }

  /**
   * Reads an operation again, and shows what is stored of it now.
   *
   * @param {string} id
   */
  async #refresh(id) {
    try {
      const [json, account] = await this.#read("load", [id]);
      if (json === undefined) this.#states.drop(id, account);
      else this.#states.accept(json, account);
    } catch {
      // What was known of it is shown until it can be read.
    }
  }

  /** @param {Entry} entry */
  async #load({ account, state }) {
    const json = await this.call("load", [state.id]);
    if (json !== undefined) return void this.#states.accept(json, account);
    throw notOfAccount(state);
  }

  #keepFresh() {
    this.#refreshing ??= setInterval(() => {
      const awaited = this.#states.awaited();
      if (!awaited.length) {
        clearInterval(this.#refreshing);
        this.#refreshing = undefined;
      } else this.#tabs.ask();
      // In turn, where there are many.
      const from = this.#refreshed < awaited.length ? this.#refreshed : 0;
      this.#refreshed = from + REFRESH_MAX;
      for (const entry of awaited.slice(from, this.#refreshed)) void this.#refresh(entry.state.id);
    }, REFRESH_MS);
  }
}

const accountChanged = () =>
  new HoldfastError("The account changed meanwhile. Nothing was sent.", {
    code: "NO_ACCOUNT",
    nextStep: "Call again for the account that is the current one.",
  });
