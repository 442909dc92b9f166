// @ts-check
/** @import * as Api from "./index.d.ts" */
import { arrived, defineService, makeHoldfast } from "./create.js";
import { HoldfastError, isHoldfastError } from "./error.js";
import { checkOptions } from "./options.js";

export { defineService, HoldfastError, isHoldfastError };

/** @type {import("./create.js").Parts} */
const parts = {
  open: async (...given) => (await arrived(import("./page.js"))).open(...given),
  reset: () => arrived(import("./reset.js")),
};

/** @type {typeof Api.createHoldfast} */
export const createHoldfast = (given) => makeHoldfast(checkOptions(given), parts);
