/**
 * Holdfast in browser extensions (Manifest V3; Chromium and Firefox).
 *
 * The background drives: its worker is ended by the browser after 30 s without events, again and again,
 * and an alarm wakes it when the stored work wants something. Pages of the extension show and ask.
 *
 * The manifest needs `"permissions": ["alarms"]`, the services' origins in `"host_permissions"`, and
 * `"content_security_policy": {"extension_pages": "script-src 'self' 'wasm-unsafe-eval'; object-src 'self'"}`.
 * `"unlimitedStorage"` keeps the browser from evicting what is stored; without it, a full disk may.
 */
import type { CheckedServices, Holdfast, HoldfastOptions, Service, StandardSchema } from "./index.js";
export { HoldfastError, isHoldfastError } from "./index.js";

/** What a sender asks for. */
export interface Request {
  /** The call; all but `find`, `list`, `load`, `journal`, `supportReport`, `chunk` and `quote` change something. */
  readonly action:
    | "submit" | "adopt" | "quote" | "revise" | "command" | "forget" | "find" | "list" | "load"
    | "journal" | "supportReport" | "chunk" | "start";
  /** Which service's, where the call names one. */
  readonly service?: string;
  /** Which operation's, where the call names one. */
  readonly operationId?: string;
  /** Which command: all but `cancel` and `acknowledge` may lead to charges or losses. */
  readonly command?: "cancel" | "resume" | "resolve" | "retry" | "acknowledge" | "delete";
}

/** Who sends it: the browser's `runtime.MessageSender`. */
export interface Sender {
  readonly id?: string;
  /** The page's address; a content script has that of the page it runs in. */
  readonly url?: string;
  readonly tab?: object;
}

/** Whether a sender may. Anything but `true` refuses, and so do a throw and more than 25 s. */
export type Allow = (request: Request, sender: Sender) => boolean | Promise<boolean>;

/** The options of `createHoldfast`, and who may ask. */
export interface BackgroundOptions<Services extends Record<string, Service<any>>> extends HoldfastOptions<Services> {
  /**
   * Decides about each message, those of the extension's own pages too. Default: these may, and nobody
   * else: a content script cannot spend money unless it is allowed to here. Each action is decided by itself: who may
   * only `submit` cannot wait for the outcome, which takes `load`, nor read a result, which takes `chunk`.
   *
   * @example
   * allow: ({ action }, { url }) => url?.startsWith(chrome.runtime.getURL("")) || action === "submit"
   */
  readonly allow?: Allow;
  /**
   * What must be there before work goes on or a message is answered, such as the name that `account` gives
   * where it is read from storage; it is waited for 25 s at the most, and `start()` waits for it too. The
   * worker begins anew whenever it is woken: without this, what a page asks then finds nobody signed in.
   */
  readonly ready?: PromiseLike<unknown>;
}

/**
 * Makes the background's client and goes on with what is stored. Call it in the first turn of the
 * background's script: no `await` before it, and no dynamic import of it.
 *
 * A request whose answer does not begin within 25 s is given up and recovered by its key or its job's
 * id, for the browser would end the worker at 30. After signing in or out, call `start()`: pages that are
 * open hear of it too. The alarm's name is `holdfast`: clear your own by their names, and not by `clearAll()`.
 *
 * @example
 * import { background } from "holdfast/extension";
 * background({ account: () => "local", services: { reports: { profile: "runharvester", baseUrl } } });
 *
 * @throws HoldfastError `INVALID_INPUT`; `NOT_ALLOWED` outside of an extension, and where there is one already
 */
export function background<const Services extends Record<string, Service<any>>>(
  options: BackgroundOptions<Services> & { readonly services: CheckedServices<Services> },
): Holdfast<Services>;

/** A service as a page sees it. */
export interface Seen {
  /** The schema of its results, to type them; the background's validates them. */
  readonly result?: StandardSchema<any>;
}

/**
 * Makes a client for a page of the extension (or, where `allow` says so, a content script): the same
 * calls, made by the background. It owns nothing, loads no WebAssembly, and hears of every change. In a
 * content script it hears only of what it waits for, and `resetStorage` and `storageHealth` are not there: the
 * storage is the extension's.
 *
 * @example
 * import { connect } from "holdfast/extension";
 * const holdfast = connect({ services: { reports: {} } });
 * const operation = await holdfast.submit("reports", { intent: "today", body: { url } });
 *
 * @throws HoldfastError `INVALID_INPUT`; `NOT_ALLOWED` outside of an extension
 */
export function connect<const Services extends Record<string, Seen>>(options: {
  /** Those of the background's services that this page uses, by their names there. */
  readonly services: Services;
  /** As in the background. Default: `"holdfast"`. */
  readonly database?: string;
}): Holdfast<{ readonly [Name in keyof Services]: Service<any> & Services[Name] }>;
