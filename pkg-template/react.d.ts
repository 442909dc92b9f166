/**
 * Hooks of React over a client's operations. React 18 or 19; a peer that only this entry needs.
 *
 * They hold in StrictMode, under hot reload and in server rendering: a server shows `"pending"`, and so does
 * the first render in the page, until its storage has been read. Make the client outside of components; a
 * module that makes one gives it up when it is replaced: `import.meta.hot?.dispose(() => holdfast.close())`.
 *
 * @packageDocumentation
 */
import type { Holdfast, ListFilter, Service } from "./index.js";
import type { OperationView, OperationsView, ResultOf } from "./watch.js";

export type { OperationActions, OperationItem, OperationsView, OperationView, SubmitAction } from "./watch.js";

/**
 * The newest operation of an intent, and what can be done with it. Without an intent it is `"pending"`.
 *
 * @example
 * const view = useOperation(holdfast, "reports", `daily:${day}`);
 * if (view.status === "absent") return <button onClick={() => view.submit({ body: { url } })}>Make it</button>;
 * if (view.status === "pending" || view.status === "unavailable") return null;
 * if (view.outcome?.status === "succeeded") return <Report data={view.outcome.data} />;
 * return <p>{view.status} <button onClick={() => view.cancel()}>Stop</button></p>;
 */
export declare function useOperation<
  Services extends Record<string, Service<any>>,
  Name extends keyof Services & string,
>(
  holdfast: Holdfast<Services>,
  service: Name,
  intent: string | undefined,
): OperationView<ResultOf<Services[Name]>>;

/**
 * The current account's operations, a page of at most `limit` (50), kept up to date.
 *
 * @example
 * const { items } = useOperations(holdfast, { service: "reports", status: ["active", "parked"] });
 * return <ul>{items.map(({ state }) => <li key={state.id}>{state.intent}: {state.status}</li>)}</ul>;
 */
export declare function useOperations(holdfast: Holdfast<any>, filter?: ListFilter): OperationsView;
