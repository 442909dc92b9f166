// What an extension is told whose manifest lacks something.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Loopback, makeProfile, removeProfile } from "../browser/harness.mjs";
import { Extended, makeExtension, secret } from "./harness.mjs";

const service = await Loopback.start({}, secret());
const { folder, remove } = await makeExtension(service, {
  manifest: ({ content_security_policy, ...own }) => ({ ...own, permissions: ["storage"] }),
});
const profile = await makeProfile();
const browser = await Extended.open(profile, folder);

after(async () => {
  await browser.kill();
  await removeProfile(profile);
  await remove();
  await service.stop();
});

test("without the policy for WebAssembly the error names the manifest's line, and nothing is sent", async () => {
  const page = await browser.popup();
  const told = await page.evaluate(async () => {
    try {
      await holdfast.submit("reports", { intent: "one", body: {} });
      return "it was submitted";
    } catch ({ code, nextStep }) {
      return { code, nextStep };
    }
  });
  assert.equal(told.code, "WASM_BLOCKED");
  assert.match(told.nextStep, /"content_security_policy": {"extension_pages": "script-src 'self' 'wasm-unsafe-eval'/);
  assert.deepEqual(await service.requests(), []);
});
