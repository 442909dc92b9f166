// @ts-check
/** What the inspector says of an operation, and what it offers. */
/** @import * as Api from "./index.d.ts" */
import { isEnded } from "./status.js";

const DAY_MS = 86_400_000;

/** Why something waits, in words. @type {Record<Api.WaitReason, string>} */
const WAITS = {
  backoff: "the last exchange failed: tried again",
  poll: "the next look at the job",
  serverGuidance: "the service asked to wait",
  rateLimit: "the service takes only so many requests",
  notFoundGrace: "the service does not show the job yet",
  resultNotReady: "the result is not ready",
  authorization: "a credential is asked for",
  inProgress: "the same key is at work",
  listingLag: "the job need not be in the service's listing yet",
  settlement: "billing is not final",
  delivery: "onSettled is called again",
  diagnosis: "whether the service is there is asked next",
};

/** @param {string} reason */
const waitWords = (reason) => WAITS[/** @type {Api.WaitReason} */ (reason)] ?? reason;

/** @param {Api.OperationState} state */
export const kindOf = (state) =>
  state.status === "succeeded" ? "good" : state.parked ? "wait" : isEnded(state) ? "bad" : "busy";

/** @param {number} ms */
const clock = (ms) => new Date(ms).toLocaleTimeString();

/**
 * How long until a point in time.
 *
 * @param {number} until
 */
export function left(until) {
  const seconds = Math.max(0, Math.ceil((until - Date.now()) / 1000));
  return seconds < 90 ? `in ${seconds} s` : `at ${clock(until)}`;
}

/**
 * Why it is as it is, in a line.
 *
 * @param {Api.OperationState} state
 */
export function whyOf(state) {
  const { parked, waiting, offline, hint } = state;
  if (parked) return `needs you: ${parked.reason}`;
  if (offline) return "the browser has no network";
  if (hint) return hint;
  if (waiting) return `${waitWords(waiting.reason)}, ${left(waiting.until)}`;
  return isEnded(state) ? `ended ${clock(state.endedAt ?? 0)}` : "at work";
}

/**
 * Names and values of a state; what is absent is left out.
 *
 * @param {Api.OperationState} state
 * @returns {[string, string][]}
 */
export function factsOf(state) {
  const { ledger, parked, receipt, result } = state;
  const fault = state.failure ?? state.fault;
  const said = fault && [fault.message, fault.code, fault.httpStatus && `HTTP ${fault.httpStatus}`].filter(Boolean).join(" · ");
  /** @type {[string, unknown][]} */
  const all = [
    ["now", whyOf(state)],
    ["parked since", parked && clock(parked.since)],
    ["candidates", parked?.candidates?.join(", ")],
    ["it said", said],
    ["progress", state.progress],
    ["sent", `${counted(state.attempts, "submission")}, ${counted(state.polls, "poll")}`],
    ["service", state.service],
    ["key", state.key],
    ["job", state.jobId],
    ["request", receipt.requestId],
    ["trace", receipt.traceId],
    ["cost", `${ledger.cost}${ledger.open ? ", may still change" : ""}${ledger.lineageCost === ledger.cost ? "" : `; ${ledger.lineageCost} with its reruns`}`],
    ["duplicate", ledger.possiblyDuplicated ? "there may be a second charge" : undefined],
    ["kept", result && `${result.bytes} bytes${result.mediaType ? ` of ${result.mediaType}` : ""}`],
    ["submitted", new Date(state.createdAt).toLocaleString()],
    ["handed on", state.acknowledged ? "acknowledged" : state.delivered ? "delivered" : undefined],
    ["deleted", state.deletedAt && clock(state.deletedAt)],
    ["operation", state.id],
  ];
  return all.filter(([, value]) => value !== undefined && value !== "").map(([name, value]) => [name, String(value)]);
}

/**
 * @param {number} count
 * @param {string} what
 */
const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

/**
 * What can be done: a name, the call, what it asks for, and whether it is to be confirmed.
 *
 * @typedef {{ name: string, act: (given: string) => Promise<unknown>, asks?: string, long?: boolean, risky?: boolean }} Choice
 */

/**
 * @param {Api.Operation<any>} operation
 * @param {Api.OperationState} state
 * @returns {Choice[]}
 */
export function choicesOf(operation, state) {
  /** @type {Record<Api.Exit, Choice>} */
  const exits = {
    "resume()": { name: "Resume", act: () => operation.resume() },
    "resume({limits})": { name: "Resume, with a day and 16 attempts more", act: () => operation.resume({ limits: wider(state) }) },
    'resume({acceptRisk: "duplicate"})': { name: "Send again, risking a second charge", risky: true, act: () => operation.resume({ acceptRisk: "duplicate" }) },
    "resolve({found})": { name: "It exists as", asks: "job id", act: (found) => operation.resolve({ found }) },
    'resolve("not-executed")': { name: "It never ran", risky: true, act: () => operation.resolve("not-executed") },
    'resolve("abandon")': { name: "Give it up", risky: true, act: () => operation.resolve("abandon") },
    "revise({body})": { name: "Correct it", asks: "corrected body", long: true, act: (body) => operation.revise({ body }) },
  };
  const choices = (state.parked?.exits ?? []).map((exit) => exits[exit]).filter(Boolean);
  if (!isEnded(state)) {
    return state.cancelling ? choices : [...choices, { name: "Cancel", risky: true, act: () => operation.cancel() }];
  }
  const { failure } = state;
  if (failure) {
    const anyway = failure.class === "input" || failure.class === "target";
    choices.push({
      name: anyway ? "Run again unchanged, failure read" : "Run again, failure read",
      risky: true,
      act: () => operation.retry({ reviewed: failure.id, anyway }),
    });
  }
  if (!state.acknowledged) choices.push({ name: "Acknowledge", act: () => operation.acknowledge() });
  if (!state.deletedAt && !state.deletion) choices.push({ name: "Delete", risky: true, act: () => operation.delete() });
  return choices;
}

/** @param {Api.OperationState} state */
const wider = (state) => ({
  attempts: state.attempts + 16,
  sendWithinMs: Date.now() - state.createdAt + DAY_MS,
  totalMs: Date.now() - state.createdAt + DAY_MS,
});

/** @param {Api.JournalEntry} entry */
export const lineOf = ({ at, event, count, purpose, httpStatus, code, state, waitMs, reason, cost }) => ({
  at: clock(at),
  what: count > 1 ? `${event} ×${count}` : event,
  call: purpose,
  HTTP: httpStatus,
  "service says": [state, code].filter(Boolean).join(" "),
  waits: waitMs === undefined ? undefined : `${(waitMs / 1000).toFixed(1)} s${reason ? `: ${reason}` : ""}`,
  cost,
});
