// @ts-check
/** Tries a profile on a service: one real piece of work, and the same once more under the same key. */
/** @import * as Api from "./index.d.ts" */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Client } from "./client.js";
import { Connection } from "./connection.js";
import { makeHoldfast } from "./create.js";
import { makeGlue } from "./glue-maker.js";
import { ownInstance } from "./module.js";
import { checkOptions } from "./options.js";
import { builtIn } from "./profiles/built-in.js";
import { Disk, storeOn } from "./testing-disk.js";

/**
 * What is tried.
 *
 * @typedef {{ profile: any, baseUrl: string, body: string, headers: Record<string, string>, params: Record<string, string>, twice: boolean, withinMs: number }} Trial `withinMs`: how long each piece of work may take.
 */

/** How often work is handed over at most, where answers are lost. */
const ATTEMPTS_MAX = 4;
/** How much longer is waited for the client itself to say that the time is over, in milliseconds. */
const GRACE_MS = 2000;

/**
 * Tells of each step as it goes; gives whether all came out as the profile promises.
 *
 * @param {Trial} trial
 * @param {(line: string) => void} tell
 */
export async function tried(trial, tell) {
  const key = trial.profile.key ? randomUUID() : undefined;
  const first = await carried(trial, key, tell);
  if (first.status !== "succeeded" || !trial.twice) return first.status === "succeeded";
  if (!key) {
    tell("Without idempotency keys there is nothing to send twice.");
    return true;
  }
  tell("");
  tell("The same bytes under the same key, as after a lost answer:");
  const again = await carried(trial, key, tell);
  const same = again.status === "succeeded" && again.jobId === first.jobId;
  tell(same ? "The service knows the key: it is the same job." : "This is not the same job: the key did not do what the profile says.");
  return same;
}

/**
 * Carries one piece of work to its end, from a storage in which nothing is.
 *
 * @param {Trial} trial
 * @param {string | undefined} key
 * @param {(line: string) => void} tell
 */
async function carried({ profile, baseUrl, body, headers, params, withinMs }, key, tell) {
  const instance = ownInstance(makeGlue);
  const module = await readFile(new URL("./holdfast.wasm", import.meta.url));
  const database = storeOn(new Disk(), () => true, (error) => instance.replace(instance.generation, error));
  const stopped = new AbortController();
  const stop = (/** @type {string} */ why) => stopped.abort(new Error(why));
  const watch = new Watch(profile, tell, stop);
  const services = { service: { profile, baseUrl, params, authorize: () => ({ headers }) } };
  const observe = (/** @type {Api.HoldfastEvent} */ event) => watch.hear(event);
  const holdfast = makeHoldfast(checkOptions(/** @type {any} */ ({ account: () => "check", observe, services })), {
    open: async (settings, listeners) =>
      new Client(settings, listeners, {
        channel: null,
        isServer: true,
        connect: (own, host) =>
          new Connection({ ...own, options: { ...own.options, module } }, host, builtIn, { instance, database }),
      }),
  });
  const late = setTimeout(() => stop(`It is not over after ${withinMs / 1000} s: ${watch.doubt()}give it more by --within.`), withinMs + GRACE_MS);
  try {
    const limits = { attempts: ATTEMPTS_MAX, sendWithinMs: withinMs, totalMs: withinMs };
    const operation = await holdfast.submit("service", { intent: "check", body, limits, ...(key && { key }) });
    const outcome = await operation.outcome({ signal: stopped.signal });
    tell(outcome.status === "parked" ? parked(outcome, operation.state, watch.doubt()) : ended(outcome, operation));
    return { status: outcome.status, jobId: operation.jobId };
  } finally {
    clearTimeout(late);
    await holdfast.close();
  }
}

/**
 * @param {Exclude<Api.Outcome<unknown>, { status: "parked" }>} outcome
 * @param {Api.Operation<unknown>} operation
 */
function ended(outcome, { state, ledger }) {
  return "error" in outcome ? outcome.error.message : `It succeeded: ${state.result?.bytes} bytes are the result; it cost ${ledger.cost}.`;
}

/**
 * A park, without the calls that would let an app go on: here nobody makes them.
 *
 * @param {Extract<Api.Outcome<unknown>, { status: "parked" }>} outcome
 * @param {Api.OperationState} state
 * @param {string} doubt
 */
function parked({ reason, error }, { hint, attempts, polls }, doubt) {
  const counted = `after ${attempts} submissions and ${polls} polls`;
  switch (reason) {
    case "BudgetExhausted":
      return `It was stopped ${counted}: a trial submits ${ATTEMPTS_MAX} times at most. ${hint ?? doubt}`.trim();
    case "DeadlineExceeded":
      return `It is not over in the time that it was given, ${counted}: ${hint ?? `${doubt}give it more by --within.`}`;
    default:
      return error.message;
  }
}

/** Tells what happens, and what in it looks as if the profile were wrong. */
class Watch {
  #profile;
  #tell;
  #stop;
  #words;
  /** Words that were told to be in no list. @type {Set<string>} */
  #told = new Set();
  #wordless = false;

  /**
   * @param {any} profile
   * @param {(line: string) => void} tell
   * @param {(why: string) => void} stop Ends the trial.
   */
  constructor(profile, tell, stop) {
    this.#profile = profile;
    this.#tell = tell;
    this.#stop = stop;
    this.#words = new Set(Object.keys(profile.states ?? {}).map((word) => word.toLowerCase()));
  }

  /** What may be wrong, as the beginning of a sentence. */
  doubt() {
    if (this.#told.size) return `the state ${[...this.#told].join(", ")} is in no list of the profile; `;
    return this.#wordless ? `no state was found at ${placesOf(this.#profile, "status")}; ` : "";
  }

  /** @param {Api.HoldfastEvent} event */
  hear({ name, attributes }) {
    const facts = ["http.response.status_code", "holdfast.job.state", "error.type", "holdfast.wait.reason"];
    this.#tell(`  ${[name, ...facts.map((fact) => attributes[fact]).filter((own) => own !== undefined)].join(" · ")}`);
    const status = Number(attributes["http.response.status_code"]);
    if (!(status >= 200 && status < 300)) return;
    const { calls } = this.#profile;
    const isNameless = attributes["holdfast.job.id"] === undefined && attributes["error.type"] === undefined;
    const isAgain = attributes["holdfast.wait.reason"] === "backoff";
    // Nothing would ever be heard of such a job, and each further request may be another one.
    if (name === "submit.answered" && calls.poll && isNameless && (isAgain || !calls.poll.link)) {
      return this.#stop(`The service answered ${status}, and no id was found at ${placesOf(this.#profile, "id")}. Nothing more was sent; the job may be running at the service.`);
    }
    if (name === "poll.answered") this.#hearState(attributes["holdfast.job.state"]);
  }

  /** @param {unknown} word */
  #hearState(word) {
    if (word === undefined) {
      const isTold = this.#wordless || !this.#profile.facts?.status || this.#words.has("absent");
      if (!isTold) this.#tell(`  ! No state was found at ${placesOf(this.#profile, "status")}: the answer tells nothing of the job.`);
      this.#wordless ||= !isTold;
    } else if (this.#words.size && !this.#words.has(String(word).toLowerCase()) && !this.#told.has(String(word))) {
      this.#told.add(String(word));
      this.#tell(`  ! The state ${word} is in no list of the profile: it is read as still running.`);
    }
  }
}

/**
 * @param {any} profile
 * @param {string} fact
 */
const placesOf = ({ facts }, fact) => [facts?.[fact] ?? []].flat().join(" or ") || `any place (facts.${fact} is missing)`;
