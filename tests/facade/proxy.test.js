// holdfast/proxy, over HTTP: what it lets through, and what it does not.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer, request as ask } from "node:http";
import { connect } from "node:net";
import { mock, test } from "node:test";
import { loadPackage, settle } from "./package.js";
import { serve } from "./node-server.js";

const MOUNT = "/api/reports";
const JOBS = `${MOUNT}/api/v1/data/requests`;
const KEYED = { "idempotency-key": "key-1", "content-type": "application/json" };

/** A service that tells what it was asked, and a proxy before it. */
async function proxied(t, options = {}, respond = undefined) {
  const asked = [];
  const service = createServer(async (incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const entry = { method, url, headers, body: "", whole: false };
    asked.push(entry);
    try {
      for await (const piece of incoming) entry.body += piece;
      entry.whole = true;
    } catch {
      return;
    }
    if (respond) return respond(outgoing, entry);
    outgoing.writeHead(202, { "content-type": "application/json", "set-cookie": "a=b", "clear-site-data": "*", "x-request-id": "r-1" });
    outgoing.end('{"id":"job-1"}');
  });
  await new Promise((resolve) => service.listen(0, "127.0.0.1", resolve));
  const { createProxy } = await loadPackage(t, "proxy.js");
  const baseUrl = `http://127.0.0.1:${service.address().port}/base`;
  const authorize = () => ({ headers: { authorization: "Bearer s3cret" } });
  const proxy = createProxy({ profile: "runharvester", baseUrl, mount: MOUNT, authorize, onError: () => undefined, ...options });
  const server = await serve(proxy);
  t.after(async () => {
    await server.stop();
    service.closeAllConnections();
    service.close();
  });
  const { host } = new URL(server.origin);
  const own = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" };
  /** By Node's own client, which sends a path as it is written. */
  const send = (method, path, { headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const outgoing = ask({ host: "127.0.0.1", port: new URL(server.origin).port, method, path, headers: { ...own, ...headers } });
      outgoing.on("error", reject);
      outgoing.on("response", async (incoming) => {
        let text = "";
        try {
          for await (const piece of incoming) text += piece;
        } catch (error) {
          text += String(error);
        }
        resolve({ status: incoming.statusCode, headers: incoming.headers, text });
      });
      outgoing.end(body);
    });
  return { asked, send, origin: server.origin, host, baseUrl };
}

test("a submission reaches the service with the key, the same bytes and the server's credential", async (t) => {
  const { asked, send } = await proxied(t);
  const body = '{"url": "https://example.com",  "n": 1.0}';
  const headers = { ...KEYED, cookie: "session=1", authorization: "Bearer of-the-page", "x-forwarded-for": "1.2.3.4" };
  const answer = await send("POST", JOBS, { headers, body });
  assert.deepEqual([answer.status, answer.text], [202, '{"id":"job-1"}']);
  const [{ method, url, headers: sent, body: got }] = asked;
  assert.deepEqual([method, url, got], ["POST", "/base/api/v1/data/requests", body]);
  assert.deepEqual([sent["idempotency-key"], sent.authorization], ["key-1", "Bearer s3cret"]);
  assert.deepEqual([sent.cookie, sent["x-forwarded-for"], sent["content-length"]], [undefined, undefined, `${body.length}`]);
});

test("an answer passes on what the profile reads, and nothing that acts on the page", async (t) => {
  const { send } = await proxied(t);
  const { headers } = await send("GET", `${JOBS}/job-1`);
  assert.deepEqual([headers["x-request-id"], headers["set-cookie"], headers["clear-site-data"]], ["r-1", undefined, undefined]);
  assert.match(headers["content-security-policy"], /sandbox/);
  assert.deepEqual([headers["x-content-type-options"], headers["cache-control"]], ["nosniff", "no-store"]);
});

