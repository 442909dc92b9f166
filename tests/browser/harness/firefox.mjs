// Firefox, driven over WebDriver BiDi.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import puppeteer from "puppeteer-core";
import { program } from "./environment.mjs";
import { ProcessGroup, START_MS } from "./process.mjs";
import { crashed, frozen } from "./tab-process.mjs";

/** How often it is looked whether something has become true, in milliseconds. */
const POLL_MS = 50;

/** What keeps it quiet: nothing of this changes what a page sees. */
const PREFERENCES = {
  "app.normandy.enabled": false,
  "app.update.disabledForTesting": true,
  "browser.aboutwelcome.enabled": false,
  "browser.newtabpage.enabled": false,
  "browser.safebrowsing.downloads.enabled": false,
  "browser.safebrowsing.malware.enabled": false,
  "browser.safebrowsing.phishing.enabled": false,
  "browser.sessionstore.resume_from_crash": false,
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.homepage_override.mstone": "ignore",
  "browser.startup.page": 0,
  "datareporting.policy.dataSubmissionEnabled": false,
  "dom.disable_open_during_load": false,
  "extensions.update.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "network.dns.disablePrefetch": true,
  "remote.active-protocols": 1,
  "services.settings.server": "data:,none",
  "toolkit.startup.max_resumed_crashes": -1,
  "toolkit.telemetry.enabled": false,
};

/** @implements {import("./browser.mjs").Browser} */
export class Firefox {
  #group;
  #browser;

  /**
   * @param {string} profile
   * @param {Record<string, string | number | boolean>} [preferences] More of them.
   */
  static async open(profile, preferences = {}) {
    const lines = Object.entries({ ...PREFERENCES, ...preferences }).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`);
    await writeFile(join(profile, "user.js"), lines.join(""));
    const opened = new Firefox();
    const line = [program("firefox"), "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"];
    opened.#group = new ProcessGroup(line, profile, { MOZ_CRASHREPORTER_DISABLE: "1" });
    try {
      const [, address] = await opened.#group.says(/WebDriver BiDi listening on (ws:\S+)/);
      opened.#browser = await puppeteer.connect({ browserWSEndpoint: `${address}/session`, protocol: "webDriverBiDi" });
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
    await this.#browser?.disconnect().catch(() => undefined);
  }

  /** Ends a page's process. */
  crash = (page) => crashed(this.pid, page);

  /** Stops a page's process. */
  freeze = (page, arm) => frozen(this.pid, page, arm);

  /** Whether the tabs that are open have a network. */
  async setOffline(offline) {
    for (const page of await this.#browser.defaultBrowserContext().pages()) await page.setOfflineMode(offline);
  }

  /**
   * Loads an extension for as long as the browser runs.
   *
   * @param {string} folder
   */
  async install(folder) {
    await this.#browser.installExtension(folder);
  }

  page(init, argument) {
    return FirefoxPage.open(this.#browser.defaultBrowserContext(), init, argument);
  }

  /** Pages with a storage of their own, which the profile does not keep. */
  async session() {
    const context = await this.#browser.createBrowserContext();
    return {
      page: (init, argument) => FirefoxPage.open(context, init, argument),
      close: () => context.close(),
    };
  }
}

/** @implements {import("./browser.mjs").Page} */
class FirefoxPage {
  #page;

  static async open(context, init, argument) {
    const opened = new FirefoxPage();
    const page = (opened.#page = await context.newPage());
    page.setDefaultTimeout(START_MS);
    if (init) await page.evaluateOnNewDocument(init, argument);
    return opened;
  }

  goto = (url) => this.#page.goto(url);
  reload = () => this.#page.reload();
  close = () => this.#page.close();
  evaluate = (work, argument) => this.#page.evaluate(work, argument);
  // Not by frames of the screen, as is the default: a tab behind another has none.
  waitForFunction = (isTrue, argument, { timeout = 30_000 } = {}) =>
    this.#page.waitForFunction(isTrue, { polling: POLL_MS, timeout }, argument);
}
