// Runs the behaviours of stores over SQLite files, in whichever Node runs this. Prints each that is shown.
//
// Usage: node conformance.mjs PACKAGE FOLDER
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, data] = process.argv.slice(2);
const at = (name) => pathToFileURL(join(folder, name));
const { makeGlue } = await import(at("glue-maker.js"));
const { sqlitePort } = await import(at("sql-servers.js"));
const { sqlStore } = await import(at("sql-transaction.js"));

const Sqlite = process.getBuiltinModule?.("node:sqlite")?.DatabaseSync ?? createRequire(import.meta.url)("better-sqlite3");

const glue = makeGlue(queueMicrotask);
await glue.default({ module_or_path: readFileSync(at("holdfast.wasm")) });
const open = (name) => sqlStore(() => sqlitePort(new Sqlite(join(data, `${name}.db`)), true), console.error);
await glue.storeConformance(open, (name) => console.log(name));
