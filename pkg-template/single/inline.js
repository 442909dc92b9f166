// @ts-check
/** Everything in one file, the module too. */
/** @import * as Api from "../index.d.ts" */
import { defineService } from "../create.js";
import { HoldfastError, isHoldfastError } from "../error.js";
import { makeSingle } from "./client.js";
import { packed } from "./packed.js";

export { defineService, HoldfastError, isHoldfastError };

/** @type {typeof Api.createHoldfast} */
export const createHoldfast = (given) => makeSingle(given, unpack);

/** The module, which stands here deflated and in letters. */
async function unpack() {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(inflated).arrayBuffer();
}
