// An app that does nothing by itself: tests tell it what to do.
import { createHoldfast, HoldfastError } from "/pkg/index.js";

const service = {
  profile: "runharvester",
  baseUrl: location.origin,
  authorize: () => ({ headers: { authorization: ["Bearer demo", "token"].join("-") }, scope: "one" }),
};

Object.assign(globalThis, {
  createHoldfast,
  HoldfastError,
  service,

  /** A client of one service, which is "reports". */
  open: (options = {}, changes = {}) =>
    createHoldfast({
      account: () => "local",
      services: { reports: { ...service, ...changes } },
      ...options,
    }),

  /** A request for a job of that length. */
  work: (duration_ms, more) => ({ url: "https://example.com", duration_ms, ...more }),

  /** What a call throws or rejects with, as plain data; undefined where it succeeds. */
  async errorOf(call) {
    try {
      await call();
    } catch (error) {
      const { name, code, field, nextStep, message, exits, reason } = error;
      return { isOurs: error instanceof HoldfastError, name, code, field, nextStep, message, exits, reason };
    }
  },
});
globalThis.isReady = true;
