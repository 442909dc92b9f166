// The demo's story without a person: the browser is killed while the service, which has accepted and
// charged, withholds its answer; reopened, the same operation goes on to its result.
//
// Writes one line of JSON to standard output; everything else goes to standard error. Ends with 0
// only if the story came out right.
import { randomUUID } from "node:crypto";
import { Chromium, Loopback, demoFolder, findSecret, makeProfile, packageFolder, removeProfile } from "./harness.mjs";

/** How long the story may take as a whole, in milliseconds. */
const STORY_MS = 120_000;
/** How long the service works on the job, in seconds. */
const WORK_S = "1.5";

const say = (text) => console.error(`demo --check: ${text}`);
const setToken = (token) => (globalThis.demoToken = token);

/** The browser that runs, if any. */
let running;

const open = async (profile) => (running = await Chromium.open(profile));

async function story(service, profile, token) {
  const began = Date.now();
  await service.hold("submit");

  let chromium = await open(profile);
  let page = await openDemo(chromium, service, token);
  const intent = `check-${randomUUID()}`;
  await page.fill('[name="intent"]', intent);
  await page.fill('[name="seconds"]', WORK_S);
  await page.click("button.primary");
  await service.held();
  const before = await operationOf(page, intent);
  const charged = await service.ledger();
  say(`${intent} is accepted and charged (${charged.charges}), and not answered: killing Chromium`);
  await chromium.kill();

  chromium = await open(profile);
  await service.release();
  page = await openDemo(chromium, service, token);
  const found = await operationOf(page, intent);
  say(`reopened: ${found?.id} is ${found?.status}`);
  const after = await endOf(page, intent);
  await page.locator(`article[id="${after.id}"][data-status="succeeded"]`).waitFor({ timeout: 60_000 });
  await chromium.kill();

  const same = (other) => other?.id === before.id && other.key === before.key;
  return {
    ledger: await service.ledger(),
    status: after.status,
    data: after.data,
    chargedAtKill: charged.charges,
    sameOperation: same(found) && same(after) && after.count === 1,
    key: before.key,
    seconds: (Date.now() - began) / 1000,
  };
}

async function openDemo(chromium, service, token) {
  const page = await chromium.page(setToken, token);
  page.on("console", (message) => say(`page: ${message.text()}`));
  page.on("pageerror", (error) => say(`page: ${error.stack}`));
  await page.goto(service.origin);
  await page.waitForFunction(() => globalThis.holdfast);
  return page;
}

const operationOf = (page, intent) =>
  page.evaluate(async (intent) => (await holdfast.find("reports", intent))?.state, intent);

const endOf = (page, intent) =>
  page.evaluate(async (intent) => {
    const operation = await holdfast.find("reports", intent);
    const { status, data } = await operation.outcome();
    const { operations } = await holdfast.list();
    return { id: operation.id, key: operation.key, status, data, count: operations.length };
  }, intent);

/** What is wrong with how it came out; nothing when it is right. */
function faultsOf({ ledger, status, data, sameOperation, chargedAtKill }, secret, control) {
  const { executions, charges, refunds, results, jobs } = ledger;
  return [
    executions !== 1 && `${executions} executions instead of 1`,
    charges !== 1 && `${charges} charges instead of 1`,
    chargedAtKill !== 1 && `${chargedAtKill} charges when Chromium was killed, instead of 1`,
    refunds !== 0 && `${refunds} refunds instead of none`,
    results !== 1 && `the result was fetched ${results} times instead of once`,
    jobs.length !== 1 && `${jobs.length} jobs instead of 1`,
    status !== "succeeded" && `it is ${status} instead of succeeded`,
    !data && "there is no result",
    !sameOperation && "it is not the same operation",
    secret.found.length > 0 && `the credential is in the profile: ${secret.found.join(", ")}`,
    control.found.length === 0 && "the search of the profile does not even find the key",
  ].filter(Boolean);
}

async function main() {
  const token = `secret-${randomUUID()}${randomUUID()}`;
  const profile = await makeProfile();
  const service = await Loopback.start({ "/": demoFolder(), "/pkg": packageFolder() }, { token });
  let late;
  try {
    const tooLate = new Promise((_, reject) => {
      late = setTimeout(() => reject(new Error(`It is not over after ${STORY_MS / 1000} s.`)), STORY_MS);
    });
    const told = await Promise.race([story(service, profile, token), tooLate]);
    const secret = await findSecret(profile, token);
    const faults = faultsOf(told, secret, await findSecret(profile, told.key));
    const { executions, charges, results, submits } = told.ledger;
    const { status, sameOperation, seconds } = told;
    console.log(JSON.stringify({ executions, charges, results, submits, status, sameOperation, seconds }));
    for (const fault of faults) say(fault);
    say(`${secret.files} files of the profile searched for the credential`);
    return faults.length ? 1 : 0;
  } finally {
    clearTimeout(late);
    await service.stop();
    await running?.kill();
    await removeProfile(profile);
  }
}

process.exitCode = await main().catch((error) => {
  say(error.stack);
  return 1;
});
// A connection to a browser that was killed may still be counting down.
process.exit();
