// Wrong calls: each is refused with an error that names the field, before anything is stored or sent.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Site } from "./harness.mjs";

const site = await Site.open();
after(() => site.close());

/** Wrong options of createHoldfast: a name, the options as source, and the code and field of the error. */
const OPTIONS = [
  ["no options", "undefined", "INVALID_INPUT", "options"],
  ["no account", "{ services: { reports: service } }", "INVALID_INPUT", "account"],
  ["an account that is a name", "{ account: 'me', services: { reports: service } }", "INVALID_INPUT", "account"],
  ["an unknown option", "{ account: () => 'a', services: { reports: service }, retries: 3 }", "INVALID_INPUT", "retries"],
  ["no services", "{ account: () => 'a' }", "INVALID_INPUT", "services"],
  ["an empty list of services", "{ account: () => 'a', services: {} }", "INVALID_INPUT", "services"],
  ["an onSettled that is no function", "{ account: () => 'a', services: { reports: service }, onSettled: 1 }", "INVALID_INPUT", "onSettled"],
  ["an empty database name", "{ account: () => 'a', services: { reports: service }, database: '' }", "INVALID_INPUT", "database"],
];

/** Wrong services: what is changed of a right one. */
const SERVICES = [
  ["no profile", "{ profile: undefined }", "INVALID_INPUT", "services.reports.profile"],
  ["a profile with a function in it", "{ profile: { name: () => 1 } }", "INVALID_INPUT", "services.reports.profile"],
  ["a base URL without TLS", "{ baseUrl: 'http://example.com' }", "INVALID_INPUT", "services.reports.baseUrl"],
  ["a base URL with a query", "{ baseUrl: 'https://example.com/?a=1' }", "INVALID_INPUT", "services.reports.baseUrl"],
  ["a base URL with a password", "{ baseUrl: 'https://a:b@example.com' }", "INVALID_INPUT", "services.reports.baseUrl"],
  ["an authorize that is a token", "{ authorize: 'token' }", "INVALID_INPUT", "services.reports.authorize"],
  ["a schema that is none", "{ result: {} }", "INVALID_INPUT", "services.reports.result"],
  ["an unknown option", "{ url: 'https://example.com' }", "INVALID_INPUT", "services.reports.url"],
  ["no attempts", "{ limits: { attempts: 0 } }", "INVALID_INPUT", "services.reports.limits.attempts"],
  ["endless time", "{ limits: { totalMs: Infinity } }", "INVALID_INPUT", "services.reports.limits.totalMs"],
];

/** Services that only the module can tell to be wrong, on first use. */
const PROFILES = [
  ["a profile that is not built in", "{ profile: 'unheard-of' }", "INVALID_PROFILE", "services.reports.profile"],
  ["a profile that is no contract", "{ profile: { profile: 1 } }", "INVALID_PROFILE", "services.reports.profile.name"],
  ["a parameter that the profile does not know", "{ profile: 'replay', params: { operaton: 'map' } }", "INVALID_INPUT", "services.reports.params.operaton"],
  ["a parameter's value that it does not allow", "{ profile: 'replay', params: { operation: 'mapp' } }", "INVALID_INPUT", "services.reports.params.operation"],
];

