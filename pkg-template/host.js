// @ts-check
/** What the module asks of the app. The app's code never runs inside a call of the module. */
/** @import * as Api from "./index.d.ts" */
/** @import { Host } from "./glue.js" */
/** @import { Reach } from "./reach.js" */
import { checkAuthorization } from "./authorization.js";
import { isHoldfastError } from "./error.js";
import { toEvent } from "./events.js";
import { inTime } from "./in-time.js";
import { checkBaseUrl, proxyUrl } from "./options.js";
import { report, tellFailure, typeOf } from "./report.js";
import { faultOf } from "./result.js";
import { currentAccount } from "./submission.js";

/** How long the app may take to give a credential, in milliseconds. */
const AUTHORIZE_MS = 30_000;

/** What the app gives; the rest is the platform's. @typedef {Omit<Host, "database" | "locks" | "arm">} OwnHost */

/**
 * @param {Api.HoldfastOptions<Record<string, Api.Service<any>>>} options
 * @param {(json: string, account: string) => Api.Operation<any>} operationOf
 *   The operation of a state and whose it is, which is taken in.
 * @param {() => import("./tabs.js").Tabs} tabs The other tabs.
 * @param {Reach} reach
 * @returns {OwnHost}
 */
export function makeHost(options, operationOf, tabs, reach) {
  const { onSettled, observe, services, logger } = options;
  /** @type {(callback: object, name: string, error: unknown, more: Record<string, string>) => void} */
  const failed = (callback, name, error, more) => {
    report(callback, name, error, logger);
    tellFailure(options, name, error, more);
  };
  return {
    account: () => currentAccount(options),
    async authorize(service, purpose, refresh) {
      await null;
      const ask = services[service]?.authorize;
      if (!ask) return { headers: [] };
      try {
        const given = await authorize(ask, { purpose, refresh });
        reach.authorized(service);
        tabs().authorized(service, given !== null);
        return given;
      } catch (error) {
        tabs().authorized(service, false);
        reach.authorized(service, refusalOf(error));
        failed(ask, "authorize", error, { "holdfast.service": service, "holdfast.purpose": purpose });
        throw error;
      }
    },
    validates: (service) => services[service]?.result !== undefined,
    async validate(service, json, bytes) {
      await null;
      return faultOf(services[service]?.result, bytes, JSON.parse(json));
    },
    consumes: onSettled !== undefined,
    async settled(json, account) {
      await null;
      if (!onSettled) return;
      const operation = operationOf(json, account);
      try {
        await onSettled(operation);
      } catch (error) {
        const { service, id } = operation;
        failed(onSettled, "onSettled", error, { "holdfast.service": service, "holdfast.operation.id": id });
        throw error;
      }
    },
    notify(json, entriesJson, account) {
      queueMicrotask(() => {
        const entries = JSON.parse(entriesJson);
        reach.hear(JSON.parse(json), entries);
        const { state } = operationOf(json, account);
        tabs().tell(state);
        if (!observe) return;
        for (const entry of entries) {
          try {
            observe(toEvent(state, entry));
          } catch (error) {
            report(observe, "observe", error, logger);
          }
        }
      });
    },
    fetch: fetchOf(options),
  };
}

/**
 * What sends requests: to a proxy or relay of the app, with the cookies that say who asks.
 *
 * @param {Api.HoldfastOptions<Record<string, Api.Service<any>>>} options
 * @returns {Host["fetch"]}
 */
function fetchOf({ fetch, services }) {
  const proxies = Object.values(services).flatMap(({ proxy, relay }) => {
    const path = proxy ?? (relay?.startsWith("/") ? relay : undefined);
    return path ? [`${checkBaseUrl(proxyUrl(path), "proxy")}/`] : [];
  });
  if (!proxies.length) return fetch;
  return (url, init) => {
    const isOwn = proxies.some((proxy) => String(url).startsWith(proxy));
    return (fetch ?? globalThis.fetch)(url, isOwn ? { ...init, credentials: "same-origin" } : init);
  };
}

/**
 * @param {NonNullable<Api.Service["authorize"]>} ask
 * @param {Omit<Api.AuthorizeRequest, "signal">} request
 * @returns {ReturnType<Host["authorize"]>}
 */
async function authorize(ask, request) {
  const controller = new AbortController();
  const late = () => {
    const error = new Error("authorize took longer than 30 s");
    controller.abort(error);
    return error;
  };
  const given = await inTime(ask({ ...request, signal: controller.signal }), AUTHORIZE_MS, late);
  if (!given) return null;
  const { headers, scope } = checkAuthorization(given);
  return { headers: Object.entries(headers), scope };
}

/**
 * Why there is no credential: what is wrong with the answer, or the name of what the app threw, whose
 * words may repeat the credential.
 *
 * @param {any} error
 */
const refusalOf = (error) =>
  isHoldfastError(error) && error.field === "authorize" ? error.message : `authorize failed with ${typeOf(error)}.`;
