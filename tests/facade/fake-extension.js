// The browser's interface for extensions, as far as it is used, and a background over the scripted glue.
import { loadPackage, options, state } from "./package.js";

const ORIGIN = "chrome-extension://holdfast/";
export const POPUP = { id: "holdfast", url: `${ORIGIN}popup.html` };
export const WEB = { id: "holdfast", url: "https://example.com/", tab: {} };

/** The interface, with messages that go round as JSON, and alarms that are kept until they are cleared. */
export function fakeApi() {
  const event = () => ({ addListener: () => undefined });
  const [onMessage] = [{ addListener: (listener) => (fake.listener = listener) }];
  const fake = {
    alarms: fakeAlarms(),
    permissions: { contains: async () => true },
    runtime: {
      id: "holdfast",
      getURL: (path) => ORIGIN + path,
      onStartup: event(),
      onInstalled: event(),
      onMessage,
      sendMessage: (message) => fake.send(message, fake.page),
    },
    /** Who `connect()` is. */
    page: POPUP,
    send: (message, sender) =>
      new Promise((resolve, reject) => {
        const copy = JSON.parse(JSON.stringify(message));
        const isHeard = fake.listener?.(copy, sender, (answer) => resolve(JSON.parse(JSON.stringify(answer))));
        if (!isHeard) reject(new Error("Could not establish connection. Receiving end does not exist."));
      }),
  };
  return fake;
}

function fakeAlarms() {
  const alarms = {
    /** What was done, in its order. */
    set: [],
    /** Those that stand, by their names. */
    standing: new Map(),
    onAlarm: { addListener: () => undefined },
    async create(name, info) {
      alarms.set.push({ name, ...info });
      alarms.standing.set(name, info);
    },
    get: async (name) => alarms.standing.get(name),
    async clear(name) {
      alarms.set.push({ name, cleared: true });
      return alarms.standing.delete(name);
    },
  };
  return alarms;
}

export const submission = (more = {}) => [
  "reports",
  JSON.stringify({ intent: "one", contentType: "application/json", ...more }),
  btoa("{}"),
];
export const message = (method, args, more = {}) => ({ protocol: "holdfast/1", method, args, ...more });

/** A page of operations, as the module lists them. */
export const listed = (...states) => `{"operations":[${states}]}`;

/** A background, with what the module answers. */
export async function begin(t, more, script = {}) {
  const loaded = await loadPackage(t, "extension.js");
  const { world, background } = loaded;
  Object.assign(world.script, { start: async () => undefined, list: async () => listed(), submit: async () => state(), ...script });
  const holdfast = background(options(more));
  t.after(() => holdfast.close());
  return { ...loaded, holdfast };
}
