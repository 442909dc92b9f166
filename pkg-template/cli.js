#!/usr/bin/env node
// @ts-check
/** `npx holdfast check profile.json`: whether a profile holds, and what it says in words. */
import { readFile } from "node:fs/promises";
import process from "node:process";
import { parseArgs } from "node:util";
import { explained } from "./cli-words.js";
import init, { Client } from "./glue.js";

const USAGE = `Usage: holdfast check <profile.json> [--json]
       holdfast check <profile.json> --against <url> --body <json> [--header "name: value"] [--param name=value] [--twice]

Checks a profile by the module that will read it, and explains it. With --against it is tried on a service, which
runs and may charge one job: take a sandbox. --twice sends the same once more under the same key, to see that the
service makes no second job of it. A header's value that begins with $ is read from that variable.

Exit status: 0 where it holds, 1 where it does not, 2 where it could not be read.
`;

/** Options of the command line. */
const OPTIONS = /** @type {const} */ ({
  json: { type: "boolean" },
  against: { type: "string" },
  body: { type: "string", default: "{}" },
  header: { type: "string", multiple: true, default: [] },
  param: { type: "string", multiple: true, default: [] },
  twice: { type: "boolean", default: false },
});

/**
 * What is wrong with a profile, by the module's own reader; nothing where it holds.
 *
 * @param {any} profile
 * @returns {Promise<string[]>}
 */
async function faultsOf(profile) {
  await init({ module_or_path: await readFile(new URL("./holdfast.wasm", import.meta.url)) });
  const services = { service: { profile, baseUrl: "https://api.example.com" } };
  /** @type {any} */
  const host = { account: () => null, validates: () => false, consumes: false };
  try {
    new Client(JSON.stringify({ services }), host);
    return [];
  } catch (/** @type {any} */ error) {
    if (typeof error?.message !== "string") throw error;
    return error.message.split("; ").map((/** @type {string} */ own) => own.replace(/^\/?services\/service\/profile/, ""));
  }
}

/** What the command line says; nothing where it was not understood. */
function understood() {
  try {
    const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
    const [command, file, ...more] = positionals;
    return command === "check" && file && !more.length ? { file, values } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * @param {readonly string[]} lines
 * @param {string} between
 * @returns {Record<string, string>}
 */
function pairs(lines, between) {
  return Object.fromEntries(
    lines.map((line) => {
      const [name, ...rest] = line.split(between);
      const value = rest.join(between).trim();
      return [name.trim(), value.startsWith("$") ? (process.env[value.slice(1)] ?? "") : value];
    }),
  );
}

async function main() {
  const asked = understood();
  if (!asked) {
    process.stderr.write(USAGE);
    return 2;
  }
  const { file, values } = asked;
  let profile;
  try {
    profile = JSON.parse(await readFile(file, "utf8"));
  } catch (/** @type {any} */ error) {
    process.stderr.write(`${file}: ${error.message}\n`);
    return 2;
  }
  const faults = await faultsOf(profile);
  const words = faults.length ? [] : explained(profile);
  if (values.json) process.stdout.write(`${JSON.stringify({ ok: !faults.length, faults, explained: words })}\n`);
  else if (faults.length) process.stderr.write(`${file} does not hold:\n${faults.map((fault) => `  ${fault}\n`).join("")}`);
  else process.stdout.write(`${file} holds.\n\n${words.join("\n")}\n`);
  if (faults.length || values.against === undefined) return faults.length ? 1 : 0;
  const { tried } = await import("./cli-try.js");
  const tell = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);
  tell(`\nTried on ${values.against}:`);
  const { against, body, header, param, twice } = values;
  try {
    const trial = { profile, baseUrl: against, body, headers: pairs(header, ":"), params: pairs(param, "="), twice };
    return (await tried(trial, tell)) ? 0 : 1;
  } catch (/** @type {any} */ error) {
    tell(error.message);
    return 1;
  }
}

process.exitCode = await main();
