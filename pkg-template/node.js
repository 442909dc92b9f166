// @ts-check
/** Holdfast in servers, over a file of SQLite. */
/** @import * as Api from "./node.d.ts" */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Client } from "./client.js";
import { Connection } from "./connection.js";
import { makeHoldfast } from "./create.js";
import { HoldfastError, invalid, isHoldfastError } from "./error.js";
import { makeGlue } from "./glue-maker.js";
import { notLoaded, ownInstance } from "./module.js";
import { checkOptions } from "./options.js";
import { builtIn } from "./profiles/built-in.js";
import { serverLocks, withContexts } from "./server-locks.js";
import { openFile, sqlitePort } from "./sql-servers.js";
import { sqlStore } from "./sql-transaction.js";

export { defineService } from "./create.js";
export { HoldfastError, isHoldfastError };

/** The one that this process has. */
const instance = ownInstance(makeGlue);

/** @param {unknown} cause */
const noModule = (cause) => {
  throw notLoaded(String(cause), cause);
};

/**
 * @param {Api.ServerOptions<any>} given
 * @returns {any}
 */
const create = (given) => {
  const { options, config } = checkOptions(/** @type {any} */ (given), "storage");
  const { storage } = given;
  const isFile = typeof storage === "string" && storage !== "";
  if (!isFile && typeof (/** @type {any} */ (storage)?.prepare) !== "function") {
    throw invalid("storage", "storage must be the path of a file, or an open SQLite database.");
  }
  /** The connection by which it was tried whether the file opens. @type {import("./sql-database.js").SqlPort | undefined} */
  let first;
  const connectFile = async () => {
    const port = first ?? (typeof storage === "string" ? await openFile(storage) : sqlitePort(storage, false));
    first = undefined;
    try {
      return withContexts(port);
    } catch (error) {
      port.close?.();
      throw error;
    }
  };
  return makeHoldfast({ options: { ...options, persist: false }, config }, {
    async open(settings, listeners) {
      // What a person must do about a file is said by whoever opens it, and not by the engine.
      if (typeof storage === "string") first ??= await openFile(storage);
      const database = sqlStore(connectFile, (error) => instance.replace(instance.generation, error));
      const module = options.module ?? (await readFile(new URL("./holdfast.wasm", import.meta.url)).catch(noModule));
      /** @type {import("./client.js").Ways["connect"]} */
      const connect = (own, host) =>
        new Connection({ ...own, options: { ...options, module } }, host, builtIn, {
          instance,
          database,
          locks: serverLocks(database.open),
        });
      // Clients of one file in one process tell each other of changes.
      return new Client(settings, listeners, { connect, channel: isFile ? resolve(storage) : null, isServer: true });
    },
  });
};

/** @type {typeof Api.createHoldfast} */
export const createHoldfast = create;