test("what dates a key and what asks for a part of a result go through where the profile has them", async (t) => {
  const usual = JSON.parse(await readFile(new URL("../../pkg-template/profiles/runharvester.json", import.meta.url), "utf8"));
  const profile = structuredClone(usual);
  profile.key.sentAt = "First-Sent";
  profile.calls.result.ranges = true;
  const part = (outgoing) => outgoing.writeHead(206, { etag: '"a"', "content-range": "bytes 5-6/7" }).end("{}");
  const headers = { ...KEYED, "first-sent": "Sun, 06 Nov 1994 08:49:37 GMT", range: "bytes=5-", "if-range": '"a"' };
  for (const [own, passed] of [[profile, ["first-sent", "range", "if-range"]], [usual, []]]) {
    const { send, asked } = await proxied(t, { profile: own }, part);
    await send("POST", JOBS, { headers, body: "{}" });
    const answer = await send("GET", `${JOBS}/job-1/result`, { headers });
    const [submitted, fetched] = asked.map(({ headers: own }) => own);
    const got = [submitted["first-sent"] && "first-sent", fetched.range && "range", fetched["if-range"] && "if-range"];
    assert.deepEqual(got.filter(Boolean), passed);
    assert.equal(fetched["first-sent"], undefined);
    assert.deepEqual([answer.status, answer.headers["content-range"], answer.headers.etag], [206, "bytes 5-6/7", '"a"']);
  }
});

test("the calls of the profile go through, and each by its own method only", async (t) => {
  const { asked, send } = await proxied(t);
  const calls = [["GET", `${JOBS}/a`], ["GET", `${JOBS}/a/result`], ["POST", `${JOBS}/a/cancel`]];
  for (const [method, path] of calls) assert.equal((await send(method, path)).status, 202, path);
  const wrong = [["DELETE", `${JOBS}/a`], ["PUT", JOBS], ["GET", JOBS], ["OPTIONS", JOBS], ["HEAD", `${JOBS}/a`], ["PATCH", JOBS]];
  for (const [method, path] of wrong) {
    const answer = await send(method, path, { headers: KEYED });
    assert.equal(answer.status, 405, `${method} ${path}`);
    assert.ok(answer.headers.allow);
  }
  assert.equal(asked.length, calls.length);
});

test("no path leads out of the profile's", async (t) => {
  const { asked, send } = await proxied(t);
  const escapes = [
    "/", MOUNT, `${MOUNT}/`, `${MOUNT}/admin`, `${MOUNT}/api/v1/data/requests/`, `${JOBS}/a/b`, `${JOBS}/a/result/x`,
    `${JOBS}/..`, `${JOBS}/../../../admin`, `${JOBS}/%2e%2e`, `${JOBS}/%2E%2E%2Fadmin`, `${JOBS}/%252e%252e`,
    `${JOBS}/%252e%252e%252fadmin`, `${JOBS}/..%2f..%2fadmin`, `${JOBS}/..;/admin`, `${JOBS}/..;a`, `${JOBS}/..%5cadmin`,
    `${JOBS}/a%00`, `${JOBS}/a%0d%0aX-Evil:1`, `${JOBS}/a%20HTTP/1.1`, `${JOBS}//evil.example`, `//evil.example${JOBS}/a`,
    `${JOBS}/%zz`, `${JOBS}/a?admin=1`, `${JOBS}/a?`.padEnd(5000, "x"), `${JOBS}/${"a".repeat(5000)}`, `/x${JOBS}/a`, `${MOUNT}evil/api/v1/data/requests/a`,
  ];
  for (const path of escapes) {
    const { status } = await send("GET", path);
    assert.equal(status, 404, path);
  }
  assert.deepEqual(asked, []);
});

test("a line that is smuggled into a header never leaves", async (t) => {
  const { asked, host } = await proxied(t);
  const socket = connect(host.split(":")[1], "127.0.0.1");
  socket.write(`GET ${JOBS}/a HTTP/1.1\r\nHost: ${host}\r\nSec-Fetch-Site: same-origin\r\nAccept: text/plain\rX-Evil: 1\r\nConnection: close\r\n\r\n`);
  let text = "";
  for await (const piece of socket) text += piece;
  assert.match(text, /^HTTP\/1\.1 400 /);
  assert.deepEqual(asked, []);
});

