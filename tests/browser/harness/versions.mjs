// A later version of the package: this one, whose records are such that this one cannot represent them.
import { cp, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageFolder } from "./environment.mjs";

/** Stands between its engine and the database: how a work stands is told under another name. */
const LATER = `
import * as plain from "./idb-plain.js";
export * from "./idb-plain.js";
export const row = (value) => pack("operations", value);
export function pack(store, value) {
  const own = store === "operations" && value ? { ...value, document: earlier(value.document) } : value;
  return plain.pack(store, own);
}
export function unpack(store, value) {
  const own = plain.unpack(store, value);
  return store === "operations" ? { ...own, document: later(own.document) } : own;
}
function later(document) {
  const { life: existence, ...rest } = JSON.parse(document);
  return JSON.stringify({ ...rest, format: 2, minReader: 2, existence });
}
function earlier(document) {
  const { existence: life, ...rest } = JSON.parse(document);
  return life === undefined ? document : JSON.stringify({ ...rest, format: 1, minReader: 1, life });
}
`;

/** Makes it; the caller removes the folder with {@link removePackage}. */
export async function makeLaterPackage() {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-later-"));
  await cp(packageFolder(), folder, { recursive: true });
  await rename(join(folder, "idb-database.js"), join(folder, "idb-plain.js"));
  await writeFile(join(folder, "idb-database.js"), LATER);
  return folder;
}

export const removePackage = (folder) => rm(folder, { recursive: true, force: true });
