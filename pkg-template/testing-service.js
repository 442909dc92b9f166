// @ts-check
/** A service that a profile describes, scripted: it does its work once for each key, and keeps a ledger. */
/** @import * as Api from "./testing.d.ts" */
/** @import { Clock } from "./testing-clock.js" */
import { STREAM_TYPES, streamed } from "./testing-stream.js";

/**
 * @typedef {{
 *   id: string, key: string, body: string, params: Record<string, string>, createdAt: number, endsAt: number,
 *   outcome: "completed" | "failed" | "cancelled", data: unknown, parent?: string,
 * }} Job
 * @typedef {{ status: number, headers: Record<string, string>, body: unknown }} Reply
 */

/** How many characters of digits an id has. */
const ID_DIGITS = 4;

export class Service {
  /** @type {Job[]} */
  #jobs = [];
  #baseUrl;
  #profile;
  #script;
  #clock;
  ledger = { executions: 0, charges: 0, charged: 0, results: 0, submits: 0, polls: 0 };

  /**
   * @param {string} baseUrl
   * @param {any} profile
   * @param {Api.ServiceScript} script
   * @param {Clock} clock
   */
  constructor(baseUrl, profile, script, clock) {
    this.#baseUrl = baseUrl;
    this.#profile = profile;
    this.#script = script;
    this.#clock = clock;
  }

