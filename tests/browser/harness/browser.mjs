// The browsers, by name, behind one small interface.
import { Chromium } from "./chromium.mjs";
import { Firefox } from "./firefox.mjs";
import { WebKit } from "./webkit.mjs";

/**
 * A browser that runs over a profile folder.
 *
 * @typedef {object} Browser
 * @property {number} pid The leader of its process group.
 * @property {(init?: Function, argument?: any) => Promise<Page>} page Opens a tab over what the profile
 *   keeps, with a script that runs before each page's own.
 * @property {() => Promise<Session>} session Tabs for one test, with a storage in which nothing is.
 * @property {(offline: boolean) => Promise<void>} [setOffline] Where the browser can be told so.
 * @property {(page: Page) => Promise<void>} crash Ends the tab's process, and no other.
 * @property {(page: Page, arm: (address?: string) => void) => Promise<() => Promise<void>>} freeze Stops a tab where
 *   `arm` makes it come to a breakpoint, or wait for what it asks under an address; gives what lets it go on.
 * @property {() => Promise<void>} kill Ends all its processes with SIGKILL.
 */

/**
 * A tab. The members are those of Playwright's pages.
 *
 * @typedef {object} Page
 * @property {(url: string) => Promise<any>} goto
 * @property {() => Promise<any>} reload
 * @property {(work: Function, argument?: any) => Promise<any>} evaluate
 * @property {(isTrue: Function, argument?: any, options?: { timeout?: number }) => Promise<any>} waitForFunction
 * @property {() => Promise<any>} close
 * @property {() => Promise<void>} [back] Where the page itself cannot be told to go back.
 */

/**
 * @typedef {object} Session
 * @property {Browser["page"]} page
 * @property {() => Promise<any>} close
 */

const BROWSERS = { chromium: Chromium, firefox: Firefox, webkit: WebKit };

/** The browser that tests run in: `HOLDFAST_BROWSER`, or Chromium. */
export const browserName = process.env.HOLDFAST_BROWSER || "chromium";

/**
 * Starts the browser that tests run in, as a process group of its own.
 *
 * @param {string} profile
 * @param {object} [options] See {@link Chromium.open}.
 * @returns {Promise<Browser>}
 */
export async function openBrowser(profile, options) {
  const kind = BROWSERS[browserName];
  if (!kind) throw new Error(`HOLDFAST_BROWSER is none of ${Object.keys(BROWSERS).join(", ")}: ${browserName}`);
  return kind.open(profile, options);
}

export { Chromium };
