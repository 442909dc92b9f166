// @ts-check
/**
 * What an object asks of the others of its class, before a request leaves and before an id becomes an
 * operation's own. Only services without keys, and those that state a rate, need any of it.
 */
/** @import * as Api from "./index.d.ts" */
/** @import { Namespace } from "./cloudflare.d.ts" */
/** @import { Pause } from "./object-connections.js" */
/** @import { Kind } from "./object-shared.js" */
import { HoldfastError, isHoldfastError } from "./error.js";
import { askShared } from "./jobs.js";
import { loaded } from "./profiles.js";
import { builtIn } from "./profiles/all.js";

/** How soon a request asks again that stands behind another, in milliseconds. */
const AGAIN_MS = 1000;
/** How long a request may take from its turn to the record of its attempt, in milliseconds. */
const GRANTED_MS = 60_000;
/** Pauses after which an id is claimed once more that could not be, in milliseconds: what is known of it would be lost. */
const CLAIM_AGAIN_MS = [100, 300, 1000, 3000];
/** What an operation of another object is called here. */
const ELSEWHERE = "elsewhere";

/** Where it may be that a request was accepted, and is not known. */
const UNSETTLED = ["submitting", "reconciling"];

export class ObjectTurns {
  #id;
  #namespace;
  #services;
  /** Profiles that were loaded, by their services. @type {Map<string, any>} */
  #profiles = new Map();
  /** When requests got their turn whose attempts are not recorded yet, by operation. @type {Map<string, number>} */
  #granted = new Map();
  /** Operations that are about to record an id. @type {Set<string>} */
  #claiming = new Set();
  /** Why there was no turn, as far as it was told. @type {Set<string>} */
  #told = new Set();

  /**
   * @param {string} id The object's own.
   * @param {() => Namespace | undefined} namespace The class's.
   * @param {() => Record<string, Api.Service<any>>} services
   */
  constructor(id, namespace, services) {
    this.#id = id;
    this.#namespace = namespace;
    this.#services = services;
  }

