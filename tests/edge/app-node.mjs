// A server that submits its intents whenever it starts, and sees them through. It tells what happens in
// lines of JSON, and dies at a fail point where it is told to.
//
// Usage: node app-node.mjs '{"folder", "storage", "origin", "token", "intents", "relay"?, "armed"?: {"name", "occurrence"}}'
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { quickProfile } from "./quick-profile.mjs";

const { folder, storage, origin, token, intents, relay, armed } = JSON.parse(process.argv[2]);
const { createHoldfast } = await import(pathToFileURL(join(folder, "node.js")));

const tell = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);

const reached = new Map();
globalThis.holdfastFailPoint = (name) => {
  const occurrence = reached.get(name) ?? 0;
  reached.set(name, occurrence + 1);
  if (armed?.name === name && armed.occurrence === occurrence) process.kill(process.pid, "SIGKILL");
  else tell({ point: name, occurrence });
};

const open = () => {
  if (process.getBuiltinModule?.("node:sqlite")) return storage;
  const Sqlite = createRequire(import.meta.url)("better-sqlite3");
  return new Sqlite(storage);
};

const holdfast = createHoldfast({
  storage: open(),
  account: () => "local",
  services: {
    reports: relay
      ? { relay, authorize: () => ({ headers: { "x-caller": token }, scope: "one" }) }
      : {
          profile: quickProfile(folder),
          baseUrl: origin,
          authorize: () => ({ headers: { authorization: `Bearer ${token}` }, scope: "one" }),
        },
  },
  onSettled: (operation) => tell({ settled: operation.id, status: operation.status }),
});

const body = { url: "https://example.com", duration_ms: 400, result_bytes: 300_000 };
const overs = await Promise.all(
  intents.map(async (intent) => {
    const operation = await holdfast.submit("reports", { intent, body });
    tell({ acknowledged: operation.id, key: operation.key });
    const outcome = await operation.outcome();
    const bytes = outcome.status === "succeeded" ? (await operation.blob()).size : 0;
    for await (const { delivered, ledger } of operation.updates()) if (delivered && !ledger.open) break;
    return { id: operation.id, key: operation.key, status: outcome.status, error: String(outcome.error ?? ""), bytes };
  }),
);
tell({ overs });
await holdfast.close();
