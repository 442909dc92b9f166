// A Worker between browsers and a service that knows no idempotency keys and wants no browser to call it.
// Pages hand work over and are told how it goes; the objects hold the credential and drive the work.
import { HoldfastObject, relay } from "holdfast/cloudflare";
import { callerOf, session } from "./session.js";

export class Jobs extends HoldfastObject {
  services = {
    crawls: {
      profile: "bulkgrid",
      baseUrl: this.env.SERVICE,
      params: { endpoint: "crawl" },
      // Asked for at each request: no credential is stored with the work, and none is in a page.
      authorize: () => ({ headers: { "x-api-key": this.env.API_KEY } }),
    },
  };

  // Called at every ending, at least once, until it resolves: a bucket or a queue belongs here.
  async onSettled({ intent, status }) {
    console.log(`settled ${status} ${intent}`);
  }
}

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/session") return session(request, env);
    if (pathname.startsWith("/operations/")) {
      return relay(request, env.JOBS, { allow: (asked) => callerOf(asked, env) });
    }
    return env.PAGE.fetch(request);
  },
};
