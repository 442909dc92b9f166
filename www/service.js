// The loopback service's control plane: its faults, and its ledger.
import { h, plain, say, table } from "/dom.js";

/** How often the ledger is read, in milliseconds. */
const LEDGER_MS = 1000;

/** The faults to choose from: a name, and what the control plane is told. */
const FAULTS = [
  ["none", []],
  ["answer withheld: accepted and charged, no answer until released", "hold"],
  ["answer lost after the commit, once", [{ call: "submit", fault: "lostAfter", times: 1 }]],
  ["request lost before the commit, once", [{ call: "submit", fault: "lostBefore", times: 1 }]],
  ["429 with Retry-After 5 s, twice", [{ call: "submit", fault: "rateLimited", retryAfter: 5, times: 2 }]],
  ["503, three times", [{ call: "submit", fault: "unavailable", times: 3 }]],
  ["502 as an HTML page while polling, twice", [{ call: "poll", fault: "htmlError", times: 2 }]],
  ["404 just after creation, twice", [{ call: "poll", fault: "notFound", times: 2 }]],
  ["result cut short, once", [{ call: "result", fault: "truncated", times: 1 }]],
];

const post = async (path, body) => {
  const answer = await fetch(`/_control/${path}`, {
    method: body === undefined ? "DELETE" : "POST",
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`The control plane said ${answer.status} to ${path}.`);
};

/** Fills the picker, wires the buttons, and reads the ledger every second. */
export function startService() {
  const byId = (id) => document.getElementById(id);
  const line = byId("service-said");
  const attempt = async (what, act) => {
    try {
      await act();
      say(line, what);
    } catch (error) {
      say(line, error.message, true);
    }
  };

  const picker = byId("fault");
  picker.replaceChildren(...FAULTS.map(([name], index) => h("option", { value: index }, name)));
  picker.addEventListener("change", () => {
    const [name, faults] = FAULTS[picker.value];
    attempt(`Fault: ${name}.`, () => choose(faults));
  });
  byId("release").addEventListener("click", () => attempt("Released.", () => post("release", {})));
  byId("clear").addEventListener("click", () => {
    picker.value = 0;
    attempt("No faults.", () => choose([]));
  });
  byId("reset").addEventListener("click", () => attempt("The service has forgotten everything.", () => post("reset", {})));
  readLedger(byId("ledger"));
}

async function choose(faults) {
  await post("faults");
  if (faults === "hold") await post("hold", {});
  else if (faults.length) await post("faults", faults);
}

/** The ledger: its counters as tiles, its jobs as a table. */
async function readLedger(place, before = "") {
  let text = before;
  try {
    text = await (await fetch("/_control/ledger")).text();
    if (text !== before) place.replaceChildren(...drawn(JSON.parse(text)));
  } catch (error) {
    place.replaceChildren(h("p", { className: "wrong" }, `The service does not answer: ${error.message}`));
    text = "";
  }
  setTimeout(readLedger, LEDGER_MS, place, text);
}

/** What matters most comes first; the rest follows as the service tells it. */
const FIRST = ["executions", "charges", "results", "submits", "polls", "refunds"];

function drawn(ledger) {
  const { jobs = [], ...counters } = ledger;
  const names = [...new Set([...FIRST, ...Object.keys(counters)])].filter((name) => name in counters);
  const tile = (name) => h("div", {}, h("b", {}, counted(counters[name])), name.replaceAll("_", " "));
  const tiles = h("div", { className: "tiles" }, ...names.map(tile));
  return jobs.length ? [tiles, table("Jobs, newest first", jobs.map(readable).reverse())] : [tiles];
}

/** A count with its thousands set apart; all else as it is. */
const counted = (value) => (typeof value === "number" ? value.toLocaleString("en") : plain(value));

const readable = ({ id, status, executions, charged, refunded, results, key, retry_of }) => ({
  job: id,
  status,
  runs: executions,
  charged,
  refunded,
  results,
  ...(retry_of && { "rerun of": retry_of }),
  key: `${key.slice(0, 8)}…`,
});
