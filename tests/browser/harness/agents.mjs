// The other side of `pages/agent.js`: what a page is to do, and what has come of it.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";

/** How long a page may take to come up, in milliseconds. */
const READY_MS = 60_000;
/** How often it is looked whether something has become true, in milliseconds. */
const POLL_MS = 50;

const CORS = { "access-control-allow-origin": "*", "access-control-allow-headers": "content-type", "cache-control": "no-store" };

/** Where the pages of one browser ask. */
export class AgentServer {
  #server;
  /** @type {Map<string, Agent>} */
  #agents = new Map();
  #count = 0;
  origin;

  static async start() {
    const started = new AgentServer();
    started.#server = createServer((request, response) => started.#answer(request, response));
    await new Promise((resolve) => started.#server.listen(0, "127.0.0.1", resolve));
    started.origin = `http://127.0.0.1:${started.#server.address().port}`;
    return started;
  }

  async stop() {
    const error = new Error("the browser was killed");
    for (const agent of this.#agents.values()) agent.drop(error);
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** @param {string} [init] What runs before each page's own scripts. */
  agent(init = "") {
    const name = `${(this.#count += 1)}`;
    const agent = new Agent(`${this.origin}/agent/${name}`, init);
    this.#agents.set(name, agent);
    return agent;
  }

  async #answer(request, response) {
    const [, kind, name, what] = request.url.split("/");
    const give = (status, body = "", type = "text/plain") => response.writeHead(status, { ...CORS, "content-type": type }).end(body);
    if (request.method === "OPTIONS") return give(204);
    if (kind === "home") return give(200, HOME, "text/html");
    if (kind === "agent.js") return give(200, SCRIPT, "text/javascript");
    const agent = this.#agents.get(name);
    if (!agent) return give(404);
    if (what === "init") return give(200, agent.init);
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    if (what === "next") return agent.asks(JSON.parse(body), (order) => give(200, JSON.stringify(order)));
    agent.did(JSON.parse(body));
    give(204);
  }
}

const HOME = '<!doctype html><title>home</title><link rel="icon" href="data:,"><script src="/agent.js"></script>';
const SCRIPT = readFileSync(new URL("../pages/agent.js", import.meta.url), "utf8");

/**
 * One tab.
 *
 * @implements {import("./browser.mjs").Page}
 */
class Agent {
  #base;
  /** The document that asks, the one that was told to go last, and the question that waits. */
  #document;
  #left;
  #ask;
  #orders = [];
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  #pending = new Map();
  #count = 0;
  #arrived = [];

  constructor(base, init) {
    this.#base = base;
    this.init = init;
  }

  /** A URL under which a page belongs to this tab. */
  address(url) {
    return `${url}#agent=${this.#base}`;
  }

  /** A document asks what to do. */
  asks({ document }, give) {
    if (document !== this.#document && document !== this.#left) {
      this.drop(new Error("the page was left"));
      this.#document = document;
      for (const arrive of this.#arrived.splice(0)) arrive();
    }
    this.#ask = give;
    this.#give();
  }

  /** What came of an order. */
  did({ id, value, error }) {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) pending?.resolve(value);
    else pending?.reject(new Error(error));
  }

  /** Nothing comes any more of what was ordered. */
  drop(error) {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    this.#orders = [];
    this.#ask = undefined;
  }

  #give() {
    if (!this.#ask || !this.#orders.length) return;
    this.#ask(this.#orders.shift());
    this.#ask = undefined;
  }

  #order(source) {
    const id = (this.#count += 1);
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#orders.push({ id, source });
      this.#give();
    });
  }

  /** Orders what makes the document go. */
  #dismiss(source) {
    this.#order(source).catch(() => undefined);
    this.#left = this.#document;
    this.#document = undefined;
  }

  /** Resolves once a document asks. */
  ready() {
    if (this.#document) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error("no page asks")), READY_MS);
      this.#arrived.push(() => {
        clearTimeout(late);
        resolve();
      });
    });
  }

  evaluate(work, argument) {
    return this.#order(`(${work})(${argument === undefined ? "" : JSON.stringify(argument)})`);
  }

  async goto(url) {
    const isAgents = url !== "about:blank";
    // What is left is put aside, and two pages is all that WebKit keeps of a whole browser: not those where tabs begin.
    const way = `location[location.pathname === "/home" ? "replace" : "assign"]`;
    this.#dismiss(`void ${way}(${JSON.stringify(isAgents ? this.address(url) : url)})`);
    if (isAgents) await this.ready();
  }

  async reload() {
    this.#dismiss("void location.reload()");
    await this.ready();
  }

  /** What was put aside asks again. */
  async back() {
    this.#dismiss("void history.back()");
    await this.ready();
  }

  async close() {
    if (this.#document) this.#dismiss("void window.close()");
  }

  async waitForFunction(isTrue, argument, { timeout = 30_000 } = {}) {
    const end = Date.now() + timeout;
    while (!(await this.evaluate(isTrue, argument))) {
      if (Date.now() > end) throw new Error(`In ${timeout} ms it did not become true: ${isTrue}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}
