// A Worker in a real workerd, with its objects in a folder. Says where it listens, and then what it logs.
//
// Usage: node edge-host.mjs '{"package", "worker", "folder", "objects": {"JOBS": "Class"}, "bindings", "port"?, "plain"?}'
// `plain`: `workerd serve` by itself, on that port; else under miniflare.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";

const { package: pkg, worker, folder, objects, bindings, port = 0, plain = false } = JSON.parse(process.argv[2]);
const own = join(dirname(fileURLToPath(import.meta.url)), "workers");

/** Every file of the package that a Worker may import, under a name that its own imports lead to. */
const packaged = ["", "profiles"].flatMap((below) =>
  readdirSync(join(pkg, below))
    .filter((name) => /\.(js|wasm)$/.test(name))
    .map((name) => ({
      type: name.endsWith(".wasm") ? "CompiledWasm" : "ESModule",
      path: join("pkg", below, name),
      contents: readFileSync(join(pkg, below, name)),
    })),
);
const modules = [
  { type: "ESModule", path: worker, contents: readFileSync(join(own, worker), "utf8") },
  ...packaged,
];

const COMPATIBILITY = "2026-04-01";

if (plain) {
  const { servePlain } = await import("./plain-workerd.mjs");
  await servePlain({ modules, objects, bindings, folder, port, compatibilityDate: COMPATIBILITY });
} else await serveByMiniflare();

async function serveByMiniflare() {
  const host = new Miniflare({
    modules,
    port,
    compatibilityDate: COMPATIBILITY,
    durableObjects: Object.fromEntries(
      Object.entries(objects).map(([name, className]) => [name, { className, useSQLite: true }]),
    ),
    durableObjectsPersist: folder,
    bindings,
    handleRuntimeStdio(stdout, stderr) {
      stdout.pipe(process.stdout);
      stderr.pipe(process.stderr);
    },
  });
  console.log(`listening ${(await host.ready).origin}`);
}
