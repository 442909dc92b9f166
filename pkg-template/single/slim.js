// @ts-check
/** Everything in one file but the module, which the app brings. */
/** @import * as Api from "../slim.d.ts" */
import { defineService } from "../create.js";
import { HoldfastError, invalid, isHoldfastError } from "../error.js";
import { makeSingle } from "./client.js";

export { defineService, HoldfastError, isHoldfastError };

/** @type {typeof Api.createHoldfast} */
export const createHoldfast = (given) => {
  if (given && given.module === undefined) {
    throw invalid("module", "module must say where holdfast.wasm is.", 'This is "holdfast/slim"; "holdfast" finds it by itself.');
  }
  return makeSingle(given, () => undefined);
};
