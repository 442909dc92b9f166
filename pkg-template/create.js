// @ts-check
/** What every entry gives: the calls of a client that is made at the first use. */
/** @import * as Api from "./index.d.ts" */
/** @import { Client } from "./client.js" */
/** @import { Settings } from "./options.js" */
import { closedError, HoldfastError, isHoldfastError } from "./error.js";
import { checkServiceName, currentAccount, seal, sealInquiry } from "./submission.js";

/**
 * What an entry brings along: in a page, scripts that are loaded when they are needed.
 *
 * @typedef {{
 *   open: (settings: Settings, listeners: ReadonlySet<() => void>) => Promise<Client>,
 *   reset?: () => Promise<typeof import("./reset.js")>,
 * }} Parts
 */

/** @type {typeof Api.defineService} */
export const defineService = (service) => service;

/** @type {readonly Api.OperationState[]} */
const NOTHING = Object.freeze([]);

/**
 * A script that an entry brings along, once it has come.
 *
 * @template T
 * @param {Promise<T>} script
 */
export const arrived = (script) =>
  script.catch((cause) => {
    throw new HoldfastError("Holdfast's scripts could not be loaded.", {
      code: "WASM_BLOCKED",
      nextStep: "Serve the package's files side by side, and call again.",
      cause,
    });
  });

/** @param {unknown} cause */
const told = (cause) =>
  isHoldfastError(cause)
    ? cause
    : new HoldfastError(`Holdfast could not begin: ${String(cause)}. Nothing was sent.`, {
        code: "ABORTED",
        nextStep: "Look at the error's cause, and call again.",
        cause,
      });

/**
 * @param {Settings} settings
 * @param {Parts} parts
 */
export const makeHoldfast = (settings, parts) => {
  const { options } = settings;
  /** @type {Set<() => void>} */
  const listeners = new Set();
  /** @type {Client | undefined} */
  let client;
  /** @type {Promise<Client> | undefined} */
  let opening;
  let closed = false;

  const open = () => {
    if (closed) throw closedError();
    return (opening ??= parts.open(settings, listeners).then(
      (made) => (client = made),
      (error) => {
        opening = undefined;
        throw told(error);
      },
    ));
  };

  const close = async () => {
    closed = true;
    listeners.clear();
    await (await opening?.catch(() => undefined))?.close();
  };

  const database = options.database ?? "holdfast";
  /** @param {{ acceptRisk: "duplicate" }} accepted */
  const resetStorage = async (accepted) => {
    if (closed) throw closedError();
    return (await parts.reset?.())?.resetStorage(database, accepted);
  };
  const whyClosed = async () => (await parts.reset?.())?.whyClosed(database);

  return /** @type {Api.Holdfast<any>} */ ({
    async submit(service, submission) {
      const sealed = seal(options, service, submission);
      return (await open()).submit(sealed);
    },
    async adopt(service, adoption) {
      checkServiceName(options, service);
      const account = currentAccount(options);
      return (await open()).adopt(service, adoption, account);
    },
    async quote(service, inquiry) {
      const asked = sealInquiry(options, service, inquiry);
      return (await open()).quote(asked);
    },
    async find(service, intent) {
      checkServiceName(options, service);
      return (await open()).find(service, intent);
    },
    async forget(service, intent) {
      checkServiceName(options, service);
      const account = currentAccount(options);
      await (await open()).forget(service, intent, account);
    },
    list: async (filter) => (await open()).list(filter),
    async signOut(leave) {
      const account = currentAccount(options);
      return (await open()).signOut(leave, account);
    },
    start: async () => (await open()).start(),
    ...(parts.reset && { resetStorage, storageHealth: async () => (await open()).storageHealth(whyClosed) }),
    subscribe(listener) {
      // A listener of one's own, so that the same function may be given twice.
      const own = () => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    getSnapshot: () => client?.snapshot() ?? NOTHING,
    close,
    ...(Symbol.asyncDispose && { [Symbol.asyncDispose]: close }),
  });
};
