#!/usr/bin/env node
// Cargo's runner for the crate's own tests, in the browser that HOLDFAST_BROWSER names. The program
// WASM_BINDGEN_TEST_RUNNER makes a page of a test program and serves it; the page tells here how it went.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { makeProfile, openBrowser, removeProfile } from "./harness.mjs";

/** How long one test program may take, in milliseconds. */
const LIMIT_MS = Number(process.env.WASM_BINDGEN_TEST_TIMEOUT || 300) * 1000;

/** What a page of tests says, in the end. */
const RESULT = /^test result: (ok|FAILED)\..*$/m;

/** Sends the page's words when there is a result among them. */
const REPORT = `<script>
  const look = setInterval(() => {
    const said = document.getElementById("output").textContent;
    if (!/^test result: /m.test(said)) return;
    clearInterval(look);
    fetch("/report", { method: "POST", body: said });
  }, 100);
</script>`;

/** Starts the server of the tests; the address, or the code with which it ended: there are none. */
function serve() {
  const env = { ...process.env, NO_HEADLESS: "1", WASM_BINDGEN_TEST_ADDRESS: "127.0.0.1:0" };
  const child = spawn(process.env.WASM_BINDGEN_TEST_RUNNER, process.argv.slice(2), { stdio: ["ignore", "pipe", "inherit"], env });
  process.on("exit", () => child.kill("SIGKILL"));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve({ code }));
    createInterface(child.stdout).on("line", (line) => {
      const origin = / available at (http:\S+)/.exec(line)?.[1];
      if (origin) resolve({ origin });
    });
  });
}

/** Stands before that server: its pages report, `said` resolves with what they say. */
async function front(origin) {
  let tell;
  const said = new Promise((resolve) => (tell = resolve));
  const server = createServer(async (request, response) => {
    if (request.url === "/report") {
      let body = "";
      for await (const part of request.setEncoding("utf8")) body += part;
      response.end();
      return tell(body);
    }
    const answer = await fetch(origin + request.url);
    const isPage = answer.headers.get("content-type")?.startsWith("text/html");
    let bytes = Buffer.from(await answer.arrayBuffer());
    if (isPage) bytes = bytes.toString().replace("</body>", `${REPORT}</body>`);
    const headers = Object.fromEntries([...answer.headers].filter(([name]) => !/^(content-length|transfer-encoding|connection|content-encoding)$/.test(name)));
    response.writeHead(answer.status, headers).end(bytes);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { said, address: `http://127.0.0.1:${server.address().port}/` };
}

async function main() {
  const { origin, code } = await serve();
  if (!origin) return code ?? 1;
  const { said, address } = await front(origin);
  const profile = await makeProfile();
  const browser = await openBrowser(profile);
  try {
    const page = await browser.page();
    const late = new Promise((resolve) => setTimeout(resolve, LIMIT_MS));
    // In a page that has no agent nobody says when it is there: it says so itself.
    page.goto(address).catch(() => undefined);
    const words = await Promise.race([said, late]);
    if (words === undefined) {
      console.log(`The tests are not over after ${LIMIT_MS / 1000} s.`);
      return 1;
    }
    console.log(words);
    return RESULT.exec(words)[1] === "ok" ? 0 : 1;
  } finally {
    await browser.kill();
    await removeProfile(profile);
  }
}

process.exit(await main());
