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
   * Runs a test with a fresh service, and a session in which nothing is stored.
   *
   * @param {(world: { service: Loopback, session: import("./browser.mjs").Session, visit: typeof visit }) => Promise<void>} run
   * @param {Record<string, string>} [more] Further folders, by the paths under which they are served.
   */
  async visit(run, more = {}) {
    const service = await Loopback.start({ "/tests": pagesFolder(), "/pkg": packageFolder(), ...more });
    const session = await this.#browser.session();
    try {
      await run({ service, session, visit: (options) => visit(session, service, options) });
    } finally {
      await session.close();
      await service.stop();
    }
  }

  async close() {
    await this.#browser.kill();
    await removeProfile(this.#profile);
  }
}

/** Opens a test page, and waits until its module has run. */
async function visit(session, service, { path = "app.html", init } = {}) {
  const page = await session.page(init);
  await page.goto(`${service.origin}/tests/${path}`);
  await page.waitForFunction(() => globalThis.isReady);
  return page;
}
