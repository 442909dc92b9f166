// Tells the service of the worker's life, and stands still at a fail point that it is armed for.

/** How long the worker stands still, in milliseconds: it is killed meanwhile. */
const STILL_MS = 4000;

export function probe(baseUrl) {
  const api = globalThis.browser ?? chrome;
  const tell = (name) => fetch(`${baseUrl}/_control/fail-point?name=${name}`, { method: "POST" }).catch(() => undefined);
  api.storage.onChanged.addListener((changes, area) => {
    if (area === "local") Object.keys(changes).forEach((intent) => tell(`settled:${intent}`));
  });
  const life = crypto.randomUUID();
  let armed;
  api.runtime.onMessage.addListener((message, _, answer) => {
    if (message?.arm === undefined) return false;
    armed = message.arm;
    answer(life);
    return false;
  });
  globalThis.holdfastFailPoint = (name) => {
    if (name !== armed) return;
    armed = undefined;
    tell(`point:${name}`);
    for (const end = Date.now() + STILL_MS; Date.now() < end; );
  };
  tell("worker:begun");
}
