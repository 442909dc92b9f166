// Looks for a secret in everything that a browser has written.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { firefoxValues } from "./firefox-values.mjs";

/** Every credential that tests of this process have used. @type {Set<string>} */
export const credentials = new Set();

/**
 * Where one of them stands below a folder: in nothing that a browser keeps, whatever ran in it. The scripts that tests
 * serve hold none whole, for browsers keep scripts.
 *
 * @param {string} folder
 */
export const credentialsIn = async (folder) => (await findSecret(folder, ...credentials)).found;

/** The forms in which a text may stand in a file, by name. */
function formsOf(secret) {
  const bytes = Buffer.from(secret);
  // Within a longer base64 text a secret begins at any of three offsets; its inner part is the same.
  const offsets = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    return text.slice(offset && offset + 1, -4);
  });
  return [
    ["plain", bytes],
    ["UTF-16LE", Buffer.from(secret, "utf16le")],
    ["UTF-16BE", Buffer.from(secret, "utf16le").swap16()],
    ["hexadecimal", Buffer.from(bytes.toString("hex"))],
    ...offsets.map((text, offset) => [`base64 at ${offset}`, Buffer.from(text)]),
    ...offsets.map((text, offset) => [
      `base64url at ${offset}`,
      Buffer.from(text.replaceAll("+", "-").replaceAll("/", "_")),
    ]),
  ];
}

/**
 * Where secrets stand below a folder: the files, each with the form that one was found in.
 *
 * @param {string} folder
 * @param {...string} secrets
 */
export async function findSecret(folder, ...secrets) {
  const forms = secrets.flatMap(formsOf);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  const found = [];
  const search = (path, bytes) => {
    const form = forms.find(([, needle]) => bytes.includes(needle));
    if (form) found.push(`${path} (${form[0]})`);
  };
  for (const path of paths) search(path, await readFile(path));
  for (const [path, value] of await firefoxValues(paths)) search(`${path}, a value`, value);
  return { found, files: paths.length };
}
