// Operations over sixteen objects in a real workerd: what each costs, and whether that grows with the number stored.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Loopback, membersOf, packageFolder, systemTells, until } from "../browser/harness.mjs";
import { Edge } from "../edge/edge.mjs";
import { quickProfile } from "../edge/quick-profile.mjs";
import { count, report } from "./lab.mjs";

const OBJECTS = 16;
const OPERATIONS = count(640);
/** How many parts the operations come in; the first and the last are compared. */
const PARTS = 5;
/** How many are handed over at once. */
const AT_ONCE = 32;
/** How long a part may take, in milliseconds for each operation of it. */
const EACH_MS = 2000;

const body = { url: "https://example.com", duration_ms: 0, result_bytes: 2000 };

const folder = await mkdtemp(join(tmpdir(), "holdfast-bench-"));
const service = await Loopback.start({});
const edge = await Edge.start({
  package: packageFolder(),
  worker: "bench.js",
  folder,
  objects: { JOBS: "Jobs" },
  bindings: { PROFILE: quickProfile(packageFolder()), ORIGIN: service.origin, TOKEN: "demo-token" },
});
const parts = [];
try {
  const size = Math.ceil(OPERATIONS / PARTS);
  for (let part = 0; part < PARTS; part++) {
    parts.push(await run(part * size, size));
    console.error(`part ${part + 1} of ${PARTS}: ${parts.at(-1).perSecond.toFixed(1)} operations a second`);
  }
  tell(parts);
} catch (error) {
  throw new Error(`${error.message}, after ${parts.length} parts\n${edge.lines.slice(-20).join("\n")}`, { cause: error });
} finally {
  await edge.kill();
  await service.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Hands operations over and waits until they are over; what that took, for each of them. */
async function run(from, size) {
  const before = await ask("/");
  const begun = performance.now();
  for (let at = 0; at < size; at += AT_ONCE) {
    const work = { from: from + at, count: Math.min(AT_ONCE, size - at), objects: OBJECTS, body };
    await ask("/", { method: "POST", body: JSON.stringify(work) });
  }
  await until(async () => (await ask("/")).settled >= from + size, "The end of a part", size * EACH_MS);
  const ms = performance.now() - begun;
  const after = await ask("/");
  const each = Object.keys(after).map((name) => [name, (after[name] - before[name]) / size]);
  return { ...Object.fromEntries(each), perSecond: (size * 1000) / ms, memory: memoryOf(edge.pid) };
}

/** Asks, and again where a connection breaks: the same work handed over twice is the same. */
async function ask(path, init) {
  for (let again = 0; ; again++) {
    try {
      return await edge.ask(path, init);
    } catch (error) {
      if (again === 3) throw error;
      console.error(`asked again: ${error.message}, ${error.cause?.message}`);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

/** What the workerd of a process group holds in memory, in MB. */
function memoryOf(group) {
  const workerds = membersOf(group).map((pid) => systemTells(pid, "status")).filter((status) => /^Name:\s+workerd$/m.test(status));
  return workerds.reduce((sum, status) => sum + Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0), 0) / 1024;
}

function tell(parts) {
  const [first, last] = [parts[0], parts.at(-1)];
  const rows = [
    ["operations to their end", "per second", "perSecond"],
    ["rows read", "per operation", "rowsRead"],
    ["rows written", "per operation", "rowsWritten"],
    ["alarms run", "per operation", "alarms"],
    ["alarms set", "per operation", "alarmsSet"],
    ["calls of objects", "per operation", "calls"],
    ["requests of the service", "per operation", "requests"],
    ["memory of workerd", "MB", "memory"],
  ].map(([what, unit, name]) => ({
    what,
    unit,
    value: last[name],
    floor: first[name],
    ratio: last[name] / first[name],
    ...(name.startsWith("rows") && { goal: "ratio ≤ 1.2" }),
    note: "",
  }));
  rows[0].note = `${PARTS} parts of ${Math.ceil(OPERATIONS / PARTS)} over ${OBJECTS} objects: the last, against the first (floor)`;
  report("edge", "workerd", rows);
}
