// The proxy where its `authorize` fails: what a page may conclude from the answer.
import assert from "node:assert/strict";
import test from "node:test";
import { loadPackage } from "./package.js";

const JOBS = "https://app.example.com/api/reports/api/v1/data/requests";

/** A proxy with that `authorize`: what it answers, what was sent, and what was told. */
async function proxied(t, authorize, status = 401) {
  const { createProxy } = await loadPackage(t, "proxy.js");
  const [sent, told] = [[], []];
  const proxy = createProxy({
    profile: "runharvester",
    baseUrl: "https://api.example.com",
    mount: "/api/reports",
    authorize,
    fetch: async (url) => (sent.push(url), new Response('{"error":{"code":"EXPIRED"}}', { status })),
    onError: (error) => told.push(error.message),
  });
  const ask = async (method, path = "") => {
    // With its length, as from a page: what is sent in one piece may be sent again.
    const headers = { "idempotency-key": "key-1", "content-type": "application/json", "content-length": "2" };
    const body = method === "POST" ? "{}" : undefined;
    const answer = await proxy(new Request(JOBS + path, { method, headers, body }));
    return [answer.status, (await answer.json()).error.code];
  };
  return { ask, sent, told };
}

const fails = async () => {
  throw new Error("no database");
};

test("what a request has already stays as it is, whatever stands beside the credential", async (t) => {
  const { createProxy } = await loadPackage(t, "proxy.js");
  let sent;
  const proxy = createProxy({
    profile: "runharvester",
    baseUrl: "https://api.example.com",
    mount: "/api/reports",
    authorize: () => ({ headers: { authorization: "Bearer a", "Content-Type": "text/plain", "Idempotency-Key": "of-a-helper" } }),
    fetch: async (_url, { headers }) => ((sent = new Headers(headers)), new Response("{}")),
  });
  const headers = { "idempotency-key": "key-1", "content-type": "application/json", "content-length": "2" };
  await proxy(new Request(JOBS, { method: "POST", headers, body: "{}" }));
  const names = ["authorization", "content-type", "idempotency-key"];
  assert.deepEqual(names.map((name) => sent.get(name)), ["Bearer a", "application/json", "key-1"]);
});

test("a submission whose authorize throws is refused, for nothing of it was sent", async (t) => {
  const { ask, sent, told } = await proxied(t, fails);
  assert.deepEqual(await ask("POST"), [401, "AUTHORIZE_FAILED"]);
  assert.deepEqual([sent, told], [[], ["no database"]]);
});

test("a cancellation whose authorize throws is refused as well", async (t) => {
  const { ask, sent } = await proxied(t, fails);
  assert.deepEqual(await ask("POST", "/a/cancel"), [401, "AUTHORIZE_FAILED"]);
  assert.deepEqual(sent, []);
});

test("a read whose authorize throws may be made again, without anybody's help", async (t) => {
  const { ask, sent, told } = await proxied(t, fails);
  assert.deepEqual(await ask("GET", "/a"), [502, "PROXY_FAILED"]);
  assert.deepEqual([sent, told], [[], ["no database"]]);
});

test("a refusal of the service is passed on where authorize has no other credential but an error", async (t) => {
  const authorize = ({ refresh }) => (refresh ? fails() : { headers: { authorization: "Bearer old" } });
  const { ask, sent, told } = await proxied(t, authorize);
  assert.deepEqual(await ask("POST"), [401, "EXPIRED"]);
  assert.deepEqual([sent.length, told], [1, ["no database"]]);
});

test("a refusal of the service is passed on where another credential could not be sent", async (t) => {
  const authorize = ({ refresh }) => ({ headers: { authorization: refresh ? "Bearer n\new" : "Bearer old" } });
  const { ask, sent, told } = await proxied(t, authorize);
  assert.deepEqual(await ask("POST"), [401, "EXPIRED"]);
  assert.deepEqual([sent.length, told.length], [1, 1]);
});
