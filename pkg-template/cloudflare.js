// @ts-check
/** Holdfast in Cloudflare Workers: a Durable Object that drives work by its alarm. */
/** @import * as Api from "./cloudflare.d.ts" */
import { DurableObject } from "cloudflare:workers";
import { CALLS } from "./calls.js";
import { plain } from "./crossing.js";
import { HoldfastError, isHoldfastError } from "./error.js";
import module from "./holdfast.wasm";
import { jobs } from "./jobs.js";
import { relay } from "./relay.js";
import { Shard } from "./object-shard.js";

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

    /**
     * @param {DurableObjectState} context
     * @param {unknown} env
     */
    constructor(context, env) {
      super(context, env);
      this.#context = context;
      this.#shard = new Shard(context.storage, /** @type {any} */ (this), module);
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
