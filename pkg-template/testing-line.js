// @ts-check
/** The line between a client and the scripted services: routes, latency, and what goes wrong on it. */
/** @import * as Api from "./testing.d.ts" */
/** @import { Clock } from "./testing-clock.js" */
import { Service } from "./testing-service.js";

/** How long an answer takes, in milliseconds, where the script says nothing else. */
const LATENCY_MS = 20;

/**
 * What a fault answers in the place of the service, which hears nothing of it.
 *
 * @type {Record<string, (fault: Api.Fault) => [number, Record<string, string>, string]>}
 */
const ANSWERS = {
  rateLimited: ({ retryAfter = 1 }) => [429, { "retry-after": String(retryAfter) }, "{}"],
  unavailable: ({ retryAfter = 0 }) => [503, { "retry-after": String(retryAfter) }, "{}"],
  htmlError: () => [502, { "content-type": "text/html" }, "<!doctype html><h1>Bad gateway</h1>"],
  notFound: () => [404, {}, "{}"],
  unauthorized: () => [401, {}, "{}"],
  noCredit: () => [402, {}, "{}"],
};

/** A scripted service, with the line to it. */
export class Line {
  #clock;
  #script;
  #profile;
  #service;
  #baseUrl;
  /** @type {{ fault: Api.Fault, left: number }[]} */
  #faults;
  /** Calls whose answers are withheld, and those who wait for one to be. @type {Set<string>} */
  #holding = new Set();
  /** @type {Set<() => void>} */
  #withheld = new Set();
  /** @type {Set<() => void>} */
  #watching = new Set();
  /** @type {Api.SimulatedRequest[]} */
  requests = [];

  /**
   * @param {string} baseUrl
   * @param {any} profile
   * @param {Api.ServiceScript} script
   * @param {readonly Api.Fault[]} faults
   * @param {Clock} clock
   */
  constructor(baseUrl, profile, script, faults, clock) {
    this.#baseUrl = baseUrl;
    this.#profile = profile;
    this.#script = script;
    this.#clock = clock;
    this.#service = new Service(baseUrl, profile, script, clock);
    this.#faults = faults.map((fault) => ({ fault, left: fault.times ?? 1 }));
  }

  /** @param {readonly Api.Fault[]} faults */
  add(faults) {
    this.#faults.push(...faults.map((fault) => ({ fault, left: fault.times ?? 1 })));
  }

  /** @param {string} url */
  isAt(url) {
    return url.startsWith(`${this.#baseUrl}/`);
  }

