// Compiled, not run: the types say what the documentation says.
import { createHoldfast, type Operation, type OperationState, type StandardSchema } from "../../pkg-template/index.js";

declare const schema: StandardSchema<{ rows: number }>;

const holdfast = createHoldfast({
  account: () => "local",
  services: {
    typed: { profile: "runharvester", baseUrl: "https://api.example.com", result: schema },
    plain: { profile: "runharvester", baseUrl: "https://api.example.com" },
  },
  onSettled: async (operation: Operation) => void operation.state.result?.sha256,
});

const submission = { intent: "a", body: { url: "https://example.com" } };
const typed = await holdfast.submit("typed", submission);
const rows: number = (await typed.result()).rows;
const plain: unknown = await (await holdfast.submit("plain", submission)).result();
// @ts-expect-error There is no such service.
await holdfast.submit("other", submission);
// @ts-expect-error An intent is required.
await holdfast.submit("plain", { body: {} });

const outcome = await typed.outcome();
if (outcome.status === "succeeded") outcome.data.rows satisfies number;
else if (outcome.status === "parked") outcome.exits satisfies readonly string[];
else outcome.error.code satisfies string;

for await (const state of typed.updates()) state satisfies OperationState;
void [rows, plain];

const adopted = await holdfast.adopt("typed", { intent: "b", jobId: "job-1" });
const count: number = (await adopted.result()).rows;
const revised = await adopted.revise({ body: { url: "https://example.com" }, limits: { attempts: 3 } });
(await revised.delete()).deletedAt satisfies number | undefined;
(await revised.supportReport()).transitions satisfies readonly { readonly event: string }[];
await holdfast.forget("plain", "a");
const left: readonly OperationState[] = await holdfast.signOut({ unsettled: "cancel" });
// @ts-expect-error What becomes of unsettled work must be said.
await holdfast.signOut({});
await holdfast.resetStorage({ acceptRisk: "duplicate" });
// @ts-expect-error The risk must be accepted.
await holdfast.resetStorage({});
const price: string = (await holdfast.quote("plain", { body: {}, params: { operation: "map" } })).quoted;
void [count, left, price];

import { defineService } from "../../pkg-template/index.js";
import { createProxy } from "../../pkg-template/proxy.js";

// A service that a package ships keeps its types.
const shipped = defineService({ profile: "runharvester", baseUrl: "https://api.example.com", result: schema });
const proxied = createHoldfast({ account: () => null, services: { shipped, own: { profile: "replay", proxy: "/api/own" } } });
(await (await proxied.submit("shipped", submission)).result()).rows satisfies number;
(await (await proxied.submit("own", submission)).result()) satisfies unknown;
// @ts-expect-error A service has an address: baseUrl, or proxy.
defineService({ profile: "runharvester" });
// @ts-expect-error The proxy holds the credential.
defineService({ profile: "runharvester", proxy: "/api", authorize: () => null });
// @ts-expect-error Limits have names.
defineService({ profile: "runharvester", proxy: "/api", limits: { attemps: 3 } });

const handle = createProxy({
  profile: "runharvester",
  baseUrl: "https://api.example.com",
  mount: "/api/reports",
  authorize: async ({ request, purpose, signal }) =>
    request.headers.has("cookie") && purpose !== "quote" && !signal.aborted ? { headers: { authorization: "Bearer a" } } : null,
});
(await handle(new Request("https://app.example.com/api/reports/x"))) satisfies Response;

import { useOperation, useOperations } from "../../pkg-template/react.js";

// The hooks know the service's result, and what there is in each status.
const view = useOperation(holdfast, "typed", "a");
if (view.status === "absent") view.submit({ body: {} }) satisfies Promise<Operation<{ rows: number }>>;
else if (view.status === "unavailable") view.error.code satisfies string;
else if (view.status !== "pending") {
  if (view.outcome?.status === "succeeded") view.outcome.data.rows satisfies number;
  view.retry({ reviewed: "x" }) satisfies Promise<unknown>;
}
// @ts-expect-error Before it is known there is nothing to cancel.
view.cancel();
// @ts-expect-error There is no such service.
useOperation(holdfast, "other", "a");
// @ts-expect-error The intent is the hook's.
if (view.status === "absent") view.submit({ intent: "b", body: {} });
useOperations(holdfast, { service: "plain", status: ["active", "parked"] }).items[0]?.state satisfies OperationState | undefined;

createHoldfast({ account: () => "a", services: { runs: { relay: "/operations" } } });
// @ts-expect-error: a relay has the profile
createHoldfast({ account: () => "a", services: { runs: { relay: "/operations", profile: "replay" } } });

// What no service has is refused by its name, and so is an outbox for no service.
const direct = { profile: "replay", baseUrl: "https://api.example.com" } as const;
// @ts-expect-error: runs has no option "timeout"
createHoldfast({ account: () => "a", services: { runs: { profile: "replay", baseUrl: "https://api.example.com", timeout: 3 } } });
// @ts-expect-error: a service of many
createHoldfast({ account: () => "a", services: { direct, runs: { proxy: "/runs", profile: "replay", limit: {} } } });
// @ts-expect-error: there must be a service
createHoldfast({ account: () => "a", services: {} });
// @ts-expect-error: service has no option "resul"
defineService({ profile: "replay", baseUrl: "https://api.example.com", resul: 1 });
// What is not known yet, or not known here, goes through.
import type { HoldfastOptions, Service } from "../../pkg-template/index.js";
const over = <Services extends Record<string, Service<any>>>(options: HoldfastOptions<Services>) =>
  createHoldfast({ ...options, database: "other" });
const handed = <Own extends Service<any>>(service: Own) => createHoldfast({ account: () => "a", services: { runs: defineService(service) } });
(await (await over({ account: () => "a", services: { runs: { ...direct, result: schema } } }).submit("runs", submission)).result()).rows satisfies number;
declare const several: Record<string, Service>;
createHoldfast({ account: () => "a", services: several });
declare const untyped: any;
createHoldfast({ account: () => "a", services: untyped });
createHoldfast({ account: () => "a", services: { direct, untyped } });
createHoldfast(untyped);
void handed;
