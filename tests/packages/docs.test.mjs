// The documentation as it is read: whole, linked, true to the types, and for everybody.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { demoFolder, Loopback, makeProfile, openBrowser, packageFolder, removeProfile } from "../browser/harness.mjs";
import { make } from "../docs/make.mjs";
import { pageName, placed } from "../docs/reference.mjs";
import { GUIDES } from "../docs/site.mjs";
import { slug } from "../docs/text.mjs";
import { entriesOf } from "../docs/types.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const axe = readFileSync(join(root, "tests/packages/node_modules/axe-core/axe.min.js"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "holdfast-docs-"));
const names = make(folder);
const html = Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, `${name}.html`), "utf8")]));
const entries = entriesOf(join(root, "pkg-template"));
const world = {};
const isDeep = process.env.HOLDFAST_DEEP === "1";

before(async () => {
  world.service = await Loopback.start({ "/": demoFolder(), "/pkg": packageFolder(), "/docs": folder });
  world.profile = await makeProfile();
  world.browser = await openBrowser(world.profile);
});

after(async () => {
  await world.browser?.kill();
  await world.service?.stop();
  if (world.profile) await removeProfile(world.profile);
  rmSync(folder, { recursive: true, force: true });
});

/** The words of a union of texts in the types. */
const wordsOf = (type) => {
  const { code } = entries[0].declared.find(({ name }) => name === type);
  return [...code.matchAll(/"(\w+)"/g)].map(([, word]) => word);
};

/** A page's text, if it is there. */
const at = (page) => (existsSync(join(folder, page)) ? readFileSync(join(folder, page), "utf8") : undefined);

test("every link leads to a page and a place that are there", () => {
  const dead = [];
  for (const [name, text] of Object.entries(html)) {
    for (const [, href] of text.matchAll(/href="([^"]+)"/g)) {
      if (/^(https:|data:|docs\.css)/.test(href)) continue;
      const [page, anchor] = href.split("#");
      const target = page ? at(page) : text;
      if (!target || (anchor && !target.includes(`id="${anchor}"`))) dead.push(`${name}: ${href}`);
    }
  }
  assert.deepEqual(dead, []);
});

