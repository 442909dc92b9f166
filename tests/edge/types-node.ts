// What a server's code looks like, checked by the compiler and never run.
import { DatabaseSync } from "node:sqlite";
import { createHoldfast, HoldfastError, type StandardSchema } from "../../pkg-template/node.js";

declare const schema: StandardSchema<{ records: string[] }>;

const holdfast = createHoldfast({
  storage: "./holdfast.db",
  account: () => "local",
  services: {
    runs: {
      profile: "bulkgrid",
      baseUrl: "https://api.example.com",
      authorize: async ({ purpose }) => ({ headers: { authorization: `Bearer ${purpose}` } }),
      result: schema,
    },
  },
});
const operation = await holdfast.submit("runs", { intent: "one", body: {} });
const { records } = await operation.result();
records satisfies string[];

const services = { runs: { profile: "bulkgrid", baseUrl: "https://api.example.com" } } as const;
createHoldfast({ storage: new DatabaseSync(":memory:"), account: () => null, services });

// @ts-expect-error: there must be a service
createHoldfast({ storage: ":memory:", account: () => null, services: {} });
// @ts-expect-error: runs has no option "timeout"
createHoldfast({ storage: ":memory:", account: () => null, services: { runs: { ...services.runs, timeout: 3 } } });
// @ts-expect-error: where work is stored has no default
createHoldfast({ account: () => null, services });
// @ts-expect-error: a file that cannot be read is not deleted from here
holdfast.resetStorage;
// @ts-expect-error: only the services that were given
holdfast.submit("other", { intent: "one", body: {} });

new HoldfastError satisfies Error;
