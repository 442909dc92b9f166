// A Worker over objects that call a service without keys, and one that states a rate. A test tells it what to do.
import { HoldfastObject, jobs } from "pkg/cloudflare.js";

export class Jobs extends HoldfastObject {
  services = {
    crawls: {
      profile: this.env.CRAWLS,
      baseUrl: `${this.env.ORIGIN}/bulkgrid`,
      params: { endpoint: "crawl" },
      authorize: () => ({ headers: { "x-api-key": this.env.TOKEN } }),
    },
    reports: {
      profile: this.env.RATED,
      baseUrl: this.env.ORIGIN,
      authorize: () => ({ headers: { authorization: `Bearer ${this.env.TOKEN}` } }),
    },
  };

  onSettled({ intent, status, jobId }) {
    console.log(`settled ${JSON.stringify({ intent, status, jobId })}`);
  }
}

/** The same, as it is where the Worker of the class does not bind it, unless a test says that it still does. */
export class Unbound extends Jobs {
  constructor(ctx, { JOBS, UNBOUND, ...env }) {
    super(ctx, env.BOUND ? { ...env, UNBOUND } : env);
  }
}

const told = ({ state }) => state;

const routes = {
  submit: async (all, { service, intent, body }) => told(await all.submit(service, { intent, body })),
  adopt: async (all, { service, intent, jobId }) => told(await all.adopt(service, { intent, jobId })),
  find: async (all, { service, intent }) => told((await all.find(service, intent)) ?? { state: null }),
  forget: async (all, { service, intent }) => (await all.forget(service, intent)) ?? null,
};

export default {
  async fetch(request, env) {
    const { caller, binding = "JOBS", ...given } = await request.json();
    try {
      return Response.json(await routes[new URL(request.url).pathname.slice(1)](jobs(env[binding], { caller }), given));
    } catch ({ code, message }) {
      return Response.json({ error: { code, message } });
    }
  },
};
