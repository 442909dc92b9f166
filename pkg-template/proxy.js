// @ts-check
/** A proxy that keeps a service's credential on the server: stateless, and open for the profile's calls only. */
/** @import * as Api from "./proxy.d.ts" */
import { checkAuthorization } from "./authorization.js";
import { bodyBytesMaxOf } from "./body-bounds.js";
import { checkFunction, checkNames, checkText } from "./check.js";
import { HoldfastError, invalid, isHoldfastError } from "./error.js";
import { checkBaseUrl } from "./options.js";
import { builtIn } from "./profiles/built-in.js";
import { match, routesOf } from "./proxy-routes.js";
import { toNodeHandler } from "./proxy-node.js";
import { described } from "./report.js";
import { BODY_BYTES_MAX } from "./submission.js";

export { HoldfastError, isHoldfastError, toNodeHandler };

/** Longest body that is sent on in one piece, in bytes. */
const WHOLE_BYTES_MAX = 256 * 1024;

/** What of a request reaches the service, beside the key and what asks for a part of a result. Cookies and credentials of the page do not. */
const REQUEST_HEADERS = ["accept", "content-type"];

/** What of an answer reaches the page, beside what the profile reads. */
const ANSWER_HEADERS = [
  "content-type", "date", "retry-after", "x-request-id", "etag", "content-range", "last-modified", "expires",
  "ratelimit", "ratelimit-policy", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset",
  "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-rate-limit-limit",
  "x-rate-limit-remaining", "x-rate-limit-reset",
];

/** Exchanges that change something: of theirs it counts whether they were sent. */
const CHANGING = ["submit", "call"];

/** What comes from a service must not act as a page of the app's origin. */
const GUARD = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; sandbox",
  "x-content-type-options": "nosniff",
};

/** @type {typeof Api.createProxy} */
export const createProxy = (options) => {
  checkNames(options, "", "profile baseUrl mount authorize params links bodyBytesMax fetch onError");
  const { profile, mount, authorize, params = {}, links = [], onError = tell } = options;
  const bodyBytesMax = bodyBytesMaxOf(options.bodyBytesMax, BODY_BYTES_MAX);
  const baseUrl = checkBaseUrl(options.baseUrl, "baseUrl");
  if (typeof mount !== "string" || !/^\/[\w./~-]*$/.test(mount)) {
    throw invalid("mount", "mount must be the path that the handler is reached at.", 'For example "/api/reports".');
  }
  if (typeof authorize !== "function") {
    throw invalid("authorize", "authorize must be a function.", "It looks who asks, and gives the service's credential.");
  }
  checkFunction(options.fetch, "fetch");
  checkFunction(onError, "onError");
  if (typeof profile !== "object" || !profile) {
    checkText(profile, "profile");
    if (!Object.hasOwn(builtIn, profile)) {
      throw invalid("profile", `There is no built-in profile "${profile}".`, `Known: ${Object.keys(builtIn).join(", ")}.`);
    }
  }
  const place = mount.replace(/\/+$/, "");
  const compile = (/** @type {any} */ own) => ({ profile: own, routes: routesOf(own, listed(params), links) });
  // Values are kept, and no promise: on some servers a request cannot wait for what another began.
  let compiled = typeof profile === "object" ? compile(profile) : undefined;
  /** @param {unknown} own A profile that is first seen when somebody asks: what is wrong with it is an answer too. */
  const compiledOf = (own) => {
    try {
      return compile(own);
    } catch (error) {
      if (!isHoldfastError(error)) throw error;
      onError(error);
      throw new Refusal(500, error.code, error.message);
    }
  };

  return async (request) => {
    try {
      compiled ??= compiledOf((await builtIn[/** @type {string} */ (profile)]()).default);
      const proxy = { ...compiled, baseUrl, mount: place, authorize, bodyBytesMax, onError, fetch: options.fetch };
      return await carry(proxy, request);
    } catch (error) {
      if (error instanceof Refusal) return error.response;
      onError(error);
      return answer(502, "PROXY_FAILED", "The proxy could not reach the service.");
    }
  };
};

/**
 * @typedef {ReturnType<typeof routesOf>[number]} Route
 * @typedef {Required<Pick<Api.ProxyOptions, "baseUrl" | "mount" | "authorize" | "bodyBytesMax" | "onError">>
 *   & Pick<Api.ProxyOptions, "fetch"> & { profile: any, routes: readonly Route[] }} Proxy
 */

