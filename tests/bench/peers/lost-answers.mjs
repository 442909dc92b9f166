// `lost-answers`: how many jobs one call of a user makes, where the service loses answers.
//
// A service on this machine makes a job of every POST and answers the third; the first two answers are lost,
// by a reset of the connection, a 502 or a 503, after the job was made. It knows two submissions for one only by
// their Idempotency-Key. Each client makes one call, as its documentation shows it first, in the version that
// package.json pins. What counts is the jobs that were made and paid for: one is right; `+ error` says that
// the caller was told of a failure although the job runs. A fourth service asks for two seconds: honoured is
// who comes back no sooner. Nothing here depends on the machine's speed but that wait, which is only compared.
//
// Usage: node lost-answers.mjs <folder of the built package>
import { styleText } from "node:util";
import { lines } from "../table.mjs";
import { holdfast, peers, versionOf } from "./clients.mjs";
import { losingService, losses } from "./losing-service.mjs";

const PATIENCE_MS = 60_000;
const ASKED_MS = 2_000;

async function measure(call, lose) {
  const service = await losingService(lose);
  let error;
  let timer;
  try {
    const patience = new Promise((_, no) => {
      timer = setTimeout(() => no(new Error("no answer for a minute")), PATIENCE_MS);
    });
    await Promise.race([call(service), patience]);
  } catch (thrown) {
    error = thrown;
  } finally {
    clearTimeout(timer);
    service.close();
  }
  return { posts: service.posts, jobs: service.jobs(), error };
}

const jobsOf = ({ jobs, error }) => `${jobs}${error ? " + error" : ""}`;

function keyOf(measured) {
  const keys = measured.flatMap(({ posts }) => [new Set(posts.map(({ key }) => key))]);
  if (keys.every((own) => own.size === 1 && own.has(undefined))) return "none";
  return keys.every((own) => own.size === 1 && !own.has(undefined)) ? "the same" : "changes";
}

function guidanceOf({ posts: [first, second] }) {
  if (!second) return "no retry";
  const waited = second.at - first.at;
  return waited >= ASKED_MS - 20 ? "honoured" : `ignored (${Math.round(waited)} ms)`;
}

async function row(name, version, action, call) {
  const measured = await Promise.all([...losses.values()].map((lose) => measure(call, lose)));
  const [reset, bad, unavailable, guided] = measured;
  return {
    bench: "lost-answers",
    client: name,
    version,
    call: action,
    reset: jobsOf(reset),
    502: jobsOf(bad),
    503: jobsOf(unavailable),
    key: keyOf(measured),
    "Retry-After": guidanceOf(guided),
    versions: { holdfast: own.version, node: process.version },
    errors: [...new Set(measured.flatMap(({ error }) => (error ? [String(error.message ?? error).slice(0, 90)] : [])))],
  };
}

function print(rows) {
  const columns = ["client", "version", "call", "reset", "502", "503", "key", "Retry-After"];
  const table = lines(columns, rows);
  console.log(`${table.with(-1, styleText("bold", table.at(-1))).join("\n")}\n`);
  for (const own of rows) console.log(JSON.stringify(own));
}

const own = holdfast(process.argv[2]);
const rows = [];
for (const [name, action, call] of peers) rows.push(await row(name, versionOf(name), action, call));
rows.push(await row("holdfast", own.version, "submit, result", own.call));
print(rows);
process.exit();
