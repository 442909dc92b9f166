// The example Worker of www/worker, bundled as wrangler does it, over a package whose Bulkgrid answers soon.
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { quickListing } from "./quick-profile.mjs";

/** What a person who tries the example leaves in its folder: nothing of it belongs to the example. */
const LEFT = new Set(["node_modules", "package-lock.json", ".wrangler", ".dev.vars"]);

const EXAMPLE = fileURLToPath(new URL("../../www/worker", import.meta.url));

/**
 * Builds the example in a folder; gives what a host is started with, by the example's own configuration.
 *
 * @param {string} pkg The package.
 * @param {string} folder
 */
export async function buildExample(pkg, folder) {
  const installed = join(folder, "node_modules/holdfast");
  await cp(EXAMPLE, folder, { recursive: true, filter: (path) => !LEFT.has(basename(path)) });
  await mkdir(join(folder, "node_modules"));
  await cp(pkg, installed, { recursive: true });
  await writeFile(join(installed, "profiles/bulkgrid.js"), `export default ${JSON.stringify(quickListing(installed))};\n`);
  const { scripts } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const [, from, to] = /^cp (\S+) (\S+)$/.exec(scripts.page);
  await cp(join(folder, from), join(folder, to));
  const config = JSON.parse(await readFile(join(folder, "wrangler.json"), "utf8"));
  const bundle = join(folder, "dist");
  await build({
    entryPoints: [join(folder, config.main)],
    outdir: bundle,
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:workers"],
    loader: { ".wasm": "copy" },
    assetNames: "[name]",
    logLevel: "error",
  });
  const objects = config.durable_objects.bindings.map(({ name, class_name }) => [name, class_name]);
  const { directory, binding } = config.assets;
  return {
    bundle,
    objects: Object.fromEntries(objects),
    page: { directory: join(folder, directory), binding },
    compatibilityDate: config.compatibility_date,
  };
}
