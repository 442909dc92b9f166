// The same extension in Firefox, whose background is a page that ends when it is idle.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { findSecret, Loopback, makeProfile, removeProfile, until } from "../browser/harness.mjs";
import { Firefox } from "../browser/harness/firefox.mjs";
import { makeExtension, submitting } from "./harness.mjs";

/** How long a background page without events lives, in milliseconds; usually 30,000. */
const IDLE_MS = 1500;
/** How long the service asks to be left alone, in seconds. */
const ALONE_S = 33;

// Never whole in a script, which the browser keeps.
const parts = ["secret", "of", "the", "extension"];
const token = parts.join("-");
const service = await Loopback.start({}, { token });
await service.faults([{ call: "poll", fault: "rateLimited", retry_after: ALONE_S }]);
const { folder, remove } = await makeExtension(service, {
  then: `${submitting("alone")}\napi.storage.session.set({ token: ${JSON.stringify(parts)}.join("-") });`,
});
const profile = await makeProfile();
const browser = await Firefox.open(profile, { "extensions.background.idle.timeout": IDLE_MS });

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
  for (const end = Date.now() + 150_000; !(await settled()) && Date.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  assert.ok(await settled(), "onSettled was not called");
  const begun = (await service.reached()).filter((name) => name === "worker:begun").length;
  const { executions, charges } = await service.ledger();
  context.diagnostic(JSON.stringify({ begun }));
  assert.ok(begun >= 2, "the page did not end");
  assert.deepEqual({ executions, charges }, { executions: 1, charges: 1 });
});

test("no file that the browser wrote holds a credential", async () => {
  await browser.kill();
  const { found, files } = await findSecret(profile, token);
  assert.ok(files > 20);
  assert.deepEqual(found, []);
});
