// @ts-check
/**
 * For browser extensions: the background drives, pages of the extension show and ask.
 *
 * Everything is imported at once, and nothing is awaited on the way: a background worker may import
 * nothing later, and hears only those events that it listens to in its first turn.
 */
export { background } from "./extension-background.js";
export { connect } from "./extension-remote.js";
export { HoldfastError, isHoldfastError } from "./error.js";
