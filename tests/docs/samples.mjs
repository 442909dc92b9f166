// The code in documents, as programs: what a fence says after its language is where the code runs.
import { readFileSync } from "node:fs";
import { entriesOf } from "./types.mjs";

/**
 * A program of a document: one fence, and those after it that say `+`.
 *
 * @typedef {{ name: string, language: string, host: string | undefined, code: string }} Program
 */

/**
 * The programs of a document, each named after it and its line.
 *
 * @param {string} file
 * @param {string} name
 * @returns {Program[]}
 */
export function programsOf(file, name) {
  /** @type {Program[]} */
  const programs = [];
  const text = readFileSync(file, "utf8");
  for (const found of text.matchAll(/^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm)) {
    const [, language, more, code] = found;
    const [host, plus] = more.trim().split(" ");
    const line = text.slice(0, found.index).split("\n").length;
    if (plus !== "+") programs.push({ name: `${name}-${line}`, language, host: host || undefined, code });
    else programs.findLast((own) => own.host === host).code += `\n${code}`;
  }
  return programs;
}

/**
 * The examples of the types, as programs: what an entry exports is imported, and what returns is in a function.
 *
 * @param {string} template The package's template.
 * @returns {Program[]}
 */
export function examplesOf(template) {
  return entriesOf(template).flatMap(({ entry, file, doc, declared }) => {
    const functions = declared.filter(({ kind }) => kind === "function").map(({ name }) => name);
    return [{ name: "entry", doc }, ...declared].flatMap(({ name, doc: own }) =>
      [...own.matchAll(/^@example(?: (\w+))?\n([\s\S]*?)(?=^@|$(?![\s\S]))/gm)].map(([, title = "", code]) => ({
        name: [file.replace(/^\.\/|\.d\.ts$/g, ""), name, title].filter(Boolean).join("-"),
        language: /<\w+[^>]*>.*<\//.test(code) ? "jsx" : /extends \w+<\w+>/.test(code) ? "ts" : "js",
        host: undefined,
        code: /^import /m.test(code) ? code : whole(code, entry, functions.filter((one) => code.includes(`${one}(`))),
      })),
    );
  });
}

/**
 * @param {string} code
 * @param {string} entry
 * @param {string[]} functions
 */
function whole(code, entry, functions) {
  const imports = functions.length ? `import { ${functions.join(", ")} } from "${entry}";\n` : "";
  return imports + (/^\s*(if .*)?return\b/m.test(code) ? `export async function example(request, env) {\n${code}\n}` : code);
}
