// An app as its author writes it; how it is bundled is no concern of its code.
import { createHoldfast } from "holdfast";
import { useOwnModule } from "#module";

const holdfast = createHoldfast({
  account: () => "local",
  ...useOwnModule,
  services: {
    reports: {
      profile: "runharvester",
      baseUrl: new URLSearchParams(location.search).get("service") ?? location.origin,
      authorize: () => ({ headers: { authorization: "Bearer demo-token" } }),
    },
  },
});

globalThis.run = async (intent) => {
  const operation = await holdfast.submit("reports", { intent, body: { url: "https://example.com", duration_ms: 20 } });
  const outcome = await operation.outcome();
  return { status: outcome.status, data: typeof outcome.data, message: outcome.error?.message };
};
