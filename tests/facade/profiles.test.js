import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { loadPackage } from "./package.js";

const settings = (profile) =>
  /** @type {any} */ ({ config: JSON.stringify({ services: { runs: { profile } } }) });

afterEach(() => {
  delete globalThis.indexedDB;
});

test("a service for servers is refused in a browser, with the way out", async (test) => {
  const { configure, builtIn } = await loadPackage(test, "profiles.js");
  globalThis.indexedDB = /** @type {any} */ ({});
  await assert.rejects(configure(settings({ serverOnly: true }), builtIn), (error) => {
    assert.equal(error.code, "SERVER_ONLY");
    assert.equal(error.field, "services.runs.profile");
    assert.match(error.nextStep, /server of your own/);
    return true;
  });
});

test("elsewhere it is taken", async (test) => {
  const { configure, builtIn } = await loadPackage(test, "profiles.js");
  assert.match(await configure(settings({ serverOnly: true }), builtIn), /serverOnly/);
});

test("a profile of the package is loaded by its name", async (test) => {
  const { configure, builtIn } = await loadPackage(test, "profiles.js");
  const { services } = JSON.parse(await configure(settings("runharvester"), builtIn));
  assert.equal(services.runs.profile.name, "runharvester");
});

test("a name that there is no profile of is told with the names there are", async (test) => {
  const { configure, builtIn } = await loadPackage(test, "profiles.js");
  for (const name of ["runharvestr", "constructor", "../error", "built-in"]) {
    await assert.rejects(configure(settings(name), builtIn), (error) => {
      assert.equal(error.code, "INVALID_PROFILE");
      assert.match(error.nextStep, /replay, runharvester/);
      return true;
    });
  }
});
