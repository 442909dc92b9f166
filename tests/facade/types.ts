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
