// @ts-check
/** What is a browser's own: its database, the life of its pages, one instance of the module. */
/** @import { OwnHost } from "./host.js" */
/** @import { Settings } from "./options.js" */
/** @import { Profiles } from "./profiles.js" */
import * as glue from "./glue.js";
import { Client } from "./client.js";
import { Connection } from "./connection.js";
import { Database } from "./idb-database.js";
import { storeIn } from "./idb-transaction.js";
import { Instance, isOwnTrap } from "./module.js";
import { watch } from "./page-life.js";
import { builtIn } from "./profiles/built-in.js";

/** The one that this page has. */
const instance = new Instance(glue);

/**
 * @param {Settings} settings
 * @param {ReadonlySet<() => void>} listeners
 * @param {Promise<Response | undefined>} [file] The module's, where it is on its way.
 */
export function open(settings, listeners, file) {
  instance.early = file;
  return new Client(settings, listeners, { connect: (own, host) => connectPage(own, host, builtIn) });
}

/**
 * A connection to the module of this page, or of this worker.
 *
 * @param {Settings} settings
 * @param {OwnHost} host
 * @param {Profiles} profiles Those that come with the package.
 */
export function connectPage(settings, host, profiles) {
  const database = storeIn(new Database(settings.options.database ?? "holdfast").ahead());
  return new Connection(settings, host, profiles, { instance, database, watch: (life) => watch(life, isOwnTrap) });
}
