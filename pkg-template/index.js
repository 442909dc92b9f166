// @ts-check
/** @import * as Api from "./index.d.ts" */
import { defineService, makeHoldfast } from "./create.js";
import { HoldfastError, isHoldfastError } from "./error.js";
import { checkOptions } from "./options.js";

export { defineService, HoldfastError, isHoldfastError };

/** @type {import("./create.js").Parts} */
const parts = {
  async open(settings, listeners) {
    const { open } = await import("./page.js").catch((cause) => {
      throw new HoldfastError("Holdfast's scripts could not be loaded.", {
        code: "WASM_BLOCKED",
        nextStep: "Serve the package's files side by side, and call again.",
        cause,
      });
    });
    return open(settings, listeners);
  },
  reset: () => import("./reset.js"),
};

/** @type {typeof Api.createHoldfast} */
export const createHoldfast = (given) => makeHoldfast(checkOptions(given), parts);
