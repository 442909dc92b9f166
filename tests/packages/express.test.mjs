// The proxy in an app of Express, mounted as its documentation says.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import express from "express";
import { Loopback } from "../browser/harness.mjs";
import { Workplace } from "./harness/workplace.mjs";

const place = new Workplace();
const { createProxy, toNodeHandler } = await import(pathToFileURL(join(place.installed, "proxy.js")));
const world = {};

before(async () => {
  world.service = await Loopback.start({});
  const authorize = ({ request }) => (request.headers.get("cookie") ? { headers: { authorization: "Bearer demo-token" } } : null);
  const proxy = toNodeHandler(createProxy({ profile: "runharvester", baseUrl: world.service.origin, mount: "/api/reports", authorize }));
  const app = express();
  app.use("/api/reports", proxy);
  app.use(express.json());
  app.use("/late/api/reports", proxy);
  app.use((error, _request, response, _next) => void response.status(500).send(error.message));
  world.server = createServer(app);
  await new Promise((resolve) => world.server.listen(0, "127.0.0.1", resolve));
  world.origin = `http://127.0.0.1:${world.server.address().port}`;
});

after(async () => {
  world.server?.close();
  await world.service?.stop();
  place.remove();
});

const submit = (path, headers) =>
  fetch(`${world.origin}${path}/api/v1/data/requests`, {
    method: "POST", body: '{"url":"https://example.com"}', headers: { "content-type": "application/json", "idempotency-key": "a", ...headers },
  });

test("submissions go through with the app's credential, and nobody else's do", async () => {
  const answer = await submit("/api/reports", { cookie: "who=1" });
  const job = await answer.json();
  assert.deepEqual([answer.status, answer.headers.get("content-security-policy")], [202, "default-src 'none'; sandbox"]);
  assert.equal((await fetch(`${world.origin}/api/reports/api/v1/data/requests/${job.id ?? job.data?.id}`, { headers: { cookie: "who=1" } })).status, 200);
  assert.equal((await submit("/api/reports", {})).status, 401);
  assert.equal((await world.service.ledger()).executions, 1);
});

test("mounted behind what has read the body, it says where it belongs", async () => {
  const answer = await submit("/late/api/reports", { cookie: "who=1" });
  assert.deepEqual([answer.status, (await answer.text()).includes("mount the proxy before")], [500, true]);
});
