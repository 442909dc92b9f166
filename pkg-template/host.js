// @ts-check
/** What the module asks of the app. The app's code never runs inside a call of the module. */
/** @import * as Api from "./index.d.ts" */
/** @import { Host } from "./glue.js" */
import { invalid } from "./error.js";
import { toEvent } from "./events.js";
import { report } from "./report.js";
import { faultOf } from "./result.js";
import { currentAccount } from "./submission.js";

/** How long the app may take to give a credential, in milliseconds. */
const AUTHORIZE_MS = 30_000;

/**
 * @param {Api.HoldfastOptions<Record<string, Api.Service<any>>>} options
 * @param {(json: string) => Api.Operation<any>} operationOf
 *   The operation of a state, which is taken in.
 * @param {(state: Api.OperationState) => void} tell Tells the other tabs.
 * @returns {Host}
 */
export function makeHost(options, operationOf, tell) {
  const { onSettled, observe, services } = options;
  return {
    account: () => currentAccount(options),
    async authorize(service, purpose, refresh) {
      await null;
      return authorize(services[service], { purpose, refresh });
    },
    validates: (service) => services[service]?.result !== undefined,
    async validate(service, json, bytes) {
      await null;
      return faultOf(services[service]?.result, bytes, JSON.parse(json));
    },
    consumes: onSettled !== undefined,
    async settled(json) {
      await null;
      await onSettled?.(operationOf(json));
    },
    notify(json, entriesJson) {
      queueMicrotask(() => {
        const { state } = operationOf(json);
        tell(state);
        if (!observe) return;
        for (const entry of JSON.parse(entriesJson)) {
          try {
            observe(toEvent(state, entry));
          } catch (error) {
            report(observe, "observe", error);
          }
        }
      });
    },
    fetch: options.fetch,
  };
}

/**
 * @param {Api.Service<any> | undefined} service
 * @param {Omit<Api.AuthorizeRequest, "signal">} request
 * @returns {ReturnType<Host["authorize"]>}
 */
async function authorize(service, request) {
  const ask = service?.authorize;
  if (!ask) return { headers: [] };
  const controller = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error("authorize took longer than 30 s");
      controller.abort(error);
      reject(error);
    }, AUTHORIZE_MS);
  });
  try {
    const given = await Promise.race([ask({ ...request, signal: controller.signal }), late]);
    return given ? checked(ask, given) : null;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * @param {object} ask
 * @param {any} given
 */
function checked(ask, given) {
  const { headers, scope } = given;
  const fields = Object.entries(headers ?? {});
  const wrong =
    typeof headers !== "object" || !headers || typeof headers[Symbol.iterator] === "function"
      ? invalid("authorize", "authorize must give {headers: {name: value}}.")
      : fields.some(([, value]) => typeof value !== "string")
        ? invalid("authorize", "authorize gave a header field that is not a string.")
        : scope !== undefined && typeof scope !== "string"
          ? invalid("authorize", "authorize gave a scope that is not a string.")
          : undefined;
  if (wrong) {
    report(ask, "authorize", wrong);
    throw wrong;
  }
  return { headers: /** @type {[string, string][]} */ (fields), scope };
}
