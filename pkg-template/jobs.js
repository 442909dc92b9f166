// @ts-check
/**
 * The work of a namespace of objects, seen from a Worker. Each intent belongs to one of 4,096 objects,
 * by its name alone, so that whoever asks comes to the same.
 */
/** @import * as Api from "./cloudflare.d.ts" */
/** @import { Entry } from "./states.js" */
import { sealAdoption } from "./adoption.js";
import { checkNames, checkText } from "./check.js";
import { thrown, unanswered } from "./crossing.js";
import { invalid } from "./error.js";
import { checkFilter } from "./filter.js";
import { Operation } from "./operation.js";
import { Reach } from "./reach.js";
import { freeze } from "./states.js";
import { isEnded } from "./status.js";
import { checkIntent, seal, sealInquiry } from "./submission.js";

/** What an object calls an operation that another one has. */
const ELSEWHERE = "elsewhere";
/** How many objects there are. */
const SHARDS = 4096;
/** How many of them one call of `list` looks at. */
const LISTED_MAX = 256;
/** How many of them at the same time: a Worker has six connections. */
const ABREAST = 6;
/** How often a state that is waited for is read again, in milliseconds: at first, and at most. */
const [REFRESH_MS, REFRESH_MS_MAX] = [250, 3000];

/** @type {typeof Api.jobs} */
export const jobs = (namespace, given = {}) => {
  checkNames(given, "jobs", "caller");
  const { caller = "local" } = given;
  checkText(caller, "caller");
  const at = (/** @type {number} */ shard) => new RemoteObject(namespace, shard, caller);
  const of = async (/** @type {string} */ intent) => {
    checkIntent(intent);
    return at(await shardOf(caller, intent));
  };
  // The object knows its services; here, any name will do.
  const options = (/** @type {string} */ name) => ({ account: () => caller, services: { [name]: {} } });
  return /** @type {any} */ ({
    async submit(/** @type {string} */ service, /** @type {any} */ submission) {
      const { json, body } = seal(/** @type {any} */ (options(service)), service, submission);
      const object = await of(submission.intent);
      return object.operationOf(await object.call("submit", [service, json, body]));
    },
    async adopt(/** @type {string} */ service, /** @type {{ intent: string, jobId: string }} */ adoption) {
      const json = sealAdoption(adoption);
      const object = await of(adoption.intent);
      return object.operationOf(await object.call("adopt", [service, json]));
    },
    async quote(/** @type {string} */ service, /** @type {any} */ inquiry) {
      const { json, body } = sealInquiry(/** @type {any} */ (options(service)), service, inquiry);
      return JSON.parse(await at(0).call("quote", [service, json, body]));
    },
    async find(/** @type {string} */ service, /** @type {string} */ intent) {
      const object = await of(intent);
      const json = await object.call("find", [service, intent]);
      return json === undefined ? undefined : object.operationOf(json);
    },
    async forget(/** @type {string} */ service, /** @type {string} */ intent) {
      await (await of(intent)).call("forget", [service, intent]);
    },
    list: (/** @type {any} */ filter) =>
      listed(at, filter, (object, state) => object.operationOf(JSON.stringify(state)), (_, id) => id),
  });
};

/**
 * The first 12 bits of SHA-256 over caller and intent.
 *
 * @param {string} caller
 * @param {string} intent
 */
export async function shardOf(caller, intent) {
  const bytes = new TextEncoder().encode(JSON.stringify([caller, intent]));
  const [first, second] = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return (first << 4) | (second >> 4);
}

/**
 * The name of the object of a number, among those of its kind.
 *
 * @param {number} shard
 */
const nameOf = (shard) => shard.toString(16).padStart(3, "0");

/**
 * Asks the object that has what is shared under a name. There are as many of each kind as there are of those
 * with work; a rate has one of its own.
 *
 * @param {Api.Namespace} namespace
 * @param {"guard" | "claim" | "rate" | "caller"} what
 * @param {string} name
 * @param {object} call
 * @returns {Promise<any>}
 */
export async function askShared(namespace, what, name, call) {
  const place = what === "rate" ? name : nameOf(await shardOf(what, name));
  return namespace.get(namespace.idFromName(`holdfast-${what}-${place}`)).holdfastShared(call);
}

/**
 * A page over objects, in the order of their numbers. The cursor names the object to go on with.
 *
 * @template Told
 * @param {(shard: number) => RemoteObject} at
 * @param {Api.ListFilter | undefined} filter
 * @param {(object: RemoteObject, state: Api.OperationState) => Told} tell What is told of an operation of an object.
 * @param {(object: RemoteObject, id: string) => string} name Its id there.
 */