  /**
   * Refuses work that would wait for ever for its turn: before anything of it is stored.
   *
   * @param {string} service
   */
  async check(service) {
    if (this.#namespace()) return;
    const profile = await this.#profileOf(service);
    if (profile && (!profile.key || profile.rate)) throw unbound();
  }

  /**
   * How long an exchange has to wait for others, in milliseconds. Whoever asks hears nothing of an error, and
   * asks again: it is told here, once of each kind.
   *
   * @param {string} caller
   * @param {string} service
   * @param {string} id Its operation.
   * @param {string | undefined} alone The digest of a request that no key tells from another's.
   * @param {Pause} pause
   */
  async turn(caller, service, id, alone, pause) {
    try {
      return await this.#turn(caller, service, id, alone, pause);
    } catch (error) {
      const kind = isHoldfastError(error) ? error.code : String(/** @type {any} */ (error)?.name);
      if (!this.#told.has(kind)) console.error("Holdfast: a request has no turn. It asks again; this is said once.", error);
      this.#told.add(kind);
      throw error;
    }
  }

  /**
   * @param {string} caller
   * @param {string} service
   * @param {string} id
   * @param {string | undefined} alone
   * @param {Pause} pause
   */
  async #turn(caller, service, id, alone, pause) {
    if (alone !== undefined) {
      const holder = JSON.stringify([this.#id, id, caller]);
      for (const [other, at] of this.#granted) if (Date.now() - at > GRANTED_MS) this.#granted.delete(other);
      this.#granted.set(id, Date.now());
      const owner = await this.#ask("guard", alone, { take: "guard", name: alone, holder });
      if (owner !== holder) {
        this.#granted.delete(id);
        return AGAIN_MS;
      }
    }
    const wait = await this.#inRate(service, pause);
    if (alone !== undefined) this.#granted.set(id, Date.now());
    return wait;
  }

  /**
   * Where the place is not there again in time for it, the turn is lost.
   *
   * @param {string} service
   * @param {Pause} pause
   */
  async #inRate(service, pause) {
    const rate = (await this.#profileOf(service))?.rate;
    const { baseUrl } = this.#services()[service] ?? {};
    if (!rate || !baseUrl) return 0;
    const name = new URL(baseUrl).origin;
    const { waitMs, laterMs } = await this.#ask("rate", name, { turn: rate, name });
    if (laterMs) return laterMs;
    return !waitMs || (await pause(waitMs)) ? 0 : AGAIN_MS;
  }

  /**
   * Something of an operation is written. Once its attempt is, the store tells that it needs its turn.
   *
   * @param {string} json Its state.
   */
  heard(json) {
    if (!this.#granted.size) return;
    const { id, status } = JSON.parse(json);
    if (status !== "queued") this.#granted.delete(id);
  }

  /**
   * Whether an operation of this object still needs what it has.
   *
   * @param {Kind} kind
   * @param {string} id
   * @param {(id: string) => boolean} isStored
   * @param {(id: string) => Promise<string | undefined>} load Its state, as JSON.
   */
  async isHeld(kind, id, isStored, load) {
    if (kind === "claim") return this.#claiming.has(id) || isStored(id);
    if (Date.now() - (this.#granted.get(id) ?? -Infinity) < GRANTED_MS) return true;
    const state = isStored(id) ? await load(id) : undefined;
    return state !== undefined && UNSETTLED.includes(JSON.parse(state).status);
  }

  /**
   * The store, where no id of a service without keys becomes an operation's own that is another's in
   * another object, and whose it is there is told to whoever asks.
   *
   * @template {{ run(what: string, args: any[]): { done: Promise<any>, drop(): void } }} Store
   * @param {Store} store
   * @returns {Store}
   */
  claiming(store) {
    const run = (/** @type {string} */ what, /** @type {any[]} */ args) => {
      if (what === "owner") return this.#owned(store.run(what, args), args[0]);
      const claims = claimsIn(args[0]);
      if (!claims.length) return store.run(what, args);
      let dropped = false;
      /** @type {{ drop(): void } | undefined} */
      let running;
      const carry = async () => {
        const [reads, decide] = args;
        const owners = await this.#claim(claims, () => dropped);
        if (dropped) throw "unavailable dropped";
        const own = store.run(what, [reads, (/** @type {any[]} */ found) => decide(found.map((one, at) => owners.get(at) ?? one))]);
        running = own;
        return own.done;
      };
      const done = carry().finally(() => claims.forEach(({ id }) => this.#claiming.delete(id)));
      return { done, drop: () => ((dropped = true), running?.drop()) };
    };
    return { ...store, run };
  }

  /**
   * Whose an id is, by this object and else by all others.
   *
   * @template {{ done: Promise<any>, drop(): void }} Run
   * @param {Run} run
   * @param {string[]} name
   * @returns {Run}
   */
  #owned(run, name) {
    const [jobs] = name;
    const elsewhere = async () => {
      if (!isJob(name) || !(await this.#keyless()).has(profileIn(jobs))) return undefined;
      const holder = await this.#asked("asked for", { whose: "claim", name: JSON.stringify(name) }, () => false);
      const [object, id] = JSON.parse(holder ?? "[]");
      return object === this.#id ? id : holder && ELSEWHERE;
    };
    return { ...run, done: run.done.then((/** @type {string | undefined} */ found) => found ?? elsewhere()), drop: () => run.drop() };
  }

  /**
   * Claims ids. Tells of those that are another's, by their places.
   *
   * @param {ReturnType<typeof claimsIn>} claims
   * @param {() => boolean} isDropped
   * @returns {Promise<Map<number, string>>}
   */
  async #claim(claims, isDropped) {
    const keyless = await this.#keyless();
    const owners = new Map();
    for (const { at, jobs, job, id } of claims) {
      if (!keyless.has(profileIn(jobs))) continue;
      this.#claiming.add(id);
      const [name, holder] = [JSON.stringify([jobs, job]), JSON.stringify([this.#id, id])];
      const owner = await this.#asked("claimed", { take: "claim", name, holder }, isDropped);
      if (owner !== holder) owners.set(at, ELSEWHERE);
    }
    return owners;
  }

  /**
   * Asks the object that has an id, a few times.
   *
   * @param {string} what What could not be done with it.
   * @param {{ name: string } & Record<string, string>} call
   * @param {() => boolean} isDropped Whether nobody waits for it any more.
   * @returns {Promise<string | undefined>}
   */
  async #asked(what, call, isDropped) {
    for (const pause of [...CLAIM_AGAIN_MS, 0]) {
      try {
        return await this.#ask("claim", call.name, call);
      } catch (error) {
        if (pause && !isDropped() && !isHoldfastError(error)) {
          await new Promise((resolve) => setTimeout(resolve, pause));
          continue;
        }
        console.error(`Holdfast: an id could not be ${what}. It is tried again.`, error);
        throw "unavailable no answer to a claim";
      }
    }
  }

  /** The names of the profiles without keys. */
  async #keyless() {
    const all = await Promise.all(Object.keys(this.#services()).map((name) => this.#profileOf(name)));
    return new Set(all.filter((profile) => profile && !profile.key).map(({ name }) => name));
  }

  /** @param {string} service */
  async #profileOf(service) {
    if (!this.#profiles.has(service)) {
      const { profile } = this.#services()[service] ?? {};
      this.#profiles.set(service, typeof profile === "string" ? await loaded(profile, service, builtIn) : profile);
    }
    return this.#profiles.get(service);
  }

  /**
   * Asks the object that has what goes by a name; a rate has one of its own.
   *
   * @param {"guard" | "claim" | "rate"} what
   * @param {string} name
   * @param {object} call
   * @returns {Promise<any>}
   */
  async #ask(what, name, call) {
    const namespace = this.#namespace();
    if (!namespace) throw unbound();
    return askShared(namespace, what, name, call);
  }
}

/**
 * Whether something unique is the id of a job, under the profile and so on; else it is a key.
 *
 * @param {string[]} name
 */
const isJob = (name) => name.length === 2;

/** @param {string} jobs Under what an id is unique. */
const profileIn = (jobs) => jobs.split(" ")[0];

/**
 * The ids of services that a transaction takes for operations: of each its place among the reads, and
 * whose it shall be, whose row is read next.
 *
 * @param {unknown} reads
 * @returns {{ at: number, jobs: string, job: string, id: string }[]}
 */
function claimsIn(reads) {
  if (!Array.isArray(reads)) return [];
  return reads.flatMap((read, at) => {
    if (read?.[0] !== "service_ids" || !isJob(read[1])) return [];
    const row = reads.slice(at).find((own) => own?.[0] === "operations");
    return [{ at, jobs: read[1][0], job: read[1][1], id: row[1] }];
  });
}

/**
 * The namespace of an object's own class, which its Worker's environment holds.
 *
 * @param {{ toString(): string }} id
 * @param {any} env
 * @returns {Namespace | undefined}
 */
export function ownNamespace(id, env) {
  return Object.values(env ?? {}).find((binding) => {
    // A binding of a service answers to every name.
    if (binding?.constructor?.name !== "DurableObjectNamespace") return false;
    try {
      return Boolean(binding.idFromString(id.toString()));
    } catch {
      return false;
    }
  });
}

const unbound = () =>
  new HoldfastError("The class of objects is not bound in its own Worker.", {
    code: "INVALID_INPUT",
    nextStep: "Add it to durable_objects.bindings there: a service without keys, or with a rate, is shared by its objects.",
  });
