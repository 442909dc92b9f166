// @ts-check
/** @import * as Api from "./index.d.ts" */
import { checkFunction, checkLimits, checkNames, checkParams, checkText, exactJson } from "./check.js";
import { invalid } from "./error.js";

/**
 * Checked options: what the facade calls, and what the module is told, as JSON.
 *
 * @typedef {{ options: Api.HoldfastOptions<Record<string, Api.Service<any>>>, config: string }} Settings
 */

/** Longest name of a database, in UTF-16 code units. */
const DATABASE_LENGTH_MAX = 128;

/**
 * Checks the options of `createHoldfast`, and keeps them as they are at this moment.
 *
 * @param {Api.HoldfastOptions<Record<string, Api.Service<any>>>} options
 * @param {string} [storage] The names of the options that say where work is stored.
 * @returns {Settings}
 */
export function checkOptions(options, storage = "database persist") {
  checkNames(options, "", `account services onSettled observe ${storage} retention module fetch logger`);
  const { account, services, database = "holdfast", retention } = options;
  if (typeof account !== "function") {
    throw invalid("account", "account must be a function.", 'One user only: () => "local".');
  }
  for (const name of /** @type {const} */ (["onSettled", "observe", "fetch"])) {
    checkFunction(options[name], name);
  }
  if (options.logger !== undefined && typeof options.logger?.error !== "function") {
    throw invalid("logger", "logger must have a function error.", "For example console.");
  }
  checkText(database, "database", DATABASE_LENGTH_MAX);
  if (options.persist !== undefined && typeof options.persist !== "boolean") {
    throw invalid("persist", "persist must be true or false.");
  }
  checkRetention(retention);
  const names = typeof services === "object" && services ? Object.keys(services) : [];
  if (!names.length) throw invalid("services", "services must name at least one service.");
  const told = names.map((name) => {
    checkText(name, "services");
    return [name, checkService(relayed(services[name], name), `services.${name}`)];
  });
  return {
    options: { ...options, services: { ...services } },
    config: JSON.stringify({ retention, services: Object.fromEntries(told) }),
  };
}

/** @param {Api.Retention | undefined} retention */
function checkRetention(retention) {
  if (retention === undefined) return;
  checkNames(retention, "retention", "resultMs ageMs tombstoneMs");
  for (const [name, value] of Object.entries(retention)) {
    const least = name === "resultMs" ? 0 : 1;
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= least)) {
      throw invalid(`retention.${name}`, `retention.${name} must be a whole number from ${least}.`);
    }
  }
}

/**
 * A service that a relay drives is one of the relay's own profile, which goes by the service's name.
 *
 * @param {Api.Service<any>} service
 * @param {string} name
 * @returns {Api.Service<any>}
 */
function relayed(service, name) {
  if (service?.relay === undefined) return service;
  const field = `services.${name}.relay`;
  const { relay, ...own } = service;
  for (const other of ["profile", "baseUrl", "proxy", "params"]) {
    if (/** @type {any} */ (own)[other] !== undefined) {
      throw invalid(field, `${field} stands in the place of ${other}.`, "Leave that to the relay's own service.");
    }
  }
  if (typeof relay !== "string" || !/^(https?:\/\/|\/(?![/\\]))/.test(relay)) {
    throw invalid(field, `${field} must be a path of the page's own origin, or a URL.`, 'For example "/operations".');
  }
  const baseUrl = relay.startsWith("/") ? proxyUrl(relay) : relay;
  return { ...own, profile: "relay", baseUrl, params: { service: name } };
}

/**
 * What the module is told of a service.
 *
 * @param {Api.Service<any>} service
 * @param {string} field
 */
function checkService(service, field) {
  checkNames(service, field, "profile baseUrl proxy relay authorize result key params limits onUnknown");
  const { profile, proxy, authorize, result, key, params, limits, onUnknown } = service;
  checkParams(params, `${field}.params`);
  checkFunction(authorize, `${field}.authorize`);
  checkLimits(limits, `${field}.limits`);
  if (typeof profile !== "object" || !profile) checkText(profile, `${field}.profile`);
  if (result !== undefined && typeof result?.["~standard"]?.validate !== "function") {
    throw invalid(
      `${field}.result`,
      `${field}.result is no Standard Schema.`,
      "Give a schema of Zod, Valibot, ArkType or another library that implements it.",
    );
  }
  if (key !== undefined && key !== "random" && key !== "derived") {
    throw invalid(`${field}.key`, `${field}.key must be "random" or "derived".`);
  }
  if (onUnknown !== undefined && onUnknown !== "park" && onUnknown !== "resubmit") {
    throw invalid(`${field}.onUnknown`, `${field}.onUnknown must be "park" or "resubmit".`);
  }
  return {
    profile: typeof profile === "object" ? JSON.parse(exactJson(profile, `${field}.profile`)) : profile,
    baseUrl: proxy === undefined
      ? checkBaseUrl(service.baseUrl, `${field}.baseUrl`)
      : checkProxy(service, field),
    key,
    params,
    limits,
    onUnknown,
  };
}

/**
 * The address of a proxy, which is of the page's own origin and holds the credential.
 *
 * @param {Api.Service<any>} service
 * @param {string} field
 */
function checkProxy({ proxy, baseUrl, authorize }, field) {
  if (typeof proxy !== "string" || !/^\/(?![/\\])/.test(proxy)) {
    throw invalid(`${field}.proxy`, `${field}.proxy must be a path of the page's own origin.`, 'For example "/api/reports".');
  }
  if (baseUrl !== undefined || authorize !== undefined) {
    throw invalid(`${field}.proxy`, `${field}.proxy stands in the place of baseUrl and authorize.`, "Leave both to the proxy.");
  }
  return checkBaseUrl(proxyUrl(proxy), `${field}.proxy`);
}

/**
 * Where a path of the page's own is. During server rendering there is no page, and nothing is sent.
 *
 * @param {string} path
 */
export const proxyUrl = (path) => (globalThis.location?.origin ?? "http://localhost") + path;

/**
 * The URL in its normal form, without a slash at its end. Credentials travel there, so it is HTTPS,
 * or does not leave the machine.
 *
 * @param {any} text
 * @param {string} field
 */
export function checkBaseUrl(text, field) {
  /** @type {URL | undefined} */
  let url;
  try {
    if (typeof text === "string") url = new URL(text);
  } catch {
    // Said below.
  }
  const local = url && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (!url || !(url.protocol === "https:" || (url.protocol === "http:" && local))) {
    throw invalid(
      field,
      `${field} must be an absolute https: URL, or http: on a loopback address.`,
      'For example "https://api.example.com".',
    );
  }
  if (url.username || url.password || /[?#]/.test(text)) {
    throw invalid(
      field,
      `${field} must hold no credentials, query or fragment.`,
      "Credentials belong to authorize.",
    );
  }
  return url.href.replace(/\/+$/, "");
}