/**
 * @param {Proxy} proxy
 * @param {Request} request
 */
async function carry(proxy, request) {
  const { route, target } = admitted(proxy, request);
  const counted = countedBody(request, proxy.bodyBytesMax);
  const clock = new AbortController();
  const timer = setTimeout(() => clock.abort(new Error("The service gave no answer in time.")), route.timeoutMs);
  request.signal?.addEventListener("abort", () => clock.abort(request.signal.reason), { once: true });
  try {
    const url = proxy.baseUrl + target;
    const ask = async (/** @type {boolean} */ refresh) => {
      const own = await proxy.authorize({ request, purpose: route.purpose, refresh, signal: clock.signal });
      return own && !(own instanceof Response) ? checkAuthorization(own) : own;
    };
    const given = await ask(false).catch((error) => notAuthorized(proxy, route, error));
    if (given instanceof Response) return given;
    if (!given) return answer(401, "UNAUTHORIZED", "The proxy does not know who asks.");
    const body = await bodyFor(route, counted);
    const send = (own = given) => {
      const headers = headersFor(route, request, own.headers);
      const init = { method: route.method, headers, redirect: "manual", signal: clock.signal };
      return (proxy.fetch ?? globalThis.fetch)(url, /** @type {any} */ ({ ...init, ...(body && { body, duplex: "half" }) }));
    };
    const answered = await send();
    const isOver = answered.status !== 401 || body instanceof ReadableStream;
    // The refusal stands, whatever comes of another credential: it is what the page has to know.
    const other = isOver ? undefined : await renewed(given, () => ask(true)).catch((error) => void proxy.onError(error));
    if (!other) return passedOn(proxy, answered, url);
    // An answer that nobody reads would keep its connection.
    answered.body?.cancel().catch(() => undefined);
    return passedOn(proxy, await send(other), url);
  } catch (error) {
    throw counted.refusal ?? error;
  } finally {
    clearTimeout(timer);
    // What is not sent on is not wanted. One that was read, or is being read, is none of this.
    if (counted.stream && !counted.stream.locked) counted.stream.cancel().catch(() => undefined);
  }
}

/**
 * What is answered where `authorize` has failed: a page may know that nothing of it was sent, where 502 would leave
 * that open. What only reads is asked again, and needs nobody for that.
 *
 * @param {Proxy} proxy
 * @param {Route} route
 * @param {unknown} error
 */
function notAuthorized({ onError }, { purpose }, error) {
  if (!CHANGING.includes(purpose)) throw error;
  onError(error);
  return answer(401, "AUTHORIZE_FAILED", "The proxy has no credential for this. Nothing was sent.");
}

/**
 * Another credential than the one that the service has refused, where there is one.
 *
 * @param {{ readonly headers: Readonly<Record<string, string>> }} refused
 * @param {() => ReturnType<Api.ProxyOptions["authorize"]>} ask
 */
async function renewed(refused, ask) {
  const given = await ask();
  if (!given || given instanceof Response) return undefined;
  return JSON.stringify(given.headers) === JSON.stringify(refused.headers) ? undefined : given;
}

/**
 * The route of a request, or its refusal.
 *
 * @param {Proxy} proxy
 * @param {Request} request
 */
function admitted({ mount, routes }, { url, headers, method }) {
  const { pathname, search, host } = new URL(url);
  // Cookies come along from other sites too: only the app's own script may use what they open.
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  const isOwn = site
    ? site === "same-origin" && !/navigate/.test(headers.get("sec-fetch-mode") ?? "")
    : origin === null || hostOf(origin) === (headers.get("host") ?? host);
  if (!isOwn) throw new Refusal(403, "FOREIGN_ORIGIN", "Only the app's own script may ask here.");
  const path = pathname.startsWith(`${mount}/`) ? pathname.slice(mount.length) : "";
  const { route, methods } = match(routes, method, path, search);
  if (!route) {
    throw methods.length
      ? new Refusal(405, "METHOD_NOT_ALLOWED", "The profile has no such call.", { allow: methods.join(", ") })
      : new Refusal(404, "NOT_FOUND", "The profile has no such call.");
  }
  if (route.keyHeader && !headers.get(route.keyHeader)) {
    throw new Refusal(400, "KEY_MISSING", "A submission needs its idempotency key.");
  }
  return { route, target: path + search };
}