  /** What was run, oldest first. */
  jobs() {
    return this.#jobs.map(({ id, key, createdAt, body }) => ({
      id, key, createdAt, body, status: this.#stateOf(/** @type {Job} */ (this.#job(id))),
    }));
  }

  /**
   * Answers one call of the profile.
   *
   * @param {string} call
   * @param {Record<string, string>} params From the path.
   * @param {{ key: string | undefined, body: string }} request
   * @returns {Reply}
   */
  answer(call, params, request) {
    if (call === "submit") return this.#submitted(params, request, undefined);
    if (call === "quote") return reply(200, this.#facts({ quoted: this.#price(request.body) }));
    if (call === "list") return this.#listed(params);
    if (call === "diagnose") return reply(200, {});
    const job = this.#job(params.id);
    if (!job) return this.#fault(404, "not_found", "There is no such job.");
    if (call === "retry") return this.#submitted(params, { ...request, body: job.body }, job.id);
    if (call === "delete") {
      this.#jobs = this.#jobs.filter((own) => own !== job);
      return reply(204, undefined);
    }
    if (call === "cancel") {
      if (this.#stateOf(job) === "active") Object.assign(job, { outcome: "cancelled", endsAt: this.#clock.now });
      return this.#shown(job);
    }
    if (call === "poll") this.ledger.polls += 1;
    return call === "result" || this.#isResultHere(job) ? this.#result(job, call) : this.#shown(job);
  }

  /** @param {string | undefined} id */
  #job(id) {
    return this.#jobs.find((job) => job.id === id);
  }

  /** @param {Job} job */
  #stateOf(job) {
    return this.#clock.now < job.endsAt ? "active" : job.outcome;
  }

  /** @param {string} body */
  #price(body) {
    const { price = 1 } = this.#script;
    return typeof price === "function" ? price({ body: parsed(body) }) : price;
  }

  /**
   * @param {Record<string, string>} params
   * @param {{ key: string | undefined, body: string }} request
   * @param {string | undefined} parent
   */
  #submitted(params, { key, body }, parent) {
    this.ledger.submits += 1;
    const known = key === undefined ? undefined : this.#jobs.find((job) => job.key === key);
    if (known && known.body !== body) return this.#meant("keyConflict", ["submit"], 409, "key_conflict");
    const request = { body: parsed(body), params, key, run: this.ledger.executions };
    const refusal = known ? undefined : this.#script.refuse?.(request);
    if (refusal) return this.#fault(refusal.status ?? 422, refusal.code ?? "refused", refusal.message ?? "It was refused.");
    const job = known ?? this.#run(request, body, parent);
    // Without a call to read it by, the answer to a submission is the result.
    if (!this.#profile.calls.poll) return this.#result(job, "submit", known);
    return this.#shown(job, known);
  }

  /**
   * @param {Api.ScriptedRequest} request
   * @param {string} body
   * @param {string | undefined} parent
   * @returns {Job}
   */
  #run(request, body, parent) {
    const { durationMs = 1000, outcome = "completed", result = () => ({ ok: true }) } = this.#script;
    const { key = "", params } = request;
    const end = typeof outcome === "function" ? outcome(request) : outcome;
    const job = {
      id: `job-${String(this.#jobs.length + 1).padStart(ID_DIGITS, "0")}`,
      key, body, params, parent, createdAt: this.#clock.now,
      endsAt: this.#clock.now + (typeof durationMs === "function" ? durationMs(request) : durationMs),
      outcome: end, data: end === "completed" ? result(request) : undefined,
    };
    this.#jobs.push(job);
    this.ledger.executions += 1;
    this.ledger.charges += 1;
    this.ledger.charged += this.#price(body);
    return job;
  }

  /** Whether the answer to a poll of a job that is over holds the result. */
  #isResultHere(/** @type {Job} */ job) {
    const { result, poll } = this.#profile.calls;
    return this.#stateOf(job) === "completed" && (!result || (result.link && result.link === poll.link));
  }

  /**
   * @param {Job} job
   * @param {string} call Which call it answers.
   * @param {Job} [replayed]
   * @returns {Reply}
   */
  #result(job, call, replayed) {
    const state = this.#stateOf(job);
    const isAnswer = !this.#profile.calls.poll;
    if (isAnswer && job.outcome !== "completed") return this.#meant("failed", ["submit"], 500, "failed");
    if (!isAnswer && state !== "completed") return this.#meant("notReady", ["result"], 409, "not_ready");
    this.ledger.results += 1;
    const { resultAt = "", pages } = this.#profile;
    const { stream } = this.#profile.calls[call];
    if (stream) {
      const dressed = this.#dressed(200, streamed(stream, this.#facts(this.#about(job, state)), job.data), job, replayed);
      return { ...dressed, headers: { ...dressed.headers, "content-type": STREAM_TYPES[/** @type {"sse" | "ndjson"} */ (stream.form)] } };
    }
    /** @type {any} */
    let body = resultAt || pages || this.#profile.calls.result ? {} : this.#facts(this.#about(job, state));
    if (resultAt) body = place(this.#facts(this.#about(job, state)), resultAt, job.data);
    else if (pages) body = this.#page(job);
    else if (this.#profile.calls.result || typeof job.data !== "object") body = job.data;
    else body = { ...body, .../** @type {object} */ (job.data) };
    return this.#dressed(200, body, job, replayed);
  }

  /** @param {Job} job */
  #page({ data }) {
    const { items, total } = this.#profile.pages;
    const all = Array.isArray(data) ? data : [data];
    return place(total ? place({}, total, all.length) : {}, items, all);
  }

  /**
   * What is told of a job.
   *
   * @param {Job} job
   * @param {Job} [replayed]
   */
  #shown(job, replayed) {
    const state = this.#stateOf(job);
    const word = this.#wordOf(state);
    const status = Number(/^http:(\d+)$/.exec(word ?? "")?.[1] ?? (state === "active" && !replayed ? 202 : 200));
    return this.#dressed(status, this.#facts(this.#about(job, state)), job, replayed);
  }

  /**
   * @param {Job} job
   * @param {string} state
   */
  #about(job, state) {
    const word = this.#wordOf(state);
    const status = word === undefined || /^http:|^absent$/.test(word) ? undefined : { true: true, false: false }[word] ?? word;
    const price = String(this.#price(job.body));
    const failure = state === "failed" ? { code: "job_failed", message: "The job has failed.", failureClass: "transient" } : {};
    return { id: job.id, status, base: price, charged: price, tokenState: this.#profile.settlement?.finalStates?.[0], ...failure };
  }

  /** @param {string} state */
  #wordOf(state) {
    return Object.entries(this.#profile.states ?? {}).find(([, meaning]) => meaning === state)?.[0];
  }

  /**
   * A body with facts in their first places.
   *
   * @param {Record<string, unknown>} facts
   */
  #facts(facts) {
    const body = {};
    for (const [name, value] of Object.entries(facts)) {
      const at = (this.#profile.facts?.[name] ?? []).find((/** @type {string} */ own) => own.startsWith("/"));
      if (at && value !== undefined) place(body, at, value);
    }
    return body;
  }

  /**
   * The headers that the profile reads, and the links that it follows.
   *
   * @param {number} status
   * @param {unknown} body
   * @param {Job} job
   * @param {Job} [replayed]
   * @returns {Reply}
   */
  #dressed(status, body, job, replayed) {
    /** @type {Record<string, string>} */
    const headers = {};
    for (const [name, places] of Object.entries(this.#profile.carry ?? {})) {
      const link = `${this.#baseUrl}/_links/${name}/${job.id}`;
      const [first] = /** @type {string[]} */ (places);
      if (first.startsWith("header:")) headers[first.slice(7)] = link;
      else if (typeof body === "object" && body) place(body, first, link);
    }
    const mark = this.#profile.facts?.replayed?.find((/** @type {string} */ own) => own.startsWith("header:"));
    if (mark && replayed) headers[mark.slice(7)] = "true";
    return { status, headers, body };
  }

  /** @param {Record<string, string>} params */
  #listed({ page = "1" }) {
    const rule = this.#profile.reconcile;
    const items = page === "1" ? [...this.#jobs].reverse().map((job) => {
      const item = place(place({}, rule.id, job.id), rule.createdAt, new Date(job.createdAt).toISOString());
      for (const [shown, sent] of Object.entries({ ...rule.same, ...(rule.echo && { [rule.echo]: rule.sendEcho }) })) {
        const value = at(parsed(job.body), sent);
        if (value !== undefined) place(item, shown, value);
      }
      if (rule.retryOf && job.parent) place(item, rule.retryOf, job.parent);
      return item;
    }) : [];
    return reply(200, place({}, rule.items, items));
  }

  /**
   * An answer that means something under the profile.
   *
   * @param {string} means
   * @param {string[]} on
   * @param {number} status
   * @param {string} code
   */
  #meant(means, on, status, code) {
    const lines = (this.#profile.meanings ?? []).filter((/** @type {any} */ own) => own.means === means);
    const line = lines.find((/** @type {any} */ own) => !own.on || own.on.some((/** @type {string} */ name) => on.includes(name)));
    return this.#fault(line?.status ?? status, line?.code ?? code, `It means: ${means}.`);
  }

  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   */
  #fault(status, code, message) {
    return reply(status, this.#facts({ code, message }));
  }
}

/**
 * @param {number} status
 * @param {unknown} body
 * @returns {Reply}
 */
const reply = (status, body) => ({ status, headers: {}, body });

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * @param {any} value
 * @param {string} pointer
 */
const at = (value, pointer) => namesOf(pointer).reduce((part, name) => part?.[name], value);

/**
 * Puts a value at a JSON pointer, and gives the whole.
 *
 * @param {any} whole
 * @param {string} pointer
 * @param {unknown} value
 */
function place(whole, pointer, value) {
  const names = namesOf(pointer);
  const last = names.pop();
  if (last === undefined) return value;
  const holder = names.reduce((part, name) => (typeof part[name] === "object" && part[name] ? part[name] : (part[name] = {})), whole);
  holder[last] = value;
  return whole;
}

/** @param {string} pointer */
const namesOf = (pointer) => pointer.split("/").slice(1).map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
