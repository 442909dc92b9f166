// The archive in small projects: built as people build, and run in a browser to a kept result.
import assert from "node:assert/strict";
import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as esbuild from "esbuild";
import { Loopback, makeProfile, openBrowser, removeProfile } from "../browser/harness.mjs";
import { Workplace } from "./harness/workplace.mjs";

/** Every project, in a test for a night; else one of each kind. */
const isDeep = process.env.HOLDFAST_DEEP === "1";

const place = new Workplace();
let service, browser, profile;

before(async () => {
  service = await Loopback.start({ "/": place.folder });
  profile = await makeProfile();
  browser = await openBrowser(profile);
});

after(async () => {
  await browser?.kill();
  await service?.stop();
  if (profile) await removeProfile(profile);
  place.remove();
});

/** Opens a built project, hands one piece of work over and has its result; gives what the page has loaded. */
async function completes(path, query = "") {
  await service.reset();
  const session = await browser.session();
  try {
    const page = await session.page();
    const url = path.startsWith("http") ? path : `${service.origin}/${path}`;
    await page.goto(url + query);
    await page.waitForFunction(() => globalThis.run);
    assert.deepEqual(await page.evaluate(() => run("a")), { status: "succeeded", data: "object", message: undefined });
    assert.equal((await service.ledger()).executions, 1);
    return await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname));
  } finally {
    await session.close();
  }
}

const wasmIn = (paths) => paths.filter((path) => path.endsWith(".wasm"));

test("a page without any tool", async () => {
  const map = JSON.stringify({ imports: { holdfast: "/node_modules/holdfast/index.js" } });
  place.project("plain", { html: `<!doctype html><script type="importmap">${map}</script><script type="module" src="main.js"></script>` });
  const loaded = await completes("plain/index.html");
  assert.deepEqual(wasmIn(loaded), ["/node_modules/holdfast/holdfast.wasm"]);
});

test("esbuild, told where the module is", async () => {
  const folder = place.project("esbuild", {
    module: 'import module from "holdfast/holdfast.wasm"; export const useOwnModule = { module: new URL(module, import.meta.url) };',
  });
  await esbuild.build({
    entryPoints: [join(folder, "main.js")], outdir: join(folder, "dist"), absWorkingDir: folder,
    bundle: true, splitting: true, minify: true, format: "esm", loader: { ".wasm": "file" }, logLevel: "error",
  });
  const html = '<!doctype html><script type="module" src="dist/main.js"></script>';
  place.project("esbuild", { html });
  const loaded = await completes("esbuild/index.html");
  assert.match(wasmIn(loaded).join(), /^\/esbuild\/dist\/holdfast-\w+\.wasm$/);
});

test("one classic script, with the module inside", async () => {
  const folder = place.project("inline", { entry: "holdfast/inline", html: '<!doctype html><script src="dist/main.js"></script>' });
  const { warnings } = await esbuild.build({
    entryPoints: [join(folder, "main.js")], outdir: join(folder, "dist"), absWorkingDir: folder,
    bundle: true, minify: true, format: "iife", logLevel: "silent",
  });
  assert.deepEqual(warnings, []);
  const loaded = await completes("inline/index.html");
  assert.deepEqual(loaded.filter((path) => !/favicon|api/.test(path)), ["/inline/dist/main.js"]);
});

test("one script, with the module from wherever the app has it", async () => {
  const map = JSON.stringify({ imports: { "holdfast/slim": "/node_modules/holdfast/slim.js" } });
  place.project("slim", {
    entry: "holdfast/slim",
    module: 'export const useOwnModule = { module: fetch("/node_modules/holdfast/holdfast.wasm") };',
    html: `<!doctype html><script type="importmap">${map}</script><script type="module" src="main.js"></script>`,
  });
  const loaded = await completes("slim/index.html");
  const own = loaded.filter((path) => path.includes("holdfast/")).sort();
  assert.deepEqual(own, ["/node_modules/holdfast/holdfast.wasm", "/node_modules/holdfast/slim.js"]);
});

test("two copies of the package on one page share the work, which is done once", async () => {
  const map = JSON.stringify({ imports: { holdfast: "/node_modules/holdfast/index.js", "holdfast/inline": "/node_modules/holdfast/inline.js" } });
  place.project("copies", {
    module: 'export { createHoldfast as other } from "holdfast/inline"; export const useOwnModule = {};',
    html: `<!doctype html><script type="importmap">${map}</script><script type="module" src="main.js"></script>`,
  });
  await service.reset();
  const session = await browser.session();
  try {
    const page = await session.page();
    await page.goto(`${service.origin}/copies/index.html`);
    await page.waitForFunction(() => globalThis.run);
    const outcomes = await page.evaluate(async () => {
      const { other } = await import("./module.js");
      const authorize = () => ({ headers: { authorization: "Bearer demo-token" } });
      const services = { reports: { profile: "runharvester", baseUrl: location.origin, authorize } };
      const submission = { intent: "a", body: { url: "https://example.com", duration_ms: 20 } };
      const second = other({ account: () => "local", services }).submit("reports", submission).then((operation) => operation.outcome());
      return (await Promise.all([run("a"), second])).map(({ status }) => status);
    });
    assert.deepEqual(outcomes, ["succeeded", "succeeded"]);
    assert.equal((await service.ledger()).executions, 1);
  } finally {
    await session.close();
  }
});

test("Vite, for production", async () => {
  const { build } = await import("vite");
  const folder = place.project("vite");
  await build({ root: folder, base: "./", logLevel: "error", configFile: false });
  const loaded = await completes("vite/dist/index.html");
  assert.match(wasmIn(loaded).join(), /^\/vite\/dist\/assets\/holdfast-[\w-]+\.wasm$/);
});

test("Vite, while developing", { skip: !isDeep && "with --deep" }, async () => {
  const { createServer } = await import("vite");
  const folder = place.project("vite-dev");
  // It serves what is below the project, and nothing beside it.
  cpSync(place.installed, join(folder, "node_modules/holdfast"), { recursive: true });
  const server = await createServer({ root: folder, logLevel: "error", configFile: false, server: { port: 0, host: "127.0.0.1" } });
  await server.listen();
  try {
    const { port } = server.httpServer.address();
    await completes(`http://127.0.0.1:${port}/index.html`, `?service=${encodeURIComponent(service.origin)}`);
  } finally {
    await server.close();
  }
});

for (const mode of /** @type {const} */ (["production", "development"])) {
  test(`webpack, in its mode ${mode}`, { skip: !isDeep && "with --deep" }, async () => {
    const { default: webpack } = await import("webpack");
    const name = `webpack-${mode}`;
    const folder = place.project(name, { html: '<!doctype html><script src="dist/main.js"></script>' });
    const compiler = webpack({
      mode, context: folder, entry: "./main.js", performance: false,
      output: { path: join(folder, "dist"), filename: "main.js" },
    });
    const stats = await new Promise((resolve, reject) => compiler.run((error, own) => (error ? reject(error) : resolve(own))));
    await new Promise((resolve) => compiler.close(resolve));
    const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
    assert.deepEqual([errors, warnings].map((all) => all.map(({ message }) => message)), [[], []]);
    const loaded = await completes(`${name}/index.html`);
    assert.match(wasmIn(loaded).join(), /^\/webpack-\w+\/dist\/\w+\.wasm$/);
    assert.ok(readdirSync(join(folder, "dist")).length > 2);
  });
}
