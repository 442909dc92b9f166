// The programs of other hosts.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A Node that has node:sqlite: `HOLDFAST_NODE_NEWER`, the one that npm has brought, or this one. */
export function newerNode() {
  if (process.env.HOLDFAST_NODE_NEWER) return process.env.HOLDFAST_NODE_NEWER;
  const program = broughtNode();
  if (program) return program;
  if (process.getBuiltinModule?.("node:sqlite")) return process.execPath;
  throw new Error("There is no Node with node:sqlite: npm ci, or say in HOLDFAST_NODE_NEWER where one is.");
}

/**
 * Further programs that run servers, by their lines: `HOLDFAST_SERVERS`, separated by commas, such as `bun,deno run -A`.
 *
 * @returns {Record<string, string[]>}
 */
export function moreServers() {
  const lines = (process.env.HOLDFAST_SERVERS ?? "").split(",").filter(Boolean);
  return Object.fromEntries(lines.map((line) => [line, line.split(" ")]));
}

/** What npm has brought, on the systems that it does so for. */
function broughtNode() {
  const name = `node-${process.platform}-${process.arch}/package.json`;
  try {
    const program = join(dirname(createRequire(import.meta.url).resolve(name)), "bin/node");
    return existsSync(program) ? program : undefined;
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    return undefined;
  }
}
