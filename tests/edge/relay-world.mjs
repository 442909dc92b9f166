// A relay in a real workerd before a service, and callers that know the protocol.
import { failPointsFolder } from "../browser/harness/environment.mjs";
import { until } from "../browser/harness/until.mjs";
import { fetch } from "./fetch.mjs";
import { freePort } from "./free-port.mjs";
import { quickListing, quickProfile } from "./quick-profile.mjs";
import { stage } from "./stage.mjs";

export const body = { url: "https://example.com", duration_ms: 400, result_bytes: 30_000 };

/** A service, a relay before it, and a folder. */
export async function world(t) {
  const { service, token, folder, start } = await stage(t);
  const pkg = failPointsFolder();
  const port = await freePort();
  const profiles = { PROFILE: quickProfile(pkg), CRAWLS: quickListing(pkg) };
  const startLimited = (limits = null) =>
    start({ worker: "relay.js", port, bindings: { ...profiles, ORIGIN: service.origin, TOKEN: token, LIMITS: limits } });
  return { service, token, folder, start: startLimited, relay: `http://127.0.0.1:${port}/operations` };
}

/**
 * A caller of a relay's reports.
 *
 * @param {string} relay
 * @param {string} name
 * @param {object} [more] Headers.
 */
export function callerOf(relay, name, more = {}) {
  const headers = { "x-caller": name, "content-type": "application/json", ...more };
  const send = (path, init = {}) => fetch(`${relay}/reports${path}`, { ...init, headers: { ...headers, ...init.headers } });
  const told = async (path, init) => {
    const answer = await send(path, init);
    return { code: answer.status, ...(await answer.json()) };
  };
  const state = (id) => told(`/${id}`);
  return {
    send,
    state,
    /** Hands work over. */
    submit: (key, own = {}) => told("", { method: "POST", headers: { "idempotency-key": key }, body: JSON.stringify({ ...body, ...own }) }),
    /** Asks something of an operation. */
    verb: (id, verb, given) => told(`/${id}/${verb}`, { method: "POST", body: given === undefined ? undefined : JSON.stringify(given) }),
    delete: (id) => told(`/${id}`, { method: "DELETE" }),
    /** Its state, once something holds of that. */
    async when(id, holds) {
      let own;
      await until(async () => holds((own = await state(id))), () => `another state than ${JSON.stringify(own)}`);
      return own;
    },
  };
}

/** Of a state: whether it has this status. */
export const is = (status) => (state) => state.status === status;
