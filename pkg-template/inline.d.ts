/**
 * `holdfast` in one file, the module inside: where nothing but scripts can be served. It is some 25 kB more to
 * download than the parts, and comes at once instead of at the first use.
 *
 * @packageDocumentation
 */
export * from "./index.js";
