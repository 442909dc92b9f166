// Messages of an extension's page whose answers are lost: what may have been carried out is not done again unasked.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { begin, fakeApi, message, POPUP, submission } from "./fake-extension.js";
import { settle, state } from "./package.js";

/** What browsers say where nobody listens; Firefox says it too of a background that ended while it answered. */
const NOBODY = "Could not establish connection. Receiving end does not exist.";

let api;

beforeEach(() => {
  api = globalThis.chrome = fakeApi();
});

afterEach(() => {
  delete globalThis.chrome;
});

/** As Firefox has it. */
function inFirefox() {
  api.runtime.getURL = (path) => `moz-extension://holdfast/${path}`;
  api.page = { id: "holdfast", url: "moz-extension://holdfast/popup.html" };
}

/** Has the first answer to such a call lost, after it was carried out; gives the calls that were sent. */
function losing(method, lose) {
  const { send } = api;
  const sent = [];
  api.send = async (message, sender) => {
    sent.push(message.method);
    const answer = await send(message, sender);
    return message.method === method && sent.filter((own) => own === method).length === 1 ? lose() : answer;
  };
  return sent;
}

const refuse = () => Promise.reject(new Error(NOBODY));

for (const [how, firefox, lose] of [["says that nobody listens", true, refuse], ["answers nothing", false, async () => undefined]]) {
  test(`a command is given once, where the browser of a background that died of it ${how}`, async (t) => {
    if (firefox) inFirefox();
    const { connect, world } = await begin(t);
    let given = 0;
    world.script.command = async () => ((given += 1), state({ revision: 2 }));
    const page = connect({ services: { reports: {} } });
    t.after(() => page.close());
    const operation = await page.submit("reports", { intent: "one", body: {} });
    losing("command", lose);
    await assert.rejects(operation.resume({ acceptRisk: "duplicate" }), { code: "ABORTED" });
    assert.equal(given, 1);
  });

  test(`work that may be stored for one who has left is not told as unsent, where the browser ${how}`, async (t) => {
    if (firefox) inFirefox();
    let account = "ada";
    const { connect } = await begin(t, { account: () => account });
    const page = connect({ services: { reports: {} } });
    t.after(() => page.close());
    losing("submit", () => ((account = "grace"), lose()));
    await assert.rejects(page.submit("reports", { intent: "one", body: {} }), { code: "SUBMIT_UNCONFIRMED" });
  });
}

test("work that an earlier message may have stored is not told as unsent where the storage opens no more", async (t) => {
  const { connect, world } = await begin(t);
  const page = connect({ services: { reports: {} } });
  t.after(() => page.close());
  losing("submit", () => {
    world.script.submit = async () => Promise.reject({ code: "STORAGE_UNAVAILABLE", message: "it is gone", nextStep: "nothing was sent" });
    throw new Error("The message channel closed before a response was received");
  });
  await assert.rejects(page.submit("reports", { intent: "one", body: {} }), { code: "SUBMIT_UNCONFIRMED" });
});

test("a command that nobody heard is given again", async (t) => {
  const { connect, world } = await begin(t);
  world.script.command = async () => state({ revision: 2, cancelling: true });
  const page = connect({ services: { reports: {} } });
  t.after(() => page.close());
  const operation = await page.submit("reports", { intent: "one", body: {} });
  const { send } = api;
  let refused = 0;
  api.send = (...given) => (refused++ ? send(...given) : refuse());
  assert.equal((await operation.cancel()).cancelling, true);
});

test("a browser that cannot say whether there is a permission holds nothing up", async (t) => {
  api.permissions.contains = () => {
    throw new TypeError("Invalid match pattern");
  };
  await begin(t);
  assert.ok((await api.send(message("submit", submission()), POPUP)).value);
});

test("a request whose answer does not begin in 25 s is given up, before the browser ends the worker", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const fetch = (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const { holdfast, world } = await begin(t, { fetch });
  await holdfast.start();
  const lost = assert.rejects(world.clients[0].host.fetch("https://api.example.com/", {}), { name: "AbortError" });
  await settle();
  t.mock.timers.tick(25_000);
  await lost;
});

/** As a content script has it that was there before the extension was updated or loaded again. */
function orphan() {
  api.runtime.id = undefined;
  api.runtime.sendMessage = () => {
    throw new Error("Extension context invalidated.");
  };
}

const isGone = ({ code, message, nextStep }) => code === "ABORTED" && /updated or loaded again/.test(message) && /page again/.test(nextStep);

test("what is waited for in a page whose extension was loaded again ends, instead of never", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { connect, world } = await begin(t);
  world.script.load = async () => state();
  const page = connect({ services: { reports: {} } });
  t.after(() => page.close());
  const operation = await page.submit("reports", { intent: "one", body: {} });
  const outcome = assert.rejects(operation.outcome(), isGone);
  await settle();
  orphan();
  t.mock.timers.tick(3000);
  await outcome;
  await assert.rejects(page.submit("reports", { intent: "two", body: {} }), isGone);
});

test("a submission during which the extension was loaded again is not told as unsent", async (t) => {
  const { connect } = await begin(t);
  const page = connect({ services: { reports: {} } });
  t.after(() => page.close());
  losing("submit", () => {
    orphan();
    throw new Error("The message channel closed before a response was received");
  });
  await assert.rejects(page.submit("reports", { intent: "one", body: {} }), { code: "SUBMIT_UNCONFIRMED" });
});