/** Wrong submissions: the arguments of submit. */
const SUBMISSIONS = [
  ["an unknown service", "'other', { intent: 'a', body: {} }", "UNKNOWN_SERVICE", "service"],
  ["no submission", "'reports'", "INVALID_INPUT", "submission"],
  ["no intent", "'reports', { body: {} }", "INVALID_INPUT", "intent"],
  ["an empty intent", "'reports', { intent: '', body: {} }", "INVALID_INPUT", "intent"],
  ["an intent that is too long", "'reports', { intent: 'a'.repeat(513), body: {} }", "INVALID_INPUT", "intent"],
  ["an intent with half a character", "'reports', { intent: '\\ud800', body: {} }", "INVALID_INPUT", "intent"],
  ["no body", "'reports', { intent: 'a' }", "INVALID_INPUT", "body"],
  ["a body with undefined in it", "'reports', { intent: 'a', body: { x: undefined } }", "INVALID_INPUT", "body"],
  ["a body with a date in it", "'reports', { intent: 'a', body: { x: new Date(0) } }", "INVALID_INPUT", "body"],
  ["a body with NaN in it", "'reports', { intent: 'a', body: { x: NaN } }", "INVALID_INPUT", "body"],
  ["a body that is a cycle", "'reports', { intent: 'a', body: (() => { const x = {}; x.x = x; return x; })() }", "INVALID_INPUT", "body"],
  ["a body that is a number", "'reports', { intent: 'a', body: 1 }", "INVALID_INPUT", "body"],
  ["a body above 8 MiB", "'reports', { intent: 'a', body: ' '.repeat(2 ** 23 + 1) }", "INVALID_INPUT", "body"],
  ["an empty key", "'reports', { intent: 'a', body: {}, key: '' }", "INVALID_INPUT", "key"],
  ["a key that the service does not take", "'reports', { intent: 'a', body: {}, key: 'a b' }", "INVALID_INPUT", "key"],
  ["an unknown option", "'reports', { intent: 'a', body: {}, retries: 3 }", "INVALID_INPUT", "submission.retries"],
  ["negative attempts", "'reports', { intent: 'a', body: {}, limits: { attempts: -1 } }", "INVALID_INPUT", "limits.attempts"],
  ["half an attempt", "'reports', { intent: 'a', body: {}, limits: { attempts: 0.5 } }", "INVALID_INPUT", "limits.attempts"],
  ["a cost without bound", "'reports', { intent: 'a', body: {}, limits: { cost: Infinity } }", "INVALID_INPUT", "limits.cost"],
  ["an unknown limit", "'reports', { intent: 'a', body: {}, limits: { tries: 3 } }", "INVALID_INPUT", "limits.tries"],
];

/** Other wrong calls of a client. */
const CALLS = [
  ["find() in an unknown service", "open().find('other', 'a')", "UNKNOWN_SERVICE", "service"],
  ["find() of no intent", "open().find('reports', '')", "INVALID_INPUT", "intent"],
  ["list() with an unknown filter", "open().list({ state: 'active' })", "INVALID_INPUT", "filter.state"],
  ["list() of too many", "open().list({ limit: 201 })", "INVALID_INPUT", "limit"],
  ["submit() while nobody is signed in", "open({ account: () => null }).submit('reports', { intent: 'a', body: {} })", "NO_ACCOUNT", undefined],
];

/** All of them, as the source of a call. */
const WRONG = {
  "createHoldfast with": OPTIONS.map(([name, options, ...told]) => [name, `createHoldfast(${options})`, ...told]),
  "a service with": SERVICES.map(([name, changes, ...told]) => [name, `open({}, ${changes})`, ...told]),
  "using a service with": PROFILES.map(([name, changes, ...told]) => [name, `open({}, ${changes}).start()`, ...told]),
  "submit with": SUBMISSIONS.map(([name, args, ...told]) => [name, `open().submit(${args})`, ...told]),
  "calling": CALLS,
};

for (const [what, calls] of Object.entries(WRONG)) {
  test(what, (context) =>
    site.visit(async ({ visit, service }) => {
      const page = await visit();
      for (const [name, source, code, field] of calls) {
        await context.test(name, async () => {
          const error = await page.evaluate((source) => errorOf(() => (0, eval)(`(async () => ${source})()`)), source);
          assert.deepEqual({ isOurs: error?.isOurs, code: error?.code, field: error?.field }, { isOurs: true, code, field });
          assert.ok(error.message.length > 20, error.message);
        });
      }
      await context.test("leaves nothing stored or sent", async () => {
        const stored = await page.evaluate(async () => (await open().list()).operations.length);
        assert.equal(stored, 0);
        assert.deepEqual(await service.requests(), []);
      });
    }),
  );
}
