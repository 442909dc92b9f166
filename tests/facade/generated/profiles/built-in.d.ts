/** What `cargo xtask build` makes of the folder profiles/. */
export const builtIn: Record<string, () => Promise<{ default: unknown }>>;
