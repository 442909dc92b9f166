/**
 * Holdfast in Cloudflare Workers: a Durable Object that drives billable jobs to their kept results by its
 * alarm, through evictions, redeploys and crashes.
 *
 * ```toml
 * [[durable_objects.bindings]]
 * name = "JOBS"
 * class_name = "Jobs"
 * [[migrations]]
 * tag = "v1"
 * new_sqlite_classes = ["Jobs"]
 * ```
 *
 * @packageDocumentation
 */
import type { DurableObject } from "cloudflare:workers";
import type { Holdfast, HoldfastEvent, Operation, Retention, Service } from "./index.js";

export type * from "./index.js";
export { HoldfastError, isHoldfastError } from "./index.js";

/** What a Worker asks of an object. Made by {@link jobs}, and by nobody else. */
export interface ObjectCall {
  readonly caller: string;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** What an object answers. */
export type ObjectAnswer =
  | { readonly value?: unknown; readonly error?: undefined }
  | { readonly error: { readonly message: string; readonly code: string } };

/** A binding of a class of objects, as far as it is used here. */
export interface Namespace {
  idFromName(name: string): any;
  get(id: any): any;
}

/**
 * One of the objects that carry the work. Extend it, declare your services, and bind the class with SQLite
 * storage. Each object holds the work of some intents (see {@link jobs}), and drives it by its alarm: the
 * alarm is set in the turn of the transaction that makes something due, and does a bounded part of what
 * is due. It may come late, twice or not at all.
 *
 * Objects of the class ask each other, by its binding in their own Worker, where a service has no keys (the
 * same request is handed over by one operation at a time, and a job belongs to one operation), and where its
 * profile states a rate, which then holds over all of them. Where it is not bound there, `submit()` and `adopt()`
 * refuse such work, and find what they have stored before.
 *
 * @example
 * import { HoldfastObject, jobs } from "holdfast/cloudflare";
 *
 * export class Jobs extends HoldfastObject<Env> {
 *   services = {
 *     runs: {
 *       profile: "bulkgrid",
 *       baseUrl: "https://api.example.com",
 *       authorize: () => ({ headers: { authorization: `Bearer ${this.env.TOKEN}` } }),
 *     },
 *   };
 *   async onSettled(operation) {
 *     if (operation.status === "succeeded") await this.env.RESULTS.put(operation.id, await operation.blob());
 *   }
 * }
 *
 * export default {
 *   async scheduled(event, env) {
 *     await jobs(env.JOBS).submit("runs", { intent: `daily:${event.scheduledTime}`, body: { url } });
 *   },
 * };
 */
export declare abstract class HoldfastObject<Env = unknown> extends DurableObject<Env> {
  /** The services, by names of your own, as in `createHoldfast`. `this.env` holds the credentials. */
  abstract services: Record<string, Service<any>>;
  /** Called at every ending, at least once, until it resolves: a sink for results. */
  onSettled?(operation: Operation<unknown>): void | Promise<void>;
  /** Called for everything that happens, after it is durable. Holds no body and no credential. */
  observe?(event: HoldfastEvent): void;
  /** How long what has ended is kept. Default: until it is deleted. */
  retention?: Retention;
  /** For {@link jobs}. */
  holdfast(call: ObjectCall): Promise<ObjectAnswer>;
  /** What the objects of the class ask each other; nobody else does. */
  holdfastShared(call: unknown): Promise<unknown>;
  /** The platform's call. An alarm of your own would take its place: there is one for each object. */
  alarm(info?: unknown): Promise<void>;
}

/** The work of a class of objects, seen from a Worker. */
export interface Jobs
  extends Pick<Holdfast<Record<string, Service<any>>>, "submit" | "adopt" | "find" | "forget" | "quote" | "list"> {}

/**
 * The work of one caller. Each intent belongs to one of 4,096 objects, whose number is the first 12 bits
 * of SHA-256 over caller and intent: whoever asks comes to the same object, and the number is for good.
 *
 * `submit` resolves when the work is durable in its object; nobody need call again. Waiting (`outcome()`,
 * `result()`, `updates()`) reads the object now and then for as long as it is awaited; in a Worker, use
 * `onSettled` of the object instead. `list` looks at 256 objects a page: a page may be empty, and the
 * last is the one without a cursor.
 *
 * @throws HoldfastError as in `createHoldfast`; `SUBMIT_UNCONFIRMED` and `ABORTED` where the object did not
 * answer: call again.
 */
export declare function jobs(namespace: Namespace, options?: { readonly caller?: string }): Jobs;

/** Who asks a relay. */
export interface RelayCaller {
  /** A name that is the caller's alone and stays so, up to 256 characters. */
  readonly caller: string;
  /**
   * The app's own staff, acting under that name. They may also name a job by its id (`resolve({found})`), which is read
   * with the object's credential whoever it was run for; give `limits` to `resume`, `retry` and `revise`; and take risks
   * (`acceptRisk`, `anyway`). Anybody else is refused that (`NOT_ALLOWED`). Default: `false`.
   */
  readonly trusted?: boolean;
}

/** How a relay lets callers in. */
export interface RelayOptions {
  /**
   * Who asks, or anything else to refuse. Without it, and where it throws, nothing is allowed. Callers see their own
   * operations only, and the `limits` of the object's services bound what they spend.
   */
  readonly allow: (request: Request) => RelayCaller | null | undefined | false | Promise<RelayCaller | null | undefined | false>;
  /** Where it is mounted. Default: `"/operations"`. */
  readonly path?: string;
  /** Largest body of a submission, in bytes, up to 8 MiB. Default: 1 MiB. */
  readonly bodyBytesMax?: number;
  /**
   * How much one caller may ask for; beyond it, `TOO_MANY` (429, with `Retry-After`). Each is counted by an
   * object of the namespace, and costs one more request to it; a submission of a caller that has as many as
   * it may costs up to 16 more, for it is looked whether those are over. Default: neither is counted.
   */
  readonly limits?: {
    /** Operations that are not over, reruns and revisions among them, from 1 to 10,000. */
    readonly operations?: number;
    /** Requests in any minute, of every kind, from 1 to 10,000. */
    readonly requestsPerMinute?: number;
  };
}

/**
 * Answers a browser's request for operations: `relay: "/operations"` of a service there. The object holds
 * the credential and drives the service, so that a page has no secret, and services without idempotency
 * or for servers only can be used from pages. Never throws: what is refused is an answer with a typed error.
 *
 * @example
 * const { pathname } = new URL(request.url);
 * if (pathname.startsWith("/operations/")) {
 *   return relay(request, env.JOBS, { allow: async (request) => ({ caller: await userOf(request) }) });
 * }
 */
export declare function relay(request: Request, namespace: Namespace, options: RelayOptions): Promise<Response>;
