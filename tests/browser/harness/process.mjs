// A browser's processes over a profile folder: started as one group, and killed all at once.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onPath } from "./environment.mjs";
import { credentialsIn } from "./secrets.mjs";

/** How long a program may take to start, in milliseconds. */
export const START_MS = 60_000;
/** How long its processes may take to disappear once killed, in milliseconds. */
const DEATH_MS = 10_000;

/** A fresh profile folder; the caller removes it with {@link removeProfile}. */
export async function makeProfile() {
  const profile = await mkdtemp(join(tmpdir(), "holdfast-profile-"));
  profiles.add(profile);
  return profile;
}

/** Removes a profile folder on which no browser runs; fails where a credential that was used stands in it. */
export async function removeProfile(profile) {
  const found = await credentialsIn(profile);
  await rm(profile, REMOVAL);
  profiles.delete(profile);
  if (found.length) throw new Error(`A credential is in the profile: ${found.join(", ")}`);
}

const REMOVAL = { recursive: true, force: true, maxRetries: 5 };
/** @type {Set<string>} */
const profiles = new Set();

/** Programs that run as process groups. */
export class ProcessGroup {
  #process;
  #mark;
  /** What it has said on standard error, where nothing was looked for in it. */
  #said = [];

  /**
   * Starts a program as the leader of a process group of its own.
   *
   * @param {readonly string[]} line The program and its arguments.
   * @param {string} mark What the command line or the environment of each of its processes holds.
   * @param {Record<string, string>} [environment] What is added to this process's own.
   */
  constructor(line, mark, environment = {}) {
    const [program, ...args] = [...tether(), ...line];
    const env = { ...process.env, ...environment, HOLDFAST_MARK: mark };
    this.#mark = mark;
    this.#process = spawn(program, args, { detached: true, stdio: ["ignore", "ignore", "pipe", "pipe"], env });
    running.add(this);
  }

  /** The leader of the group. */
  get pid() {
    return this.#process.pid;
  }

  /**
   * The first match in a line that it says.
   *
   * @param {RegExp} pattern
   * @param {number} [stream] Standard error, or the third, on which some programs tell things.
   * @returns {Promise<RegExpExecArray>}
   */
  says(pattern, stream = 2) {
    return new Promise((resolve, reject) => {
      const fail = (what) => end(new Error(`${this.#process.spawnfile} ${what}:\n${this.#said.join("\n")}`));
      const late = setTimeout(() => fail("does not start"), START_MS);
      const end = (error) => {
        clearTimeout(late);
        reject(error);
      };
      this.#process.once("error", end);
      this.#process.once("exit", (code, signal) => fail(`ended (${code ?? signal})`));
      createInterface(this.#process.stdio[stream]).on("line", (line) => {
        const match = pattern.exec(line);
        if (match) {
          clearTimeout(late);
          resolve(match);
        } else if (this.#said.length < 40) this.#said.push(line);
      });
    });
  }

  /** Drops what it says. */
  ignore() {
    this.#process.stderr.resume();
    return this;
  }

  /** Lets this process end while the program still runs; it is killed then. */
  release() {
    this.#process.unref();
    for (const stream of this.#process.stdio) stream?.unref?.();
    return this;
  }

  /** Kills every process of it with SIGKILL, as a crash or a power cut would. */
  async kill() {
    signalGroup(this.pid, "SIGKILL");
    const end = Date.now() + DEATH_MS;
    for (;;) {
      const alive = aliveWith(this.#mark);
      if (!alive.length && !isGroupAlive(this.pid)) break;
      if (Date.now() > end) throw new Error(`Of ${this.#process.spawnfile} there still live ${alive}.`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    running.delete(this);
  }
}

/** @type {Set<ProcessGroup>} */
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

/** Whether a process of a group still lives. */
export function isGroupAlive(group) {
  if (!signalGroup(group, 0)) return false;
  return !pids().length || membersOf(group).length > 0;
}

/** The processes of a group that still live, where the system tells: one that is dead, and that nobody has buried, does not. */
export const membersOf = (group) =>
  pids().filter((pid) => {
    const [state, , own] = systemTells(pid, "stat").replace(/^.*\) /s, "").split(" ");
    return Number(own) === group && !"ZX".includes(state);
  });

/** The processes that still live and carry a mark, where the system tells. */
const aliveWith = (mark) =>
  pids().filter((pid) => Number(pid) !== process.pid && ["cmdline", "environ"].some((file) => systemTells(pid, file).includes(mark)));

/** What the threads of a process are called, where the system tells. */
export const threadsOf = (pid) => namesIn(`/proc/${pid}/task`).map((thread) => systemTells(pid, `task/${thread}/comm`).trim());

/** All processes, where the system tells. */
const pids = () => namesIn("/proc").filter((name) => /^\d+$/.test(name));

function namesIn(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** What the system tells of a process; nothing of one that is gone. */
export function systemTells(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}
