/**
 * Holdfast in servers: Node 22.13 or later (`node:sqlite`; from 22.5 with `--experimental-sqlite`), Node 20 with the package
 * `better-sqlite3`; Deno and Bun, whose `node:sqlite` is of that shape (2.9 and 1.4 were killed at each fail point). Everything is as in
 * a browser but for where work is stored.
 *
 * @packageDocumentation
 */
import type { CheckedServices, CompiledModule, Holdfast, HoldfastOptions, Service } from "./index.js";

export * from "./index.js";

/** A prepared statement, as far as it is used here. */
export interface SqliteStatement {
  all(...params: any[]): any[];
  run(...params: any[]): unknown;
}

/** An open database: a `DatabaseSync` of `node:sqlite`, a `Database` of `better-sqlite3`, or their like. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

/** Options of {@link createHoldfast} in a server. */
export interface ServerOptions<Services extends Record<string, Service<any>>>
  extends Omit<HoldfastOptions<Services>, "database" | "module" | "persist"> {
  /**
   * Where work is stored: the path of a file, made where there is none, or an open database, which stays
   * yours to close. Its tables are called `holdfast_…`. The database is set to WAL, and each record is on
   * the disk (`synchronous = FULL`) before anything is sent. Several processes of one machine may share a
   * file; a file system of a network is none that SQLite can lock. Several processes share the work: one
   * drives a lane at a time, and another takes over when it has died.
   */
  readonly storage: string | SqliteDatabase;
  /** The WebAssembly module. Default: `holdfast.wasm` beside this file. */
  readonly module?: ArrayBuffer | ArrayBufferView | CompiledModule;
}

/** A client in a server. A timer keeps its process alive until `close()`. */
export type ServerHoldfast<Services extends Record<string, Service<any>>> = Omit<Holdfast<Services>, "resetStorage" | "storageHealth">;

/**
 * Makes a client. Synchronous and inert: the file is opened by the first call. Call `start()` when the
 * server starts, so that work which an earlier process left goes on.
 *
 * @example
 * import { createHoldfast } from "holdfast/node";
 *
 * const holdfast = createHoldfast({
 *   storage: "./holdfast.db",
 *   account: () => "local",
 *   services: { runs: { profile: "bulkgrid", baseUrl: "https://api.example.com", authorize } },
 * });
 * await holdfast.start();
 */
export declare function createHoldfast<const Services extends Record<string, Service<any>>>(
  options: ServerOptions<Services> & { readonly services: CheckedServices<Services> },
): ServerHoldfast<Services>;
