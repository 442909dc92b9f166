// The code in documents, as programs: what a fence says after its language is where the code runs.
import { readFileSync } from "node:fs";

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