test("a body of more bytes than are allowed is refused, whatever its length claims", async (t) => {
  const { asked, send } = await proxied(t, { bodyBytesMax: 1000 });
  const body = "x".repeat(1001);
  assert.equal((await send("POST", JOBS, { headers: KEYED, body })).status, 413);
  assert.deepEqual(asked, []);
  const chunked = { ...KEYED, "transfer-encoding": "chunked" };
  assert.equal((await send("POST", JOBS, { headers: chunked, body: body.repeat(300) })).status, 413);
  assert.ok(asked.every((entry) => !entry.whole));
  assert.equal((await send("POST", JOBS, { headers: chunked, body: "x".repeat(1000) })).status, 202);
});

test("a submission without its key is not passed on", async (t) => {
  const { asked, send } = await proxied(t);
  assert.equal((await send("POST", JOBS, { body: "{}" })).status, 400);
  assert.equal((await send("POST", `${JOBS}/a/retry`)).status, 400);
  assert.deepEqual(asked, []);
});

test("only the app's own script may ask", async (t) => {
  const { asked, send, host } = await proxied(t);
  const foreign = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" },
    { "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate" },
    { "sec-fetch-site": "", origin: "https://evil.example" },
    { "sec-fetch-site": "", origin: "null" },
  ];
  for (const headers of foreign) {
    assert.equal((await send("POST", JOBS, { headers: { ...KEYED, ...headers }, body: "{}" })).status, 403, JSON.stringify(headers));
  }
  assert.deepEqual(asked, []);
  const old = { ...KEYED, "sec-fetch-site": "", "sec-fetch-mode": "", origin: `http://${host}` };
  assert.equal((await send("POST", JOBS, { headers: old, body: "{}" })).status, 202);
});

test("who is not known gets nothing, and may be answered by the app itself", async (t) => {
  let given = null;
  const purposes = [];
  const authorize = ({ request, purpose }) => (purposes.push([purpose, request.headers.get("cookie")]), given);
  const { asked, send } = await proxied(t, { authorize });
  assert.equal((await send("GET", `${JOBS}/a/result`, { headers: { cookie: "who=1" } })).status, 401);
  let isCancelled = false;
  const body = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(9)), cancel: () => (isCancelled = true) });
  const { createProxy } = await loadPackage(t, "proxy.js");
  const proxy = createProxy({ profile: "runharvester", baseUrl: "https://api.example.com", mount: MOUNT, authorize });
  const request = new Request(`https://app.example.com${JOBS}`, { method: "POST", headers: KEYED, body, duplex: "half" });
  assert.equal((await proxy(request)).status, 401);
  await settle();
  assert.equal(isCancelled, true);
  purposes.pop();
  given = new Response("pay first", { status: 402 });
  assert.equal((await send("POST", `${JOBS}/a/cancel`)).status, 402);
  assert.deepEqual([asked, purposes], [[], [["result", "who=1"], ["call", null]]]);
});

test("a credential that fetch would refuse is told of without any of it, and nothing is sent", async (t) => {
  const told = [];
  for (const given of [{ headers: { authorization: "Bearer sec\nret" } }, { headers: { "bad secret": "a" } }, "secret"]) {
    const { send, asked } = await proxied(t, { authorize: () => given, onError: (error) => told.push(error) });
    const { status } = await send("POST", JOBS, { headers: KEYED, body: "{}" });
    assert.deepEqual([status, asked.length], [401, 0]);
  }
  assert.deepEqual(told.map(({ code, field }) => [code, field]), Array(3).fill(["INVALID_INPUT", "authorize"]));
  for (const { message, stack, cause } of told) assert.doesNotMatch(JSON.stringify([message, stack, cause]), /sec|bad/);
});

