// One operation on the page: what it is doing, and what can be done about it.
import { clock, facts, h, say, table } from "/dom.js";

const ENDINGS = ["succeeded", "rejected", "failed", "cancelled", "expired", "incomplete", "abandoned"];
const DAY_MS = 86_400_000;

/** The card of an operation: `element`, and `show(state)` for each of its states. */
export function makeCard(operation, changed) {
  const head = h("header");
  const body = h("div");
  const actions = h("div", { className: "row" });
  const line = h("p", { className: "said", role: "status", hidden: true });
  const journal = lazy("Journal", async () => table("What happened", (await operation.journal()).map(readable)));
  const result = lazy("Result", async () => {
    const value = await operation.result();
    return h("pre", { tabIndex: 0 }, typeof value === "string" ? value : JSON.stringify(value, null, 2));
  });
  const element = h("article", { id: operation.id, "data-intent": operation.intent }, head, body, actions, line, result.element, journal.element);
  let offered = "";

  const run = async (act) => {
    line.hidden = false;
    say(line, "…");
    try {
      changed(await act());
      say(line, "Done.");
    } catch (error) {
      say(line, error.message, true);
    }
  };

  const show = (state) => {
    head.replaceChildren(...title(state));
    body.replaceChildren(details(state));
    element.dataset.status = state.status;
    result.element.hidden = state.status !== "succeeded";
    const choices = choicesOf(operation, state);
    const names = JSON.stringify(choices.map(([name]) => name));
    // Rebuilt only when they differ: a button that has the focus keeps it.
    if (names !== offered) {
      offered = names;
      actions.replaceChildren(...choices.map(([name, act, ask]) => control(name, act, ask, run)));
    }
    journal.refresh();
  };
  return { element, show };
}

function title(state) {
  const ended = ENDINGS.includes(state.status);
  const kind = state.status === "succeeded" ? "good" : state.parked ? "wait" : ended ? "bad" : "busy";
  const word = state.serviceStatus && !ended ? ` (service: ${state.serviceStatus})` : "";
  return [
    h("h3", {}, state.intent, state.ordinal ? ` · rerun ${state.ordinal}` : ""),
    h("span", { className: "status", "data-kind": kind }, state.status, word, state.cancelling ? ", cancelling" : ""),
  ];
}

function details(state) {
  const { waiting, parked, ledger } = state;
  const fault = state.failure ?? state.fault;
  return facts({
    "next step": waiting && h("span", { "data-until": waiting.until, "data-reason": waiting.reason }),
    parked: parked && `${parked.reason}, since ${clock(parked.since)}`,
    "it said": fault && [fault.message, fault.code, fault.class && `class ${fault.class}`, fault.httpStatus && `HTTP ${fault.httpStatus}`].filter(Boolean).join(" · "),
    progress: state.progress,
    sent: `${counted(state.attempts, "submission")}, ${counted(state.polls, "poll")}`,
    key: state.key,
    job: state.jobId,
    cost: `${ledger.cost}${ledger.open ? ", may still change" : ""}${ledger.tokenState ? ` (${ledger.tokenState})` : ""}`,
    kept: state.result && `${state.result.bytes} bytes at ${clock(state.result.capturedAt)}${state.result.replayed ? ", replayed" : ""}`,
    submitted: clock(state.createdAt),
    ended: state.endedAt && `${clock(state.endedAt)}${state.delivered ? ", delivered" : ""}${state.acknowledged ? ", acknowledged" : ""}`,
  });
}

const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

/** What can be done right now: a name, the call, and what it asks the person for. */
function choicesOf(operation, state) {
  const exits = {
    "resume()": ["Resume", () => operation.resume()],
    "resume({limits})": ["Resume with wider limits", () => operation.resume({ limits: wider(state) })],
    'resume({acceptRisk: "duplicate"})': ["Send again, risking a second charge", () => operation.resume({ acceptRisk: "duplicate" })],
    "resolve({found})": ["It exists as", (found) => operation.resolve({ found }), "job id"],
    'resolve("not-executed")': ["It never ran", () => operation.resolve("not-executed")],
    'resolve("abandon")': ["Give it up", () => operation.resolve("abandon")],
  };
  const choices = (state.parked?.exits ?? []).map((exit) => exits[exit]).filter(Boolean);
  if (!ENDINGS.includes(state.status)) {
    if (!state.cancelling) choices.push(["Cancel", () => operation.cancel()]);
    return choices;
  }
  if (state.failure) {
    const anyway = ["input", "target"].includes(state.failure.class);
    choices.push([
      anyway ? "Run again anyway, failure read" : "Run again, failure read",
      () => operation.retry({ reviewed: state.failure.id, anyway }),
    ]);
  }
  if (!state.acknowledged) choices.push(["Acknowledge", () => operation.acknowledge()]);
  return choices;
}

const wider = (state) => ({
  attempts: state.attempts + 16,
  sendWithinMs: Date.now() - state.createdAt + DAY_MS,
  totalMs: Date.now() - state.createdAt + DAY_MS,
});

function control(name, act, ask, run) {
  if (!ask) return h("button", { type: "button", onclick: () => run(act) }, name);
  const input = h("input", { placeholder: ask, required: true, "aria-label": `${name} (${ask})` });
  const submit = (event) => {
    event.preventDefault();
    run(() => act(input.value));
  };
  return h("form", { className: "row", onsubmit: submit }, h("button", {}, name), input);
}

/** A part that is read when it is opened, and again when something changes while it is open. */
function lazy(name, load) {
  const content = h("div");
  let turn = 0;
  const refresh = async () => {
    if (!element.open || element.hidden) return;
    const mine = ++turn;
    const loaded = await load().catch((error) => h("p", { className: "wrong" }, error.message));
    if (mine === turn) content.replaceChildren(loaded);
  };
  const element = h("details", { ontoggle: refresh }, h("summary", {}, name), content);
  return { element, refresh };
}

const readable = ({ at, event, count, purpose, httpStatus, code, state, waitMs, reason }) => ({
  at: clock(at),
  event: count > 1 ? `${event} ×${count}` : event,
  call: purpose,
  HTTP: httpStatus,
  "service says": [state, code].filter(Boolean).join(" "),
  waits: waitMs === undefined ? undefined : `${(waitMs / 1000).toFixed(1)} s${reason ? `: ${reason}` : ""}`,
});
