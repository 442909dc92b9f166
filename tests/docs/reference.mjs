// The reference: a page for each entry of the package, and one for the format of profiles.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { block, rendered } from "./site.mjs";
import { escaped, slug } from "./text.mjs";
import { entriesOf } from "./types.mjs";

/** @import { Declared } from "./types.mjs" */

/**
 * The pages of the reference.
 *
 * @param {string} template The package's template.
 */
export function reference(template) {
  const entries = entriesOf(template);
  const pages = entries.map((own) => ({ ...own, declared: placed(own.declared), name: pageName(own.entry), title: own.entry }));
  const places = new Map();
  for (const { name, declared } of [...pages].reverse()) {
    for (const own of declared) {
      places.set(own.name, `${name}.html#${own.id}`);
      for (const member of own.members) places.set(`${own.name}.${member.name}`, `${name}.html#${own.id}.${slug(member.name)}`);
    }
  }
  const addressOf = (code) => places.get(code) ?? (/^\w+\(.*\)$/.test(code) ? places.get(code.split("(")[0]) : undefined);
  const format = { name: "api-profile", title: "The profile format", ...profileFormat(template, addressOf) };
  return {
    addressOf,
    pages: [...pages.map((page) => ({ ...page, ...entryPage(page, addressOf) })), format],
  };
}

export const pageName = (entry) => (entry === "holdfast" ? "api" : `api-${entry.slice("holdfast/".length)}`);

/**
 * What an entry declares, in the order of its page, each with its place there: a name that differs from an earlier one
 * in its case alone says what it is.
 *
 * @param {readonly Declared[]} declared
 */
export function placed(declared) {
  const taken = new Set();
  return ordered(declared).map((own) => {
    const name = slug(own.name);
    const id = taken.has(name) ? `${name}-${own.kind}` : name;
    taken.add(id);
    return { ...own, id };
  });
}

/** What is called comes first, then what it takes and gives. */
const ordered = (declared) => declared.toSorted((a, b) => rank(a) - rank(b));

const MAIN = ["Holdfast", "Operation", "World"];

/** @param {Declared} own */
const rank = ({ kind, name }) => (kind === "function" ? (name.startsWith("create") ? -1 : 0) : MAIN.includes(name) ? 1 : kind === "class" ? 2 : 3);

function entryPage({ entry, doc, declared, others }, addressOf) {
  const text = (own) => rendered(prose(own), addressOf).html;
  const passed = others.map(({ from, names }) => {
    const whole = from.replace(/^\.\/(index)?|(\.d)?\.[jt]s$/g, "");
    const of = whole ? `holdfast/${whole}` : "holdfast";
    return text(names ? `Also here: ${names.map((own) => `\`${own}\``).join(", ")}.` : `Everything of [\`${of}\`](${pageName(of)}.html) is here too.`);
  });
  const html = [`<h1>${escaped(entry)}</h1>`, text(doc), ...passed, ...declared.map((own) => section(own, text))].join("\n");
  return { html, headings: declared.map(({ id, name }) => ({ id, title: name })) };
}

/** @param {Declared & { id: string }} own */
function section({ id, name, kind, doc, code, members }, text) {
  const title = `<h2 id="${id}">${escaped(name)} <small>${kind}</small></h2>`;
  if (!members.length) return [title, text(doc), block(code, "ts")].join("\n");
  const head = code.slice(0, code.indexOf("{")).trim();
  const rows = members.map((member) => `<dt id="${id}.${slug(member.name)}">${block(dedented(withoutComments(member.code)), "ts")}</dt><dd>${text(member.doc)}</dd>`);
  return [title, text(doc), block(head, "ts"), `<dl class="members">${rows.join("\n")}</dl>`].join("\n");
}

const withoutComments = (code) => code.replace(/\s*\/\*\*[\s\S]*?\*\//g, "");

const dedented = (code) => code.replace(/^ {2}/gm, "").trim();

/** Documentation as Markdown: links, examples and errors as such. */
function prose(doc) {
  const [text, ...tags] = doc.replace(/\{@link ([\w.]+)\}/g, "`$1`").split(/^@(?=\w)/m);
  const told = tags.map((tag) => {
    const [, name, rest] = /^(\w+)\s*([\s\S]*)$/.exec(tag);
    if (name === "throws") return `Rejects or throws: ${rest.replace(/^HoldfastError /, "")}`;
    if (name !== "example") return `${name}: ${rest}`;
    const [, title, code] = /^(?:([A-Z]\w*)\n)?([\s\S]*)$/.exec(rest);
    return `${title ? `${title}:\n\n` : ""}\`\`\`js\n${code.trim()}\n\`\`\``;
  });
  return [text, ...told].join("\n\n");
}

/** The format of profiles, as its schema describes it. */
function profileFormat(template, addressOf) {
  const schema = JSON.parse(readFileSync(join(template, "profile.schema.json"), "utf8"));
  const text = (own) => rendered(own ?? "", addressOf).html;
  const [call] = Object.values(schema.properties.calls.properties);
  const members = (properties, path) =>
    Object.entries(properties).map(([name, own]) => {
      const type = own.enum ? own.enum.join(" | ") : own.const ?? (own.$ref ? own.$ref.split("/").at(-1) : own.type ?? "");
      const below = path === "calls." ? {} : own.properties ?? own.items?.properties ?? {};
      const inner = Object.keys(below).length ? `<dl class="members">${members(below, `${path}${name}.`).join("\n")}</dl>` : "";
      return `<dt id="${path}${name}"><code>${name}</code> <small>${escaped(String(type))}</small></dt><dd>${text(own.description)}${inner}</dd>`;
    });
  const part = (id, title, intro, properties, path) =>
    `<h2 id="${id}">${title}</h2>${text(intro)}<dl class="members">${members(properties, path).join("\n")}</dl>`;
  const { pace, stream } = schema.$defs;
  const html = [
    "<h1>The profile format</h1>",
    text(`${schema.description} [Describing a service](services.html) shows it by example; \`npx holdfast check\` says what one means in words.`),
    part("members", "Members", "", schema.properties, ""),
    part("call", "A call", "What each of `calls` may say. `cost` is for reads, `stream` and `resultOn` for what may be the result.", { ...schema.properties.calls.properties.result.properties, ...call.properties }, "call."),
    part("pace", "A pace", "", pace.properties, "pace."),
    part("stream", "A stream", "", stream.properties, "stream."),
    `<h2 id="place">A place</h2>${text("A JSON pointer into the body (RFC 6901; empty for the whole), or `header:Name`.")}`,
  ].join("\n");
  return { html, headings: ["Members", "A call", "A pace", "A stream", "A place"].map((title) => ({ id: title.toLowerCase().replace("a ", ""), title })) };
}
