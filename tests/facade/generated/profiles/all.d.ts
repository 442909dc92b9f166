export * from "./built-in.js";
