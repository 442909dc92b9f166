// @ts-check
/** Waiting for a state of an operation. */
/** @import * as Api from "./index.d.ts" */
/** @import { Entry } from "./states.js" */
import { notOfAccount } from "./outcome.js";
import { isEnded } from "./status.js";

/** What was told of an operation so long ago counts as read just now, in milliseconds: changes in other tabs are heard. */
const FRESH_MS = 1000;

/** @param {Entry} entry */
export const toldJustNow = ({ toldAt }) => performance.now() < toldAt + FRESH_MS;

/**
 * Waits for a state. Every way out takes its listeners with it.
 *
 * @param {Entry} entry
 * @param {(state: Api.OperationState) => boolean} holds
 * @param {readonly (AbortSignal | undefined)[]} signals Each rejects the wait with its reason.
 * @param {boolean} fresh What is known is read again first, unless it is an ending.
 * @param {() => Promise<void>} load Has it read, now and from then on.
 * @returns {Promise<Api.OperationState>}
 */
export function whenHolds(entry, holds, signals, fresh, load) {
  return new Promise((resolve, reject) => {
    const check = () => {
      if (entry.gone) leave(() => reject(notOfAccount(entry.state)));
      else if (holds(entry.state)) leave(() => resolve(entry.state));
    };
    const abort = () => leave(() => reject(signals.find((signal) => signal?.aborted)?.reason));
    const leave = (/** @type {() => void} */ settle) => {
      entry.waiting.delete(check);
      for (const signal of signals) signal?.removeEventListener("abort", abort);
      settle();
    };
    if (signals.some((signal) => signal?.aborted)) return abort();
    if ((!fresh || isEnded(entry.state)) && holds(entry.state)) return resolve(entry.state);
    entry.waiting.add(check);
    for (const signal of signals) signal?.addEventListener("abort", abort);
    load().then(check, (error) => leave(() => reject(error)));
  });
}
