#!/usr/bin/env node
// @ts-check
/** `npx holdfast check profile.json`: whether a profile holds, and what it says in words. */
import { readFile } from "node:fs/promises";
import process from "node:process";
import { Misunderstood, trialOf, understood, USAGE } from "./cli-arguments.js";
import { explained } from "./cli-words.js";
import init, { Client } from "./glue.js";

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

/**
 * The text of a file, or of the profile that is built in under that name.
 *
 * @param {string} file
 */
async function textOf(file) {
  try {
    return { text: await readFile(file, "utf8"), isOwn: true };
  } catch (error) {
    if (!/^[\w-]+$/.test(file)) throw error;
    const text = await readFile(new URL(`./profiles/${file}.json`, import.meta.url), "utf8").catch(() => undefined);
    if (text === undefined) throw error;
    return { text, isOwn: false };
  }
}

/** @param {string} file */
async function read(file) {
  try {
    const { text, isOwn } = await textOf(file);
    // Some editors put a mark before the text.
    return { profile: JSON.parse(text.replace(/^\uFEFF/, "")), isOwn };
  } catch (/** @type {any} */ error) {
    throw new Misunderstood(`${file}: ${error.message}`);
  }
}

/** What is said in the place of work, where that is asked for. */
async function answered() {
  const asked = process.argv.slice(2);
  if (asked.includes("--help") || asked.includes("-h")) return USAGE;
  if (asked[0] !== "--version") return undefined;
  return `${JSON.parse(await readFile(new URL("./package.json", import.meta.url), "utf8")).version}\n`;
}

async function main() {
  const answer = await answered();
  if (answer) {
    process.stdout.write(answer);
    return 0;
  }
  const asked = understood();
  const { file, values } = asked;
  const { profile, isOwn } = await read(file);
  const faults = await faultsOf(profile);
  const words = faults.length ? [] : explained(profile);
  if (values.json) process.stdout.write(`${JSON.stringify({ ok: !faults.length, faults, explained: words })}\n`);
  else if (faults.length) process.stderr.write(`${file} does not hold:\n${faults.map((fault) => `  ${fault}\n`).join("")}`);
  else process.stdout.write(`${file} ${isOwn ? "holds" : "is built in, and holds"}.\n\n${words.join("\n")}\n`);
  if (faults.length || values.against === undefined) return faults.length ? 1 : 0;
  const trial = trialOf(asked, profile);
  const { tried } = await import("./cli-try.js");
  const tell = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);
  tell(`\nTried on ${values.against}:`);
  try {
    return (await tried(trial, tell)) ? 0 : 1;
  } catch (/** @type {any} */ error) {
    tell(error.message);
    return 1;
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof Misunderstood)) throw error;
  // A command is a reason to say all; one option of it is not.
  process.stderr.write(/^(There is no command|$)/.test(error.message) ? USAGE : `${error.message}\n`);
  process.exitCode = 2;
}
