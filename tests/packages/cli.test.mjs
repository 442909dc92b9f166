// npx holdfast check.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { Loopback } from "../browser/harness.mjs";
import { Workplace } from "./harness/workplace.mjs";

const place = new Workplace();
after(() => place.remove());
const manifest = JSON.parse(readFileSync(join(place.installed, "package.json"), "utf8"));

/** Runs the program as npx does. */
const check = (...line) =>
  new Promise((resolve) => {
    execFile(process.execPath, [join(place.installed, manifest.bin.holdfast), ...line], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }));
  });

const written = (name, profile) => {
  const file = join(place.folder, name);
  writeFileSync(file, typeof profile === "string" ? profile : JSON.stringify(profile));
  return file;
};

test("every profile of the package holds, and is told in words", async () => {
  const folder = join(place.installed, "profiles");
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  for (const name of files) {
    const { code, stdout, stderr } = await check("check", join(folder, name));
    assert.deepEqual([code, stderr], [0, ""], name);
    assert.match(stdout, /The result (is|stands)/, name);
    assert.doesNotMatch(stdout, /undefined|\[object/, name);
  }
});

test("a profile says what happens to lost answers, and what a page's service must allow", async () => {
  const { stdout } = await check("check", join(place.installed, "profiles/runharvester.json"));
  for (const words of [/key travels in header Idempotency-Key/, /keeps it for 1 day/, /headers: content-type, Idempotency-Key/, /RESULT_EXPIRED/]) {
    assert.match(stdout, words);
  }
  const keyless = await check("check", join(place.installed, "profiles/bulkgrid.json"));
  assert.match(keyless.stdout, /knows no idempotency keys/);
});

test("what is wrong is told with its place, all of it at once", async () => {
  const file = written("bad.json", { profile: 1, name: "bad", key: { header: 1 }, calls: { submit: { method: "GO", path: "/x" } }, colour: "red" });
  const { code, stderr } = await check("check", file);
  assert.equal(code, 1);
  for (const place of ["/key/header", "/calls/submit/method", "/colour"]) assert.ok(stderr.includes(place), `${place}: ${stderr}`);
  const { stdout } = await check("check", file, "--json");
  assert.equal(JSON.parse(stdout).ok, false);
});

test("what cannot be read, or was not understood, is told too", async () => {
  assert.equal((await check("check", written("broken.json", "{"))).code, 2);
  assert.equal((await check("check", join(place.folder, "none.json"))).code, 2);
  assert.match((await check("chek")).stderr, /^Usage: holdfast check/);
});

test("help and the version are answers, and no errors", async () => {
  for (const line of [["--help"], ["-h"], ["check", "--help"]]) {
    const { code, stdout, stderr } = await check(...line);
    assert.deepEqual([code, stderr], [0, ""], line);
    assert.match(stdout, /^Usage: holdfast check/);
  }
  assert.deepEqual(await check("--version"), { code: 0, stdout: `${manifest.version}\n`, stderr: "" });
});

test("a file that begins with a byte order mark is read, and so is what is built in", async () => {
  const text = readFileSync(join(place.installed, "profiles/replay.json"), "utf8");
  assert.equal((await check("check", written("marked.json", `\uFEFF${text}`))).code, 0);
  assert.match((await check("check", "replay")).stdout, /^replay is built in, and holds\./);
  assert.match((await check("check", "reply")).stderr, /^reply: ENOENT/);
});

test("every call and meaning of the format has its words", async () => {
  const { properties } = JSON.parse(readFileSync(join(place.installed, "profile.schema.json"), "utf8"));
  const { CALLS, MEANINGS } = await import(join(place.installed, "cli-words.js"));
  assert.deepEqual(Object.keys(properties.calls.properties).filter((name) => !CALLS[name]), []);
  assert.deepEqual(properties.meanings.items.properties.means.enum.filter((name) => !MEANINGS[name]), []);
});

test("a profile is tried on a service, and its key too", async () => {
  const service = await Loopback.start({}, { token: "sandbox" });
  process.env.SANDBOX_TOKEN = "Bearer sandbox";
  try {
    const profile = join(place.installed, "profiles/runharvester.json");
    const line = ["check", profile, "--against", service.origin, "--body", '{"url":"https://example.com","duration_ms":50}'];
    const refused = await check(...line);
    assert.equal(refused.code, 1);
    assert.match(refused.stdout, /credential/);
    const { code, stdout } = await check(...line, "--header", "authorization: $SANDBOX_TOKEN", "--twice");
    assert.equal(code, 0, stdout);
    assert.match(stdout, /submit\.answered · 202.*It succeeded: \d+ bytes.*it is the same job/s);
    assert.doesNotMatch(stdout, /sandbox"|Bearer/);
    assert.equal((await service.ledger()).executions, 1);

    const keyless = JSON.parse(readFileSync(profile, "utf8"));
    keyless.key.header = "X-Not-The-Key";
    const wrong = await check("check", written("wrong.json", keyless), ...line.slice(2), "--header", "authorization: $SANDBOX_TOKEN", "--twice");
    assert.equal(wrong.code, 1, wrong.stdout);
  } finally {
    await service.stop();
  }
});

/** A service that knows no keys and never ends a job, and a profile of it in which a fact stands elsewhere. */
async function endless(t, facts = {}) {
  const submitted = [];
  const server = createServer((request, response) => {
    if (request.method === "POST") submitted.push(request.headers);
    response.writeHead(request.method === "POST" ? 202 : 200, { "content-type": "application/json" });
    response.end('{"id":"job-1","status":"thinking"}');
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => (server.closeAllConnections(), server.close()));
  const profile = {
    profile: 1, name: "endless", key: { header: "Idempotency-Key" },
    calls: { submit: { method: "POST", path: "/jobs" }, poll: { method: "GET", path: "/jobs/{id}" } },
    facts: { id: ["/id"], status: ["/status"], ...facts }, states: { queued: "active", done: "completed" },
  };
  const line = ["check", written("endless.json", profile), "--against", `http://127.0.0.1:${server.address().port}`];
  return { submitted, line };
}

test("an answer in which no id is found ends a trial, with one job made", async (t) => {
  const { line, submitted } = await endless(t, { id: ["/job/id"] });
  const { code, stdout } = await check(...line, "--body", "{}");
  assert.deepEqual([code, submitted.length], [1, 1], stdout);
  assert.match(stdout, /answered 202, and no id was found at \/job\/id/);
});

test("a trial that does not end is ended, and says what it could not read", async (t) => {
  for (const [facts, told] of [
    [{}, /The state thinking is in no list.*not over in the time/s],
    [{ status: ["/state"] }, /No state was found at \/state.*not over in the time/s],
  ]) {
    const { line } = await endless(t, facts);
    const within = (seconds) => check(...line, "--body", "{}", "--within", seconds);
    let ended = await within("3");
    // A busy machine may not have come to a poll in so short a time.
    if (!told.test(ended.stdout)) ended = await within("40");
    assert.equal(ended.code, 1);
    assert.match(ended.stdout, told);
  }
});

test("a service that never answers is asked a few times, and its address is doubted", async (t) => {
  const { line } = await endless(t);
  const { code, stdout } = await check(...line.slice(0, 3), "http://127.0.0.1:1", "--body", "{}");
  assert.equal(code, 1);
  assert.match(stdout, /stopped after 4 submissions.*No answer has come from http:\/\/127\.0\.0\.1:1 yet.*is the address right\?\n$/s);
});

test("what a trial was told wrongly is named before anything is sent", async (t) => {
  const { line, submitted } = await endless(t);
  const cases = [
    [["--body", "{url"], /--body is no JSON/],
    [[], /needs --body/],
    [["--bdy", "{}"], /'--bdy'/],
    [["--body", "{}", "--header", "Bearer s3cret"], /not of the form --header "name: value"/],
    [["--body", "{}", "--header", "authorization: Bearer $NO_SUCH_VARIABLE"], /authorization names \$NO_SUCH_VARIABLE/],
    [["--body", "{}", "--within", "soon"], /--within is a number of seconds/],
  ];
  for (const [more, expected] of cases) {
    const { code, stderr } = await check(...line, ...more);
    assert.equal(code, 2, stderr);
    assert.match(stderr, expected);
    assert.doesNotMatch(stderr, /s3cret|\n.*\n/);
  }
  assert.deepEqual(submitted, []);
});

test("variables are read wherever they stand in a header's value", async (t) => {
  const { line, submitted } = await endless(t, { id: ["/job/id"] });
  process.env.TRIAL_TOKEN = "s3cret";
  const headers = ["--header", "authorization: Bearer $TRIAL_TOKEN", "--header", "x-id: <${TRIAL_TOKEN}>"];
  const { stdout } = await check(...line, "--body", "{}", ...headers);
  assert.deepEqual([submitted[0].authorization, submitted[0]["x-id"]], ["Bearer s3cret", "<s3cret>"]);
  assert.doesNotMatch(stdout, /s3cret/);
});
