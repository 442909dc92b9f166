// @ts-check
/** Holdfast in Cloudflare Workers: a Durable Object that drives work by its alarm. */
/** @import * as Api from "./cloudflare.d.ts" */
import { DurableObject } from "cloudflare:workers";
import { CALLS } from "./calls.js";
import { plain } from "./crossing.js";
import { HoldfastError, isHoldfastError } from "./error.js";
import module from "./holdfast.wasm";
import { jobs, RemoteObject } from "./jobs.js";
import { relay } from "./relay.js";
import { Shard } from "./object-shard.js";
import { Shared } from "./object-shared.js";
import { ObjectTurns, ownNamespace } from "./object-turns.js";
import { isEnded } from "./status.js";

export { HoldfastError, isHoldfastError, jobs, relay };

/** What of the module may be called from outside: what pages of an extension may ask for, and no start. */
const METHODS = Object.keys(CALLS).filter((method) => method !== "start");

/** What reads only: of an object that was never used nothing is made for it. */
const READS = ["find", "load", "list"];

export const HoldfastObject = /** @type {any} */ (
  class extends DurableObject {
    /** @type {Shard} */
    #shard;
    #context;
    /** @type {Shared | undefined} */
    #shared;
    #namespace;

    /**
     * @param {DurableObjectState} context
     * @param {unknown} env
     */
    constructor(context, env) {
      super(context, env);
      this.#context = context;
      this.#namespace = ownNamespace(context.id, env);
      const turns = (/** @type {() => any} */ services) => new ObjectTurns(context.id.toString(), () => this.#namespace, services);
      this.#shard = new Shard(context.storage, /** @type {any} */ (this), module, turns);
    }

    /** @param {Api.ObjectCall} call */
    async holdfast({ caller, method, args }) {
      try {
        if (!METHODS.includes(method) || typeof caller !== "string" || !caller) throw notAllowed();
        if (READS.includes(method) && !this.#shard.isUsed()) return { value: NOTHING[method] };
        const value = await this.#shard.call(caller, /** @type {any} */ (method), args);
        this.#context.waitUntil(this.#shard.afterwards());
        return { value };
      } catch (error) {
        if (!isHoldfastError(error)) console.error("Holdfast: an object failed.", error);
        return { error: plain(error) };
      }
    }

    /** @param {any} call What another object of the class asks. */
    async holdfastShared({ take, whose, turn, admit, holds, name, holder, caller, after }) {
      if (holds) return this.#shard.isHeld(holds, holder, caller);
      this.#shared ??= new Shared(this.#context.storage.sql, (kind, other) => this.#isHeld(kind, other));
      if (admit) return this.#shared.admit(caller, name, admit, (other, before) => this.#isOver(caller, other, before), after);
      if (whose) return this.#shared.whose(whose, name);
      return turn ? this.#shared.turn(name, turn) : this.#shared.take(take, name, holder);
    }

    /**
     * @param {"guard" | "claim"} holds
     * @param {string} other
     */
    async #isHeld(holds, other) {
      const [object, holder, caller] = JSON.parse(other);
      const namespace = /** @type {any} */ (this.#namespace);
      return namespace.get(namespace.idFromString(object)).holdfastShared({ holds, holder, caller });
    }

    /**
     * Whether an operation has ended; `undefined`: it is not stored, or what ended is what it comes after.
     *
     * @param {string} caller
     * @param {string} place
     * @param {string} [after]
     */
    async #isOver(caller, place, after) {
      const [shard, service, intent] = JSON.parse(place);
      const json = await new RemoteObject(/** @type {any} */ (this.#namespace), shard, caller).call("find", [service, intent]);
      if (json === undefined) return undefined;
      const state = JSON.parse(json);
      return isEnded(state) ? (state.id === after ? undefined : true) : false;
    }

    async alarm() {
      await this.#shard.alarm();
    }
  }
);

/** @type {Record<string, string | undefined>} */
const NOTHING = { list: '{"operations":[]}' };

const notAllowed = () =>
  new HoldfastError("There is no such call of an object.", {
    code: "NOT_ALLOWED",
    nextStep: "Call it through jobs().",
  });
