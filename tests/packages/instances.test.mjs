// Instances of the WebAssembly module: what outlives one, what calls back into one, and what calls leave in it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { until } from "../browser/harness/until.mjs";
import { Workplace } from "./harness/workplace.mjs";

const place = new Workplace();
after(() => place.remove());
const load = (script) => import(pathToFileURL(join(place.installed, script)));

/** Every instance of the module that is made from here on; Node has modules of its own. @type {WebAssembly.Instance[]} */
const instances = [];
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (...given) => {
  const made = await instantiate(...given);
  const { exports } = made.instance ?? made;
  if (!exports.__indirect_function_table) instances.push(made.instance ?? made);
  return made;
};

/** How many values of JavaScript a module holds, each in a place of its table until it is let go. */
const held = ({ exports }) =>
  Object.values(exports)
    .filter((own) => own instanceof WebAssembly.Table)
    .flatMap((table) => Array.from({ length: table.length }, (_, at) => table.get(at)))
    .filter((value) => value !== null && value !== undefined).length;

const { simulate } = await load("testing.js");
const body = { url: "https://example.com" };
const service = { profile: "runharvester", baseUrl: "https://api.example.com" };
const authorize = () => ({ headers: { authorization: "Bearer a" } });

test("an object of an instance that was replaced frees nothing in the next", async () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc");
  const [glue, { checkOptions }, { configure }, { builtIn }] = await Promise.all(
    ["glue.js", "options.js", "profiles.js", "profiles/built-in.js"].map(load),
  );
  await glue.default({ module_or_path: readFileSync(join(place.installed, "holdfast.wasm")) });
  const config = await configure(checkOptions({ account: () => null, services: { reports: { ...service, authorize } } }), builtIn);
  const make = () => new glue.Client(config, { account: () => null, database: { run: () => assert.fail("it is not asked") }, consumes: false });
  const many = () => Array.from({ length: 10 }, make);
  const addresses = (clients) => clients.map((client) => client.__wbg_ptr);

  let gone = 0;
  const graves = new FinalizationRegistry(() => (gone += 1));
  // Nothing of this turn holds them afterwards.
  const stood = (() => {
    const former = many();
    former.forEach((client) => graves.register(client));
    return addresses(former);
  })();
  glue.__wbg_reset_state();
  const own = many();
  assert.deepEqual(addresses(own), stood, "they stand where the former ones stood");
  await until(async () => (gc(), await sleep(1), gone === stood.length), "The end of the former clients");
  await sleep(20);
  assert.deepEqual(addresses(many()).filter((address) => stood.includes(address)), []);
  for (const client of own) await assert.rejects(client.start(), { code: "NO_ACCOUNT" });
});

test("an app that calls the client from each of its callbacks finds it whole", async () => {
  const world = await simulate({ reports: { durationMs: 3000 } });
  const before = instances.length;
  const inside = [];
  const reads = () => void (inside.length < 200 && inside.push(holdfast.list(), holdfast.find("reports", "a")));
  const again = () => (reads(), void (inside.length < 200 && inside.push(holdfast.submit("reports", { intent: "a", body }))));
  const holdfast = world.createHoldfast({
    // To submit asks for the account in the same turn.
    account: () => (reads(), "local"),
    services: { reports: { ...service, authorize: () => (again(), authorize()) } },
    observe: again,
    onSettled: async () => void (await holdfast.submit("reports", { intent: "next", body })),
  });
  holdfast.subscribe(again);
  const same = Array.from({ length: 20 }, () => holdfast.submit("reports", { intent: "a", body }));
  const operations = await Promise.all(same);
  assert.equal(new Set(operations.map(({ id }) => id)).size, 1);
  assert.equal((await operations[0].outcome()).status, "succeeded");
  assert.equal((await (await holdfast.submit("reports", { intent: "next", body })).outcome()).status, "succeeded");
  await Promise.all(inside);
  assert.ok(inside.length >= 200);
  assert.equal(instances.length, before + 1, "no instance was lost");
  assert.equal(world.service("reports").ledger().executions, 2);
  await holdfast.close();
});

test("the module holds nothing of an operation that is over", async () => {
  const world = await simulate({ reports: { durationMs: 1 } });
  const holdfast = world.createHoldfast({ account: () => "local", services: { reports: { ...service, authorize } } });
  const some = async (name) => {
    for (let count = 0; count < 10; count++) {
      const operation = await holdfast.submit("reports", { intent: `${name} ${count}`, body });
      await operation.result();
      await assert.rejects(holdfast.submit("reports", { intent: `${name} ${count}`, body: { url: "https://other.example" } }), { code: "INTENT_CONFLICT" });
    }
  };
  await some("first");
  const instance = instances.at(-1);
  const before = held(instance);
  await some("second");
  assert.equal(held(instance), before);
  await holdfast.close();
});
