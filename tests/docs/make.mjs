// Makes the documentation: `node tests/docs/make.mjs FOLDER`.
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { reference } from "./reference.mjs";
import { framed, GUIDES, rendered, source } from "./site.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What goes with the pages: their style and picture, and the figures of the benches. */
const BESIDE = ["docs/docs.css", "story.svg", "style.css", ...["html", "css", "js"].map((end) => `benchmarks.${end}`), "benchmarks"];

/**
 * Writes every page into a folder, which is made anew.
 *
 * @param {string} folder
 * @returns {string[]} The pages' names.
 */
export function make(folder) {
  const { addressOf, pages } = reference(join(root, "pkg-template"));
  const menu = pages.map(({ name, title }) => [name, title]);
  const guides = GUIDES.map(([name, title]) => ({ name, title, ...rendered(source(name), addressOf) }));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const page of [...guides, ...pages]) writeFileSync(join(folder, `${page.name}.html`), framed(page, menu));
  for (const own of BESIDE) cpSync(join(root, "www", own), join(folder, basename(own)), { recursive: true });
  return [...guides, ...pages].map(({ name }) => name);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2);
  if (!folder) throw new Error("Say where to: node tests/docs/make.mjs FOLDER");
  console.log(`${make(folder).length} pages in ${folder}`);
}
