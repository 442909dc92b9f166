// The recipes for other frameworks, as their documentation has them, with the real ones in a simulated world.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Workplace } from "./harness/workplace.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const place = new Workplace();
after(() => place.remove());
for (const name of ["vue", "svelte", "solid-js"]) symlinkSync(join(here, "node_modules", name), join(place.folder, "node_modules", name));

/** How each follows a view in a scope that ends: `follow(make, tell)` gives what ends it. */
const SCOPES = {
  Vue: `import { effectScope, watch } from "vue";
    const follow = (make, tell) => {
      const scope = effectScope();
      scope.run(() => watch(make(), tell, { immediate: true, flush: "sync" }));
      return () => scope.stop();
    };`,
  Svelte: "const follow = (make, tell) => make().subscribe(tell);",
  Solid: `import { createRenderEffect, createRoot } from "solid-js";
    const follow = (make, tell) => createRoot((end) => {
      const view = make();
      createRenderEffect(() => tell(view()));
      return end;
    });`,
};

const STORY = `
  import { simulate } from "holdfast/testing";
  import { useOperation } from "./recipe.js";
  const world = await simulate({ reports: { durationMs: 500 } });
  const holdfast = world.createHoldfast({ account: () => "a", services: { reports: { profile: "runharvester", baseUrl: "https://api.example.com" } } });
  const seen = [];
  let view;
  const until = async (status) => { while (view?.status !== status) await new Promise((resolve) => setTimeout(resolve, 1)); };
  const end = follow(() => useOperation(holdfast, "reports", "a"), (own) => { view = own; if (own && seen.at(-1) !== own.status) seen.push(own.status); });
  await until("absent");
  await view.submit({ body: { url: "https://example.com" } });
  await until("succeeded");
  while (!view.outcome) await new Promise((resolve) => setTimeout(resolve, 1));
  end();
  const { length } = seen;
  await (await holdfast.find("reports", "a")).acknowledge();
  await holdfast.submit("reports", { intent: "b", body: {} });
  console.log(JSON.stringify({ seen, data: view.outcome.data, after: seen.length - length, status: view.status }));
  await holdfast.close();
`;

for (const [name, scope] of Object.entries(SCOPES)) {
  test(`${name} follows an operation with the recipe of the documentation`, async () => {
    const types = readFileSync(join(place.installed, "watch.d.ts"), "utf8");
    const [, recipe] = new RegExp(`@example ${name}\\n(.*?)\\n \\* @`, "s").exec(types);
    const folder = join(place.folder, name);
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    writeFileSync(join(folder, "recipe.js"), recipe.replace(/^ \* ?/gm, ""));
    writeFileSync(join(folder, "main.js"), scope + STORY);
    const line = ["--conditions=browser", "main.js"];
    const { stdout } = await promisify(execFile)(process.execPath, line, { cwd: folder, timeout: 30_000 });
    const { seen, data, after: later, status } = JSON.parse(stdout);
    assert.deepEqual([seen[0], seen[1], seen.at(-1), data, later, status], ["pending", "absent", "succeeded", { ok: true }, 0, "succeeded"]);
  });
}
