/**
 * An operation, or a list of them, as something that a view subscribes to. `holdfast/react` stands on it; for
 * other frameworks it takes ten lines. Equal moments are identical, and what nobody is subscribed to holds nothing.
 *
 * @example Vue
 * import { onScopeDispose, shallowRef } from "vue";
 * import { watchOperation } from "holdfast/watch";
 *
 * export function useOperation(holdfast, service, intent) {
 *   const watch = watchOperation(holdfast, service, intent);
 *   const view = shallowRef(watch.getSnapshot());
 *   onScopeDispose(watch.subscribe(() => (view.value = watch.getSnapshot())));
 *   return view;
 * }
 *
 * @example Svelte
 * import { readable } from "svelte/store";
 * import { watchOperation } from "holdfast/watch";
 *
 * export function useOperation(holdfast, service, intent) {
 *   const watch = watchOperation(holdfast, service, intent);
 *   return readable(watch.getSnapshot(), (set) => {
 *     set(watch.getSnapshot());
 *     return watch.subscribe(() => set(watch.getSnapshot()));
 *   });
 * }
 *
 * @example Solid
 * import { createSignal, onCleanup } from "solid-js";
 * import { watchOperation } from "holdfast/watch";
 *
 * export function useOperation(holdfast, service, intent) {
 *   const watch = watchOperation(holdfast, service, intent);
 *   const [view, setView] = createSignal(watch.getSnapshot());
 *   onCleanup(watch.subscribe(() => setView(() => watch.getSnapshot())));
 *   return view;
 * }
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

/** The result of a service: what its schema gives. */
export type ResultOf<S> = S extends { readonly result: StandardSchema<infer Output> } ? Output : unknown;

/** What can always be done: hand the work over. The same function as long as client and intent are. */
export interface SubmitAction<Result = unknown> {
  /** As `holdfast.submit`, with the hook's intent. The same work again is the same operation. */
  readonly submit: (submission: Omit<Submission, "intent">) => Promise<Operation<Result>>;
}

/** The calls on an operation, for buttons: `onClick={() => view.cancel()}`, for an event is no option of theirs. They reject as the operation's own do. */
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

/** A view that changes. */
export interface Watch<View> {
  /** The view at this moment; `"pending"` before somebody subscribes. */
  getSnapshot(): View;
  /** Calls back after each change, until the function that it gives is called. The first begins to read. */
  subscribe(listener: () => void): () => void;
}

/** The newest operation of an intent, and what can be done with it. */
export declare function watchOperation<
  Services extends Record<string, Service<any>>,
  Name extends keyof Services & string,
>(holdfast: Holdfast<Services>, service: Name, intent: string): Watch<OperationView<ResultOf<Services[Name]>>>;

/** The current account's operations, a page of at most `limit` (50). */
export declare function watchOperations(holdfast: Holdfast<any>, filter?: ListFilter): Watch<OperationsView>;
