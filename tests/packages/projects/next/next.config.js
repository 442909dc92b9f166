export default {
  // The project is a folder of its own, whatever is around it.
  turbopack: { root: import.meta.dirname },
  outputFileTracingRoot: import.meta.dirname,
};
