// What a Worker's code looks like, checked by the compiler and never run.
import { HoldfastObject, jobs, relay, type Operation } from "../../pkg-template/cloudflare.js";

interface Env {
  readonly TOKEN: string;
  readonly JOBS: { idFromName(name: string): object; get(id: object): object };
  readonly RESULTS: { put(key: string, value: Blob): Promise<void> };
}

export class Jobs extends HoldfastObject<Env> {
  services = {
    runs: {
      profile: "bulkgrid",
      baseUrl: "https://api.example.com",
      authorize: () => ({ headers: { authorization: `Bearer ${this.env.TOKEN}` } }),
    },
  };

  override async onSettled(operation: Operation) {
    await this.env.RESULTS.put(operation.id, await operation.blob());
  }
}

// @ts-expect-error: an object declares its services
export class Idle extends HoldfastObject<Env> {}

export default {
  async scheduled(event: { scheduledTime: number }, env: Env) {
    const operation = await jobs(env.JOBS).submit("runs", { intent: `daily:${event.scheduledTime}`, body: {} });
    operation.status satisfies string;
    const { cursor } = await jobs(env.JOBS, { caller: "ann" }).list({ limit: 10 });
    cursor satisfies string | undefined;
  },
};

export const relayed = (request: Request, env: Env) =>
  relay(request, env.JOBS, { allow: async ({ headers }) => ({ caller: headers.get("x-user") ?? "nobody" }) });

export const trusting = (request: Request, env: Env) => relay(request, env.JOBS, { allow: () => ({ caller: "ann", trusted: true }) });

// @ts-expect-error: without allow nobody is let in
relay(new Request("https://app.example/operations/runs"), {} as Env["JOBS"], {});
