// What is in the archive, and what checkers of packages say of it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { newerNode } from "../edge/programs.mjs";
import { archive, Workplace } from "./harness/workplace.mjs";

const run = promisify(execFile);
const here = fileURLToPath(new URL(".", import.meta.url));
const place = new Workplace();
after(() => place.remove());

const manifest = JSON.parse(readFileSync(join(place.installed, "package.json"), "utf8"));

test("publint finds nothing, in its strict mode", async () => {
  const { messages } = await publint({ pkgDir: place.installed, strict: true, pack: false });
  assert.deepEqual(messages.map((message) => formatMessage(message, manifest, { color: false })), []);
});

test("every entry resolves, and scripts and the module with types", async () => {
  const program = join(here, "node_modules/.bin/attw");
  const line = [archive(), "--profile", "esm-only", "--format", "ascii", "--no-emoji", "--no-color"];
  const { stdout } = await run(program, line).catch((error) => assert.fail(error.stdout || error.message));
  for (const [name, target] of Object.entries(manifest.exports)) {
    assert.ok(stdout.includes(JSON.stringify(name.replace(".", "holdfast"))), name);
    assert.ok(typeof target === "object" || target.endsWith(".json"), name);
  }
});

/** Projects of people, by what of the package they import: with types of libraries checked too. */
const PROJECTS = {
  "a server, which has no DOM": { entries: ["node", "proxy", "testing"], options: { module: "nodenext", lib: ["es2022"], types: ["node"] } },
  "a page, bundled": {
    entries: ["react", "watch", "inspector", "extension", "slim", "inline"],
    options: { module: "esnext", moduleResolution: "bundler", lib: ["es2022", "dom", "dom.iterable"], types: ["react"] },
  },
};

/** The module, however one has it. */
const MODULES = [
  'import file from "holdfast/holdfast.wasm";',
  "const rest = { account: () => null, services: { a: { profile: 'replay' as const, baseUrl: 'https://a.example' } } };",
  "own0.createHoldfast({ ...rest, module: new WebAssembly.Module(new Uint8Array()) });",
  "own0.createHoldfast({ ...rest, module: new URL(file, import.meta.url) });",
  "own5.createHoldfast({ ...rest, module: file });",
  "const compiled: WebAssembly.Module = file; void compiled;",
];

for (const [name, { entries, options }] of Object.entries(PROJECTS)) {
  test(`the types hold in ${name}`, async () => {
    const folder = place.project(`types-${name.split(" ")[1].replace(",", "")}`);
    const lines = ["holdfast", ...entries.map((entry) => `holdfast/${entry}`)].map((entry, at) => `import * as own${at} from "${entry}"; export { own${at} };`);
    const own = options.lib.includes("dom") ? MODULES : [];
    writeFileSync(join(folder, "types.ts"), [...lines, ...own].join("\n"));
    const react = [join(here, "node_modules/@types/react")];
    const compilerOptions = {
      ...options, strict: true, noEmit: true, target: "es2022", skipLibCheck: false, exactOptionalPropertyTypes: true,
      typeRoots: [join(here, "../node_modules/@types"), join(here, "node_modules/@types")], paths: { react },
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["types.ts"] }));
    const { stdout } = await run(join(here, "../node_modules/.bin/tsc"), ["-p", folder, "--pretty", "false"]).catch((error) => error);
    assert.equal(stdout, "");
  });
}

test("nothing is installed beside it, and nothing runs when it is", () => {
  assert.deepEqual([manifest.dependencies, manifest.scripts, manifest.sideEffects], [undefined, undefined, false]);
  for (const name of Object.keys(manifest.peerDependencies ?? {})) assert.equal(manifest.peerDependenciesMeta[name]?.optional, true, name);
});

test("every link of its README and its guides leads to a file that it has, or elsewhere", () => {
  const guides = readdirSync(join(place.installed, "docs")).map((name) => `docs/${name}`);
  assert.ok(guides.length > 5);
  for (const document of ["README.md", ...guides]) {
    const text = readFileSync(join(place.installed, document), "utf8");
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target.replace(/#.*/, ""));
    assert.ok(links.length > 0, document);
    const dead = links.filter((target) => target && !/^https:/.test(target) && !existsSync(join(place.installed, dirname(document), target)));
    assert.deepEqual(dead, [], document);
  }
});

test("every entry is there, and scripts are loaded in Node without touching anything", async () => {
  const before = Object.keys(globalThis);
  for (const [name, target] of Object.entries(manifest.exports)) {
    const files = typeof target === "string" ? [target] : Object.values(target);
    for (const file of files) assert.ok(file.includes("*") || existsSync(join(place.installed, file)), `${name}: ${file}`);
    if (typeof target === "object") assert.equal(Object.keys(target)[0], "types", name);
  }
  const line = "const { createHoldfast } = await import('holdfast'); createHoldfast({ account() { process.exit(9) }, services: { a: { profile: 'replay', baseUrl: 'https://a.example' } } });";
  await run(process.execPath, ["--input-type=module", "-e", line], { cwd: place.folder });
  assert.deepEqual(Object.keys(globalThis), before);
});

test("on a server the first call says which entry is for servers", async () => {
  const line =
    "import { createHoldfast } from 'holdfast'; const holdfast = createHoldfast({ account: () => 'a', services: { a: { profile: 'replay', baseUrl: 'https://a.example' } } });" +
    "await holdfast.submit('a', { intent: 'b', body: {} }).catch((error) => console.log(error.code, error.message));";
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", line], { cwd: place.folder });
  assert.match(stdout, /^STORAGE_UNAVAILABLE .*"holdfast\/node"/);
});

test("a server without SQLite, and a file that does not open, are told with what to do", async () => {
  const line =
    "import { createHoldfast } from 'holdfast/node'; const holdfast = createHoldfast({ storage: './none/jobs.db', account: () => 'a', services: { a: { profile: 'replay', baseUrl: 'https://a.example' } } });" +
    "await holdfast.submit('a', { intent: 'b', body: {} }).catch((error) => console.log(error.code, error.message)); await holdfast.close();";
  const told = async (node) => (await run(node, ["--input-type=module", "-e", line], { cwd: place.folder })).stdout;
  const hasSqlite = process.getBuiltinModule?.("node:sqlite") !== undefined;
  if (!hasSqlite) assert.match(await told(process.execPath), /^STORAGE_UNAVAILABLE This server has no SQLite.*install better-sqlite3/);
  for (const node of new Set([newerNode(), ...(hasSqlite ? [process.execPath] : [])])) {
    assert.match(await told(node), /^STORAGE_UNAVAILABLE The file .*jobs\.db cannot be opened.*Nothing was sent.*folder/);
  }
});
