// What the browser tests share: the service, the browser, and the search for secrets.
export * from "./harness/chromium.mjs";
export * from "./harness/environment.mjs";
export * from "./harness/loopback.mjs";
export * from "./harness/secrets.mjs";
export * from "./harness/site.mjs";
