// A Worker over its objects, as an app has one. Tests tell it what to do by HTTP.
import { HoldfastObject, jobs } from "pkg/cloudflare.js";

/** Dies at a fail point: says so, and stands still until the whole process is killed. */
let armed;
let replaced = false;
const reached = new Map();
globalThis.holdfastFailPoint = (name) => {
  const occurrence = reached.get(name) ?? 0;
  reached.set(name, occurrence + 1);
  if (armed?.name === name && armed.occurrence === occurrence) {
    if (armed.how === "trap") {
      console.log(`trapped at ${name} ${occurrence}`);
      return "trap";
    }
    console.log(`died at ${name} ${occurrence}`);
    for (;;);
  }
  console.log(`point ${name} ${occurrence}`);
};

export class Jobs extends HoldfastObject {
  constructor(ctx, env) {
    super(ctx, env);
    armed = env.ARMED;
    if (armed?.how === "replace") this.#replaceOnce();
  }

  /** What is written is on the disk, nothing is sent yet, and another instance takes this one's place. */
  #replaceOnce() {
    const { storage } = this.ctx;
    const sync = storage.sync.bind(storage);
    const written = "SELECT 1 FROM holdfast_operations WHERE document LIKE '%\"current\"%'";
    Object.defineProperty(storage, "sync", {
      value: async () => {
        await sync();
        if (replaced || !storage.sql.exec(written).toArray().length) return;
        replaced = true;
        console.log("replaced");
        this.ctx.abort("replaced by a test");
      },
    });
  }

  services = {
    reports: {
      profile: this.env.PROFILE,
      baseUrl: this.env.ORIGIN,
      authorize: async () => {
        if (armed?.how === "slow") await new Promise((resolve) => setTimeout(resolve, 20_000));
        return { headers: { authorization: `Bearer ${this.env.TOKEN}` }, scope: "one" };
      },
    },
  };

  async onSettled(operation) {
    const bytes = operation.status === "succeeded" ? (await operation.blob()).size : 0;
    console.log(`settled ${JSON.stringify({ id: operation.id, intent: operation.intent, key: operation.key, status: operation.status, bytes })}`);
  }
}

const told = ({ state }) => state;

const routes = {
  submit: async (all, { intent, body }) => told(await all.submit("reports", { intent, body })),
  enqueue: async (_, message, { QUEUE }) => (await QUEUE.send(message)) ?? null,
  find: async (all, { intent }) => told((await all.find("reports", intent)) ?? { state: null }),
  outcome: async (all, { intent }) => (await all.find("reports", intent)).outcome(),
  told: async (all, { intent }) => {
    const { status, error } = await (await all.find("reports", intent)).outcome();
    return { status, error: { name: error.name, ...error } };
  },
};

export default {
  async fetch(request, env) {
    const what = new URL(request.url).pathname.slice(1);
    const { caller, ...given } = await request.json();
    try {
      return Response.json((await routes[what](jobs(env.JOBS, caller && { caller }), given, env)) ?? null);
    } catch ({ name, code, message, nextStep, stack }) {
      return Response.json({ error: { name, code, message, nextStep, stack } }, { status: 422 });
    }
  },
  /** A message comes at least once: what it asks for is submitted under the intent that it names. */
  async queue({ messages }, env) {
    for (const { attempts, body } of messages) {
      const { id } = await jobs(env.JOBS).submit("reports", body);
      console.log(`message ${attempts} submitted ${id}`);
      if (attempts === 1) throw new Error("The handler ends before the message is acknowledged.");
    }
  },
};
