// @ts-check
/** Which statuses are endings. */
/** @import * as Api from "./index.d.ts" */

/**
 * Every status, and whether it is an ending.
 *
 * @type {Readonly<Record<Api.Status, boolean>>}
 */
const IS_ENDING = {
  queued: false,
  submitting: false,
  reconciling: false,
  active: false,
  retrieving: false,
  parked: false,
  succeeded: true,
  rejected: true,
  failed: true,
  cancelled: true,
  expired: true,
  incomplete: true,
  abandoned: true,
};

/** What is not over. */
export const UNSETTLED = /** @type {Api.Status[]} */ (Object.keys(IS_ENDING)).filter(
  (status) => !IS_ENDING[status],
);

/** @param {Api.OperationState} state */
export const isEnded = (state) => IS_ENDING[state.status];

/** @param {Api.OperationState} state */
export const isSettled = (state) => isEnded(state) || state.parked !== undefined;