test("a refused credential is asked for anew once, and the same request goes out with another", async (t) => {
  const tokens = ["old", "new", "older", "older"];
  const refreshed = [];
  const authorize = ({ refresh }) => (refreshed.push(refresh), { headers: { authorization: `Bearer ${tokens.shift()}` } });
  const answerTo = (outgoing, { headers }) => outgoing.writeHead(headers.authorization === "Bearer new" ? 202 : 401).end("{}");
  const { asked, send } = await proxied(t, { authorize }, answerTo);
  assert.equal((await send("POST", JOBS, { headers: KEYED, body: '{"a":1}' })).status, 202);
  assert.deepEqual(asked.map(({ headers, body }) => [headers.authorization, headers["idempotency-key"], body]), [
    ["Bearer old", "key-1", '{"a":1}'], ["Bearer new", "key-1", '{"a":1}'],
  ]);
  // The same credential would be refused again.
  assert.equal((await send("GET", `${JOBS}/a`)).status, 401);
  assert.deepEqual([asked.length, refreshed], [3, [false, true, false, true]]);
});

test("the answer that refused a credential is let go before the request goes out again", async (t) => {
  const { createProxy } = await loadPackage(t, "proxy.js");
  const tokens = ["old", "new"];
  const authorize = () => ({ headers: { authorization: tokens.shift() } });
  const happened = [];
  const fetch = async (_, { headers }) => {
    const token = headers.get("authorization");
    happened.push(`sent with ${token}`);
    const body = new ReadableStream({ cancel: () => void happened.push(`${token} let go`) });
    return new Response(body, { status: token === "old" ? 401 : 200 });
  };
  const proxy = createProxy({ profile: "runharvester", baseUrl: "https://api.example.com", mount: MOUNT, authorize, fetch });
  const answer = await proxy(new Request(`https://app.example.com${JOBS}/a`));
  assert.deepEqual([answer.status, happened], [200, ["sent with old", "old let go", "sent with new"]]);
  await answer.body.cancel();
});

test("a body that was read before the proxy is told of, and nothing is sent on", async (t) => {
  const { asked, baseUrl } = await proxied(t);
  const { createProxy, toNodeHandler } = await loadPackage(t, "proxy.js");
  const handler = toNodeHandler(createProxy({ profile: "runharvester", baseUrl, mount: MOUNT, authorize: () => null }));
  let told;
  const server = createServer(async (incoming, outgoing) => {
    for await (const _ of incoming);
    await handler(incoming, outgoing, (error) => ((told = error), outgoing.writeHead(500).end()));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { status } = await fetch(`http://127.0.0.1:${server.address().port}${JOBS}`, { method: "POST", headers: KEYED, body: "{}" });
  assert.deepEqual([status, asked.length], [500, 0]);
  assert.match(told.message, /mount the proxy before/);
});

test("a redirect is not followed, and where it leads is not told", async (t) => {
  const { send, asked } = await proxied(t, {}, (outgoing) => outgoing.writeHead(307, { location: "http://127.0.0.1:1/steal" }).end());
  const answer = await send("POST", JOBS, { headers: KEYED, body: "{}" });
  assert.deepEqual([answer.status, answer.headers.location, asked.length], [307, undefined, 1]);
});

test("bodies stream both ways: the first bytes arrive before the last are made", async (t) => {
  let finish;
  const { send, origin } = await proxied(t, {}, (outgoing, { body }) => {
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    outgoing.write(`got ${body.length}\n`);
    finish = () => outgoing.end("end\n");
  });
  const large = "y".repeat(3 << 20);
  const headers = { ...KEYED, "sec-fetch-site": "same-origin" };
  const response = await fetch(origin + JOBS, { method: "POST", headers, body: large });
  const reader = response.body.getReader();
  assert.equal(new TextDecoder().decode((await reader.read()).value), `got ${large.length}\n`);
  finish();
  assert.equal(new TextDecoder().decode((await reader.read()).value), "end\n");
  void send;
});

test("an upload is sent on as it comes: the service has its beginning before its end is made", async (t) => {
  let goOn;
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode("first "));
      goOn = () => {
        controller.enqueue(new TextEncoder().encode("second"));
        controller.close();
      };
    },
  });
  const service = async (_, { body }) => {
    const got = [];
    for await (const piece of body) {
      if (!got.length) goOn();
      got.push(piece);
    }
    return new Response(Buffer.concat(got));
  };
  const { origin } = await proxied(t, { fetch: service });
  const headers = { ...KEYED, "sec-fetch-site": "same-origin" };
  const response = await fetch(origin + JOBS, { method: "POST", headers, body, duplex: "half" });
  assert.equal(await response.text(), "first second");
});

