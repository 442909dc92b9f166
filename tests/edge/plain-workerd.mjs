// `workerd serve` over a configuration of its own, with its objects on a disk.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { dirname, join } from "node:path";

/** How often it is looked whether it listens, in milliseconds. */
const LOOK_MS = 20;

/** Text as Cap'n Proto writes it; JSON's form is a part of that for what is in it here. */
const text = (value) => JSON.stringify(String(value));

export async function servePlain({ modules, objects, bindings, folder, port, compatibilityDate }) {
  const [config, disk] = ["config", "disk"].map((name) => join(folder, name));
  mkdirSync(disk, { recursive: true });
  const embedded = modules.map(({ type, path, contents }) => {
    const file = join(config, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, contents);
    return `(name = ${text(path)}, ${type === "CompiledWasm" ? "wasm" : "esModule"} = embed ${text(path)})`;
  });
  const bound = [
    ...Object.entries(objects).map(([name, className]) => `(name = ${text(name)}, durableObjectNamespace = ${text(className)})`),
    ...Object.entries(bindings).map(([name, value]) => `(name = ${text(name)}, json = ${text(JSON.stringify(value))})`),
  ];
  const kept = Object.values(objects).map((name) => `(className = ${text(name)}, uniqueKey = ${text(name)}, enableSql = true)`);
  writeFileSync(
    join(config, "config.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "disk", disk = (path = ${text(disk)}, writable = true)),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [${embedded.join(", ")}],
  compatibilityDate = ${text(compatibilityDate)},
  bindings = [${bound.join(", ")}],
  durableObjectNamespaces = [${kept.join(", ")}],
  durableObjectStorage = (localDisk = "disk"),
);
`,
  );
  const program = createRequire(import.meta.url)("workerd").default;
  const workerd = spawn(program, ["serve", join(config, "config.capnp")], { stdio: ["ignore", "inherit", "inherit"] });
  workerd.once("exit", () => process.exit(1));
  while (!(await listens(port))) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  console.log(`listening http://127.0.0.1:${port}`);
}

const listens = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.end() && resolve(true));
    socket.on("error", () => resolve(false));
  });
