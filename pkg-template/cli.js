#!/usr/bin/env node
// @ts-check
/** `npx holdfast check profile.json`: whether a profile holds, and what it says in words. */
import { readFile } from "node:fs/promises";
import process from "node:process";
import { explained } from "./cli-words.js";
import init, { Client } from "./glue.js";

const USAGE = `Usage: holdfast check <profile.json> [--json]

Checks a profile by the module that will read it, and explains it. Exit status: 0 where it holds, 1 where it
does not, 2 where it could not be read.
`;

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

/** @param {readonly string[]} given */
async function main([command, file, ...flags]) {
  if (command !== "check" || !file || flags.some((flag) => flag !== "--json")) {
    process.stderr.write(USAGE);
    return 2;
  }
  let profile;
  try {
    profile = JSON.parse(await readFile(file, "utf8"));
  } catch (/** @type {any} */ error) {
    process.stderr.write(`${file}: ${error.message}\n`);
    return 2;
  }
  const faults = await faultsOf(profile);
  const words = faults.length ? [] : explained(profile);
  if (flags.length) process.stdout.write(`${JSON.stringify({ ok: !faults.length, faults, explained: words })}\n`);
  else if (faults.length) process.stderr.write(`${file} does not hold:\n${faults.map((fault) => `  ${fault}\n`).join("")}`);
  else process.stdout.write(`${file} holds.\n\n${words.join("\n")}\n`);
  return faults.length ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
