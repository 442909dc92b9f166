// A real Chromium over a profile folder, whose processes can all be killed at once.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { chromiumProgram, onPath } from "./environment.mjs";

const ARGUMENTS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--no-default-browser-check",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-breakpad",
  "--disable-dev-shm-usage",
  "--password-store=basic",
  "--remote-debugging-port=0",
];

/** How long it may take to start, in milliseconds. */
const START_MS = 60_000;
/** How long its processes may take to disappear once killed, in milliseconds. */
const DEATH_MS = 10_000;

/** A fresh profile folder; the caller removes it with {@link removeProfile}. */
export async function makeProfile() {
  const profile = await mkdtemp(join(tmpdir(), "holdfast-profile-"));
  profiles.add(profile);
  return profile;
}

/** Removes a profile folder on which no browser runs. */
export async function removeProfile(profile) {
  await rm(profile, REMOVAL);
  profiles.delete(profile);
}

const REMOVAL = { recursive: true, force: true, maxRetries: 5 };
/** @type {Set<string>} */
const profiles = new Set();

export class Chromium {
  #process;
  #browser;

  /** The context of the profile, for Playwright. */
  context;

  /**
   * Starts Chromium on a profile folder, as the leader of a process group of its own.
   *
   * @param {string} profile
   * @param {{ wrap?: readonly string[] }} [options] A program, with arguments, to start it under.
   */
  static async open(profile, { wrap = [] } = {}) {
    // What an earlier, killed one wrote names a port that is closed.
    rmSync(join(profile, "DevToolsActivePort"), { force: true });
    const [program, ...args] = [...tether(), ...wrap, chromiumProgram(), ...ARGUMENTS, `--user-data-dir=${profile}`, "about:blank"];
    const opened = new Chromium();
    opened.#process = spawn(program, args, { detached: true, stdio: ["ignore", "ignore", "pipe"] });
    opened.profile = profile;
    running.add(opened);
    try {
      opened.#browser = await chromium.connectOverCDP(await addressOf(opened.#process), { timeout: START_MS });
    } catch (error) {
      await opened.kill();
      throw error;
    }
    [opened.context] = opened.#browser.contexts();
    return opened;
  }

  /** The leader of its process group. */
  get pid() {
    return this.#process.pid;
  }

  /** Kills every process of it with SIGKILL, as a crash or a power cut would. */
  async kill() {
    signalGroup(this.pid, "SIGKILL");
    const end = Date.now() + DEATH_MS;
    for (;;) {
      const alive = aliveOn(this.profile);
      if (!alive.length && !signalGroup(this.pid, 0)) break;
      if (Date.now() > end) throw new Error(`Of Chromium there still live ${alive}.`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    running.delete(this);
    await this.#browser?.close().catch(() => undefined);
  }

  /** Kills those that run. */
  static async killAll() {
    await Promise.all([...running].map((one) => one.kill()));
  }

  /** A context with a storage of its own, which the profile does not keep. */
  newContext() {
    return this.#browser.newContext();
  }

  /** A fresh page, with a script that runs before the page's own. */
  async page(init, argument) {
    const page = await this.context.newPage();
    if (init) await page.addInitScript(init, argument);
    return page;
  }
}

/** @type {Set<Chromium>} */
const running = new Set();
// Whatever ends this process, nothing of what it started stays.
process.on("exit", () => {
  for (const one of running) signalGroup(one.pid, "SIGKILL");
  for (const profile of profiles) rmSync(profile, REMOVAL);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));

/** What lets it die with this process even where that is killed, on systems that have it. */
function tether() {
  const program = onPath("setpriv");
  return program ? [program, "--pdeathsig", "KILL", "--"] : [];
}

/** Whether there was anybody to signal. */
function signalGroup(pid, signal) {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    if (error.code === "ESRCH") return false;
    throw error;
  }
}

/** The processes that still run on a profile folder, by their command lines, where the system tells. */
function aliveOn(profile) {
  let pids = [];
  try {
    pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(`--user-data-dir=${profile}`);
    } catch {
      return false;
    }
  });
}

/** The address of its debugging port, as it tells it on standard error. */
function addressOf(child) {
  return new Promise((resolve, reject) => {
    const told = [];
    const late = setTimeout(() => reject(new Error(`Chromium does not start:\n${told.join("\n")}`)), START_MS);
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`Chromium ended (${code ?? signal}):\n${told.join("\n")}`)));
    createInterface(child.stderr).on("line", (line) => {
      const address = /DevTools listening on (ws:\S+)/.exec(line)?.[1];
      if (address) {
        clearTimeout(late);
        resolve(address);
      } else if (told.length < 40) told.push(line);
    });
  });
}
