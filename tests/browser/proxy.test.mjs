// holdfast/proxy end to end: a page, the app's own server with the credential, and the service behind it.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { packageFolder, Site } from "./harness.mjs";
import { serve } from "../facade/node-server.js";

const { createProxy } = await import(pathToFileURL(`${packageFolder()}/proxy.js`));
const site = await Site.open();
after(() => site.close());

/** The app's server: its pages, a session by cookie, and the proxy. */
async function startApp(service) {
  const proxy = createProxy({
    profile: "runharvester",
    baseUrl: service.origin,
    mount: "/api/reports",
    authorize: ({ request }) =>
      request.headers.get("cookie")?.includes("session=1") ? { headers: { authorization: "Bearer demo-token" } } : null,
  });
  return serve(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/api/")) return proxy(request);
    if (pathname === "/sign-in") return new Response("", { headers: { "set-cookie": "session=1; SameSite=Lax; HttpOnly" } });
    const { status, headers, body } = await fetch(service.origin + pathname);
    return new Response(body, { status, headers: { "content-type": headers.get("content-type") ?? "" } });
  });
}

test("a page that holds no credential gets its result, once, though the first answer is lost", () =>
  site.visit(async ({ service, browser }) => {
    const app = await startApp(service);
    try {
      await service.faults([{ call: "submit", fault: "lostAfter", times: 1 }]);
      const page = await browser.page();
      await page.goto(`${app.origin}/tests/app.html`);
      await page.waitForFunction(() => globalThis.isReady);
      const submitted = () =>
        createHoldfast({ account: () => "local", services: { reports: { profile: "runharvester", proxy: "/api/reports" } } })
          .submit("reports", { intent: "a", body: work(50) })
          .then((operation) => operation.outcome())
          .then(({ status, reason, error }) => ({ status, reason, message: error?.message }));
      const refused = await page.evaluate(submitted);
      assert.deepEqual([refused.status, refused.reason], ["parked", "NeedsCredential"]);
      assert.match(refused.message, /The proxy at \/api\/reports.*Sign in again, then call resume\(\)/);
      assert.deepEqual(await service.requests(), []);
      const settled = await page.evaluate(async () => {
        await fetch("/sign-in");
        const services = { reports: { profile: "runharvester", proxy: "/api/reports" } };
        const operation = await createHoldfast({ account: () => "local", services }).find("reports", "a");
        return (await (await operation.resume()).outcome()).status;
      });
      assert.equal(settled, "succeeded");
      const { executions, charges } = await service.ledger();
      assert.deepEqual([executions, charges], [1, 1]);
    } finally {
      await app.stop();
    }
  }));
