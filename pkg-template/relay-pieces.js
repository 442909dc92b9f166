// @ts-check
/**
 * Parts of a kept result, and values put together of one, without having the whole of it in memory. Pieces are
 * asked for one after the other, each when its reader wants it.
 */
/** @import * as Api from "./index.d.ts" */
/** @import { Client } from "./client.js" */
import { dataOf, piecesOf } from "./outcome.js";
import { paged, valueAt } from "./pages.js";
import { problem } from "./relay-wire.js";

/** What a piece of a result holds, but for the last, in bytes: as it is kept. A download that was gone on with may hold others. */
const PIECE_BYTES = 256 * 1024;
/** How much is put together in memory at once, in bytes: a Worker has 128 MB for all that it does. */
const ASSEMBLED_MAX = 16 * 1024 * 1024;
/** What begins each JSON text of a sequence (RFC 7464). */
const RECORD = "\x1e";

/** @typedef {Pick<Client, "call" | "schemaOf">} Object */

/**
 * The bytes of a result from one to another, both included.
 *
 * @param {Object} object
 * @param {Api.OperationState} state Of a result that has them.
 * @param {number} first
 * @param {number} last
 * @returns {AsyncGenerator<Uint8Array<ArrayBuffer>>}
 */
export async function* partOf(object, state, first, last) {
  const bytes = state.result?.bytes ?? 0;
  const read = async (/** @type {number} */ index) => /** @type {Uint8Array<ArrayBuffer> | undefined} */ (
    await object.call("chunk", [state.id, index])
  );
  let index = await indexAt(read, bytes, first);
  for (let at = index * PIECE_BYTES; at <= last; index++) {
    const piece = await read(index);
    if (!piece?.length) throw await goneOf(object, state);
    const [from, to] = [Math.max(first - at, 0), Math.min(last + 1 - at, piece.length)];
    if (from < to) yield piece.subarray(from, to);
    at += piece.length;
  }
}

/**
 * The number of the piece to begin with, all before which are whole. No piece is longer than a whole one: where the
 * last has what must be left for it, there is no short one before it. Else it is read from the beginning.
 *
 * @param {(index: number) => Promise<Uint8Array | undefined>} read
 * @param {number} bytes
 * @param {number} first
 */
async function indexAt(read, bytes, first) {
  const index = Math.floor(first / PIECE_BYTES);
  if (!index) return 0;
  const last = Math.ceil(bytes / PIECE_BYTES) - 1;
  return (await read(last))?.length === bytes - last * PIECE_BYTES ? index : 0;
}

/**
 * Why a result cannot be read that was there.
 *
 * @param {Object} object
 * @param {Api.OperationState} state
 */
async function goneOf(object, { id }) {
  const json = await object.call("load", [id]);
  const isDeleted = json === undefined || JSON.parse(json).deletedAt !== undefined;
  return isDeleted
    ? problem("RESULT_EXPIRED", "The result was deleted.")
    : problem("STORAGE_UNAVAILABLE", "The kept result is not as long as it should be.", "Read it again.");
}

/**
 * A result's value as JSON: of pages, page by page; else all of it at once.
 *
 * @param {Object} object
 * @param {Api.OperationState} state
 * @returns {AsyncGenerator<Uint8Array<ArrayBuffer>>}
 */
export async function* assembled(object, state) {
  const { items, at, bytes = 0 } = state.result ?? {};
  const encoder = new TextEncoder();
  if (items !== undefined && !at) {
    for await (const text of joined(pagesOf(piecesOf(object, state)), items)) yield encoder.encode(text);
    return;
  }
  if (bytes > ASSEMBLED_MAX) throw tooLarge(`This result is ${bytes} bytes long`);
  yield encoder.encode(JSON.stringify((await dataOf(object, state)) ?? null));
}

/** @param {string} what */
const tooLarge = (what) =>
  problem("TOO_LARGE", `${what}, and is put together here up to ${ASSEMBLED_MAX}.`,
    "It is kept: take it from its object, where onSettled has its stream().");

/**
 * The texts of a sequence's JSON texts, one after the other.
 *
 * @param {AsyncIterable<Uint8Array>} pieces
 */
async function* pagesOf(pieces) {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for await (const piece of pieces) {
    const [rest, ...begun] = decoder.decode(piece, { stream: true }).split(RECORD);
    text += rest;
    for (const next of begun) {
      if (text) yield text;
      text = next;
    }
    if (text.length > ASSEMBLED_MAX) throw tooLarge(`A page of this result is ${text.length} characters long or longer`);
  }
  text += decoder.decode();
  if (text) yield text;
}

/**
 * The first page, with the items of all pages in the place of its own, as JSON.
 *
 * @param {AsyncIterable<string>} pages
 * @param {string} items Where a page holds its items (a JSON pointer).
 */
async function* joined(pages, items) {
  const mark = crypto.randomUUID();
  /** @type {string[] | undefined} */
  let around;
  let between = "";
  for await (const page of pages) {
    const value = paged(RECORD + page, items);
    /** @type {any[]} */
    const own = valueAt(value, items) ?? value;
    if (!around) {
      around = JSON.stringify(value, (_, part) => (part === own ? mark : part)).split(`"${mark}"`);
      yield `${around[0]}[`;
    }
    if (!own.length) continue;
    yield between + JSON.stringify(own).slice(1, -1);
    between = ",";
  }
  yield around ? `]${around[1]}` : "[]";
}
