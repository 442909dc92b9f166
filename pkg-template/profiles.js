// @ts-check
/** The profiles that come with the package: each a file of its own, loaded when a service names it. */
/** @import { Settings } from "./options.js" */
import { HoldfastError } from "./error.js";

/** @typedef {Readonly<Record<string, () => Promise<{ default: unknown }>>>} Profiles */

/**
 * The module's configuration, with profiles in the place of their names.
 *
 * @param {Settings} settings
 * @param {Profiles} builtIn Those that come with the package.
 */
export async function configure({ config, options }, builtIn) {
  const whole = JSON.parse(config);
  /** @type {[string, { profile: unknown }][]} */
  const services = Object.entries(whole.services);
  await Promise.all(
    services.map(async ([name, service]) => {
      if (typeof service.profile === "string") service.profile = await loaded(service.profile, name, builtIn);
      refuseInBrowser(service.profile, name, options.services[name]?.proxy !== undefined);
    }),
  );
  return JSON.stringify(whole);
}

/**
 * Some services ask to be called from servers only: their credential has no place in a page. Where
 * there is an IndexedDB there is a browser: a page, a worker of one, or an extension. A proxy holds the
 * credential; without a key the browser's own repetitions would be executions all the same.
 *
 * @param {any} profile
 * @param {string} service
 * @param {boolean} proxied
 */
function refuseInBrowser(profile, service, proxied) {
  if (profile?.serverOnly !== true || !("indexedDB" in globalThis) || (proxied && profile.key)) return;
  throw new HoldfastError(`The service "${service}" is to be called from a server, never from a browser.`, {
    code: "SERVER_ONLY",
    field: `services.${service}.profile`,
    nextStep: `Carry it on a server of your own: holdfast/node${profile.key ? ", or holdfast/proxy" : ""}.`,
  });
}

/**
 * A profile by its name.
 *
 * @param {string} profile
 * @param {string} service
 * @param {Profiles} builtIn
 */
export async function loaded(profile, service, builtIn) {
  /** @type {(nextStep: string, cause?: unknown) => Error} */
  const missing = (nextStep, cause) =>
    new HoldfastError(`There is no built-in profile "${profile}" that could be loaded.`, {
      code: "INVALID_PROFILE",
      field: `services.${service}.profile`,
      nextStep,
      cause,
    });
  if (!Object.hasOwn(builtIn, profile)) {
    throw missing(`Give your own as an object, or one of: ${Object.keys(builtIn).join(", ")}.`);
  }
  try {
    return (await builtIn[profile]()).default;
  } catch (cause) {
    throw missing("Serve the package's folder profiles/ beside its files.", cause);
  }
}
