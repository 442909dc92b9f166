// A Worker whose relay lets in whoever says a name, and trusts whoever says so, over objects that call a service of two kinds.
import { HoldfastObject, relay } from "pkg/cloudflare.js";

export class Jobs extends HoldfastObject {
  services = {
    reports: {
      profile: this.env.PROFILE,
      baseUrl: this.env.ORIGIN,
      authorize: () => ({ headers: { authorization: `Bearer ${this.env.TOKEN}` }, scope: "one" }),
    },
    crawls: {
      profile: this.env.CRAWLS,
      baseUrl: `${this.env.ORIGIN}/bulkgrid`,
      params: { endpoint: "crawl" },
      authorize: () => ({ headers: { "x-api-key": "demo-token" } }),
    },
  };
}

export default {
  fetch: (request, env) =>
    relay(request, env.JOBS, {
      allow: (asked) => {
        const caller = asked.headers.get("x-caller");
        if (caller === "throws") throw new Error("nobody");
        return caller && { caller, trusted: asked.headers.get("x-staff") === "yes" };
      },
      bodyBytesMax: 100_000,
      limits: env.LIMITS ?? undefined,
    }),
};
