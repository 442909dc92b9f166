// What every bench does in its page: clients, floors, and when requests leave.
import { createHoldfast } from "/pkg/index.js";
import { Floor, done } from "./floor.js";

const headers = { authorization: ["Bearer demo", "token"].join("-") };
const services = {
  /** The answer is the result. */
  answered: { profile: "idempotency-key", baseUrl: `${location.origin}/idempotency-key` },
  /** A job that is polled. */
  polled: { profile: "runharvester", baseUrl: location.origin },
};
for (const service of Object.values(services)) service.authorize = () => ({ headers });

/** When requests to services have left, since a bench asked for it. */
const left = [];
const { fetch } = globalThis;
globalThis.fetch = (...args) => {
  // The module itself is fetched too.
  if (!String(args[0].url ?? args[0]).includes("/pkg/")) left.push(performance.now());
  return fetch(...args);
};

Object.assign(globalThis, {
  Floor,
  done,
  headers,
  left,
  services,
  open: (options = {}) => createHoldfast({ account: () => "local", persist: false, services, ...options }),
});
globalThis.isReady = true;
