/** Makes a glue with an instance of its own. */
export function makeGlue(queueMicrotask: (task: () => void) => void): typeof import("./glue.js");
