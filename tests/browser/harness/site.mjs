// One browser for many tests; each test gets a service and a storage of its own.
import { Chromium, makeProfile, removeProfile } from "./chromium.mjs";
import { packageFolder, pagesFolder } from "./environment.mjs";
import { Loopback } from "./loopback.mjs";

export class Site {
  #chromium;
  #profile;

  /** @param {Parameters<typeof Chromium.open>[1]} [options] */
  static async open(options) {
    const site = new Site();
    site.#profile = await makeProfile();
    site.#chromium = await Chromium.open(site.#profile, options);
    return site;
  }

  /** The leader of the browser's process group. */
  get pid() {
    return this.#chromium.pid;
  }

  /**
   * Runs a test with a fresh service, and a browser context in which nothing is stored.
   *
   * @param {(world: { service: Loopback, context: any, visit: typeof visit }) => Promise<void>} run
   */
  async visit(run) {
    const service = await Loopback.start({ "/tests": pagesFolder(), "/pkg": packageFolder() });
    const context = await this.#chromium.newContext();
    try {
      await run({ service, context, visit: (options) => visit(context, service, options) });
    } finally {
      await context.close();
      await service.stop();
    }
  }

  async close() {
    await this.#chromium.kill();
    await removeProfile(this.#profile);
  }
}

/** Opens a test page, and waits until its module has run; `requests` are the URLs' paths so far. */
async function visit(context, service, { path = "app.html", init } = {}) {
  const page = await context.newPage();
  page.requests = [];
  page.on("request", (request) => page.requests.push(new URL(request.url()).pathname));
  if (init) await page.addInitScript(init);
  await page.goto(`${service.origin}/tests/${path}`);
  await page.waitForFunction(() => globalThis.isReady);
  return page;
}
