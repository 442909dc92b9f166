// @ts-check
/** What this page has seen of its services: whether they answer, and how asking for credentials went. */
/** @import * as Api from "./index.d.ts" */

/** After how many lost answers, and none that came, more than a bad line is to be thought of. */
const LOST_MIN = 3;

export class Reach {
  #services;
  /** @type {Set<string>} */
  #answered = new Set();
  /** Those that answer a plain read, and not a submission. @type {Set<string>} */
  #blocked = new Set();
  /** @type {Map<string, number>} */
  #lost = new Map();
  /** Those that took a submission without a word of the job, and with which status. @type {Map<string, number>} */
  #idless = new Map();
  /** Why `authorize` gave none, the last time that it was asked, in a sentence. @type {Map<string, string>} */
  #refused = new Map();
  /** What another context has seen, which does the work. @type {Readonly<Record<string, string>>} */
  #told = {};

  /** @param {Readonly<Record<string, Api.Service<any>>>} services */
  constructor(services) {
    this.#services = services;
  }

  /**
   * @param {Pick<Api.OperationState, "service" | "status" | "jobId">} state
   * @param {readonly Api.JournalEntry[]} entries
   */
  hear({ service, status, jobId }, entries) {
    for (const { event, httpStatus = 0 } of entries) {
      if (event === "diagnose.answered") this.#blocked.add(service);
      if (event === "submit.answered") {
        this.#blocked.delete(service);
        const isTaken = httpStatus >= 200 && httpStatus < 300;
        if (isTaken && status === "submitting" && jobId === undefined) this.#idless.set(service, httpStatus);
        else if (isTaken) this.#idless.delete(service);
      }
      if (httpStatus) this.#answered.add(service);
      else if (event.endsWith(".lost")) this.#lost.set(service, (this.#lost.get(service) ?? 0) + 1);
    }
  }

  /**
   * @param {string} service
   * @param {string} [error] Why there is no credential, in a sentence.
   */
  authorized(service, error) {
    if (error) this.#refused.set(service, error);
    else this.#refused.delete(service);
  }

  /** @param {Readonly<Record<string, string>>} hints Of services by their names, as the context that drives has them. */
  told(hints) {
    this.#told = hints;
  }

  /** Of every service for which there is something to say. @returns {Record<string, string>} */
  hints() {
    const all = Object.keys(this.#services).map((name) => [name, this.#hintOf(name)]);
    return Object.fromEntries(all.filter(([, hint]) => hint));
  }

  /**
   * What may be wrong where an operation does not go on.
   *
   * @param {Pick<Api.OperationState, "service" | "status" | "origin">} state
   */
  hintOf({ service, status, origin }) {
    const configured = this.#originOf(service);
    if (configured !== undefined && origin !== undefined && origin !== configured) {
      return `It was submitted to ${origin}, and services.${service} names ${configured}: it goes on where that address is named again.`;
    }
    const idless = this.#idless.get(service);
    if (idless && status === "submitting") {
      return `The service answers submissions with ${idless}, and no job is named where the profile looks: is facts.id right?`;
    }
    return this.#hintOf(service);
  }

  /** @param {string} service */
  #originOf(service) {
    const { baseUrl, proxy, relay } = this.#services[service] ?? {};
    const address = baseUrl ?? proxy ?? relay;
    // An extension's page names none, and what is no longer configured has none.
    if (address === undefined) return undefined;
    try {
      return new URL(address, globalThis.location?.href).origin;
    } catch {
      return undefined;
    }
  }

  /** @param {string} service */
  #hintOf(service) {
    if (Object.hasOwn(this.#told, service)) return this.#told[service];
    if (this.#blocked.has(service)) {
      return `${this.#services[service]?.baseUrl} answers, but not submissions: its answer to their preflight (OPTIONS) must allow this page's origin, the method, and the headers of the key, the credential and the media type (Access-Control-Allow-Headers).`;
    }
    const lost = this.#lost.get(service) ?? 0;
    if (lost < LOST_MIN || this.#answered.has(service)) return undefined;
    const { baseUrl, proxy, relay } = this.#services[service] ?? {};
    return `No answer has come from ${baseUrl ?? proxy ?? relay} yet, and ${lost} were lost: is the address right${baseUrl ? permission() : ""}?`;
  }

  /**
   * Why there is no credential, where that is not the service's word.
   *
   * @param {string} service
   */
  credentialOf(service) {
    const { profile, proxy, authorize } = this.#services[service] ?? {};
    if (proxy) return `The proxy at ${proxy}, or the service behind it, refused the credential. Sign in again, then`;
    // Where it has no profile here, somebody else asks for credentials: a relay, or the background.
    if (profile !== undefined && !authorize) {
      return `The service asks for a credential, and services.${service} has no authorize. Add one, then`;
    }
    const error = this.#refused.get(service);
    return error && `The service got no credential: ${error} Mend it, then`;
  }
}

/** What besides the address may be wrong: an extension is asked for permissions, and not the service; on a server nobody is. */
function permission() {
  const { location } = globalThis;
  if (!location) return "";
  return /-extension:$/.test(location.protocol)
    ? ', and does "host_permissions" in manifest.json name it'
    : ", and does the service allow this page, and the header of the key, by CORS";
}
