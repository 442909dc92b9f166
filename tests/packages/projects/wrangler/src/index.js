// The Worker of the documentation, and a way to look at what it has made.
import worker from "./sample.js";

export { Jobs } from "./sample.js";

export default {
  ...worker,
  async fetch(request, env) {
    const { keys } = await env.RESULTS.list();
    return Response.json(await Promise.all(keys.map(({ name }) => env.RESULTS.get(name, "json"))));
  },
};
