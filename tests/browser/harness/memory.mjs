// What a page's module holds in memory, seen from the page.

/** Before the page's scripts: keeps hold of the module's memory, as `moduleMemory`. */
export function watchMemory() {
  for (const name of ["instantiate", "instantiateStreaming"]) {
    const own = WebAssembly[name];
    WebAssembly[name] = async (...args) => {
      const made = await own.apply(WebAssembly, args);
      globalThis.moduleMemory = (made.instance ?? made).exports.memory;
      return made;
    };
  }
}
