// A Worker in a real workerd, with its objects in a folder. Says where it listens, and then what it logs.
//
// Usage: node edge-host.mjs '{"package", "worker", "folder", "objects": {"JOBS": "Class"}, "bindings", "port"?, "plain"?, "queue"?, "bundle"?, "page"?, "compatibilityDate"?}'
// `plain`: `workerd serve` by itself, on that port; else under miniflare. `bundle`: a folder with a whole Worker, in the
// place of `package` and `worker`. `page`: static files as wrangler's `assets` has them. `queue`: under miniflare, the
// binding of a queue whose messages come to the same Worker.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";

const options = JSON.parse(process.argv[2]);
const { package: pkg, worker, folder, objects, bindings, port = 0, plain = false, queue, bundle, page, compatibilityDate = "2026-04-01" } = options;
const own = join(dirname(fileURLToPath(import.meta.url)), "workers");

/** The scripts and modules of a folder, under names that imports lead to. */
const modulesIn = (place, as) =>
  readdirSync(place)
    .filter((name) => /\.(js|wasm)$/.test(name))
    .map((name) => ({
      type: name.endsWith(".wasm") ? "CompiledWasm" : "ESModule",
      path: join(as, name),
      contents: readFileSync(join(place, name)),
    }));

/** The Worker, and every file of the package that it may import. The entry comes first. */
const modules = bundle
  ? modulesIn(bundle, "").sort((one, other) => one.type.localeCompare(other.type) * -1)
  : [
      { type: "ESModule", path: worker, contents: readFileSync(join(own, worker), "utf8") },
      ...["", "profiles"].flatMap((below) => modulesIn(join(pkg, below), join("pkg", below))),
    ];

if (plain) {
  const { servePlain } = await import("./plain-workerd.mjs");
  await servePlain({ modules, objects, bindings, folder, port, compatibilityDate });
} else await serveByMiniflare();

async function serveByMiniflare() {
  const host = new Miniflare({
    modules,
    port,
    compatibilityDate,
    durableObjects: Object.fromEntries(
      Object.entries(objects).map(([name, className]) => [name, { className, useSQLite: true }]),
    ),
    durableObjectsPersist: folder,
    bindings,
    ...(queue && { queueProducers: { [queue]: "work" }, queueConsumers: { work: { maxBatchTimeout: 0, maxRetries: 5 } } }),
    ...(page && { assets: { ...page, routerConfig: { has_user_worker: true }, assetConfig: {} } }),
    handleRuntimeStdio(stdout, stderr) {
      stdout.pipe(process.stdout);
      stderr.pipe(process.stderr);
    },
  });
  console.log(`listening ${(await host.ready).origin}`);
}
