// How Node finds what only workerd has: the class of objects, and modules of WebAssembly as imports.
const OBJECTS = "data:text/javascript,export class DurableObject { constructor(ctx, env) { Object.assign(this, { ctx, env }); } }";

const moduleAt = (url) => `
import { readFileSync } from "node:fs";
export default new WebAssembly.Module(readFileSync(new URL(${JSON.stringify(url)})));`;

export const resolve = (name, context, next) =>
  name === "cloudflare:workers" ? { url: OBJECTS, shortCircuit: true } : next(name, context);

export const load = (url, context, next) =>
  url.endsWith(".wasm") ? { format: "module", source: moduleAt(url), shortCircuit: true } : next(url, context);
