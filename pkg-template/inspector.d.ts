/**
 * A window into a client, for any page: what is under way, why it waits, what happened, what it cost, and what can
 * be done. A web component with a style of its own, light and dark, that asks for no permission of a content policy.
 *
 * @packageDocumentation
 */
import type { Holdfast } from "./index.js";

/** The element, called `holdfast-inspector`. Removing it ends it; put back, it goes on. */
export interface HoldfastInspector extends HTMLElement {
  /** The client that it shows; set before it is connected. */
  holdfast: Holdfast<any>;
}

/**
 * Shows the current account's operations, 200 at a time, the newest first. Throws `NOT_ALLOWED` where there is no
 * document, as on a server.
 *
 * @example
 * import { inspect } from "holdfast/inspector";
 *
 * if (location.hash === "#inspect") inspect(holdfast);
 */
export declare function inspect(holdfast: Holdfast<any>, target?: Element): HoldfastInspector;
