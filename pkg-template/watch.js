// @ts-check
/** An operation, or a list of them, as a store that a view subscribes to: equal moments are identical. */
/** @import * as Api from "./index.d.ts" */
/** @import * as View from "./watch.d.ts" */
import { isSettled } from "./status.js";

/** For how long changes are gathered before a list is read again, in milliseconds. */
const GATHER_MS = 30;

/** @typedef {Api.Holdfast<any>} Holdfast */
/** @typedef {View.OperationView<any>} OperationView */

/**
 * What is common to both: it reads while somebody is subscribed, and holds nothing when nobody is.
 *
 * @template V
 */
class Watch {
  /** What is shown before anything has been read. @type {V} */
  #first;
  /** @type {V} */
  #view;
  /** @type {Set<() => void>} */
  #listeners = new Set();
  /** Ends what runs for the present subscribers. */
  #life = new AbortController();

  /** @param {V} view */
  constructor(view) {
    this.#first = this.#view = view;
  }

  getSnapshot = () => this.#view;

  /** @param {() => void} listener */
  subscribe = (listener) => {
    const own = () => listener();
    this.#listeners.add(own);
    if (this.#listeners.size === 1) this.begin((this.#life = new AbortController()).signal);
    return () => {
      if (!this.#listeners.delete(own) || this.#listeners.size) return;
      this.#life.abort();
      // Whoever comes next may be somebody else, who must not see what this account had.
      this.#view = this.#first;
    };
  };

  /** @param {AbortSignal} _signal Aborted when the last subscriber leaves. */
  begin(_signal) {}

  /** @param {V} view */
  show(view) {
    this.#view = view;
    for (const listener of [...this.#listeners]) listener();
  }
}

/** @extends {Watch<OperationView>} */
class OperationWatch extends Watch {
  #holdfast;
  #service;
  #intent;
  /** @type {Api.Operation<any> | undefined} */
  #operation;
  /** How the shown operation came out, once that has been read. @type {Api.Outcome<any> | undefined} */
  #outcome;
  /** The operation whose next states are waited for. @type {Api.Operation<any> | undefined} */
  #followed;
  #actions;

  /**
   * @param {Holdfast} holdfast
   * @param {string} service
   * @param {string} intent
   */
  constructor(holdfast, service, intent) {
    const submit = async (/** @type {any} */ submission) => {
      const operation = await holdfast.submit(service, { ...submission, intent });
      this.#take(operation);
      return operation;
    };
    super({ status: "pending", submit });
    this.#holdfast = holdfast;
    this.#service = service;
    this.#intent = intent;
    this.#actions = { submit, ...actionsOn(() => this.#operation, (operation) => this.#take(operation)) };
  }

  /** @param {AbortSignal} signal */
  begin(signal) {
    this.#operation = this.#outcome = this.#followed = undefined;
    const stop = this.#holdfast.subscribe(() => this.#changed(signal));
    signal.addEventListener("abort", stop, { once: true });
    this.#find(signal);
  }

  /** @param {AbortSignal} signal */
  async #find(signal) {
    try {
      resumed(this.#holdfast);
      const operation = await this.#holdfast.find(this.#service, this.#intent);
      if (signal.aborted) return;
      if (operation) this.#take(operation);
      else this.#none({ status: "absent", submit: this.#actions.submit });
    } catch (error) {
      if (!signal.aborted) this.#none({ status: "unavailable", error: /** @type {any} */ (error), submit: this.#actions.submit });
      return;
    }
    if (this.#operation && this.#operation !== this.#followed) this.#follow(this.#operation, signal);
  }

  /**
   * Waits for its next states, so that they are read where another tab makes them.
   *
   * @param {Api.Operation<any>} operation
   * @param {AbortSignal} signal
   */
  async #follow(operation, signal) {
    this.#followed = operation;
    try {
      for await (const _ of operation.updates({ signal })) {
        if (operation !== this.#operation) return;
        this.#take(operation);
      }
    } catch {
      // The wait has ended: with the subscribers, the account or the client. The next change is looked at.
    }
    if (operation === this.#followed && !signal.aborted) this.#followed = undefined;
  }

  /** @param {AbortSignal} signal */
  #changed(signal) {
    const states = this.#holdfast.getSnapshot();
    const own = states.filter((state) => state.service === this.#service && state.intent === this.#intent);
    const newest = own.reduce((best, state) => Math.max(best, state.ordinal), -1);
    const shown = this.#operation;
    // A rerun, another account, or what was forgotten: the intent may stand for something else.
    if (newest !== (shown?.ordinal ?? -1)) this.#find(signal);
    else if (shown) this.#take(shown);
  }

  /** @param {OperationView} view */
  #none(view) {
    this.#operation = this.#outcome = undefined;
    this.show(view);
  }

  /** @param {Api.Operation<any>} operation */
  #take(operation) {
    const before = this.getSnapshot();
    if (operation !== this.#operation) this.#outcome = undefined;
    this.#operation = operation;
    const { state } = operation;
    if (!isSettled(state)) this.#outcome = undefined;
    if ("state" in before && before.state === state && before.outcome === this.#outcome) return;
    this.show({ status: state.status, state, operation, outcome: this.#outcome, ...this.#actions });
    if (isSettled(state)) this.#settle(operation, state);
  }

  /**
   * @param {Api.Operation<any>} operation
   * @param {Api.OperationState} state
   */
  async #settle(operation, state) {
    // Read once: billing that follows changes the state, and not the result.
    if (this.#outcome?.status === "succeeded" && !state.deletedAt) return;
    const outcome = await operation.outcome().catch(() => undefined);
    if (!outcome || operation !== this.#operation || operation.state.status !== state.status) return;
    this.#outcome = outcome;
    this.show({ status: operation.state.status, state: operation.state, operation, outcome, ...this.#actions });
  }
}

/**
 * What is shown shall go on: reading alone resumes nothing. Why it cannot, the reading tells.
 *
 * @param {Holdfast} holdfast
 */
const resumed = (holdfast) => void holdfast.start().catch(() => undefined);

/** The calls on an operation that a view offers. */
const ACTIONS = /** @type {const} */ (["cancel", "resume", "resolve", "retry", "revise", "acknowledge", "delete"]);

/**
 * The same functions for all states, each for the operation that is shown when it is called.
 *
 * @param {() => Api.Operation<any> | undefined} shown
 * @param {(operation: Api.Operation<any>) => void} take
 * @returns {any}
 */
function actionsOn(shown, take) {
  const act = (/** @type {string} */ name) => async (/** @type {any} */ argument) => {
    // A button's handler is handed an event.
    const given = typeof Event === "function" && argument instanceof Event || argument?.nativeEvent ? undefined : argument;
    const operation = await /** @type {any} */ (shown())?.[name](given);
    if (operation) take(operation);
    return operation;
  };
  return Object.fromEntries(ACTIONS.map((name) => [name, act(name)]));
}

/** @extends {Watch<View.OperationsView>} */
class OperationsWatch extends Watch {
  #holdfast;
  #filter;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #later;
  /** Of the present subscribers. */
  #signal = AbortSignal.abort();
  #reading = false;
  #again = false;

  /**
   * @param {Holdfast} holdfast
   * @param {Api.ListFilter} filter
   */
  constructor(holdfast, filter) {
    super({ status: "pending", items: [] });
    this.#holdfast = holdfast;
    this.#filter = filter;
  }

  /** @param {AbortSignal} signal */
  begin(signal) {
    const stop = this.#holdfast.subscribe(() => {
      this.#later ??= setTimeout(() => {
        this.#later = undefined;
        if (!signal.aborted) this.#read();
      }, GATHER_MS);
    });
    signal.addEventListener("abort", stop, { once: true });
    this.#signal = signal;
    this.#read();
  }

  /** Reads for those who are there; a wish that comes meanwhile is another turn. */
  async #read() {
    this.#again = this.#reading;
    if (this.#reading) return;
    this.#reading = true;
    const signal = this.#signal;
    try {
      resumed(this.#holdfast);
      const { operations, cursor } = await this.#holdfast.list(this.#filter);
      if (!signal.aborted) this.#take(operations, cursor);
    } catch (error) {
      if (!signal.aborted) this.show({ status: "unavailable", items: [], error: /** @type {any} */ (error) });
    } finally {
      this.#reading = false;
    }
    if (this.#again && !this.#signal.aborted) this.#read();
  }

  /**
   * @param {readonly Api.Operation<any>[]} operations
   * @param {string | undefined} cursor
   */
  #take(operations, cursor) {
    const before = this.getSnapshot();
    const known = new Map(before.items.map((item) => [item.state, item]));
    const items = operations.map((operation) => known.get(operation.state) ?? { state: operation.state, operation });
    const same = before.status === "ready" && before.cursor === cursor && items.length === before.items.length &&
      items.every((item, index) => item === before.items[index]);
    if (!same) this.show({ status: "ready", items, ...(cursor === undefined ? {} : { cursor }) });
  }
}

/**
 * Watches that somebody looks at, by client and what they watch: mounted twice, or anew, it is one.
 *
 * @type {WeakMap<Holdfast, Map<string, WeakRef<any>>>}
 */
const watches = new WeakMap();

/**
 * @template W
 * @param {Holdfast} holdfast
 * @param {string} key
 * @param {() => W} make
 * @returns {W}
 */
function shared(holdfast, key, make) {
  const own = watches.get(holdfast) ?? new Map();
  watches.set(holdfast, own);
  const known = own.get(key)?.deref();
  if (known) return known;
  if (own.size % 64 === 63) {
    for (const [name, watch] of own) if (!watch.deref()) own.delete(name);
  }
  const made = make();
  own.set(key, new WeakRef(/** @type {any} */ (made)));
  return made;
}

/** @type {typeof View.watchOperation} */
export const watchOperation = (holdfast, service, intent) =>
  shared(holdfast, JSON.stringify([service, intent]), () => new OperationWatch(holdfast, service, intent));

/** @type {typeof View.watchOperations} */
export const watchOperations = (holdfast, filter = {}) =>
  shared(holdfast, JSON.stringify(filter, Object.keys(filter).sort()), () => new OperationsWatch(holdfast, filter));
