// Every piece of code in README and documentation: its types hold, and what can run has run.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import * as esbuild from "esbuild";
import { Loopback, makeProfile, openBrowser, removeProfile } from "../browser/harness.mjs";
import { examplesOf, programsOf } from "../docs/samples.mjs";
import { GUIDES } from "../docs/site.mjs";
import { newerNode } from "../edge/programs.mjs";
import { Workplace } from "./harness/workplace.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const modules = join(root, "tests/packages/node_modules");
const run = promisify(execFile);
const place = new Workplace();
const folder = join(place.folder, "samples");
const documents = [["README", "README.md"], ...GUIDES.map(([name]) => [name, `www/docs/${name}.md`])];
const programs = [...documents.flatMap(([name, file]) => programsOf(join(root, file), name)), ...examplesOf(join(root, "pkg-template"))];
const at = (host) => programs.filter((own) => own.host === host);
const world = {};

/** What each program of a page must have shown, where it shows something. */
const SHOWN = {
  start: /"succeeded"|"active"/,
  situations: /going on.*will go on when you are back/,
  errors: /PARKED","NeedsCredential","(Sign|Get)|"why":"NeedsCredential"/,
};

before(async () => {
  mkdirSync(folder);
  world.service = await Loopback.start({ "/": place.folder });
  world.profile = await makeProfile();
  world.browser = await openBrowser(world.profile);
});

after(async () => {
  await world.browser?.kill();
  await world.service?.stop();
  if (world.profile) await removeProfile(world.profile);
  place.remove();
});

/** The service's jobs take seconds unless they are told otherwise, which no sample is about. */
const BRISK = `
  const slow = globalThis.fetch;
  const told = (body) => JSON.stringify({ ...JSON.parse(new TextDecoder().decode(body)), duration_ms: 100 });
  globalThis.fetch = (url, init) => slow(url, init?.method === "POST" && init.body ? { ...init, body: told(init.body) } : init);`;

/** A program as a file: the service of the documentation is the loopback one. */
function written({ name, code }, end = ".mjs") {
  const file = join(folder, name + end);
  writeFileSync(file, code.replaceAll("https://api.example.com", world.service.origin));
  return file;
}

/** What a fence may say of where its code belongs. */
const HOSTS = ["page", "react", "node", "testing", "proxy", "profile", "worker", "relay", "extension"];

test("there are samples for every host, and for none that no test knows", () => {
  const named = new Set(programs.map(({ host }) => host).filter(Boolean));
  assert.deepEqual([...named].sort(), HOSTS.toSorted());
});

