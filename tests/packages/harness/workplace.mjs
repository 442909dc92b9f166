// A folder in which the packed archive is installed, as npm would install it.
import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const projects = fileURLToPath(new URL("../projects/", import.meta.url));

const built = fileURLToPath(new URL("../../../pkg/", import.meta.url));

/** The archive: told by the environment, or as `cargo xtask pack` leaves it. */
export function archive() {
  const path = process.env.HOLDFAST_ARCHIVE ?? readdirSync(built).map((name) => join(built, name)).find((name) => name.endsWith(".tgz"));
  if (!path) throw new Error("There is no archive: `cargo xtask pack`, or say in HOLDFAST_ARCHIVE where it is.");
  return path;
}

export class Workplace {
  folder = mkdtempSync(join(tmpdir(), "holdfast-packages-"));
  /** The installed package. */
  installed = join(this.folder, "node_modules/holdfast");

  constructor() {
    mkdirSync(this.installed, { recursive: true });
    execFileSync("tar", ["-xzf", archive(), "-C", this.installed, "--strip-components=1"]);
  }

  /**
   * A project of its own over the app, with what it says in the place of `#module`.
   *
   * @param {string} name
   * @param {{ html?: string, module?: string, entry?: string }} [own]
   */
  project(name, { module = "export const useOwnModule = {};", html, entry = "holdfast" } = {}) {
    const folder = join(this.folder, name);
    cpSync(join(projects, "app"), folder, { recursive: true });
    const main = readFileSync(join(folder, "main.js"), "utf8");
    writeFileSync(join(folder, "main.js"), main.replace('"#module"', '"./module.js"').replace('"holdfast"', JSON.stringify(entry)));
    writeFileSync(join(folder, "module.js"), module);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name, private: true, type: "module" }));
    if (html) writeFileSync(join(folder, "index.html"), html);
    return folder;
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * A project with packages of its own, as its lockfile names them, and the archive beside them.
 *
 * @param {Workplace} place
 * @param {string} name
 */
export async function installed(place, name) {
  const folder = join(place.folder, `${name}-project`);
  cpSync(join(projects, name), folder, { recursive: true });
  await promisify(execFile)("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: folder, timeout: 600_000 });
  cpSync(place.installed, join(folder, "node_modules/holdfast"), { recursive: true });
  return folder;
}
