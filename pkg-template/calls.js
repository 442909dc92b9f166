// @ts-check
/**
 * The calls that may come from another context, and what each takes.
 *
 * @type {Readonly<Record<string, readonly ("text" | "bytes" | "count")[]>>}
 */
export const CALLS = Object.freeze({
  submit: ["text", "text", "bytes"],
  adopt: ["text", "text"],
  quote: ["text", "text", "bytes"],
  revise: ["text", "text", "bytes"],
  command: ["text", "text"],
  forget: ["text", "text"],
  find: ["text", "text"],
  list: ["text"],
  load: ["text"],
  journal: ["text"],
  supportReport: ["text"],
  chunk: ["text", "count"],
  start: [],
});
