// Nobody watches, and nothing debugs: the worker dies of idleness by itself, and the alarm brings the job home.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Loopback, makeProfile, removeProfile, until } from "../browser/harness.mjs";
import { undriven } from "../browser/harness/chromium.mjs";
import { loading, makeExtension, secret, submitting } from "./harness.mjs";

/** How long the service asks to be left alone: longer than a worker without events lives, which is 30 s. In seconds. */
const ALONE_S = 50;

const { token, storing } = secret();
const service = await Loopback.start({}, { token });
await service.faults([{ call: "poll", fault: "rateLimited", retry_after: ALONE_S }]);
const { folder, remove } = await makeExtension(service, { then: `${submitting("alone")}\n${storing}` });
const profile = await makeProfile();
const browser = undriven(profile, loading(folder));

after(async () => {
  await browser.kill();
  await removeProfile(profile);
  await remove();
  await service.stop();
});

test("a worker that died of idleness is woken by the alarm, and the job ends", { timeout: 240_000 }, async (context) => {
  const resultRead = async () => (await service.requests()).some(({ call, status }) => call === "result" && status === 200);
  let polled;
  const over = async () => {
    polled ??= (await service.requests()).find(({ call }) => call === "poll") && Date.now();
    return resultRead();
  };
  await until(over, "the result", 200_000);
  await until(async () => (await service.reached()).some((name) => name.startsWith("settled:")), "onSettled");
  const names = await service.reached();
  const begun = names.filter((name) => name === "worker:begun").length;
  const polls = (await service.requests()).filter(({ call }) => call === "poll").map(({ status }) => status);
  const { executions, charges } = await service.ledger();
  context.diagnostic(JSON.stringify({ begun, waitedMs: Date.now() - polled, polls }));
  assert.ok(begun >= 2, "the worker did not die");
  assert.equal(polls[0], 429);
  assert.ok(polls.length < 6, "it does not ask again and again");
  assert.deepEqual({ executions, charges }, { executions: 1, charges: 1 });
});
