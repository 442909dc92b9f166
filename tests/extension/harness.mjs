// The example extension over a loopback service, in a real browser whose background worker is killed.
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { failPointsFolder, until } from "../browser/harness.mjs";
import { Chromium } from "../browser/harness/chromium.mjs";

const EXAMPLE = fileURLToPath(new URL("../../www/extension/", import.meta.url));
const PAGES = fileURLToPath(new URL("./pages/", import.meta.url));

/**
 * A copy of the example whose service is a loopback's and whose worker tells of itself.
 *
 * @param {import("../browser/harness.mjs").Loopback} service
 * @param {{ then?: string, manifest?: (own: any) => any }} [options] Code that the background runs; changes of the manifest.
 */
export async function makeExtension(service, { then = "", manifest } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-extension-"));
  await cp(EXAMPLE, folder, { recursive: true });
  // The same files of the package, with fail points.
  const own = join(folder, "holdfast");
  for (const name of await readdir(own, { recursive: true })) {
    if (/\.(js|wasm)$/.test(name)) await cp(join(failPointsFolder(), name), join(own, name));
  }
  for (const file of ["probe.js", "alone.html", "alone.js", "content.js"]) await cp(join(PAGES, file), join(folder, file));
  await writeFile(
    join(folder, "config.js"),
    `import { probe } from "./probe.js";\nexport const baseUrl = "${service.origin}";\nprobe(baseUrl);\n${then}`,
  );
  if (manifest) {
    const path = join(folder, "manifest.json");
    await writeFile(path, JSON.stringify(manifest(JSON.parse(await readFile(path, "utf8")))));
  }
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Code of a background that submits by itself once it is installed, from a page that closes then. */
export const submitting = (intent) => `
const api = globalThis.browser ?? chrome;
api.runtime.onInstalled.addListener(() => api.tabs.create({ url: "alone.html#${encodeURIComponent(intent)}" }));`;

/** A credential that stands whole in no script, which the browser keeps, and code that puts it where the example reads it. */
export function secret() {
  const parts = ["secret", "of", "the", "extension"];
  const storing = `(globalThis.browser ?? chrome).storage.session.set({ token: ${JSON.stringify(parts)}.join("-") });`;
  return { token: parts.join("-"), storing };
}

/** What Chromium is told so that it loads an extension. */
export const loading = (folder) => [`--load-extension=${folder}`, `--disable-extensions-except=${folder}`];

/** A Chromium with the extension. */
export class Extended {
  #browser;
  #devtools;
  /** Where its pages are. */
  origin;

  static async open(profile, folder) {
    const opened = new Extended();
    opened.#browser = await Chromium.open(profile, { more: loading(folder) });
    opened.#devtools = await opened.#browser.devtools();
    await opened.#letReload();
    await until(async () => (await opened.#workers()).length > 0, "the background's worker");
    const [{ url }] = await opened.#workers();
    opened.origin = new URL(url).origin === "null" ? url.replace(/(:\/\/[^/]+)\/.*/, "$1") : new URL(url).origin;
    return opened;
  }

  /** The popup, in a tab. */
  async popup() {
    const page = await this.#browser.page();
    await page.goto(`${this.origin}/popup.html`);
    await page.waitForFunction(() => globalThis.holdfast);
    return page;
  }

  page(init) {
    return this.#browser.page(init);
  }

  /** Ends the background's worker at once; whether there was one. */
  async killWorker() {
    const [worker] = await this.#workers();
    if (!worker) return false;
    const { targetId } = worker;
    return this.#devtools.send("Target.closeTarget", { targetId }).then(({ success }) => success, () => false);
  }

  kill() {
    return this.#browser.kill();
  }

  /** Without the developer's mode, an extension that is not from a shop ends when it is reloaded. */
  async #letReload() {
    const page = await this.#browser.page();
    await page.goto("chrome://extensions");
    await page.evaluate(() => chrome.developerPrivate.updateProfileConfiguration({ inDeveloperMode: true }));
    await page.close();
  }

  async #workers() {
    const { targetInfos } = await this.#devtools.send("Target.getTargets");
    return targetInfos.filter(({ type, url }) => type === "service_worker" && url.startsWith("chrome-extension:"));
  }
}
