// What the browser tests share: the service, the browsers, and the search for secrets.
export * from "./harness/browser.mjs";
export * from "./harness/dice.mjs";
export * from "./harness/environment.mjs";
export * from "./harness/loopback.mjs";
export * from "./harness/memory.mjs";
export * from "./harness/process.mjs";
export * from "./harness/secrets.mjs";
export * from "./harness/site.mjs";
export * from "./harness/takeover.mjs";
export * from "./harness/until.mjs";
export * from "./harness/versions.mjs";
