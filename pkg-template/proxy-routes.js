// @ts-check
/** Which requests a proxy lets through: those that the profile's calls make, and no others. */
/** @import * as Api from "./index.d.ts" */
import { HoldfastError, invalid } from "./error.js";

/** Longest path with its query, in characters. */
const TARGET_LENGTH_MAX = 4096;

/**
 * @typedef {{
 *   purpose: Api.Purpose,
 *   method: string,
 *   path: RegExp,
 *   query: ReadonlyMap<string, RegExp>,
 *   optional: ReadonlySet<string>,
 *   headers: Readonly<Record<string, string>>,
 *   timeoutMs: number,
 *   keyHeader: string | undefined,
 *   passes: readonly string[],
 * }} Route
 */

/** @type {Record<string, Api.Purpose>} */
const PURPOSES = { submit: "submit", poll: "poll", result: "result", list: "reconcile", quote: "quote" };

/**
 * The routes of a profile.
 *
 * @param {any} profile
 * @param {Readonly<Record<string, readonly string[]>>} params The values that each parameter may have.
 * @param {readonly string[]} links Paths that links in the headers of answers may lead to.
 * @returns {Route[]}
 */
export function routesOf(profile, params, links) {
  if (!profile.key) {
    throw refused(
      `The service of "${profile.name}" knows no idempotency keys, and a browser may repeat a request by itself.`,
      "Submit to a server of your own, and from there with holdfast/node or holdfast/cloudflare.",
    );
  }
  const allowed = { ...profile.params, ...params };
  const routes = [];
  for (const [name, call] of Object.entries(profile.calls ?? {})) {
    if (call.link && !call.path) requireHeader(profile, name, call.link, links);
    const paths = [...(call.path ? [call.path] : []), ...(call.link ? links : [])];
    for (const path of paths) routes.push(routeOf(profile, name, call, path, allowed));
  }
  return routes;
}

/**
 * @param {any} profile
 * @param {string} name
 * @param {any} call
 * @param {string} template
 * @param {Readonly<Record<string, readonly string[]>>} allowed
 * @returns {Route}
 */
function routeOf(profile, name, call, template, allowed) {
  const [path, query = ""] = template.split("?");
  const pairs = query.split("&").filter(Boolean).map((pair) => pair.split("="));
  const keyed = name === "submit" || name === "retry";
  const optional = new Set(
    [keyed && profile.key.query, (name === "result" || name === "poll") && profile.pages?.query].filter(Boolean),
  );
  return {
    purpose: PURPOSES[name] ?? "call",
    method: call.method,
    path: pattern(path, allowed),
    query: new Map(pairs.map(([own, value = ""]) => [own, pattern(value, allowed)])),
    optional,
    headers: call.headers ?? {},
    timeoutMs: call.timeoutMs ?? 30_000,
    keyHeader: keyed ? profile.key.header : undefined,
    passes: [
      ...(keyed ? [profile.key.header, profile.key.sentAt].filter(Boolean) : []),
      ...(call.ranges ? ["range", "if-range"] : []),
    ],
  };
}

/**
 * What a template matches. A parameter has the values that are named for it; an id is one segment, or
 * several where its template says so.
 *
 * @param {string} template
 * @param {Readonly<Record<string, readonly string[]>>} allowed
 */
function pattern(template, allowed) {
  const parts = template.split(/\{(\+?[^{}]+)\}/).map((part, index) => {
    if (index % 2 === 0) return escape(part);
    const name = part.replace("+", "");
    const values = Object.hasOwn(allowed, name) ? allowed[name] : undefined;
    if (values && !values.length) {
      throw invalid(
        `params.${name}`,
        `params.${name} must name the values that are let through.`,
        `The profile lets any be submitted; a proxy that did would lead everywhere: params: { ${name}: ["v1/reports"] }.`,
      );
    }
    if (values) return `(?:${values.map((value) => escape(encoded(value, part[0] === "+"))).join("|")})`;
    return part[0] === "+" ? "([^?]+)" : "([^/?]+)";
  });
  return new RegExp(`^${parts.join("")}$`);
}

/** @param {string} text */
const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * As the client writes a value into a path.
 *
 * @param {string} value
 * @param {boolean} whole
 */
const encoded = (value, whole) =>
  whole ? value.replace(/^\/+/, "").split("/").map(strictly).join("/") : strictly(value);

/** @param {string} text */
const strictly = (text) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (own) => `%${own.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * @param {any} profile
 * @param {string} name
 * @param {string} link
 * @param {readonly string[]} links
 */
function requireHeader(profile, name, link, links) {
  const places = profile.carry?.[link] ?? [];
  if (!places.some((/** @type {string} */ place) => place.startsWith("header:"))) {
    throw refused(
      `The profile "${profile.name}" finds the address of ${name} in bodies, which the proxy passes on as they are.`,
      "Give the call a path, or carry the work on a server with holdfast/node or holdfast/cloudflare.",
    );
  }
  if (!links.length) {
    throw invalid("links", "links must name the paths that the service's links lead to.", 'For example ["/operations/{id}"].');
  }
}

/**
 * @param {string} message
 * @param {string} nextStep
 */
const refused = (message, nextStep) =>
  new HoldfastError(message, { code: "INVALID_PROFILE", field: "profile", nextStep });

/**
 * The route that a request takes; the methods there are where only its method is wrong.
 *
 * @param {readonly Route[]} routes
 * @param {string} method
 * @param {string} path Below the place that the proxy is mounted at.
 * @param {string} search
 * @returns {{ route?: Route, methods: string[] }}
 */
export function match(routes, method, path, search) {
  if (path.length + search.length > TARGET_LENGTH_MAX || !isHarmless(path)) return { methods: [] };
  const fitting = routes.filter((route) => route.path.test(path) && fits(route, search));
  return {
    route: fitting.find((route) => route.method === method),
    methods: [...new Set(fitting.map((route) => route.method))],
  };
}

/**
 * @param {Route} route
 * @param {string} search
 */
function fits({ query, optional }, search) {
  const wanted = new Set(query.keys());
  for (const pair of search.slice(1).split("&").filter(Boolean)) {
    const [name, value = ""] = pair.split(/=(.*)/s);
    const form = query.get(name);
    if (form ? !form.test(value) : !optional.has(name)) return false;
    if (form && !wanted.delete(name)) return false;
  }
  return wanted.size === 0;
}

/**
 * Whether a path leads nowhere else, however often the service decodes it.
 *
 * @param {string} path
 */
function isHarmless(path) {
  return path.split("/").slice(1).every((segment) => {
    let text = segment;
    for (let round = 0; round < 3; round++) {
      if (!text || /[\\/\x00-\x20\x7f]/.test(text) || /^\.+(;|$)/.test(text)) return false;
      try {
        const decoded = decodeURIComponent(text);
        if (decoded === text) return true;
        text = decoded;
      } catch {
        return round > 0;
      }
    }
    return false;
  });
}
