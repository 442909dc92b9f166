import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { loadPackage } from "./package.js";

const settings = (profile, service = {}) =>
  /** @type {any} */ ({ config: JSON.stringify({ services: { runs: { profile } } }), options: { services: { runs: service } } });

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

test("behind a proxy it is taken in a browser, if the service knows keys", async (test) => {
  const { configure, builtIn } = await loadPackage(test, "profiles.js");
  globalThis.indexedDB = /** @type {any} */ ({});
  const proxy = "/api/runs";
  assert.match(await configure(settings({ serverOnly: true, key: { header: "K" } }, { proxy }), builtIn), /serverOnly/);
  await assert.rejects(configure(settings({ serverOnly: true }, { proxy }), builtIn), { code: "SERVER_ONLY" });
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
