/**
 * Hooks of React over a client's operations. React 18 or 19; a peer that only this entry needs.
 *
 * They hold in StrictMode, under hot reload and in server rendering: a server shows `"pending"`, and so does
 * the first render in the page, until its storage has been read. Make the client outside of components; a
 * module that makes one gives it up when it is replaced: `import.meta.hot?.dispose(() => holdfast.close())`.
 *
 * @packageDocumentation
 */
import type {
  Holdfast,
  HoldfastError,
  ListFilter,
  Operation,
  OperationState,
  Outcome,
  Service,
  StandardSchema,
  Status,
  Submission,
} from "./index.js";

type ResultOf<S> = S extends { readonly result: StandardSchema<infer Output> } ? Output : unknown;

/** What can always be done: hand the work over. The same function as long as client and intent are. */
export interface SubmitAction<Result = unknown> {
  /** As `holdfast.submit`, with the hook's intent. The same work again is the same operation. */
  readonly submit: (submission: Omit<Submission, "intent">) => Promise<Operation<Result>>;
}

/** The calls on an operation, for buttons: `onClick={view.cancel}`. They reject as the operation's own do. */
export type OperationActions<Result = unknown> = {
  readonly [Name in "cancel" | "resume" | "resolve" | "retry" | "revise" | "acknowledge" | "delete"]: Operation<Result>[Name];
};

/** An operation, as a component sees it at one moment. Equal moments are identical. */
export type OperationView<Result = unknown> = SubmitAction<Result> &
  (
    | {
        /** On a server, and until the storage has been read. */
        readonly status: "pending";
      }
    | {
        /** There is no operation of that intent. */
        readonly status: "absent";
      }
    | {
        /** It cannot be read: nobody is signed in, or there is no storage. */
        readonly status: "unavailable";
        readonly error: HoldfastError;
      }
    | ({
        readonly status: Status;
        readonly state: OperationState;
        readonly operation: Operation<Result>;
        /** How it came out or why it is parked, soon after the status says so: `outcome?.status === "succeeded"` gives `data`. */
        readonly outcome?: Outcome<Result> | undefined;
      } & OperationActions<Result>)
  );

/** A list of operations, as a component sees it at one moment. */
export type OperationsView =
  | { readonly status: "pending"; readonly items: readonly OperationItem[]; readonly cursor?: undefined }
  | {
      readonly status: "ready";
      /** Newest first. An item is the same object as long as its state is. */
      readonly items: readonly OperationItem[];
      /** There are more: the `cursor` of the next page's filter. */
      readonly cursor?: string;
    }
  | {
      readonly status: "unavailable";
      readonly items: readonly OperationItem[];
      readonly error: HoldfastError;
      readonly cursor?: undefined;
    };

/** One of a list. */
export interface OperationItem {
  readonly state: OperationState;
  readonly operation: Operation<unknown>;
}

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
 */
export declare function useOperations(holdfast: Holdfast<any>, filter?: ListFilter): OperationsView;
