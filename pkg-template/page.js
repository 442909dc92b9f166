// @ts-check
/** What is a browser's own: its database, the life of its pages, one instance of the module. */
/** @import { Life } from "./connection.js" */
/** @import { OwnHost } from "./host.js" */
/** @import { Settings } from "./options.js" */
/** @import { Profiles } from "./profiles.js" */
import * as glue from "./glue.js";
import { Client } from "./client.js";
import { Connection } from "./connection.js";
import { Database } from "./idb-database.js";
import { storeIn } from "./idb-transaction.js";
import { Instance, isOwnTrap } from "./module.js";
import { builtIn } from "./profiles/built-in.js";

/** The one that this page has. */
const instance = new Instance(glue);

/**
 * @param {Settings} settings
 * @param {ReadonlySet<() => void>} listeners
 */
export const open = (settings, listeners) =>
  new Client(settings, listeners, { connect: (own, host) => connectPage(own, host, builtIn) });

/**
 * A connection to the module of this page, or of this worker.
 *
 * @param {Settings} settings
 * @param {OwnHost} host
 * @param {Profiles} profiles Those that come with the package.
 */
export function connectPage(settings, host, profiles) {
  const database = storeIn(new Database(settings.options.database ?? "holdfast"));
  return new Connection(settings, host, profiles, { instance, database, watch });
}

/** @param {Life} life */
function watch({ wake, yield: leave, trapped }) {
  if (typeof globalThis.addEventListener !== "function") return () => undefined;
  const controller = new AbortController();
  const { signal } = controller;
  /** @type {(on: EventTarget, name: string, then: (event: any) => void) => void} */
  const listen = (on, name, then) => on.addEventListener(name, then, { signal });
  const { document } = globalThis;
  if (document) listen(document, "visibilitychange", () => document.visibilityState === "visible" && wake());
  listen(globalThis, "online", wake);
  listen(globalThis, "pageshow", wake);
  listen(globalThis, "pagehide", leave);
  const overheard = (/** @type {unknown} */ error) => isOwnTrap(error) && trapped(error);
  listen(globalThis, "error", (event) => overheard(event.error));
  listen(globalThis, "unhandledrejection", (event) => overheard(event.reason));
  return () => controller.abort();
}
