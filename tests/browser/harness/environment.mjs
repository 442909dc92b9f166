// Where the things are that a run needs: told by the environment, or in their usual places.
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository. */
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** The package that is served. */
export const packageFolder = () => existing("HOLDFAST_PKG", "pkg");

/** The package with points at which the harness can kill. */
export const failPointsFolder = () => existing("HOLDFAST_PKG_FAIL_POINTS", "target/pkg-fail-points");

/** The program of the loopback services. */
export const loopbackProgram = () => existing("HOLDFAST_LOOPBACK", "target/debug/loopback");

/** The demo's page. */
export const demoFolder = () => join(ROOT, "www");

/** The pages that tests open. */
export const pagesFolder = () => join(ROOT, "tests/browser/pages");

/** Programs, by the variable that says where one is, else by their names on the path. */
const PROGRAMS = {
  chromium: ["CHROMIUM", ["chromium", "chromium-browser", "google-chrome", "chrome"]],
  firefox: ["FIREFOX", ["firefox-esr", "firefox"]],
  MiniBrowser: ["MINIBROWSER", ["MiniBrowser"]],
  Xvfb: ["XVFB", ["Xvfb"]],
  sqlite3: ["SQLITE3", ["sqlite3"]],
};

/**
 * A browser's program, or what it needs.
 *
 * @param {keyof typeof PROGRAMS} name
 */
export function program(name) {
  const [variable, names] = PROGRAMS[name];
  return process.env[variable] || names.map(onPath).find(Boolean) || missing(name, variable);
}

/**
 * The first program of that name on the path.
 *
 * @param {string} name
 */
export function onPath(name) {
  const places = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name));
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function existing(variable, usual) {
  const place = process.env[variable] || join(ROOT, usual);
  return existsSync(place) ? place : missing(place, variable);
}

function missing(what, variable) {
  throw new Error(`There is no ${what}: build it, or say in ${variable} where it is.`);
}
