// An outbox that has grown: 100, 10,000 and 50,000 stored operations, ten of which are due. A page opens
// and starts its client: how long until the first due request leaves, how long a step takes then (a submit,
// until it is durable), and how much memory there is. What is stored is planted: one operation that waits
// for long and one that waits shortly are made through a real client against the service, and their rows are
// cloned under other ids. Each size has a database of its own in one origin; they are opened in turn, some
// rounds, and before each round the ten are due again. Nothing should grow with what is not due.
import { watchMemory } from "../browser/harness.mjs";
import { bench, count, median } from "./lab.mjs";

const SIZES = [100, 10_000, 50_000];
const DUE = 10;
const ROUNDS = count(5);

await bench("outbox", async (lab) => {
  const page = await lab.page();
  await lab.service.faults([{ call: "poll", fault: "unavailable", retry_after: 3_000, times: 1 }]);
  const templates = await page.evaluate(makeTemplates);
  for (const size of SIZES) {
    await page.evaluate(plant, { templates, size, due: DUE });
    await lab.service.reset();
  }
  await page.close();
  const told = SIZES.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (let at = 0; at < SIZES.length; at++) {
      const opened = await lab.page("bench.html", watchMemory);
      await opened.evaluate(plant, { templates, size: DUE, due: DUE, name: `outbox-${SIZES[at]}` });
      await opened.reload();
      await opened.waitForFunction(() => globalThis.isReady);
      told[at].push(await opened.evaluate(openOutbox, `outbox-${SIZES[at]}`));
      await opened.close();
    }
  }
  const what = { first: ["first use to first due request", "ms"], step: ["a submit, until durable", "ms"], module: ["module's memory", "MB"], heap: ["JS heap", "MB"] };
  for (const [name, [label, unit]] of Object.entries(what)) {
    const of = SIZES.map((_, at) => median(told[at].map((own) => own[name])));
    if (of.some((value) => !value)) continue;
    SIZES.forEach((size, at) => lab.row(`${label}, ${size} stored`, { value: of[at], unit, ...(at && { floor: of[0], goal: "≤ 1.2" }) }));
  }
});

/** In the page: the rows of one operation that waits for an hour, and of one that is due soon. */
async function makeTemplates() {
  const holdfast = open({ database: "templates" });
  const rowsOf = async (intent) => {
    const operation = await holdfast.submit("polled", { intent, body: { url: "https://example.com", duration_ms: 3_600_000 } });
    while (!(operation.waiting && operation.jobId)) await new Promise((resolve) => setTimeout(resolve, 20));
    return operation;
  };
  const short = await rowsOf("short");
  const early = await read(short.id);
  while (!(short.waiting?.reason === "serverGuidance")) await new Promise((resolve) => setTimeout(resolve, 20));
  const late = await read(short.id);
  await holdfast.close();
  return { id: short.id, key: short.key, job: short.jobId, early, late };

  async function read(id) {
    const database = await done(indexedDB.open("templates"));
    const transaction = database.transaction([...database.objectStoreNames], "readonly");
    const store = (name) => transaction.objectStore(name);
    const [operation, body, profiles, digests] = await Promise.all([
      done(store("operations").get(id)),
      done(store("bodies").get(id)),
      done(store("profiles").getAll()),
      done(store("profiles").getAllKeys()),
    ]);
    database.close();
    return { operation, body: [...body], profiles: profiles.map((text, at) => [digests[at], text]) };
  }
}

/** In the page: clones of the rows, the first of them due. */
async function plant({ templates, size, due, name = `outbox-${size}` }) {
  const holdfast = open({ database: name });
  // It makes the object stores.
  await holdfast.list();
  await holdfast.close();
  const database = await done(indexedDB.open(name));
  for (let from = 0; from < size; from += 5000) {
    const transaction = database.transaction(["operations", "bodies", "names", "service_ids", "lanes", "profiles"], "readwrite", { durability: "relaxed" });
    const store = (name) => transaction.objectStore(name);
    for (const [digest, text] of templates.early.profiles) store("profiles").put(text, digest);
    for (let at = from; at < Math.min(size, from + 5000); at++) {
      const { operation, body } = at < due ? templates.early : templates.late;
      const own = `${at}`.padStart(8, "0");
      const renamed = (text) =>
        text.replaceAll(templates.id, own + templates.id.slice(8)).replaceAll(templates.key, own + templates.key.slice(8)).replaceAll(templates.job, templates.job + own).replaceAll('"short"', `"intent ${at}"`);
      const row = { ...operation, id: renamed(operation.id), document: renamed(operation.document) };
      store("operations").put(row);
      store("bodies").put(new Uint8Array(body), row.id);
      store("names").put(row.id, [row.account, "polled", `intent ${at}`]);
    }
    await new Promise((resolve, reject) => ((transaction.oncomplete = resolve), (transaction.onabort = () => reject(transaction.error))));
  }
  database.close();
}

/** In the page: opens the outbox, and waits for the first request that is due. */
async function openOutbox(database) {
  const holdfast = open({ database });
  left.length = 0;
  const begun = performance.now();
  await holdfast.start();
  while (!left.length && performance.now() - begun < 10_000) await new Promise((resolve) => setTimeout(resolve, 1));
  const first = left[0] - begun;
  // The ten are on their way meanwhile.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const steps = [];
  for (let at = 0; at < 15; at++) {
    const started = performance.now();
    await holdfast.submit("answered", { intent: crypto.randomUUID(), params: { path: "v1/reports" }, body: { url: "https://example.com", duration_ms: 60_000 } });
    steps.push(performance.now() - started);
  }
  const MB = 2 ** 20;
  const told = {
    first,
    step: steps.sort((a, b) => a - b)[7],
    module: moduleMemory.buffer.byteLength / MB,
    heap: (performance.memory?.usedJSHeapSize ?? 0) / MB,
  };
  await holdfast.close();
  return told;
}
