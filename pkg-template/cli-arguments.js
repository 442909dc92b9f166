// @ts-check
/** The command line of `holdfast check`, read strictly: what it would guess at may cost money. */
import process from "node:process";
import { parseArgs } from "node:util";

/** How long a trial may take where nothing is said, in seconds. */
const WITHIN_S = 120;

/** Options of the command line. */
const OPTIONS = /** @type {const} */ ({
  json: { type: "boolean" },
  against: { type: "string" },
  body: { type: "string" },
  header: { type: "string", multiple: true, default: /** @type {string[]} */ ([]) },
  param: { type: "string", multiple: true, default: /** @type {string[]} */ ([]) },
  twice: { type: "boolean", default: false },
  within: { type: "string", default: String(WITHIN_S) },
});

export const USAGE = `Usage: holdfast check <profile.json> [--json]
       holdfast check <profile.json> --against <url> --body <json> [--header "name: value"] [--param name=value]
                      [--twice] [--within <seconds>]
       holdfast --help | --version

Checks a profile (a file, or the name of a built-in one) by the module that will read it, and explains it. With
--against it is tried on a service, which runs and may charge one job: take a sandbox. A request whose answer is lost
is sent 4 times at most; an answer in which no id is found ends the trial, and so do ${WITHIN_S} seconds, or --within.
--twice sends the same once more under the same key, to see that the service makes no second job of it.
$NAME and \${NAME} in a header's value are read from the environment.

Exit status: 0 where it holds, 1 where it does not, 2 where it could not be read.
`;

/** What was not understood, in a sentence for the person who wrote it. */
export class Misunderstood extends Error {}

/**
 * What the command line says.
 *
 * @param {string[]} [line]
 */
export function understood(line) {
  const { values, positionals } = parsed(line);
  const [command, file, ...more] = positionals;
  if (command !== "check") throw new Misunderstood(command ? `There is no command "${command}".` : "");
  if (!file) throw new Misunderstood("check needs the file of a profile.");
  if (more.length) throw new Misunderstood(`One profile at a time: what is ${more.join(" ")}?`);
  const within = Number(values.within);
  if (!(within > 0 && within <= 86_400)) throw new Misunderstood("--within is a number of seconds, of a day at most.");
  return { file, values, withinMs: Math.ceil(within * 1000) };
}

/** @param {string[]} [args] */
function parsed(args) {
  try {
    return parseArgs({ ...(args && { args }), options: OPTIONS, allowPositionals: true });
  } catch (/** @type {any} */ error) {
    const [sentence] = error.message.split(/(?<=['"])\. /);
    throw new Misunderstood(`${sentence.replace(/\.$/, "")}.`);
  }
}

/**
 * What a service is tried with, from the command line. Nothing has been sent when it throws.
 *
 * @param {ReturnType<typeof understood>} asked
 * @param {any} profile
 */
export function trialOf({ values, withinMs }, profile) {
  const { against = "", header, param, twice } = values;
  return {
    profile, twice, withinMs, baseUrl: against,
    headers: headersOf(header),
    params: Object.fromEntries(param.map((own) => pair(own, "=", "--param name=value"))),
    body: bodyOf(values.body),
  };
}

/** @param {string | undefined} given */
function bodyOf(given) {
  if (given === undefined) throw new Misunderstood("--against needs --body: what is to be submitted, for example --body '{}'.");
  try {
    JSON.parse(given);
  } catch (/** @type {any} */ error) {
    throw new Misunderstood(`--body is no JSON: ${error.message}.`);
  }
  return given;
}

/** @param {readonly string[]} lines */
function headersOf(lines) {
  const headers = lines.map((line) => {
    const [name, value] = pair(line, ":", '--header "name: value"');
    return [name, value.replace(/\$(?:\{(\w+)\}|([A-Za-z_]\w*))/g, (_, braced, plain) => variable(braced ?? plain, name))];
  });
  try {
    return Object.fromEntries(new Headers(/** @type {[string, string][]} */ (headers)));
  } catch {
    // Its own sentence would show the value, which is a secret.
    throw new Misunderstood(`This is no header that can be sent: ${headers.map(([name]) => name).join(", ")}.`);
  }
}

/**
 * @param {string} name
 * @param {string} header
 */
function variable(name, header) {
  const value = process.env[name];
  if (!value) throw new Misunderstood(`--header ${header} names $${name}, and there is no such variable in the environment.`);
  return value;
}

/**
 * @param {string} line
 * @param {string} between
 * @param {string} form
 * @returns {[string, string]}
 */
function pair(line, between, form) {
  const at = line.indexOf(between);
  const name = line.slice(0, Math.max(at, 0)).trim();
  // What it says is not repeated: it may be a credential.
  if (!name) throw new Misunderstood(`An option is not of the form ${form}.`);
  return [name, line.slice(at + 1).trim()];
}
