// One call of a user, by each client, with what its documentation shows first and no option besides the
// credential and the address. Imports are made when a client is called: each is weighed in the same way.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);

/** Package, what is called, and the call. */
export const peers = [
  ["openai", "responses.create (background)", async ({ origin }) => {
    const { default: OpenAI } = await import("openai");
    const client = new OpenAI({ apiKey: "key", baseURL: `${origin}/v1` });
    await client.responses.create({ model: "any", input: "any", background: true });
  }],
  ["@anthropic-ai/sdk", "messages.batches.create", async ({ origin }) => {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const client = new Anthropic({ apiKey: "key", baseURL: origin });
    await client.messages.batches.create({ requests: [] });
  }],
  // Its address is fixed: the requests are led here by its own option for the fetch that it uses.
  ["@fal-ai/client", "queue.submit", async ({ origin }) => {
    const { createFalClient } = await import("@fal-ai/client");
    const here = (url, init) => fetch(origin + new URL(url).pathname, init);
    await createFalClient({ credentials: "key", fetch: here }).queue.submit("any/model", { input: {} });
  }],
  ["apify-client", "actor.start", async ({ origin }) => {
    const { ApifyClient } = await import("apify-client");
    await new ApifyClient({ token: "key", baseUrl: origin }).actor("any").start({});
  }],
  ["replicate", "predictions.create", async ({ origin }) => {
    const { default: Replicate } = await import("replicate");
    await new Replicate({ auth: "key", baseUrl: origin }).predictions.create({ version: "any", input: {} });
  }],
  ["firecrawl", "startCrawl", async ({ origin }) => {
    const { Firecrawl } = await import("firecrawl");
    await new Firecrawl({ apiKey: "fc-key", apiUrl: origin }).startCrawl("https://example.com");
  }],
  ["stripe", "paymentIntents.create", async ({ port }) => {
    const { default: Stripe } = await import("stripe");
    const client = new Stripe("sk_test_key", { host: "127.0.0.1", port, protocol: "http", telemetry: false });
    await client.paymentIntents.create({ amount: 100, currency: "eur" });
  }],
  ["ky", "post", async ({ origin }) => {
    const { default: ky } = await import("ky");
    await ky.post(`${origin}/jobs`, { json: {} }).json();
  }],
  ["got", "post", async ({ origin }) => {
    const { default: got } = await import("got");
    await got.post(`${origin}/jobs`, { json: {} }).json();
  }],
];

/** The version of a peer, as it is installed. */
export function versionOf(name) {
  const { dependencies } = require("./package.json");
  return dependencies[name];
}

/** Holdfast from a built package's folder: one submission, and its result. */
export function holdfast(folder) {
  const { version } = require(join(folder, "package.json"));
  const call = async ({ origin }) => {
    const { DatabaseSync } = await import("node:sqlite");
    const { createHoldfast } = await import(pathToFileURL(join(folder, "node.js")));
    const client = createHoldfast({
      storage: new DatabaseSync(":memory:"),
      account: () => "local",
      services: {
        reports: {
          profile: "runharvester",
          baseUrl: origin,
          authorize: () => ({ headers: { authorization: "Bearer key" }, scope: "one" }),
        },
      },
    });
    try {
      const operation = await client.submit("reports", { intent: "one", body: { url: "https://example.com" } });
      await operation.result();
    } finally {
      await client.close();
    }
  };
  return { version, call };
}
