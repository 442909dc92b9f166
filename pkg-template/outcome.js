// @ts-check
/** How an operation came out: its data, or the error that says what to do next. */
/** @import * as Api from "./index.d.ts" */
/** @import { Client } from "./client.js" */
import { HoldfastError } from "./error.js";
import { valueOf } from "./result.js";

/**
 * The kept result's bytes, piece by piece.
 *
 * @param {Pick<Client, "call" | "schemaOf">} client
 * @param {Api.OperationState} state
 */
export async function* piecesOf(client, state) {
  const { id, status, result } = state;
  const bytes = result?.bytes ?? 0;
  let length = 0;
  for (let index = 0; length < bytes; index++) {
    /** @type {Uint8Array<ArrayBuffer> | undefined} */
    const chunk = await client.call("chunk", [id, index]);
    if (!chunk || length + chunk.length > bytes) break;
    length += chunk.length;
    yield chunk;
  }
  if (length === bytes) return;
  // It may have been deleted since it was said to be there.
  const json = await client.call("load", [id]);
  if (json === undefined) throw notOfAccount(state);
  const newest = JSON.parse(json);
  if (newest.deletedAt) throw errorOf(newest, { request: "" });
  throw new HoldfastError(`The kept result is ${bytes} bytes long and reads back otherwise.`, {
    code: "STORAGE_UNAVAILABLE",
    operationId: id,
    stage: status,
    nextStep: "Read it again; if it stays so, this browser's storage is damaged.",
  });
}

/**
 * The error where nothing is stored of an operation, as far as the current account may see.
 *
 * @param {Api.OperationState} state
 */
export const notOfAccount = ({ id, status }) =>
  new HoldfastError("Nothing is stored of the operation for the current account.", {
    code: "NOT_ALLOWED",
    operationId: id,
    stage: status,
    nextStep:
      "Sign in as the account that submitted it. If the site's storage was cleared, look at the service first: submitted again, it may be charged again.",
  });

/**
 * The kept result's bytes.
 *
 * @param {Pick<Client, "call" | "schemaOf">} client
 * @param {Api.OperationState} state
 */
async function bytesOf(client, state) {
  const bytes = new Uint8Array(state.result?.bytes ?? 0);
  let length = 0;
  for await (const piece of piecesOf(client, state)) {
    bytes.set(piece, length);
    length += piece.length;
  }
  return bytes;
}

/**
 * The kept result's value.
 *
 * @param {Pick<Client, "call" | "schemaOf">} client
 * @param {Api.OperationState} state
 */
export async function dataOf(client, state) {
  const bytes = await bytesOf(client, state);
  try {
    return await valueOf(client.schemaOf(state.service), bytes, state.result ?? {});
  } catch (cause) {
    throw new HoldfastError(`The kept result does not fit the schema: ${text(cause)}.`, {
      code: "RESULT_INCOMPLETE",
      operationId: state.id,
      stage: state.status,
      nextStep: "It fitted when it was kept: has the schema changed? blob() gives the bytes.",
      cause,
    });
  }
}

/** @type {Record<Api.ParkReason, string>} */
const PARKED = {
  NeedsCredential: "The credential was refused, or could not be had. Get a valid one, then",
  NeedsAccess: "The service or the source does not give access. Get access, then",
  NeedsCredit: "There is no credit left at the service. Add credit, then",
  DeadlineExceeded: "A point in time that the limits set has passed. Give it more time, or",
  BudgetExhausted: "The attempts or the credits that the limits set are used up, or would be. Widen them, or",
  OutcomeUnknown:
    "Whether the service took the work on cannot be learned by asking. Look at the service, then",
  Ambiguous:
    "Several jobs at the service may be this operation's. Look at the candidates, then",
  ScopeChanged:
    "The credential speaks for somebody else while the outcome is unknown. Go back to the old one, or",
  CancelUnconfirmed: "Whether the cancellation took effect cannot be learned. Look at the service, then",
  KeyConflict: "The service says that the key belongs to another request. Look at the service, then",
  VersionMoved: "What the request was made against has changed at the service. Look at it, then",
  JobNotFound: "The service no longer knows the job. Look at the service, then",
};

/**
 * The error for a park, and for every ending but success.
 *
 * @param {Api.OperationState} state
 * @param {{ request: string, credential?: string }} known What was sent, and why it had no credential.
 */
export function errorOf(state, { request, credential }) {
  const { status, parked, failure, fault, attempts, receipt, ledger } = state;
  /** @type {(code: Api.ErrorCode, message: string, nextStep: string, more?: object) => Api.HoldfastError} */
  const error = (code, message, nextStep, more) =>
    new HoldfastError(message, {
      code, nextStep, operationId: state.id, stage: status, fault, attempts, receipt, ledger, ...more,
    });
  if (parked) {
    const why = (parked.reason === "NeedsCredential" && credential) || PARKED[parked.reason];
    const [what, todo] = why?.split(/(?<=\.) (?=[A-Z])/) ?? [parked.reason, "Then"];
    const code =
      parked.reason === "JobNotFound"
        ? "JOB_NOT_FOUND"
        : parked.reason === "KeyConflict"
          ? "KEY_CONFLICT"
          : "PARKED";
    const { reason, exits } = parked;
    const told = fault ? `${what.replace(/\.$/, "")}${said(fault)}.` : what;
    return error(code, state.hint ? `${told} ${state.hint}` : told, `${todo} call ${exits.join(" or ")}.`, { reason, exits });
  }
  switch (status) {
    case "rejected":
      return error("REJECTED", `The service refused ${request}${said(fault)}.`,
        "Correct it with revise({body}), or submit it under a new intent.");
    case "failed":
      return error("JOB_FAILED", `The job ran and failed${said(failure)}.`, retryStep(failure), {
        failure,
        fault: fault ?? failure,
      });
    case "cancelled":
      return error("CANCELLED", "The job was cancelled.", "To run it, submit it under a new intent.");
    case "succeeded":
      return error("RESULT_EXPIRED", "The result was deleted here.",
        "To run it again, at its price, submit it under a new intent.");
    case "expired":
      return error("RESULT_EXPIRED", `The service no longer has the job's result${said(fault)}.`,
        "To run it again, at its price, submit it under a new intent.");
    case "incomplete":
      return error("RESULT_INCOMPLETE", `The result is not what it should be${said(fault)}.`,
        "What came is kept. Send the receipt to the service, or get what is missing with revise({body}), at its price.");
    default:
      return error("ABANDONED", "The operation was given up.",
        "To run it, submit it under a new intent.");
  }
}

/** @param {Api.Failure | undefined} failure */
const retryStep = (failure) =>
  failure?.class === "input" || failure?.class === "target"
    ? "The same request would fail again: correct it under a new intent, or say anyway to retry()."
    : "Read failure, then call retry({reviewed: failure.id}).";

/** @param {Api.Fault | undefined} fault */
function said(fault) {
  if (!fault) return "";
  const facts = [fault.code, fault.httpStatus && `HTTP ${fault.httpStatus}`].filter(Boolean).join(", ");
  const message = fault.message?.replace(/\.$/, "") ?? "";
  return `${message && `: ${message}`}${facts && ` (${facts})`}`;
}

/** @param {unknown} cause */
const text = (cause) => (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, "");
