// A Worker as Wrangler builds and runs it: the one of the documentation, in workerd.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Loopback } from "../browser/harness.mjs";
import { programsOf } from "../docs/samples.mjs";
import { freePort } from "../edge/free-port.mjs";
import { newerNode } from "../edge/programs.mjs";
import { installed, Workplace } from "./harness/workplace.mjs";

/** Wrangler is 230 MB, and wants a newer Node than this library: it is fetched in a test for a night only. */
const skip = process.env.HOLDFAST_DEEP !== "1" && "with --deep";
const root = fileURLToPath(new URL("../../", import.meta.url));
const node = skip ? process.execPath : newerNode();
const world = {};

before(async () => {
  if (skip) return;
  world.place = new Workplace();
  world.folder = await installed(world.place, "wrangler");
  world.service = await Loopback.start({});
  const programs = programsOf(join(root, "www/docs/start.md"), "start");
  for (const [host, file] of [["worker", "sample.js"], ["relay", "relay.js"]]) {
    const { code } = programs.find((own) => own.host === host);
    writeFileSync(join(world.folder, "src", file), code.replaceAll("https://api.example.com", world.service.origin));
  }
  writeFileSync(join(world.folder, ".dev.vars"), "TOKEN=demo-token\n");
});

after(async () => {
  await world.service?.stop();
  world.place?.remove();
});

const program = "node_modules/wrangler/bin/wrangler.js";
const environment = { ...process.env, WRANGLER_SEND_METRICS: "false", CI: "1", NODE_TEST_CONTEXT: undefined };

test("it is built for production with the module beside it", { skip, timeout: 300_000 }, async () => {
  const line = [program, "deploy", "--dry-run", "--outdir", "dist"];
  const { stdout } = await promisify(execFile)(node, line, { cwd: world.folder, env: environment });
  assert.match(stdout, /JOBS/);
  assert.ok(readdirSync(join(world.folder, "dist")).some((name) => name.endsWith(".wasm")));
});

/** Runs the Worker for as long as something is done with it. */
async function served(work) {
  await world.service.reset();
  const port = await freePort();
  const line = [program, "dev", "--port", String(port), "--ip", "127.0.0.1", "--inspector-port", "0", "--test-scheduled"];
  const server = spawn(node, line, { cwd: world.folder, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  let told = "";
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (piece) => (told += piece));
  const ended = new Promise((resolve) => server.once("exit", resolve));
  const origin = `http://127.0.0.1:${port}`;
  try {
    await until(() => fetch(origin).then((answer) => answer.ok, () => false), () => told);
    await work(origin, () => told);
    assert.equal((await world.service.ledger()).executions, 1);
  } finally {
    server.kill("SIGTERM");
    await ended;
  }
}

test("run by Wrangler, a scheduled submission comes to its kept result, once, with nobody waiting", { skip, timeout: 300_000 }, async () => {
  await served(async (origin, told) => {
    assert.equal((await fetch(`${origin}/__scheduled?cron=0+6+*+*+*`)).ok, true);
    const kept = await until(async () => {
      const results = await (await fetch(origin)).json();
      return results.length ? results : undefined;
    }, told);
    assert.equal(kept.length, 1);
  });
});

test("run by Wrangler, the relay carries what a page hands over", { skip, timeout: 300_000 }, async () => {
  await served(async (origin, told) => {
    const init = { method: "POST", body: '{"url":"https://example.com"}', headers: { "content-type": "application/json", "idempotency-key": "a" } };
    const answer = await fetch(`${origin}/operations/reports`, init);
    assert.equal(answer.status, 202);
    const { id } = await answer.json();
    await until(async () => (await (await fetch(`${origin}/operations/reports/${id}`)).json()).status === "succeeded", told);
    assert.equal((await fetch(`${origin}/operations/reports/${id}/result`)).status, 200);
  });
});

/** What something is, once it is something. */
async function until(look, why) {
  for (let round = 0; round < 240; round++) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return assert.fail(why());
}
