// @ts-check
/** Leaving an account: what is not over is kept, or cancelled while its credential is still there. */
/** @import * as Api from "./index.d.ts" */
/** @import { Client } from "./client.js" */
import { checkNames } from "./check.js";
import { invalid, isHoldfastError } from "./error.js";
import { isEnded, isSettled, UNSETTLED } from "./status.js";

/** What gives a client something to do: whoever asks for it has signed in again. */
export const GIVES_WORK = ["submit", "adopt", "revise", "command"];

/** How long cancellations are waited for, in milliseconds. */
const CANCEL_MS = 10_000;

/** @param {{ unsettled: "keep" | "cancel" }} options */
export function checkSignOut(options) {
  checkNames(options ?? {}, "signOut", "unsettled");
  const unsettled = options?.unsettled;
  if (unsettled !== "keep" && unsettled !== "cancel") {
    throw invalid("unsettled", 'unsettled must be "keep" or "cancel".');
  }
  return { unsettled };
}

/**
 * The current account's operations that are not over, page by page. Of another, who came meanwhile, there is none.
 *
 * @param {Client} client
 * @param {string} account
 * @param {readonly Api.Status[]} [status] Some of these only.
 */
export async function unsettledOf(client, account, status = UNSETTLED) {
  /** @type {Api.Operation<any>[]} */
  const all = [];
  /** @type {string | undefined} */
  let cursor;
  do {
    const page = await client.list({ status, limit: 200, ...(cursor && { cursor }) }, account);
    all.push(...page.operations);
    cursor = page.cursor;
  } while (cursor);
  return all;
}

/**
 * Cancels operations, and waits a while for that to be confirmed.
 *
 * @param {readonly Api.Operation<any>[]} operations
 */
export async function cancelAll(operations) {
  const signal = AbortSignal.timeout(CANCEL_MS);
  await Promise.all(
    operations.map(async (operation) => {
      try {
        await operation.cancel();
      } catch (error) {
        // It cannot be stopped, or has moved on meanwhile: the state tells.
        if (isHoldfastError(error) && error.code === "NOT_ALLOWED") return;
        throw error;
      }
      try {
        for await (const state of operation.updates({ signal })) if (isSettled(state)) return;
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }),
  );
}

/** @param {readonly Api.Operation<any>[]} operations */
export const notOver = (operations) =>
  operations.map(({ state }) => state).filter((state) => !isEnded(state));
