// The generated glue's surface over a scripted module, for what only a browser has in earnest.
export const world = {
  inits: 0,
  resets: 0,
  initError: undefined,
  clients: [],
  /** What each initialisation was given. */
  files: [],
  /** Methods by name: `(client, ...args) => value`. */
  script: {},
};
globalThis.__holdfastWorld = world;

export default async function init(given) {
  world.inits += 1;
  world.files.push(given?.module_or_path);
  if (world.initError) throw world.initError;
}

export function __wbg_reset_state() {
  world.resets += 1;
}

export class Client {
  constructor(config, host) {
    this.config = config;
    this.host = host;
    world.clients.push(this);
    world.script.construct?.(this);
  }
  wake() {}
  yield() {}
  offer(service) {
    world.script.offer?.(this, service);
  }
}

for (const method of ["submit", "adopt", "quote", "find", "load", "list", "command", "revise", "forget", "journal", "supportReport", "chunk", "start", "close"]) {
  Client.prototype[method] = async function (...args) {
    return world.script[method]?.(this, ...args);
  };
}
