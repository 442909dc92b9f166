// An app of Next.js: rendered by its server, driven in the page, with the credential in its proxy.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import { Loopback, makeProfile, openBrowser, removeProfile } from "../browser/harness.mjs";
import { freePort } from "../edge/free-port.mjs";
import { installed, Workplace } from "./harness/workplace.mjs";

/** Next.js is 340 MB: it is fetched in a test for a night only. */
const skip = process.env.HOLDFAST_DEEP !== "1" && "with --deep";
const world = {};

before(async () => {
  if (skip) return;
  world.place = new Workplace();
  world.folder = await installed(world.place, "next");
  world.service = await Loopback.start({});
  world.profile = await makeProfile();
  world.browser = await openBrowser(world.profile);
});

after(async () => {
  await world.browser?.kill();
  await world.service?.stop();
  if (world.profile) await removeProfile(world.profile);
  world.place?.remove();
});

const program = () => [process.execPath, ["node_modules/next/dist/bin/next"]];

/** Runs one of Next's commands to its end. */
function next(...line) {
  const [node, before] = program();
  const child = spawn(node, [...before, ...line], { cwd: world.folder, env: environment(), stdio: ["ignore", "pipe", "pipe"] });
  let told = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (told += piece));
  return { child, ended: new Promise((resolve) => child.once("exit", (code) => resolve({ code, told }))), told: () => told };
}

const environment = () => ({
  ...process.env, NEXT_TELEMETRY_DISABLED: "1", REPORTS_URL: world.service.origin, REPORTS_KEY: "demo-token",
  NODE_ENV: undefined, NODE_TEST_CONTEXT: undefined,
});

/** Serves the app, and has a person make a report in it. */
async function completes(command) {
  await world.service.reset();
  const port = await freePort();
  const server = next(command, "-p", String(port), "-H", "127.0.0.1");
  const origin = `http://127.0.0.1:${port}`;
  const session = await world.browser.session();
  try {
    const html = await answered(origin, server);
    assert.match(html, /<p id="status">pending<\/p>/);
    const page = await session.page();
    const wrong = [];
    page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
    page.on("pageerror", (error) => wrong.push(String(error)));
    await page.goto(origin);
    await page.getByRole("button", { name: "Make it" }).click({ timeout: 60_000 });
    await page.waitForFunction(() => document.querySelector("#status").textContent === "succeeded" && document.querySelector("pre"), undefined, { timeout: 60_000 });
    await page.reload();
    await page.waitForFunction(() => document.querySelector("pre"), undefined, { timeout: 60_000 });
    assert.equal((await world.service.ledger()).executions, 1);
    assert.deepEqual(wrong, []);
  } finally {
    await session.close();
    server.child.kill("SIGTERM");
    await server.ended;
  }
}

/** The page as the server sends it, once it answers. */
async function answered(origin, server) {
  for (let round = 0; round < 240; round++) {
    const html = await fetch(origin).then((answer) => (answer.ok ? answer.text() : undefined), () => undefined);
    if (html) return html;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  assert.fail(`The server does not answer: ${server.told()}`);
}

test("built for production, it is rendered by the server and completes an operation in the page", { skip, timeout: 900_000 }, async () => {
  const { code, told } = await next("build").ended;
  assert.equal(code, 0, told);
  await completes("start");
});

test("while developing, it is rendered by the server and completes an operation in the page", { skip, timeout: 900_000 }, async () => {
  await completes("dev");
});
