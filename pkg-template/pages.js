// @ts-check
/** The pages of a kept result, as one value. */

/**
 * The first page, with the items of all pages in the place of its own.
 *
 * @param {string} text A sequence of JSON texts (RFC 7464).
 * @param {string} items Where a page holds its items (a JSON pointer).
 * @returns {any}
 */
export function paged(text, items) {
  const pages = text.split("\x1e").slice(1).map((page) => JSON.parse(page));
  const all = pages.flatMap((page) => valueAt(page, items) ?? []);
  const [first] = pages;
  const cut = items.lastIndexOf("/");
  const holder = valueAt(first, items.slice(0, Math.max(cut, 0)));
  if (cut < 0 || typeof holder !== "object" || !holder) return all;
  holder[nameOf(items.slice(cut + 1))] = all;
  return first;
}

/**
 * What stands at a JSON pointer.
 *
 * @param {any} value
 * @param {string} pointer
 */
export function valueAt(value, pointer) {
  for (const name of pointer.split("/").slice(1)) value = value?.[nameOf(name)];
  return value;
}

/** @param {string} text */
const nameOf = (text) => text.replaceAll("~1", "/").replaceAll("~0", "~");
