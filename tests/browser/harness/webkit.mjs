// WebKitGTK's MiniBrowser. A session that is driven keeps nothing on the disk, so this one is not: its
// pages load `pages/agent.js`, which asks over loopback HTTP what to do.
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { AgentServer } from "./agents.mjs";
import { program } from "./environment.mjs";
import { ProcessGroup } from "./process.mjs";
import { crashed, frozen } from "./tab-process.mjs";

const ARGUMENTS = ["--javascript-can-open-windows-automatically=true"];

/** The screen that nobody sees: one for all. @type {Promise<string> | undefined} */
let screen;

async function makeScreen() {
  const group = new ProcessGroup([program("Xvfb"), "-displayfd", "3", "-screen", "0", "1024x768x24", "-nolisten", "tcp"], randomUUID());
  group.ignore();
  const [number] = await group.says(/^\d+$/, 3);
  group.release();
  return `:${number}`;
}

/** @implements {import("./browser.mjs").Browser} */
export class WebKit {
  #group;
  #agents;
  #home;

  /** @param {string} profile */
  static async open(profile) {
    screen ??= makeScreen();
    const environment = {
      DISPLAY: await screen,
      GDK_BACKEND: "x11",
      NO_AT_BRIDGE: "1",
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1",
      ...(await folders(profile)),
    };
    const opened = new WebKit();
    opened.#agents = await AgentServer.start();
    opened.#home = opened.#agents.agent();
    const line = [program("MiniBrowser"), ...ARGUMENTS, opened.#home.address(`${opened.#agents.origin}/home`)];
    opened.#group = new ProcessGroup(line, profile, environment).ignore();
    try {
      await opened.#home.ready();
    } catch (error) {
      await opened.kill();
      throw error;
    }
    return opened;
  }

  get pid() {
    return this.#group.pid;
  }

  async kill() {
    await this.#group.kill();
    await this.#agents.stop();
  }

  /** Ends a page's process. */
  crash = (page) => crashed(this.pid, page);

  /** Stops a page's process. */
  freeze = (page, arm) => frozen(this.pid, page, arm);

  async page(init, argument) {
    const agent = this.#agents.agent(init && `(${init})(${JSON.stringify(argument)})`);
    await this.#home.evaluate((address) => void window.open(address, "_blank", "noopener"), agent.address(`${this.#agents.origin}/home`));
    await agent.ready();
    return agent;
  }

  /** Pages, which share the profile's storage: each service has an origin of its own. */
  async session() {
    const pages = [];
    return {
      page: async (init, argument) => {
        const page = await this.page(init, argument);
        pages.push(page);
        return page;
      },
      close: () => Promise.all(pages.map((page) => page.close())),
    };
  }
}

/** Everything that it keeps is below its profile. */
async function folders(profile) {
  const names = { HOME: "home", XDG_CONFIG_HOME: "config", XDG_DATA_HOME: "data", XDG_CACHE_HOME: "cache", XDG_RUNTIME_DIR: "run" };
  const environment = {};
  for (const [name, folder] of Object.entries(names)) {
    environment[name] = join(profile, folder);
    await mkdir(environment[name], { recursive: true, mode: 0o700 });
  }
  return environment;
}
