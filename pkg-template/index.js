// @ts-check
/** @import * as Api from "./index.d.ts" */
/** @import { Client } from "./client.js" */
import { closedError, HoldfastError, isHoldfastError } from "./error.js";
import { checkOptions } from "./options.js";
import { checkServiceName, seal, sealInquiry } from "./submission.js";

export { HoldfastError, isHoldfastError };

/** @type {readonly Api.OperationState[]} */
const NOTHING = Object.freeze([]);

/** @type {typeof Api.createHoldfast} */
export const createHoldfast = (given) => {
  const settings = checkOptions(given);
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
    return (opening ??= import("./client.js").then(
      (module) => (client = new module.Client(settings, listeners)),
      (cause) => {
        opening = undefined;
        throw new HoldfastError("Holdfast's client.js could not be loaded.", {
          code: "WASM_BLOCKED",
          nextStep: "Serve the package's files side by side, and call again.",
          cause,
        });
      },
    ));
  };

  const close = async () => {
    closed = true;
    listeners.clear();
    await (await opening?.catch(() => undefined))?.close();
  };

  return /** @type {Api.Holdfast<any>} */ ({
    async submit(service, submission) {
      const sealed = seal(options, service, submission);
      return (await open()).submit(sealed);
    },
    async adopt(service, adoption) {
      checkServiceName(options, service);
      return (await open()).adopt(service, adoption);
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
      return (await open()).forget(service, intent);
    },
    list: async (filter) => (await open()).list(filter),
    signOut: async (leave) => (await open()).signOut(leave),
    start: async () => (await open()).start(),
    async resetStorage(accepted) {
      if (closed) throw closedError();
      const { resetStorage } = await import("./reset.js");
      return resetStorage(options.database ?? "holdfast", accepted);
    },
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
