// The loopback service as a process of one's own.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { loopbackProgram } from "./environment.mjs";
import { credentials } from "./secrets.mjs";

/** How long a name may take to be reached, in milliseconds, where nothing else is said. */
const REACHED_MS = 60_000;

/** What it lets in where nothing else is said. */
const TOKEN = "demo-token";

/** Where one has listened: a port that comes again would bring what browsers keep of it. */
const origins = new Set();

/** A running loopback service, its control plane and its ledger. */
export class Loopback {
  #process;

  /** Where it listens: `http://127.0.0.1:PORT`. */
  origin;

  /**
   * Starts one that serves folders; it ends with this process at the latest.
   *
   * @param {Record<string, string>} mounts Folders by the path that they are served at.
   * @param {{ token?: string }} [options] A bearer token that it lets in, beside its own.
   */
  static async start(mounts, { token } = {}) {
    credentials.add(token ?? TOKEN);
    const at = Object.entries(mounts).flatMap(([path, folder]) => ["--static-at", `${path}=${folder}`]);
    const args = [...at, ...(token ? ["--token", token] : []), "--port", "0", "--until-stdin-closes"];
    const loopback = new Loopback();
    loopback.#process = spawn(loopbackProgram(), args, { stdio: ["pipe", "pipe", "inherit"] });
    loopback.origin = await new Promise((resolve, reject) => {
      loopback.#process.once("error", reject);
      loopback.#process.once("exit", (code) => reject(new Error(`The loopback ended with ${code}.`)));
      createInterface(loopback.#process.stdout).once("line", (line) => resolve(JSON.parse(line).listening));
    });
    if (origins.has(loopback.origin)) {
      const another = await Loopback.start(mounts, { token });
      await loopback.stop();
      return another;
    }
    origins.add(loopback.origin);
    return loopback;
  }

  /**
   * The service under a path of it, with a control plane of its own.
   *
   * @param {string} path
   */
  at(path) {
    const service = new Loopback();
    service.origin = this.origin + path;
    return service;
  }

  /** Ends it. */
  async stop() {
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) return;
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.stdin.end();
    const late = setTimeout(() => this.#process.kill("SIGKILL"), 2000);
    await ended;
    clearTimeout(late);
  }

  /** Withholds the answers of a call from now on: it is done and charged, nobody hears of it. */
  hold = (call = "submit") => this.#ask("POST", "hold", { call });

  /** Lets withheld answers go. */
  release = () => this.#ask("POST", "release");

  /** Resolves once an answer is withheld. */
  held = () => this.#until("held");

  /** Sets faults; see the service's own list of them. */
  faults = (faults) => this.#ask("POST", "faults", faults);

  /** Forgets jobs, faults, holds and fail points. */
  reset = () => this.#ask("POST", "reset");

  /** What was executed, charged and served. */
  ledger = () => this.#ask("GET", "ledger");

  /** The latest requests, oldest first. */
  requests = () => this.#ask("GET", "requests");

  /** Resolves with the names of the fail points reached after the first `after`. */
  reached = async (after = 0) => (await this.#until(`reached?after=${after}`)).names;

  /**
   * Resolves when a name has been reached after the first `after`; rejects where that does not come in time, or
   * the service has ended.
   *
   * @param {string} name
   */
  async reachedName(name, after = 0, limitMs = REACHED_MS) {
    const signal = AbortSignal.timeout(limitMs);
    for (let seen = after; ; ) {
      const told = await this.#ask("GET", `reached?after=${seen}`, undefined, signal).catch((cause) => {
        throw new Error(`${name} was not reached${signal.aborted ? ` in ${limitMs} ms` : ""}.`, { cause });
      });
      if (told?.names.includes(name)) return;
      seen += told?.names.length ?? 0;
    }
  }

  async #ask(method, path, body, signal) {
    const answer = await fetch(`${this.origin}/_control/${path}`, {
      method,
      signal,
      body: body && JSON.stringify(body),
      headers: body && { "content-type": "application/json" },
    });
    if (!answer.ok) throw new Error(`The control plane said ${answer.status} to ${path}.`);
    return answer.status === 204 ? undefined : answer.json();
  }

  /** Asks until there is something to tell; the control plane itself gives up after 10 s. */
  async #until(path) {
    for (let round = 0; round < 3; round++) {
      const told = await this.#ask("GET", path);
      if (told) return told;
    }
    throw new Error(`Nothing has come of ${path} in 30 s.`);
  }
}
