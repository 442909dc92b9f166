// An app with the inspector in it.
import { createHoldfast } from "/pkg/index.js";
import { inspect } from "/pkg/inspector.js";

const holdfast = createHoldfast({
  account: () => "local",
  services: {
    reports: {
      profile: "runharvester",
      baseUrl: location.origin,
      authorize: () => (globalThis.isSignedOut ? null : { headers: { authorization: "Bearer demo-token" } }),
    },
  },
});
inspect(holdfast, document.querySelector("main"));

Object.assign(globalThis, {
  holdfast,
  inspect,
  submit: async (intent, body) =>
    void (await holdfast.submit("reports", { intent, body: { url: "https://example.com", ...body } })),
  shown: () => document.querySelector("holdfast-inspector")?.shadowRoot.textContent ?? "",
  isReady: true,
});
