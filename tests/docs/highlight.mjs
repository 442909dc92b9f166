// Colours for code: comments, texts, and the language's own words.
import { escaped } from "./text.mjs";

const WORDS = "abstract as async await class const declare default else export extends for from function if import in interface let new null of readonly return static switch case throw try catch true false type typeof undefined void while";

/** What is coloured in a language, in the order in which it is tried. */
const SCRIPT = new RegExp(
  `(?<comment>\\/\\/[^\\n]*|\\/\\*[\\s\\S]*?\\*\\/)|(?<text>"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'|\`(?:[^\`\\\\]|\\\\.)*\`)|(?<word>(?<![\\w.$-])(?:${WORDS.replaceAll(" ", "|")})(?![\\w$-]))`,
  "g",
);
const LANGUAGES = {
  js: SCRIPT, jsx: SCRIPT, ts: SCRIPT, tsx: SCRIPT, json: SCRIPT, jsonc: SCRIPT,
  sh: /(?<comment>(?<=^|\s)#[^\n]*)|(?<text>"[^"\n]*"|'[^'\n]*')/g,
};

/**
 * @param {string} code
 * @param {string} language
 */
export function highlighted(code, language) {
  const pattern = LANGUAGES[language];
  if (!pattern) return escaped(code);
  let html = "";
  let at = 0;
  for (const found of code.matchAll(pattern)) {
    const [kind] = Object.entries(found.groups).find(([, own]) => own !== undefined);
    html += `${escaped(code.slice(at, found.index))}<span class="${kind}">${escaped(found[0])}</span>`;
    at = found.index + found[0].length;
  }
  return html + escaped(code.slice(at));
}