export async function listed(at, filter = {}, tell, name) {
  checkFilter(filter);
  const { cursor = "0.", limit = 50, ...rest } = filter;
  const [, first, inner] = /^(\d{1,4})\.(.*)$/s.exec(cursor) ?? [];
  if (first === undefined || Number(first) >= SHARDS) throw invalid("cursor", "cursor is none of list()'s.");
  /** @type {Told[]} */
  const operations = [];
  /** @type {{ id: string, code: string }[]} */
  const unreadable = [];
  const told = (/** @type {string} */ cursor) => ({
    operations, ...(unreadable.length && { unreadable }), ...(cursor && { cursor }),
  });
  const end = Math.min(Number(first) + LISTED_MAX, SHARDS);
  for (let shard = Number(first); shard < end; shard += ABREAST) {
    const objects = Array.from({ length: Math.min(ABREAST, end - shard) }, (_, own) => at(shard + own));
    const pages = await Promise.all(
      objects.map(async (object) => {
        const after = object.shard === Number(first) && inner ? { cursor: inner } : {};
        return JSON.parse(await object.call("list", [JSON.stringify({ ...rest, limit, ...after })]));
      }),
    );
    for (const [own, object] of objects.entries()) {
      const page = pages[own];
      // What does not fit is read again by the next page.
      if (operations.length && operations.length + page.operations.length > limit) {
        return told(`${object.shard}.`);
      }
      operations.push(...page.operations.map((/** @type {any} */ state) => tell(object, state)));
      for (const own of page.unreadable ?? []) unreadable.push({ ...own, id: name(object, own.id) });
      if (page.cursor !== undefined) return told(`${object.shard}.${page.cursor}`);
    }
  }
  return told(end < SHARDS ? `${end}.` : "");
}

/**
 * An object's error as it leads on from here. Of an operation of another object, the one that was asked knows nothing.
 *
 * @param {any} error
 */
const ownWords = (error) =>
  error.operationId === ELSEWHERE
    ? {
        code: error.code,
        field: error.field,
        message: "This job belongs to another intent's operation, perhaps another caller's.",
        nextStep: "Find that operation by its own intent, or name another job; nothing was sent.",
      }
    : error;

/** One object, in the place of a client: an operation's calls go there. */
export class RemoteObject {
  #namespace;
  #caller;
  /** The object knows its services; here is nothing to tell of them. */
  reach = new Reach({});

  /**
   * @param {Api.Namespace} namespace
   * @param {number} shard
   * @param {string} caller
   */
  constructor(namespace, shard, caller) {
    this.#namespace = namespace;
    this.shard = shard;
    this.#caller = caller;
    this.name = nameOf(shard);
  }

  /**
   * @param {string} method
   * @param {readonly unknown[]} args
   * @returns {Promise<any>}
   */
  async call(method, args) {
    const object = this.#namespace.get(this.#namespace.idFromName(`holdfast-${this.name}`));
    let answer;
    try {
      answer = await object.holdfast({ caller: this.#caller, method, args });
    } catch (cause) {
      throw unanswered(method, "The object did not answer.", "Look at the operation's state and call again.", cause);
    }
    if (answer.error) throw thrown(ownWords(answer.error));
    return answer.value;
  }

  /**
   * @param {string} json
   * @returns {Operation}
   */
  operationOf(json) {
    /** @type {Entry} */
    const entry = { state: freeze(JSON.parse(json)), account: this.#caller, toldAt: 0, waiting: new Set() };
    return new Operation(/** @type {import("./operation.js").Caller} */ (/** @type {unknown} */ (this)), entry);
  }

  schemaOf() {
    return undefined;
  }

  /**
   * Reads a state until something holds of it.
   *
   * @param {Entry} entry
   * @param {(state: Api.OperationState) => boolean} holds
   * @param {readonly (AbortSignal | undefined)[]} signals
   * @returns {Promise<Api.OperationState>}
   */
  async until(entry, holds, signals) {
    for (let pause = REFRESH_MS; ; pause = Math.min(pause * 1.5, REFRESH_MS_MAX)) {
      for (const signal of signals) signal?.throwIfAborted();
      if (!isEnded(entry.state)) await this.#refresh(entry);
      if (holds(entry.state)) return entry.state;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  /** @param {Entry} entry */
  async #refresh(entry) {
    const json = await this.call("load", [entry.state.id]);
    const state = json && freeze(JSON.parse(json));
    if (state && state.revision > entry.state.revision) entry.state = state;
  }
}