/** @param {string} origin */
function hostOf(origin) {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
}

/**
 * The body as it comes, which breaks off where it is longer than it may be.
 *
 * @param {Request} request
 * @param {number} most
 */
function countedBody({ body, headers }, most) {
  const tooLarge = () => (counted.refusal = new Refusal(413, "BODY_TOO_LARGE", `A body may have ${most} bytes.`));
  const length = headers.get("content-length");
  /** @type {{ stream?: ReadableStream<Uint8Array>, declared?: number, refusal?: Refusal }} */
  const counted = { declared: length === null ? undefined : Number(length) };
  if ((counted.declared ?? 0) > most) throw tooLarge();
  let count = 0;
  counted.stream = body?.pipeThrough(
    new TransformStream({
      transform(piece, controller) {
        count += piece.length;
        if (count > most) controller.error(tooLarge());
        else controller.enqueue(piece);
      },
    }),
  );
  return counted;
}

/**
 * What is sent on: a short body in one piece, for some services want to know its length beforehand.
 *
 * @param {Route} route
 * @param {ReturnType<typeof countedBody>} counted
 */
async function bodyFor({ method }, { stream, declared = Infinity }) {
  if (!stream || method === "GET") return undefined;
  return declared > WHOLE_BYTES_MAX ? stream : new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * @param {Route} route
 * @param {Request} request
 * @param {Readonly<Record<string, string>>} own The credential.
 */
function headersFor(route, request, own) {
  const headers = new Headers();
  for (const name of [...REQUEST_HEADERS, ...route.passes]) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  for (const [name, value] of Object.entries(route.headers)) headers.set(name, value);
  // Its key and its media type stay what they are, whatever stands beside the credential.
  for (const [name, value] of Object.entries(own)) if (!headers.has(name)) headers.set(name, value);
  return headers;
}

/**
 * The service's answer, with the headers that the profile reads. A link within the service leads to the
 * proxy; elsewhere, and where it redirects, it is left out.
 *
 * @param {Proxy} proxy
 * @param {Response} answered
 * @param {string} url
 */
function passedOn({ profile, baseUrl, mount }, answered, url) {
  const headers = new Headers(GUARD);
  for (const name of ANSWER_HEADERS) copy(name, (value) => value);
  const places = [...Object.values(profile.facts ?? {}), ...Object.values(profile.carry ?? {})].flat();
  for (const place of places.filter((own) => own.startsWith("header:"))) {
    copy(place.slice(7), (value) => localLink(value));
  }
  const isEmpty = [101, 204, 205, 304].includes(answered.status);
  return new Response(isEmpty ? null : answered.body, { status: answered.status, headers });

  /** @type {(name: string, change: (value: string) => string | undefined) => void} */
  function copy(name, change) {
    const value = answered.headers.get(name);
    const changed = value === null ? undefined : change(value);
    if (changed !== undefined) headers.set(name, changed);
  }

  /** @param {string} value */
  function localLink(value) {
    if (!/^(https?:|\/|\.)/.test(value)) return value;
    const { href } = new URL(value, url);
    return href.startsWith(`${baseUrl}/`) ? mount + href.slice(baseUrl.length) : undefined;
  }
}

/** An answer of the proxy's own. */
class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   * @param {Record<string, string>} [headers]
   */
  constructor(status, code, message, headers) {
    super(message);
    this.response = answer(status, code, message, headers);
  }
}

/**
 * @param {number} status
 * @param {string} code
 * @param {string} message
 * @param {Record<string, string>} [headers]
 */
function answer(status, code, message, headers) {
  const init = { status, headers: { ...GUARD, ...headers, "content-type": "application/json" } };
  return new Response(JSON.stringify({ error: { code, message } }), init);
}

/** @param {unknown} error */
const tell = (error) => console.error(`Holdfast's proxy failed: ${described(error)}`);

/**
 * @param {Readonly<Record<string, string | readonly string[]>>} params
 * @returns {Record<string, readonly string[]>}
 */
const listed = (params) =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, [value].flat()]));
