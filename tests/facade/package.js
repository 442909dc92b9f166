// A copy of the package's files beside the scripted glue: fresh modules for every test.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const source = fileURLToPath(new URL("../../pkg-template/", import.meta.url));
const glue = fileURLToPath(new URL("./fake-glue.js", import.meta.url));

/** The package's entry, or another script of it, and the world behind its glue once it has been loaded; and where it lies. */
export async function loadPackage(test, script = "index.js") {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-"));
  test.after(() => rmSync(folder, { recursive: true }));
  cpSync(source, folder, { recursive: true });
  cpSync(glue, join(folder, "glue.js"));
  let [imports, statics, lazy] = ["", "", ""];
  for (const file of readdirSync(join(folder, "profiles"))) {
    const [text, name] = [readFileSync(join(folder, "profiles", file), "utf8"), file.replace(/\.json$/, "")];
    writeFileSync(join(folder, "profiles", `${name}.js`), `export default ${text}`);
    const own = `_${name.replaceAll("-", "_")}`;
    imports += `import ${own} from "./${name}.js";`;
    statics += `"${name}": async () => ({ default: ${own} }),`;
    lazy += `"${name}": () => import("./${name}.js"),`;
  }
  writeFileSync(join(folder, "profiles", "built-in.js"), `export const builtIn = {${lazy}};`);
  writeFileSync(join(folder, "profiles", "all.js"), `${imports}export const builtIn = {${statics}};`);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const entry = await import(pathToFileURL(join(folder, script)));
  const { builtIn } = await import(pathToFileURL(join(folder, "profiles", "built-in.js")));
  const { world } = await import(pathToFileURL(join(folder, "glue.js")));
  return { ...entry, builtIn, world, folder };
}

/** Options of a client with one service, over those given. */
export const options = (more = {}, service = {}) => ({
  account: () => "local",
  services: { reports: { profile: "runharvester", baseUrl: "https://api.example.com", ...service } },
  ...more,
});

/** An operation's state as JSON, over a queued one. */
export const state = (more = {}) =>
  JSON.stringify({
    id: "op-1",
    service: "reports",
    origin: "https://api.example.com",
    intent: "one",
    ordinal: 0,
    status: "queued",
    cancelling: false,
    createdAt: 1000,
    key: "key-1",
    attempts: 0,
    polls: 0,
    ledger: { cost: "0", lineageCost: "0", open: false, possiblyDuplicated: false },
    receipt: { operationId: "op-1", key: "key-1" },
    delivered: false,
    acknowledged: false,
    revision: 1,
    ...more,
  });

/** Lets everything that is due in this turn happen. */
export const settle = () => new Promise((resolve) => setImmediate(resolve));