test("a service that cannot be reached is a 502, told without secrets", async (t) => {
  const console_ = mock.method(console, "error", () => undefined);
  t.after(() => console_.mock.restore());
  const fetch = () => {
    throw new TypeError("header Bearer s3cret is invalid");
  };
  const { send } = await proxied(t, { fetch, onError: undefined });
  assert.equal((await send("GET", `${JOBS}/a`)).status, 502);
  assert.match(console_.mock.calls[0].arguments[0], /proxy failed: TypeError/);
  assert.doesNotMatch(console_.mock.calls[0].arguments[0], /s3cret/);
});

test("links in headers lead to the proxy, and those of other origins are left out", async (t) => {
  let location;
  const options = { profile: "http-async", params: { path: "v1/reports" }, links: ["/operations/{id}"] };
  const { send, baseUrl, asked } = await proxied(t, options, (outgoing) => outgoing.writeHead(202, { location }).end());
  const answered = async (own) => {
    location = own;
    return (await send("POST", `${MOUNT}/v1/reports`, { headers: KEYED, body: "{}" })).headers.location;
  };
  assert.equal(await answered(`${baseUrl}/operations/7`), `${MOUNT}/operations/7`);
  assert.equal(await answered("/base/operations/8"), `${MOUNT}/operations/8`);
  assert.equal(await answered("https://evil.example/operations/7"), undefined);
  assert.equal(await answered("/elsewhere/7"), undefined);
  assert.equal(asked[0].headers.prefer, "respond-async");
  assert.equal((await send("GET", `${MOUNT}/operations/7`)).status, 202);
  assert.equal((await send("GET", `${MOUNT}/operations/7/x`)).status, 404);
  assert.equal((await send("POST", `${MOUNT}/v1/other`, { headers: KEYED, body: "{}" })).status, 404);
});

test("a built-in profile that no proxy can carry is a 500 that says why, and so are parameters left open", async (t) => {
  const told = [];
  for (const [profile, code, said] of [["bulkgrid", "INVALID_PROFILE", /idempotency keys/], ["http-async", "INVALID_INPUT", /params\.path/]]) {
    const { send, asked } = await proxied(t, { profile, onError: (error) => told.push(error.code) });
    const { status, text } = await send("GET", `${MOUNT}/a`);
    const { error } = JSON.parse(text);
    assert.equal(status, 500, text);
    assert.match(error.message, said);
    assert.deepEqual([error.code, told.pop(), asked], [code, code, []]);
  }
});

test("queries are the profile's own", async (t) => {
  const { send } = await proxied(t, { profile: "replay" });
  const quote = (query) => send("POST", `${MOUNT}/v1/quote${query}`, { body: "{}" });
  assert.equal((await quote("?operation=scrape")).status, 202);
  for (const query of ["", "?operation=steal", "?operation=scrape&operation=map", "?operation=scrape&x=1"]) {
    assert.equal((await quote(query)).status, 404, query);
  }
});

test("options that would open more than a profile are refused by name", async (t) => {
  const { createProxy } = await loadPackage(t, "proxy.js");
  const good = { profile: "runharvester", baseUrl: "https://api.example.com", mount: MOUNT, authorize: () => null };
  const refused = [
    [{ profile: "unheard-of" }, "profile"],
    [{ profile: { name: "keyless", calls: {} } }, "profile"],
    [{ baseUrl: "http://api.example.com" }, "baseUrl"],
    [{ mount: "api" }, "mount"],
    [{ authorize: undefined }, "authorize"],
    [{ bodyBytesMax: 0 }, "bodyBytesMax"],
    [{ path: "x" }, "path"],
    [{ profile: { name: "open", key: { header: "K" }, params: { path: [] }, calls: { submit: { method: "POST", path: "/{+path}" } } } }, "params.path"],
  ];
  for (const [own, field] of refused) assert.throws(() => createProxy({ ...good, ...own }), { field }, field);
});
