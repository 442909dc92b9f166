// An app that submits the tab's one intent whenever it is loaded, and sees it through.
//
// `?cancel` asks for the job to be stopped as soon as the service works on it. The harness sets
// `globalThis.token`, `globalThis.intent`, and `globalThis.armed = { name, occurrence }` for the fail point to die at.
import { createHoldfast } from "/pkg/index.js";

const cancels = location.search === "?cancel";
const body = { url: "https://example.com", duration_ms: cancels ? 60_000 : 700, result_bytes: 300_000 };

/** What the harness reads. */
const report = (globalThis.report = { points: [], settled: 0 });

/** Tells the harness, and returns when it knows. */
function announce(name, hold = "") {
  const request = new XMLHttpRequest();
  request.open("POST", `/_control/fail-point?name=${name}${hold}`, false);
  request.send();
}

globalThis.holdfastFailPoint = (name) => {
  const occurrence = report.points.filter((point) => point === name).length;
  report.points.push(name);
  const { armed } = globalThis;
  // Never answered: the page stands still right here until it is killed.
  if (armed?.name === name && armed.occurrence === occurrence) announce(`point:${name}`, "&hold=1");
};

/** The service's contract, at a pace that suits many lives one after another. */
async function quickProfile() {
  const profile = await (await fetch("/pkg/profiles/runharvester.json")).json();
  profile.poll = { firstMs: 300, factor: 1.2, capMs: 500 };
  profile.settlement.pace = { firstMs: 300, factor: 1.2, capMs: 500 };
  return profile;
}

const holdfast = (globalThis.holdfast = createHoldfast({
  account: () => "local",
  services: {
    reports: {
      profile: await quickProfile(),
      baseUrl: location.origin,
      authorize: () => ({ headers: { authorization: `Bearer ${globalThis.token}` }, scope: "one" }),
    },
  },
  onSettled: (operation) => {
    report.settled += 1;
    announce(`settled:${operation.id}`);
  },
}));

/** An ending that needs nothing more: delivered, and its billing closed. */
const isOver = ({ delivered, ledger }) => delivered && !ledger.open;

async function live() {
  const operation = await holdfast.submit("reports", { intent: globalThis.intent, body });
  announce(`acknowledged:${operation.id}`);
  const look = async () => {
    report.state = operation.state;
    if (cancels && operation.status === "active" && !operation.cancelling) await operation.cancel();
    if (!isOver(operation.state) || report.over) return;
    const resultBytes = operation.status === "succeeded" ? (await operation.blob()).size : 0;
    report.over ??= { ...operation.state, resultBytes };
  };
  holdfast.subscribe(() => look().catch(fail));
  await look();
}

function fail(error) {
  report.code = error.code;
  report.error = String(error.stack ?? error);
}

live().catch(fail);
