// @ts-check
/** @import * as Api from "./index.d.ts" */
import { arrived, defineService, makeHoldfast } from "./create.js";
import { HoldfastError, isHoldfastError } from "./error.js";
import { checkOptions } from "./options.js";

export { defineService, HoldfastError, isHoldfastError };

/** The module's file, for all clients: whose scripts come first is not said. @type {Promise<Response | undefined> | undefined} */
let file;

/** Asks for the module's file while the scripts come, which ask themselves where this brings nothing. */
const early = async () => {
  try {
    const answer = await fetch(new URL("./holdfast.wasm", import.meta.url));
    // A page in its place is not the file, whatever its status says.
    if (answer.ok && answer.headers.get("content-type")?.includes("wasm")) return answer;
    await answer.body?.cancel();
  } catch {
    return undefined;
  }
};

/** @type {import("./create.js").Parts} */
const parts = {
  async open(settings, listeners) {
    if (settings.options.module === undefined && "indexedDB" in globalThis) file ??= early();
    return (await arrived(import("./page.js"))).open(settings, listeners, file);
  },
  reset: () => arrived(import("./reset.js")),
};

/** @type {typeof Api.createHoldfast} */
export const createHoldfast = (given) => makeHoldfast(checkOptions(given), parts);
