// The documentation as a site: pages of Markdown and the reference, in one frame.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Marked } from "marked";
import { highlighted } from "./highlight.mjs";
import { escaped, slug } from "./text.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The pages that people write, in their order: the file in www/docs, and its name in the menu. */
export const GUIDES = [
  ["index", "What it is"],
  ["start", "Quick start"],
  ["situations", "What happens when…"],
  ["errors", "Errors and parks"],
  ["services", "Describing a service"],
  ["testing", "Testing and looking inside"],
  ["coming-from", "Coming from…"],
  ["promises", "Promises and limits"],
  ["threats", "Threat model"],
  ["relay", "The relay's protocol"],
];

/** A page's Markdown; where a link to a section of another document stands alone, the section does. */
export function source(name) {
  const text = readFileSync(`${root}www/docs/${name}.md`, "utf8");
  return text.replace(/^\[[^\]]+\]\(\.\.\/\.\.\/(\w+\.md)#([\w-]+)\)$/gm, (_, file, anchor) => section(file, anchor));
}

function section(file, anchor) {
  const parts = readFileSync(root + file, "utf8").split(/^(?=## )/m);
  const part = parts.find((own) => slug(own.split("\n")[0].slice("## ".length)) === anchor);
  if (!part) throw new Error(`${file} has no section #${anchor}.`);
  return part.trim();
}

/**
 * Markdown as HTML.
 *
 * @param {string} text
 * @param {(name: string) => string | undefined} addressOf Where the reference explains a name.
 */
export function rendered(text, addressOf) {
  const headings = [];
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth, text: title }) {
        const id = slug(title);
        if (depth === 2) headings.push({ id, title: title.replaceAll("`", "") });
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      code: ({ text: code, lang }) => block(code, lang),
      codespan({ text: code }) {
        const address = addressOf(code);
        const inner = `<code>${escaped(code)}</code>`;
        return address ? `<a class="name" href="${address}">${inner}</a>` : inner;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens).replace(/<a class="name"[^>]*>(.*?)<\/a>/g, "$1");
        const address = pageAddress(href);
        return address ? `<a href="${escaped(address)}">${inner}</a>` : inner;
      },
      image: ({ href, text: alternative }) => 
        `<span class="scroll" tabindex="0" role="group" aria-label="Picture"><img src="${escaped(href.replace("../", ""))}" alt="${escaped(alternative)}"></span>`,
      table({ header, rows }) {
        const row = (cells, tag) => `<tr>${cells.map((cell) => `<${tag}${tag === "th" ? ' scope="col"' : ""}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("")}</tr>`;
        const body = rows.map((cells) => row(cells, "td")).join("\n");
        return `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead>${row(header, "th")}</thead><tbody>${body}</tbody></table></div>\n`;
      },
    },
  });
  return { html: marked.parse(text.replace(/<!--[\s\S]*?-->/g, "")), headings };
}

/** Code in a box of its own, which can be scrolled with the keyboard. */
export const block = (code, lang = "") =>
  `<pre tabindex="0" role="group" aria-label="Code"><code>${highlighted(code, lang.split(" ")[0])}</code></pre>\n`;

/** Links between pages, to types and to the figures lead to pages; elsewhere in the repository there is nothing to lead to. */
function pageAddress(href) {
  if (/^(https:|#)/.test(href)) return href;
  const [, type, anchor = ""] = /^\.\.\/\.\.\/pkg-template\/(.+?)(?:\.d\.ts|\.schema\.json)(#.*)?$/.exec(href) ?? [];
  if (type) return `${type === "index" ? "api" : `api-${type}`}.html${anchor}`;
  const own = href.replace(/^\.\.\/(?=benchmarks\.html$)/, "");
  return /^[\w-]+\.(md|html)(#|$)/.test(own) ? own.replace(".md", ".html") : undefined;
}

/**
 * A whole page.
 *
 * @param {{ name: string, title: string, html: string, headings: { id: string, title: string }[] }} page
 * @param {[string, string][]} reference The pages of the reference.
 */
export function framed({ name, title, html, headings }, reference) {
  const item = ([own, label]) => `<li><a href="${own}.html"${own === name ? ' aria-current="page"' : ""}>${escaped(label)}</a></li>`;
  const on = headings.length < 3 ? "" : `<nav class="on" aria-label="On this page"><ul>${headings.map((own) => `<li><a href="#${own.id}">${escaped(own.title)}</a></li>`).join("")}</ul></nav>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; img-src 'self' data:">
<title>${escaped(title)} · Holdfast</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs.css">
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header><a href="index.html">Holdfast</a> <span>one intended piece of work, one kept result</span> <a class="all" href="#menu">All pages</a></header>
<div class="sides">
<main id="main">${html.replace("</h1>", () => `</h1>${on}`)}</main>
<nav class="menu" id="menu" aria-label="Pages"><h2>Guide</h2><ul>${GUIDES.map(item).join("")}</ul><h2>Reference</h2><ul>${reference.map(item).join("")}</ul></nav>
</div>
</body>
</html>
`;
}
