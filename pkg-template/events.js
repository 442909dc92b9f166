// @ts-check
/** Journal entries, as the events that `observe` is told. */
/** @import * as Api from "./index.d.ts" */

/**
 * @param {Api.OperationState} state
 * @param {Api.JournalEntry} entry
 * @returns {Api.HoldfastEvent}
 */
export function toEvent(state, entry) {
  /** @type {Record<string, string | number | boolean | undefined>} */
  const all = {
    "holdfast.operation.id": state.id,
    "holdfast.operation.ordinal": state.ordinal,
    "holdfast.operation.status": state.status,
    "holdfast.operation.attempts": state.attempts,
    "holdfast.service": state.service,
    "holdfast.job.id": state.jobId,
    "holdfast.purpose": entry.purpose,
    "holdfast.job.state": entry.state,
    "holdfast.operation.cost": entry.cost,
    "holdfast.wait.ms": entry.waitMs,
    "holdfast.wait.reason": entry.reason,
    "http.response.status_code": entry.httpStatus,
    "error.type": entry.code,
  };
  const told = Object.entries(all).filter(([, value]) => value !== undefined && value !== null);
  return Object.freeze({
    name: entry.event,
    at: entry.at,
    attributes: Object.freeze(/** @type {any} */ (Object.fromEntries(told))),
  });
}
