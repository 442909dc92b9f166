/**
 * `holdfast` in one file, for which the app brings the module: where a bundler, a content policy or a worker
 * decides how `holdfast.wasm` is had. Everything else is as in `holdfast`.
 *
 * @packageDocumentation
 */
import type { CheckedServices, Holdfast, HoldfastOptions, Service } from "./index.js";

export * from "./index.js";

/**
 * Makes a client over a module of yours.
 *
 * @example
 * import module from "holdfast/holdfast.wasm"; // a URL or a WebAssembly.Module, as your bundler has it
 * import { createHoldfast } from "holdfast/slim";
 *
 * const holdfast = createHoldfast({ module, account, services });
 */
export declare function createHoldfast<const Services extends Record<string, Service<any>>>(
  options: HoldfastOptions<Services> & {
    readonly module: NonNullable<HoldfastOptions<Services>["module"]>;
    readonly services: CheckedServices<Services>;
  },
): Holdfast<Services>;
