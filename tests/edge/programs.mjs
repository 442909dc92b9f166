// The programs of other hosts.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A Node that has node:sqlite: `HOLDFAST_NODE_NEWER`, or the one that npm has brought. */
export function newerNode() {
  if (process.env.HOLDFAST_NODE_NEWER) return process.env.HOLDFAST_NODE_NEWER;
  const require = createRequire(import.meta.url);
  const name = `node-${process.platform}-${process.arch}/package.json`;
  const program = join(dirname(require.resolve(name)), "bin/node");
  if (existsSync(program)) return program;
  throw new Error(`There is no ${program}: npm ci, or say in HOLDFAST_NODE_NEWER where one is.`);
}
