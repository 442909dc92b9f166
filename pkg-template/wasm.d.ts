/**
 * The WebAssembly module by itself, for the option `module`.
 *
 * @packageDocumentation
 */
import type { CompiledModule } from "./index.js";

/**
 * What your tools make of the import: its address (esbuild's loader `file`), or the compiled module (Wrangler). The
 * type is both, for it cannot know which.
 */
declare const wasm: string & CompiledModule;
export default wasm;
