// The same extension in Firefox, whose background is a page that ends when it is idle.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { findSecret, Loopback, makeProfile, removeProfile, until } from "../browser/harness.mjs";
import { Firefox } from "../browser/harness/firefox.mjs";
import { makeExtension, secret, submitting } from "./harness.mjs";

/** How long a background page without events lives, in milliseconds; usually 30,000. */
const IDLE_MS = 1500;
/** How long the service asks to be left alone, in seconds. */
const ALONE_S = 33;

const { token, storing } = secret();
const service = await Loopback.start({}, { token });
await service.faults([{ call: "poll", fault: "rateLimited", retry_after: ALONE_S }]);
const { folder, remove } = await makeExtension(service, {
  then: `${submitting("alone")}\n${storing}`,
});
const profile = await makeProfile();
const browser = await Firefox.open(profile, { "extensions.background.idle.timeout": IDLE_MS });

/** The job's key, which is stored. */
let key;

after(async () => {
  await browser.kill();
  await removeProfile(profile);
  await remove();
  await service.stop();
});

test("a background page that ends when idle is woken by the alarm, and the job ends once", { timeout: 240_000 }, async (context) => {
  await browser.install(folder);
  await until(async () => (await service.ledger()).executions === 1, "the job");
  const settled = async () => (await service.reached()).some((name) => name.startsWith("settled:"));
  await until(settled, "onSettled", 150_000);
  const begun = (await service.reached()).filter((name) => name === "worker:begun").length;
  const { executions, charges, jobs } = await service.ledger();
  key = jobs[0].key;
  context.diagnostic(JSON.stringify({ begun }));
  assert.ok(begun >= 2, "the page did not end");
  assert.deepEqual({ executions, charges }, { executions: 1, charges: 1 });
});

test("no file that the browser wrote holds a credential", async () => {
  await browser.kill();
  assert.deepEqual((await findSecret(profile, token)).found, []);
  assert.ok((await findSecret(profile, key)).found.length, "the search finds what is stored");
});