test("every link of a document leads to a file of the repository, and to a heading that it has", () => {
  const dead = [];
  /** Whether a file has such a place, where it is one whose places are its headings. */
  const has = (file, anchor) =>
    !anchor || !file.endsWith(".md") || [...readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm)].some(([, title]) => slug(title) === anchor);
  for (const [file, text] of ["README.md", "SECURITY.md", ...GUIDES.map(([name]) => `www/docs/${name}.md`)].map((own) => [own, readFileSync(join(root, own), "utf8")])) {
    for (const [, target, anchor] of text.matchAll(/\]\(([^)#\s]*)(?:#([^)]*))?\)/g)) {
      if (/^https:/.test(target)) continue;
      const place = target ? join(root, dirname(file), target) : join(root, file);
      if (!existsSync(place) || !has(place, anchor)) dead.push(`${file}: ${target}#${anchor}`);
    }
  }
  assert.deepEqual(dead, []);
});

test("every code of an error and every reason of a park says what to do", () => {
  const codes = [...html.errors.matchAll(/<h3 id="[^"]+"><a class="name" href="[^"]*"><code>(\w+)|<h3 id="[^"]+"><code>(\w+)/g)].map(([, a, b]) => a ?? b);
  assert.deepEqual(codes.toSorted(), wordsOf("ErrorCode").toSorted());
  const reasons = [...html.errors.matchAll(/<tr><td><code>([A-Z]\w+)<\/code>/g)].map(([, own]) => own);
  assert.deepEqual(reasons.toSorted(), wordsOf("ParkReason").toSorted());
});

test("the bounds that are told are those of the code", () => {
  const code = ["src/rules/bounds.rs", "src/rules/profile/pace.rs", "src/model/policy.rs", "src/model/journal.rs"].map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  const factors = (text) => text.replaceAll("_", "").split("*").reduce((product, factor) => product * Number(factor), 1);
  const bound = (name) => factors(new RegExp(`const ${name}: \\w+ = ([\\d_ *]+);`).exec(code)[1]);
  const pace = (name) => {
    const [, first, tenths, cap] = new RegExp(`const ${name}: Backoff = Backoff \\{ first_ms: ([\\d_]+), factor_tenths: (\\d+), cap_ms: ([\\d_]+)`).exec(code);
    return `${factors(first) / 1000} s first, ×${tenths / 10}, up to ${factors(cap) / 1000} s`;
  };
  const MiB = 1024 * 1024;
  const told = [
    [/`limits\.attempts`/, ` ${/fn default\(\) -> Self \{[^}]*?attempts: (\d+)/s.exec(code)[1]} `],
    [/two requests of one/, `${bound("REQUEST_FLOOR_MS")} ms`],
    [/^\| polls/, pace("POLL")],
    [/^\| retries/, pace("RETRY")],
    [/one exchange/, `${bound("EXCHANGE_TIMEOUT_MS") / 1000} s`],
    [/to sending it/, `${bound("SEND_BEFORE_MS") / 1000} s`],
    [/at a time/, ` ${bound("IN_FLIGHT_MAX")} `],
    [/^\| body/, `${bound("BODY_BYTES_MAX") / MiB} MiB`],
    [/^\| refusal/, `${bound("ANSWER_BYTES_MAX") / MiB} MiB`],
    [/^\| result/, `${bound("RESULT_BYTES_MAX") / MiB} MiB`],
    [/^\| journal/, `${bound("JOURNAL_MAX")} lines`],
  ];
  const lines = readFileSync(join(root, "www/docs/promises.md"), "utf8").split("\n");
  for (const [row, words] of told) assert.ok(lines.find((line) => row.test(line))?.includes(words), `${row} is not told as ${words}`);
});

test("the reference has every export with its members, and each has words", () => {
  assert.ok(entries.length >= 10);
  const [silent, missing] = [[], []];
  for (const { entry, file, declared } of entries) {
    const page = html[pageName(entry)];
    const names = declared.map(({ name }) => name);
    const exported = readFileSync(join(root, "pkg-template", file), "utf8").matchAll(/^export (?:(?:declare|abstract|default|async) )*(?!type [{*])\w+ (\w+)/gm);
    for (const [, name] of exported) if (!names.includes(name)) missing.push(`${entry}: ${name}`);
    for (const { id, name, doc, members } of placed(declared)) {
      if (!doc) silent.push(`${entry}: ${name}`);
      if (!page.includes(`<h2 id="${id}">${name} <small>`)) missing.push(`${entry}: ${name}`);
      for (const member of members) {
        if (!page.includes(`<dt id="${id}.${slug(member.name)}">`)) missing.push(`${entry}: ${name}.${member.name}`);
      }
    }
  }
  assert.deepEqual({ silent, missing }, { silent: [], missing: [] });
});

test("no place of a page has another's name", () => {
  for (const [name, text] of Object.entries(html)) {
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    assert.deepEqual(ids.filter((id, at) => ids.indexOf(id) !== at), [], name);
    for (const id of ids) assert.match(id, /^\S+$/, name);
  }
});

test("what a page asks for comes from the site itself", () => {
  for (const text of Object.values(html)) assert.doesNotMatch(text, /<script|style="|(src|href)="https?:[^"]*\.(js|css|svg)/);
});

/** Looks at a page that is shown, in light and wide, in dark and narrow. */
async function isForEverybody(page, name) {
  await page.evaluate(axe);
  for (const [colorScheme, width] of [["light", 1200], ["dark", 380]]) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    if (process.env.HOLDFAST_SCREENS) await page.screenshot({ path: join(process.env.HOLDFAST_SCREENS, `${name}-${colorScheme}-${width}.png`) });
    const violations = await page.evaluate(async () => {
      const { violations } = await axe.run(document, { resultTypes: ["violations"] });
      return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ target, failureSummary }) => `${target} ${failureSummary}`).join("; ")}`);
    });
    assert.deepEqual(violations, [], `${name}, ${colorScheme}, ${width}`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${name} is wider than ${width}`);
  }
}

test("axe finds no fault in the pages", async () => {
  const session = await world.browser.session();
  try {
    const page = await session.page();
    // Pages of the reference are long and of one making: one stands for all, save in a test for a night.
    for (const name of names.filter((own) => isDeep || !/^api/.test(own) || own === "api-proxy")) {
      await page.goto(`${world.service.origin}/docs/${name}.html`);
      await isForEverybody(page, name);
    }
  } finally {
    await session.close();
  }
});

test("axe finds no fault in the figures of the benches, and each that was saved is drawn", async () => {
  const session = await world.browser.session();
  try {
    const page = await session.page();
    const failed = [];
    page.on("response", (response) => response.ok() || failed.push(response.url()));
    await page.goto(`${world.service.origin}/docs/benchmarks.html`);
    await page.waitForFunction(() => document.querySelector("main section"), undefined, { timeout: 30_000 });
    const saved = JSON.parse(at("benchmarks/index.json"));
    const drawn = await page.evaluate(() => Array.from(document.querySelectorAll("main h2"), (own) => own.firstChild.data.trim()));
    assert.deepEqual([drawn.toSorted(), failed], [saved, []]);
    await isForEverybody(page, "benchmarks");
  } finally {
    await session.close();
  }
});

test("axe finds no fault in the demo, with an operation that has ended", async () => {
  const session = await world.browser.session();
  try {
    const page = await session.page();
    await page.goto(`${world.service.origin}/`);
    await page.getByLabel("Takes, seconds").fill("0");
    await page.getByRole("button", { name: "Submit" }).click();
    await page.waitForFunction(() => /has ended: succeeded/.test(document.body.innerText), undefined, { timeout: 30_000 });
    await isForEverybody(page, "demo");
    await page.setViewportSize({ width: 1200, height: 900 });
    const cut = await page.locator(".scroll", { hasText: "refunded" }).evaluate((own) => own.scrollWidth - own.clientWidth);
    assert.equal(cut, 0, "of the service's jobs something is cut");
  } finally {
    await session.close();
  }
});
