/** What a glue takes from its host. */
interface Time {
  Date: { now(): number };
  setTimeout(call: () => void, ms?: number): any;
  clearTimeout(timer: any): void;
}

/** Makes a glue with an instance of its own. */
export function makeGlue(queueMicrotask: (task: () => void) => void, host?: Time): typeof import("./glue.js");
