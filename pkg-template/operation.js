// @ts-check
/** The object that stands for one operation. */
/** @import * as Api from "./index.d.ts" */
/** @import { Client } from "./client.js" */
/** @import { Entry } from "./states.js" */
import { checkLimits, checkNames, checkText } from "./check.js";
import { invalid } from "./error.js";
import { dataOf, piecesOf, errorOf } from "./outcome.js";
import { isEnded, isSettled } from "./status.js";
import { checkRequest } from "./submission.js";
import { Updates } from "./updates.js";

/**
 * What an operation asks: a client, or what stands for one.
 *
 * @typedef {Pick<Client, "call" | "until" | "operationOf" | "schemaOf" | "reach">} Caller
 */

export class Operation {
  #client;
  #entry;

  /**
   * @param {Caller} client
   * @param {Entry} entry
   */
  constructor(client, entry) {
    this.#client = client;
    this.#entry = entry;
  }

  get state() {
    return this.#entry.state;
  }

  /** What `JSON.stringify` writes of it. */
  toJSON() {
    return this.state;
  }

  /** @param {Api.WaitOptions} [options] */
  async outcome(options) {
    const state = await this.#client.until(this.#entry, isSettled, [signalOf(options)], true);
    const { receipt, ledger, parked, result } = state;
    if (state.status === "succeeded" && !state.deletedAt) {
      const { replayed = false, capturedAt } = result ?? {};
      try {
        const data = await dataOf(this.#client, state);
        return { status: state.status, data, receipt, ledger, replayed, capturedAt };
      } catch (/** @type {any} */ error) {
        // Deleted meanwhile.
        if (error.code !== "RESULT_EXPIRED") throw error;
        return { status: "expired", error, receipt, ledger };
      }
    }
    const error = await this.#error(state);
    return parked
      ? { status: "parked", reason: parked.reason, exits: parked.exits, error }
      : { status: state.status === "succeeded" ? "expired" : state.status, error, receipt, ledger };
  }

  /** @param {Api.WaitOptions} [options] */
  async result(options) {
    return dataOf(this.#client, await this.#succeeded(options));
  }

  /** @param {Api.WaitOptions} [options] */
  async blob(options) {
    const state = await this.#succeeded(options);
    const pieces = [];
    for await (const piece of piecesOf(this.#client, state)) pieces.push(piece);
    return new Blob(pieces, { type: state.result?.mediaType ?? "" });
  }

  /**
   * @param {Api.WaitOptions} [options]
   * @returns {Promise<ReadableStream<Uint8Array<ArrayBuffer>>>}
   */
  async stream(options) {
    const pieces = piecesOf(this.#client, await this.#succeeded(options));
    return new ReadableStream({
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await pieces.return()),
    });
  }

  /** @param {Api.WaitOptions} [options] */
  updates(options) {
    const signal = signalOf(options);
    return new Updates(
      (last, left) => this.#client.until(this.#entry, (state) => state !== last, [signal, left]),
      isEnded,
    );
  }

  async cancel() {
    return this.#command({ cancel: {} });
  }

  /** @param {{ limits?: Api.Limits, acceptRisk?: "duplicate" }} [options] */
  async resume(options = {}) {
    checkNames(options, "resume", "limits acceptRisk");
    const { limits, acceptRisk } = options;
    checkLimits(limits, "limits");
    if (acceptRisk !== undefined && acceptRisk !== "duplicate") {
      throw invalid("acceptRisk", 'acceptRisk must be "duplicate".');
    }
    return this.#command({ resume: { limits, acceptRisk } });
  }

  /** @param {{ found: string } | "not-executed" | "abandon"} how */
  async resolve(how) {
    if (how !== "not-executed" && how !== "abandon") {
      if (typeof how === "string") throw invalid("resolve", 'resolve takes "not-executed", "abandon" or {found}.');
      checkNames(how, "resolve", "found");
      checkText(how.found, "found");
    }
    return this.#command({ resolve: how });
  }

  /** @param {{ reviewed: string, anyway?: boolean, limits?: Api.Limits }} options */
  async retry(options) {
    checkNames(options, "retry", "reviewed anyway limits");
    const { reviewed, anyway = false, limits } = options;
    checkText(reviewed, "reviewed");
    if (typeof anyway !== "boolean") throw invalid("anyway", "anyway must be true or false.");
    checkLimits(limits, "limits");
    return this.#command({ retry: { reviewed, anyway, limits } });
  }

  /** @param {{ body: object | string | Uint8Array, contentType?: string, limits?: Api.Limits }} revision */
  async revise(revision) {
    checkNames(revision, "revise", "body contentType limits");
    const { body, contentType, limits } = revision;
    const bytes = checkRequest(contentType ?? "application/json", limits, body);
    const json = JSON.stringify({ contentType, limits });
    const { id } = this.state;
    return this.#client.operationOf(await this.#client.call("revise", [id, json, bytes]), this.#entry.account);
  }

  async acknowledge() {
    return this.#command({ acknowledge: {} });
  }

  async delete() {
    return this.#command({ delete: {} });
  }

  /** @returns {Promise<readonly Api.JournalEntry[]>} */
  async journal() {
    return JSON.parse(await this.#client.call("journal", [this.state.id]));
  }

  /** @returns {Promise<Api.SupportReport>} */
  async supportReport() {
    return JSON.parse(await this.#client.call("supportReport", [this.state.id]));
  }

  /** @param {object} command */
  async #command(command) {
    const json = JSON.stringify(command);
    return this.#client.operationOf(await this.#client.call("command", [this.state.id, json]), this.#entry.account);
  }

  /** @param {Api.WaitOptions} [options] */
  async #succeeded(options) {
    const state = await this.#client.until(this.#entry, isSettled, [signalOf(options)], true);
    if (state.status !== "succeeded" || state.deletedAt) throw await this.#error(state);
    return state;
  }

  /** @param {Api.OperationState} state */
  async #error(state) {
    // What was refused is told with what was asked for; an ending without that is an ending all the same.
    const sent = state.status === "rejected" && (await this.supportReport().catch(() => undefined));
    return errorOf(state, {
      request: sent ? `${sent.method} ${sent.path}` : "the request",
      credential: this.#client.reach.credentialOf(state.service),
    });
  }
}

/** The members of a state, which an operation shows as its own. */
const MEMBERS =
  "id service intent origin ordinal parentId status serviceStatus progress waiting parked offline " +
  "hint cancelling createdAt endedAt key jobId attempts polls fault failure ledger receipt delivered " +
  "acknowledged deletion deletedAt revision";

for (const name of MEMBERS.split(" ")) {
  Object.defineProperty(Operation.prototype, name, {
    /** @this {Operation} */
    get() {
      return /** @type {any} */ (this.state)[name];
    },
  });
}

/** @param {Api.WaitOptions} [options] */
function signalOf(options) {
  if (options === undefined) return undefined;
  checkNames(options, "wait", "signal");
  return options.signal;
}
