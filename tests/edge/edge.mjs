// A Worker in a workerd of its own, which can be killed and started again over the same folder.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { isGroupAlive } from "../browser/harness/process.mjs";
import { until } from "../browser/harness/until.mjs";
import { fetch } from "./fetch.mjs";

const HOST = fileURLToPath(new URL("./edge-host.mjs", import.meta.url));

/** Hosts that run: nothing of them outlives this process. @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();
process.on("exit", () => running.forEach(kill));

export class Edge {
  #process;
  #gone;
  /** Where it listens. */
  origin;
  /** Lines that it has logged. @type {string[]} */
  lines = [];
  #heard = new Set();

  /** @param {object} options As the host takes them. */
  static async start(options) {
    const edge = new Edge();
    edge.#process = spawn(process.execPath, [HOST, JSON.stringify(options)], {
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(edge.#process);
    edge.#gone = new Promise((resolve) => edge.#process.once("exit", resolve));
    for (const stream of [edge.#process.stdout, edge.#process.stderr]) {
      createInterface(stream).on("line", (line) => edge.#hear(line));
    }
    try {
      [, edge.origin] = await edge.says(/^listening (.*)/);
      return edge;
    } catch (error) {
      await edge.kill();
      throw error;
    }
  }

  /**
   * Resolves with the first line that is like this, of those that were and those to come.
   *
   * @param {RegExp} pattern
   */
  says(pattern, limitMs = 30_000) {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => end(new Error(`It has not said ${pattern}:\n${this.lines.slice(-40).join("\n")}`)), limitMs);
      late.unref();
      const end = (error) => {
        clearTimeout(late);
        this.#heard.delete(hear);
        reject(error);
      };
      const hear = (line) => {
        const match = pattern.exec(line);
        if (!match) return;
        clearTimeout(late);
        this.#heard.delete(hear);
        resolve(match);
      };
      this.#heard.add(hear);
      this.#process.once("exit", () => end(new Error(`It ended:\n${this.lines.slice(-40).join("\n")}`)));
      this.lines.forEach(hear);
    });
  }

  /** The leader of its process group. */
  get pid() {
    return this.#process.pid;
  }

  /** @param {string} path */
  async ask(path, init) {
    const answer = await fetch(this.origin + path, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} said ${answer.status}: ${text}`);
    return JSON.parse(text);
  }

  /** Kills every process of it, as a crash would; resolves when they are gone. Once they are, its number may be another's. */
  async kill() {
    if (!running.has(this.#process)) return;
    kill(this.#process);
    await this.#gone;
    // Another may be started at once, over the same port and files.
    await until(() => !isGroupAlive(this.#process.pid), "the end of every process");
    running.delete(this.#process);
  }

  #hear(line) {
    this.lines.push(line);
    for (const hear of [...this.#heard]) hear(line);
  }
}

function kill({ pid }) {
  try {
    return process.kill(-pid, "SIGKILL");
  } catch {
    return false;
  }
}
