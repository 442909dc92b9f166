// @ts-check
/** A client whose scripts are one file, and whose module is given: for slim.js and inline.js. */
/** @import * as Api from "../index.d.ts" */
import { Client } from "../client.js";
import { Connection } from "../connection.js";
import { makeHoldfast } from "../create.js";
import { makeGlue } from "../glue-maker.js";
import { Database } from "../idb-database.js";
import { storeIn } from "../idb-transaction.js";
import { notLoaded, ownInstance } from "../module.js";
import { checkOptions } from "../options.js";
import { watch } from "../page-life.js";
import { builtIn } from "../profiles/all.js";
import * as reset from "../reset.js";

/** The one that this page has of this file. */
const instance = ownInstance(makeGlue);

/**
 * @param {any} given
 * @param {() => Api.HoldfastOptions<any>["module"] | Promise<BufferSource>} usual The module, where the options
 *   name none.
 * @returns {any}
 */
export const makeSingle = (given, usual) =>
  makeHoldfast(checkOptions(given), {
    async open(settings, listeners) {
      const database = storeIn(new Database(settings.options.database ?? "holdfast").ahead());
      const module = settings.options.module ?? (await unpacked(usual));
      /** @type {import("../client.js").Ways["connect"]} */
      const connect = (own, host) =>
        new Connection({ ...own, options: { ...own.options, module } }, host, builtIn, { instance, database, watch });
      return new Client(settings, listeners, { connect });
    },
    reset: async () => reset,
  });

/** @param {() => Api.HoldfastOptions<any>["module"] | Promise<BufferSource>} usual */
async function unpacked(usual) {
  try {
    return await usual();
  } catch (cause) {
    throw notLoaded(String(cause), cause);
  }
}
