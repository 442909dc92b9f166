// The Worker and the relay of the documentation, and a way to look at what they have made.
import relay from "./relay.js";
import worker from "./sample.js";

export { Jobs } from "./sample.js";

// Whom the relay of the documentation asks.
globalThis.userOf = async () => "ada";

export default {
  ...worker,
  async fetch(request, env) {
    if (new URL(request.url).pathname !== "/") return relay.fetch(request, env);
    const { keys } = await env.RESULTS.list();
    return Response.json(await Promise.all(keys.map(({ name }) => env.RESULTS.get(name, "json"))));
  },
};