  ledger() {
    return { ...this.#service.ledger, jobs: this.#service.jobs() };
  }

  /** @param {string} call */
  hold(call) {
    this.#holding.add(call);
  }

  release() {
    this.#holding.clear();
    for (const go of this.#withheld) go();
    this.#withheld.clear();
  }

  /** Resolves once an answer is withheld. @returns {Promise<void>} */
  held() {
    return new Promise((resolve) => (this.#withheld.size ? resolve() : this.#watching.add(resolve)));
  }

  /**
   * @param {string} url
   * @param {RequestInit} init
   * @returns {Promise<Response>}
   */
  async fetch(url, { method = "GET", headers, body, signal }) {
    const text = body ? new TextDecoder().decode(/** @type {Uint8Array} */ (body)) : "";
    const own = /** @type {AbortSignal} */ (signal);
    const { call, params } = this.#route(method, url.slice(this.#baseUrl.length));
    const sent = new Headers(headers);
    const request = { call, method, url, key: this.#keyOf(sent, url, text), body: text, at: this.#clock.now };
    this.requests.push(request);
    const latency = this.#script.latencyMs ?? LATENCY_MS;
    const { fault } = this.#take(call);
    await this.#clock.sleep(latency / 2, own);
    if (fault?.fault === "lostBefore") throw new TypeError("The simulated line broke before the request arrived.");
    const instead = fault && ANSWERS[fault.fault]?.(fault);
    const reply = instead ? undefined : this.#service.answer(call, params, request);
    if (this.#holding.has(call)) await this.#withhold(own);
    await this.#clock.sleep(latency / 2, own);
    if (fault?.fault === "lostAfter") throw new TypeError("The simulated line broke before the answer arrived.");
    if (instead) return new Response(instead[2], { status: instead[0], headers: this.#dated(instead[1]) });
    return this.#answered(/** @type {any} */ (reply), fault?.fault === "truncated");
  }

  /**
   * @param {import("./testing-service.js").Reply} reply
   * @param {boolean} truncated
   */
  #answered({ status, headers, body }, truncated) {
    const isText = typeof body === "string";
    const text = body === undefined ? null : isText ? body : JSON.stringify(body);
    const init = { status, headers: this.#dated({ "content-type": isText ? "text/plain" : "application/json", ...headers }) };
    if (!truncated || text === null) return new Response(text, init);
    const pieces = [new TextEncoder().encode(text.slice(0, text.length / 2))];
    const stream = new ReadableStream({
      pull(controller) {
        const piece = pieces.pop();
        if (piece) controller.enqueue(piece);
        else controller.error(new TypeError("The simulated line broke in the middle of the answer."));
      },
    });
    return new Response(stream, init);
  }

  /** @param {Record<string, string>} headers */
  #dated(headers) {
    return { date: new Date(this.#clock.now).toUTCString(), ...headers };
  }

  /** @param {AbortSignal | undefined} signal */
  #withhold(signal) {
    return new Promise((resolve, reject) => {
      const go = () => resolve(undefined);
      this.#withheld.add(go);
      signal?.addEventListener("abort", () => (this.#withheld.delete(go), reject(signal.reason)), { once: true });
      for (const tell of this.#watching) tell();
      this.#watching.clear();
    });
  }

  /** @param {string} call */
  #take(call) {
    const found = this.#faults.find(({ fault, left }) => left > 0 && (fault.call ?? "submit") === call);
    if (found) found.left -= 1;
    return { fault: found?.fault };
  }

  /**
   * The call that a request is, by the profile's paths.
   *
   * @param {string} method
   * @param {string} target
   */
  #route(method, target) {
    const link = /_links\/([^/]+)\/([^/?]+)/.exec(target);
    for (const [call, { method: own, path, link: name }] of Object.entries(/** @type {Record<string, any>} */ (this.#profile.calls))) {
      if (own !== method) continue;
      if (link && name === link[1]) return { call, params: { id: link[2] } };
      const params = !link && path && matched(path, target);
      if (params) return { call, params };
    }
    throw new TypeError(`The profile has no call ${method} ${target}: the simulated service does not know it.`);
  }

  /**
   * @param {Headers} headers
   * @param {string} url
   * @param {string} body
   */
  #keyOf(headers, url, body) {
    const { header, query, field } = this.#profile.key ?? {};
    if (header) return headers.get(header) ?? undefined;
    if (query) return new URL(url).searchParams.get(query) ?? undefined;
    if (!field) return undefined;
    return field.split("/").slice(1).reduce((/** @type {any} */ part, /** @type {string} */ name) => part?.[name], JSON.parse(body || "null"));
  }
}

/**
 * The values in the places of a template's names; nothing where it does not fit. What a query has besides
 * does not matter.
 *
 * @param {string} template
 * @param {string} target
 * @returns {Record<string, string> | undefined}
 */
function matched(template, target) {
  /** @type {string[]} */
  const names = [];
  const source = template.split(/\{(\+?[^{}]+)\}/).map((part, index) => {
    if (index % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    names.push(part.replace("+", ""));
    return part[0] === "+" ? "([^?]+?)" : "([^/?&]+)";
  });
  const found = new RegExp(`^${source.join("")}(?:[?&].*)?$`).exec(target);
  return found ? Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(found[index + 1])])) : undefined;
}