test("the types of every sample hold", async () => {
  const types = join(folder, "types");
  mkdirSync(types);
  const scripts = programs.filter(({ language }) => ["js", "jsx", "ts", "tsx"].includes(language));
  for (const { name, language, code } of scripts) writeFileSync(join(types, `${name}.${language}`), `${code}\nexport {};\n`);
  for (const { code } of at("profile")) writeFileSync(join(types, `${JSON.parse(code).name}.json`), code);
  cpSync(join(root, "tests/docs/ambient.d.ts"), join(types, "ambient.d.ts"));
  cpSync(join(root, "tests/edge/cloudflare-workers.d.ts"), join(types, "cloudflare-workers.d.ts"));
  const compilerOptions = {
    strict: true, noImplicitAny: false, noEmit: true, allowJs: true, checkJs: true, target: "es2022", module: "esnext",
    moduleResolution: "bundler", resolveJsonModule: true, skipLibCheck: true, jsx: "react-jsx",
    lib: ["es2023", "esnext", "dom", "dom.iterable"], types: ["node", "react"],
    typeRoots: [join(root, "tests/node_modules/@types"), join(modules, "@types")],
    paths: Object.fromEntries([
      ...["react", "react/*"].map((name) => [name, [join(modules, "@types", name)]]),
      ...["vue", "svelte/*", "solid-js"].map((name) => [name, [join(modules, name)]]),
    ]),
  };
  writeFileSync(join(types, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*"] }));
  const { stdout } = await run(join(root, "tests/node_modules/.bin/tsc"), ["-p", types, "--pretty", "false"], { cwd: types }).catch((error) => error);
  assert.equal(stdout, "");
  assert.ok(scripts.length > 20);
});

describe("in a page", { concurrency: 4 }, () => {
  for (const program of at("page")) {
    test(`${program.name} runs to its end`, async () => {
      const file = written(program, ".js");
      const name = program.name;
      const imports = { holdfast: "/node_modules/holdfast/index.js", "holdfast/": "/node_modules/holdfast/" };
      // Entries have no ending; files do.
      const code = readFileSync(file, "utf8").replace(/"holdfast\/(\w+)"/g, '"holdfast/$1.js"');
      writeFileSync(file, code);
      const prelude = `${BRISK}
        Object.assign(globalThis, {
        session: { userId: ${JSON.stringify(name)} }, token: async () => "demo-token", day: "2026-11-30", url: "https://example.com",
        shown: [], save: async () => {}, render: (...all) => shown.push(JSON.stringify(all)), onGoOn: () => {} });
        import("./${name}.js").then(() => (globalThis.end = "done"), (error) => (globalThis.end = String(error.stack)));`;
      writeFileSync(join(folder, `${name}.html`),
        `<!doctype html><title>a</title><script type="importmap">${JSON.stringify({ imports })}</script><script type="module">${prelude}</script>`);
      const session = await world.browser.session();
      try {
        const page = await session.page();
        await page.goto(`${world.service.origin}/samples/${name}.html`);
        await page.waitForFunction(() => globalThis.end, undefined, { timeout: 60_000 });
        assert.equal(await page.evaluate(() => globalThis.end), "done");
        const expected = SHOWN[name.split("-")[0]];
        if (expected) await page.waitForFunction((own) => new RegExp(own, "s").test(shown.join("\n")), expected.source, { timeout: 30_000 })
          .catch(async () => assert.fail(`it has shown: ${await page.evaluate(() => shown.join("\n"))}`));
      } finally {
        await session.close();
      }
    });
  }
});

test("the component of the documentation makes a report and shows it, with the real React", async () => {
  const [program] = at("react");
  written(program, ".jsx");
  writeFileSync(join(folder, "react-main.jsx"), `
    import { createRoot } from "react-dom/client";
    import { createHoldfast } from "holdfast";
    import { Report } from "./${program.name}.jsx";
    const authorize = () => ({ headers: { authorization: "Bearer demo-token" } });
    globalThis.holdfast = createHoldfast({ account: () => "react", services: { reports: { profile: "runharvester", baseUrl: location.origin, authorize } } });
    createRoot(document.querySelector("main")).render(<Report day="2026-11-30" url="https://example.com" />);`);
  await esbuild.build({
    entryPoints: [join(folder, "react-main.jsx")], outfile: join(folder, "react-main.js"), bundle: true, format: "esm", jsx: "automatic",
    nodePaths: [modules], define: { "process.env.NODE_ENV": '"production"' }, logLevel: "error",
    alias: { "holdfast/react": join(place.installed, "react.js"), holdfast: "/node_modules/holdfast/index.js" }, external: ["/node_modules/*"],
  });
  writeFileSync(join(folder, "react.html"), '<!doctype html><title>a</title><main></main><script type="module" src="react-main.js"></script>');
  const session = await world.browser.session();
  try {
    const page = await session.page();
    await page.goto(`${world.service.origin}/samples/react.html`);
    await page.getByRole("button", { name: "Make the report" }).click({ timeout: 30_000 });
    await page.waitForFunction(() => /records/.test(document.querySelector("pre")?.textContent), undefined, { timeout: 30_000 });
  } finally {
    await session.close();
  }
});

describe("in Node", { concurrency: 2 }, () => {
  for (const program of [...at("testing"), ...at("node")]) {
    test(`${program.name} runs to its end`, async () => {
      written(program);
      const start = `Object.assign(globalThis, { url: "https://example.com", save: async () => {} }); await import("./${program.name}.mjs"); process.exit(0);`;
      const node = program.host === "node" ? newerNode() : process.execPath;
      const env = { ...process.env, REPORTS_KEY: "demo-token" };
      await run(node, ["--input-type=module", "-e", start], { cwd: folder, env, timeout: 60_000 });
    });
  }
});

test("the proxy of the documentation lets a submission through, and adds the credential", async () => {
  const [program, ...others] = at("proxy");
  assert.deepEqual(others, []);
  Object.assign(globalThis, { userOf: async ({ headers }) => headers.get("cookie") });
  process.env.REPORTS_KEY = "demo-token";
  const { proxy } = await import(pathToFileURL(written(program)));
  const submit = (headers) =>
    proxy(new Request("https://app.example/api/reports/api/v1/data/requests", {
      method: "POST", body: '{"url":"https://example.com"}', headers: { "content-type": "application/json", "idempotency-key": "a", ...headers },
    }));
  assert.deepEqual([(await submit({})).status, (await submit({ cookie: "a" })).status], [401, 202]);
});

test("every profile of the documentation holds", async () => {
  for (const { name, code } of at("profile")) {
    const file = join(folder, `${name}.json`);
    writeFileSync(file, code);
    const { stdout } = await run(process.execPath, [join(place.installed, "cli.js"), "check", file]).catch((error) => assert.fail(`${name}: ${error.stderr}`));
    assert.match(stdout, /Calls:/);
  }
  assert.ok(at("profile").length >= 4);
});
