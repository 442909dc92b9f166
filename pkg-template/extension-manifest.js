// @ts-check
/** What an extension's manifest must have, and what is said where it has not. */
/** @import * as Api from "./index.d.ts" */
import { HoldfastError } from "./error.js";

/** The browser's interface for extensions. */
export function extensionApi() {
  const { browser, chrome } = /** @type {any} */ (globalThis);
  const api = browser?.runtime?.id ? browser : chrome;
  if (api?.runtime?.id) return api;
  throw new HoldfastError("This is no extension: there is no runtime.id.", {
    code: "NOT_ALLOWED",
    nextStep: 'In a page, import "holdfast".',
  });
}

/**
 * Says what the manifest lacks, on the console: work goes on as far as it can.
 *
 * @param {any} api
 * @param {Readonly<Record<string, Api.Service<any>>>} services
 */
export function checkManifest(api, services) {
  if (!api.alarms) {
    warn(
      "permissions",
      "Without alarms, work goes on only while something else wakes the background.",
      'Add "alarms" to "permissions" in manifest.json.',
    );
  }
  for (const [name, { baseUrl }] of Object.entries(services)) {
    if (baseUrl === undefined) continue;
    const { protocol, hostname } = new URL(baseUrl);
    const origin = `${protocol}//${hostname}/*`;
    // What the browser takes for no pattern it throws on.
    const asked = async () => api.permissions?.contains({ origins: [origin] });
    asked().then(
      (granted) => {
        if (granted !== false) return;
        warn(
          `services.${name}.baseUrl`,
          `The extension has no permission for ${origin}: unless that service allows the extension's origin (CORS), the browser keeps its answers back.`,
          `Add "${origin}" to "host_permissions" in manifest.json, or ask for it.`,
        );
      },
      () => undefined,
    );
  }
}

/** @type {(field: string, message: string, nextStep: string) => void} */
const warn = (field, message, nextStep) =>
  console.warn(String(new HoldfastError(message, { code: "NOT_ALLOWED", field, nextStep })));
