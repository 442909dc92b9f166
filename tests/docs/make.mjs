// Makes the documentation: `node tests/docs/make.mjs FOLDER`.
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { reference } from "./reference.mjs";
import { framed, GUIDES, rendered, source } from "./site.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

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
  cpSync(join(root, "www/docs/docs.css"), join(folder, "docs.css"));
  cpSync(join(root, "www/story.svg"), join(folder, "story.svg"));
  return [...guides, ...pages].map(({ name }) => name);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2);
  if (!folder) throw new Error("Say where to: node tests/docs/make.mjs FOLDER");
  console.log(`${make(folder).length} pages in ${folder}`);
}
