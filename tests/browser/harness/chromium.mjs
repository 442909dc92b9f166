// Chromium, driven over the DevTools protocol.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { program } from "./environment.mjs";
import { ProcessGroup, START_MS } from "./process.mjs";

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
];
const DEBUGGED = "--remote-debugging-port=0";

const lineOf = (profile, more) => [
  program("chromium"), ...ARGUMENTS, ...more, `--user-data-dir=${profile}`, "about:blank",
];

/** One that nobody drives or debugs. */
export const undriven = (profile, more) => new ProcessGroup(lineOf(profile, more), profile).ignore();

/** @implements {import("./browser.mjs").Browser} */
export class Chromium {
  #group;
  #browser;

  /** The context of the profile, for Playwright. */
  context;

  /**
   * @param {string} profile
   * @param {{ wrap?: readonly string[], more?: readonly string[] }} [options]
   *   A program, with arguments, to start it under; and further arguments for itself.
   */
  static async open(profile, { wrap = [], more = [] } = {}) {
    // What an earlier, killed one wrote names a port that is closed.
    rmSync(join(profile, "DevToolsActivePort"), { force: true });
    const opened = new Chromium();
    opened.#group = new ProcessGroup([...wrap, ...lineOf(profile, [DEBUGGED, ...more])], profile);
    try {
      const [, address] = await opened.#group.says(/DevTools listening on (ws:\S+)/);
      opened.#browser = await chromium.connectOverCDP(address, { timeout: START_MS });
    } catch (error) {
      await opened.kill();
      throw error;
    }
    [opened.context] = opened.#browser.contexts();
    return opened;
  }

  get pid() {
    return this.#group.pid;
  }

  async kill() {
    await this.#group.kill();
    await this.#browser?.close().catch(() => undefined);
  }

  async page(init, argument) {
    return opened(this.context, init, argument);
  }

  /** Whether pages over the profile's storage have a network. */
  setOffline(offline) {
    return this.context.setOffline(offline);
  }

  /** Ends a page's process. */
  async crash(page) {
    const over = page.waitForEvent("crash");
    (await this.context.newCDPSession(page)).send("Page.crash").catch(() => undefined);
    await over;
  }

  /** Stops a page at a breakpoint. */
  async freeze(page, arm) {
    const session = await this.context.newCDPSession(page);
    await session.send("Debugger.enable");
    const stopped = new Promise((resolve) => session.once("Debugger.paused", resolve));
    await page.evaluate(arm);
    await stopped;
    return async () => {
      await session.send("Debugger.resume");
      await session.send("Debugger.disable");
    };
  }

  /** For what concerns the whole browser. */
  devtools() {
    return this.#browser.newBrowserCDPSession();
  }

  /** Pages with a storage of their own, which the profile does not keep. */
  async session() {
    const context = await this.#browser.newContext();
    return { page: (init, argument) => opened(context, init, argument), close: () => context.close() };
  }
}

async function opened(context, init, argument) {
  const page = await context.newPage();
  if (init) await page.addInitScript(init, argument);
  return page;
}
