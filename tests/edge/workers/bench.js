// A Worker for benches: it hands work over to the first of its objects, and counts what they do.
import { HoldfastObject } from "pkg/cloudflare.js";
import { RemoteObject } from "pkg/jobs.js";
import { seal } from "pkg/submission.js";

const counts = { rowsRead: 0, rowsWritten: 0, alarms: 0, alarmsSet: 0, calls: 0, requests: 0, settled: 0, failed: 0 };

// All objects of a local workerd share one isolate, and so this.
const send = globalThis.fetch;
globalThis.fetch = (...args) => ((counts.requests += 1), send(...args));

export class Jobs extends HoldfastObject {
  constructor(ctx, env) {
    const { storage } = ctx;
    const { sql } = storage;
    const exec = (...args) => {
      const cursor = sql.exec(...args);
      const rows = cursor.toArray();
      counts.rowsRead += cursor.rowsRead;
      counts.rowsWritten += cursor.rowsWritten;
      return { toArray: () => rows };
    };
    const setAlarm = storage.setAlarm.bind(storage);
    Object.defineProperties(storage, {
      sql: { value: { exec } },
      setAlarm: { value: (at) => ((counts.alarmsSet += 1), setAlarm(at)) },
    });
    super(ctx, env);
  }

  services = {
    reports: {
      profile: this.env.PROFILE,
      baseUrl: this.env.ORIGIN,
      authorize: () => ({ headers: { authorization: `Bearer ${this.env.TOKEN}` } }),
    },
  };

  onSettled({ status }) {
    counts[status === "succeeded" ? "settled" : "failed"] += 1;
  }

  holdfast(call) {
    counts.calls += 1;
    return super.holdfast(call);
  }

  alarm() {
    counts.alarms += 1;
    return super.alarm();
  }
}

const options = { account: () => "bench", services: { reports: {} } };

async function submit(env, { from, count, objects, body }) {
  const one = async (number) => {
    const sealed = seal(options, "reports", { intent: `operation ${number}`, body });
    const object = new RemoteObject(env.JOBS, number % objects, "bench");
    await object.call("submit", ["reports", sealed.json, sealed.body]);
  };
  await Promise.all(Array.from({ length: count }, (_, own) => one(from + own)));
}

export default {
  async fetch(request, env) {
    if (request.method === "POST") await submit(env, await request.json());
    return Response.json(counts);
  },
};
