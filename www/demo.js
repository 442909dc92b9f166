// The live demo: an app over the packed package and the loopback service.
import { createHoldfast } from "/pkg/index.js";
import { inspect } from "/pkg/inspector.js";
import { say } from "/dom.js";
import { makeCard } from "/operation.js";
import { startService } from "/service.js";

const byId = (id) => document.getElementById(id);
const form = byId("submit");
const said = byId("said");

const holdfast = createHoldfast({
  account: () => "demo",
  database: "holdfast-demo",
  services: {
    reports: {
      profile: "runharvester",
      baseUrl: location.origin,
      authorize,
    },
  },
  onSettled: (operation) => say(said, `“${operation.intent}” has ended: ${operation.status}.`),
});
window.holdfast = holdfast;

// A check of the demo brings its own, and looks for it on the disk afterwards.
function authorize() {
  const token = globalThis.demoToken ?? "demo-token";
  return { headers: { authorization: `Bearer ${token}` }, scope: "demo" };
}

/** The operations on the page, with their cards. */
const shown = new Map();

function take(operation) {
  if (shown.has(operation.id)) return;
  const card = makeCard(operation, take);
  shown.set(operation.id, { card, operation, state: undefined });
  draw();
}

function draw() {
  const place = byId("operations");
  const states = holdfast.getSnapshot();
  for (const state of states) {
    const entry = shown.get(state.id);
    if (entry && entry.state !== state) entry.card.show((entry.state = state));
  }
  const elements = states.flatMap(({ id }) => shown.get(id)?.card.element ?? []);
  elements.forEach((element, index) => {
    if (place.children[index] !== element) place.insertBefore(element, place.children[index] ?? null);
  });
  byId("none").hidden = elements.length > 0;
  byId("count").textContent = elements.length ? String(elements.length) : "";
  if (states.some(({ id }) => !shown.has(id))) readList();
  tick();
}

let reading = false;

/** Takes in what is stored; changes of operations that are not on the page bring it back here. */
async function readList() {
  if (reading) return;
  reading = true;
  try {
    for (const operation of (await holdfast.list({ limit: 200 })).operations) take(operation);
  } catch (error) {
    say(said, error.message, true);
  } finally {
    reading = false;
  }
}

/** Counts down to each operation's next step. */
function tick() {
  for (const element of document.querySelectorAll("[data-until]")) {
    const left = Math.max(0, Number(element.dataset.until) - Date.now());
    element.textContent = `in ${(left / 1000).toFixed(1)} s (${element.dataset.reason})`;
  }
}

function newIntent() {
  form.elements.intent.value = `report-${crypto.randomUUID().slice(0, 8)}`;
}

const bodyOf = ({ url, seconds, outcome, captcha }) => ({
  url: url.value,
  duration_ms: Math.round(Number(seconds.value) * 1000),
  outcome: outcome.value,
  captcha: captcha.checked,
});

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { intent } = form.elements;
  say(said, "Writing it down…");
  try {
    const operation = await holdfast.submit("reports", { intent: intent.value, body: bodyOf(form.elements) });
    take(operation);
    say(said, `“${operation.intent}” is durable: whatever dies now, it goes on.`);
  } catch (error) {
    say(said, error.message, true);
  }
});
byId("new-intent").addEventListener("click", newIntent);

/** The same operations, as any app can show them. */
const inspector = byId("inspector");
inspector.addEventListener("toggle", () => {
  if (inspector.open && !inspector.querySelector("holdfast-inspector")) inspect(holdfast, inspector);
});

newIntent();
startService();
holdfast.subscribe(draw);
setInterval(tick, 200);
await holdfast.start().catch((error) => say(said, error.message, true));
await readList();
