// One browser for many tests; each test gets a service and a storage of its own.
import { openBrowser } from "./browser.mjs";
import { packageFolder, pagesFolder } from "./environment.mjs";
import { Loopback } from "./loopback.mjs";
import { makeProfile, removeProfile } from "./process.mjs";

export class Site {
  #browser;
  #profile;

  static async open() {
    const site = new Site();
    site.#profile = await makeProfile();
    site.#browser = await openBrowser(site.#profile);
    return site;
  }

  /**
   * Runs a test with a fresh service, at an origin where nothing is stored: in the profile, which is searched in the end.
   *
   * @param {(world: { service: Loopback, browser: import("./browser.mjs").Browser, visit: typeof visit }) => Promise<void>} run
   * @param {Record<string, string>} [more] Further folders, by the paths under which they are served.
   */
  async visit(run, more = {}) {
    const service = await Loopback.start({ "/tests": pagesFolder(), "/pkg": packageFolder(), ...more });
    const pages = [];
    try {
      await run({ service, browser: this.#browser, visit: (options) => visit(this.#browser, service, pages, options) });
    } finally {
      await Promise.all(pages.map((page) => page.close()));
      await service.stop();
    }
  }

  async close() {
    await this.#browser.kill();
    await removeProfile(this.#profile);
  }
}

/** Opens a test page, and waits until its module has run. */
async function visit(browser, service, pages, { path = "app.html", init } = {}) {
  const page = await browser.page(init);
  pages.push(page);
  await page.goto(`${service.origin}/tests/${path}`);
  await page.waitForFunction(() => globalThis.isReady);
  return page;
}
