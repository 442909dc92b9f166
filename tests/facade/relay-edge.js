// A relay over objects that are scripted: what is asked of them is written down.
import { relay } from "../../pkg-template/relay.js";
import { state } from "./package.js";

/** Of an operation in the object `000`. */
export const AT = "/operations/reports/000.op-1";

/**
 * @param {Record<string, (...args: any[]) => any>} script What objects answer, by the name of the call; `shared` for those that are shared.
 */
export function edge(script = {}) {
  const asked = [];
  const calls = { load: () => state({ intent: "reports:one" }), ...script };
  const object = (name) => ({
    async holdfast({ caller, method, args }) {
      asked.push({ object: name, caller, method, args });
      try {
        return { value: await calls[method](...args) };
      } catch (error) {
        return { error: { message: error.message, ...error } };
      }
    },
    async holdfastShared(call) {
      asked.push({ object: name, ...call });
      return calls.shared(call);
    },
  });
  const namespace = { idFromName: (name) => name, get: object };
  const allow = ({ headers }) => ({ caller: headers.get("x-caller"), trusted: headers.get("x-staff") === "yes" });
  /** Asks the relay as a caller does; a body is told as JSON. */
  const ask = (path, { method, body, headers, caller = "ann", staff, limits } = {}) => {
    const request = new Request(`https://app.example${path}`, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: { "x-caller": caller, ...(staff && { "x-staff": "yes" }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return relay(request, namespace, { allow, limits });
  };
  /** The same with what it is told: a status, and JSON. */
  const told = async (path, init) => {
    const answer = await ask(path, init);
    return { code: answer.status, ...(await answer.json()) };
  };
  return { ask, told, asked, calls, namespace };
}

/** An error as an object tells it. */
export const failed = (code, message, more = {}) => Object.assign(new Error(message), { code, ...more });
