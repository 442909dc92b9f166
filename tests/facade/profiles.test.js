import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { configure } from "../../pkg-template/profiles.js";

const settings = (profile) =>
  /** @type {any} */ ({ config: JSON.stringify({ services: { runs: { profile } } }) });

afterEach(() => {
  delete globalThis.indexedDB;
});

test("a service for servers is refused in a browser, with the way out", async () => {
  globalThis.indexedDB = /** @type {any} */ ({});
  await assert.rejects(configure(settings({ serverOnly: true })), (error) => {
    assert.equal(error.code, "SERVER_ONLY");
    assert.equal(error.field, "services.runs.profile");
    assert.match(error.nextStep, /server of your own/);
    return true;
  });
});

test("elsewhere it is taken", async () => {
  assert.match(await configure(settings({ serverOnly: true })), /serverOnly/);
});
