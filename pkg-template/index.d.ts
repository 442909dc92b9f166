/**
 * Holdfast carries one intended piece of billable, slow work to a kept result, once, whatever dies
 * on the way: the connection, the tab, the browser.
 *
 * Times are milliseconds since the Unix epoch, lengths of time are milliseconds.
 *
 * @packageDocumentation
 */
/// <reference lib="esnext.disposable" />

/** A validator of results: anything that implements Standard Schema v1 (Zod, Valibot, ArkType, …). */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** What a {@link StandardSchema} says of a value. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<{ readonly message: string }> };

/**
 * What an exchange with a service is for. `reconcile` reads the listing of recent jobs, to find the one
 * that a lost answer would have named; `call` stands for cancel and other calls on a job; `quote` asks
 * what work would cost.
 */
export type Purpose = "submit" | "reconcile" | "poll" | "result" | "call" | "quote";

/** What `authorize` is asked for. */
export interface AuthorizeRequest {
  /** For which exchange. Reading a result may need another credential than submitting. */
  readonly purpose: Purpose;
  /** `true` after the service has refused the last credential: get a new one. */
  readonly refresh: boolean;
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/** A credential for one exchange. It is used and forgotten: never stored, never logged. */
export interface Authorization {
  /**
   * Header fields to add, for example `{ authorization: "Bearer …" }`. What the request has already, as its
   * media type and its key, stays as it is.
   */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Who the credential speaks for, without the secret, for example `"org_1/key_7"`. While the
   * outcome of a submission is unknown it is not repeated under another scope; the operation parks
   * instead. A new token for the same identity is no change of scope.
   */
  readonly scope?: string;
}

/** Bounds on one operation and its reruns. Reaching one parks the operation; nothing is lost. */
export interface Limits {
  /** It is not sent for the first time later than this after `submit`. Default: one day. */
  readonly sendWithinMs?: number;
  /** It parks when it is not over this long after `submit`. Default: one day. */
  readonly totalMs?: number;
  /** Most state-changing requests over an operation and its reruns. Default: 100. */
  readonly attempts?: number;
  /**
   * Most credits over an operation and its reruns. Default: no bound. Where the profile has a call for
   * quotes, the service is asked first, and what costs more, or whose price cannot be had, is not sent:
   * it parks as `BudgetExhausted`. Elsewhere the first price is not known beforehand; what the service
   * reports bounds what follows: reruns, and reads that cost. What may have been accepted already is
   * sent again under its key all the same.
   */
  readonly cost?: number;
}

/** The profiles that come with the package. */
export type BuiltInProfile =
  | "azure-lro"
  | "bulkgrid"
  | "cleanedweb"
  | "google-lro"
  | "http-async"
  | "idempotency-key"
  | "relay"
  | "replay"
  | "runharvester";

/** What is said of a service, wherever it is. */
export interface ServiceOptions<Result = unknown> {
  /**
   * The service's contract: the name of a built-in profile (`"runharvester"`), or a profile of your
   * own as a plain object (`profiles/runharvester.json` shows the shape). Built in are services
   * (`runharvester`, `replay`, `cleanedweb`, `bulkgrid`) and conventions: `idempotency-key` (the IETF
   * draft: the answer to the submission is the result; the key travels in quotes; a 409 is waited for
   * and sent again, a 422 parks as `KeyConflict`), `http-async` (202 and Location), `azure-lro`,
   * `google-lro`. A convention wants the path of its submissions as `params: { path: "v1/reports" }`.
   */
  readonly profile: BuiltInProfile | (string & {}) | object;
  /** Checks a result before it counts, and types it. A result that fails ends as `incomplete`. */
  readonly result?: StandardSchema<Result>;
  /**
   * How keys are made where `submit` is given none. `"random"` (default): a fresh UUID. `"derived"`:
   * a UUID made from account, service, intent, request and ordinal, so that a wiped store or a second
   * device comes to the same key, and the service to the same execution, for as long as it keeps keys.
   */
  readonly key?: "random" | "derived";
  /** Parameters of the profile's paths, for submissions that name none: `{ sourceId: "src_1" }`. */
  readonly params?: Readonly<Record<string, string>>;
  /** Bounds for this service's operations; `submit` may narrow them. */
  readonly limits?: Limits;
  /**
   * What follows when an answer was lost, the service knows no keys, and its listing of jobs, read back
   * past the first attempt after the listing's lag, shows that nothing ran. `"park"` (default): a person
   * decides. `"resubmit"`: it is submitted again, once. Where a service has no listing, nothing is sent a
   * second time by itself, whatever this says.
   */
  readonly onUnknown?: "park" | "resubmit";
}

/** A service that is called directly. */
export interface DirectService<Result = unknown> extends ServiceOptions<Result> {
  /**
   * Where the service is, for example `"https://api.example.com"`. `https:`, or loopback.
   *
   * From a page of another origin the service must allow, by CORS, what is sent: the profile's methods,
   * the header of the key, and those of `authorize`. A key that is not allowed is never left out: the
   * browser sends nothing, and that looks like a lost connection. What it should expose is what is read:
   * `Retry-After`, `Date`, the fields of rate limits, and each `header:` of the profile. Where waits are
   * not exposed, the profile's own paces count.
   *
   * Operations stay with the origin that they were submitted to. While this names another, they stand
   * still and are kept, and they go on when it names theirs again.
   */
  readonly baseUrl: string;
  /**
   * Gives the credential for one exchange. Asked before every exchange; `null` says that there is none
   * now. After the second time in a row the work is left to another tab of the same account that lacks none
   * (where the browser has BroadcastChannel); after the fourth it parks as `NeedsCredential`. The same when
   * this throws, or gives what `fetch` would not send; which is also told to `observe` (`callback.failed`)
   * and, once and without what the app threw, to the console.
   */
  readonly authorize?: (request: AuthorizeRequest) => Authorization | null | Promise<Authorization | null>;
  readonly proxy?: undefined;
  readonly relay?: undefined;
}

/** A service that is reached through a proxy of the app, which holds the credential. */
export interface ProxiedService<Result = unknown> extends ServiceOptions<Result> {
  /**
   * Where the handler of `holdfast/proxy` is mounted: a path of the page's own origin, for example
   * `"/api/reports"`. Requests to it carry the page's cookies, by which it knows who asks.
   */
  readonly proxy: string;
  readonly baseUrl?: undefined;
  readonly authorize?: undefined;
  readonly relay?: undefined;
}

/**
 * A service that a relay drives (`holdfast/cloudflare`), which holds the credential: it goes on there with
 * nobody looking. Its parameters are those that the relay's service has.
 */
export interface RelayedService<Result = unknown> extends Omit<ServiceOptions<Result>, "profile" | "params"> {
  /**
   * Where the relay is mounted: a path of the page's own origin, for example `"/operations"`, or a URL. The
   * service has the same name there. Requests to a path carry the page's cookies.
   */
  readonly relay: string;
  readonly profile?: undefined;
  readonly params?: undefined;
  readonly proxy?: undefined;
  readonly baseUrl?: undefined;
  /** For a relay that asks for a credential of the caller's own. */
  readonly authorize?: (request: AuthorizeRequest) => Authorization | null | Promise<Authorization | null>;
}

/** A service that jobs are submitted to: called directly, through a proxy of the app, or by a relay. */
export type Service<Result = unknown> = DirectService<Result> | ProxiedService<Result> | RelayedService<Result>;

/**
 * How long what has ended is kept here, in milliseconds, for operations submitted from now on. Nothing
 * goes by itself where nothing is set, save tombstones. What goes are body, result and journal; what
 * stays is a tombstone, as after {@link Operation.delete}, but nothing is deleted at the service.
 */
export interface Retention {
  /** They go this long after `acknowledge()`, or after `onSettled` has resolved. Default: never. */
  readonly resultMs?: number;
  /** They go this long after the ending, **whether or not anybody has taken it**. Default: never. */
  readonly ageMs?: number;
  /** The tombstone goes this long after them; the intent is then new work. Default: 400 days. */
  readonly tombstoneMs?: number;
}

/** A `WebAssembly.Module`, where the types of the place know it: those of Node alone do not. */
export type CompiledModule = typeof globalThis extends { WebAssembly: { Module: { prototype: infer Module } } } ? Module : object;

/** Options of {@link createHoldfast}. */
export interface HoldfastOptions<Services extends Record<string, Service<any>>> {
  /**
   * Whose work it is: an operation is listed, read and driven only while the account that submitted
   * it is the current one. `null` while nobody is signed in: `submit` refuses. An app with one user
   * says `() => "local"`.
   */
  readonly account: () => string | null;
  /** The services, by names of your own. A stored operation is driven by the service of its name. */
  readonly services: Services;
  /**
   * Called at every ending, never at a park, at least once, until it resolves: a result that lands
   * while nobody watches still has a consumer. Make it idempotent (save under `operation.id`). What it
   * throws is told to `observe` (`callback.failed`) and, once and without its message, to the console.
   */
  readonly onSettled?: (operation: Operation<unknown>) => void | Promise<void>;
  /** Called for everything that happens, after it is durable. Holds no body and no credential. */
  readonly observe?: (event: HoldfastEvent) => void;
  /** How long what has ended is kept. Default: until it is deleted. */
  readonly retention?: Retention;
  /** Name of the IndexedDB database. Default: `"holdfast"`. */
  readonly database?: string;
  /**
   * Whether the browser is asked, after the first `submit`, to keep the storage when space runs short
   * (`navigator.storage.persist()`). Some browsers ask the person. Default: `true`.
   */
  readonly persist?: boolean;
  /**
   * Where the WebAssembly module is. Default: `holdfast.wasm` beside this file. A page has one
   * instance of the module: the first client that is used decides.
   */
  readonly module?: string | URL | Response | Promise<Response> | ArrayBuffer | ArrayBufferView | CompiledModule;
  /** What sends requests. Default: the global `fetch`, looked up at each request. */
  readonly fetch?: typeof fetch;
  /** Who is told, once for each, that a function of the app threw where nobody waits for it. Default: `console`. */
  readonly logger?: Logger;
}

/** As much of a logger as is used. */
export interface Logger {
  /** Says a line. It holds no message of another error, and no credential. */
  error(line: string): void;
}

/** The work that is intended. */
export interface Submission {
  /**
   * Your name for this one intended piece of work. The same intent returns the same operation, in
   * whatever state and after any reload; with another request it is an `INTENT_CONFLICT`.
   * `crypto.randomUUID()` says "new work each time". 1 to 512 characters.
   */
  readonly intent: string;
  /**
   * What is sent. An object is serialised once, and those bytes are sent in every attempt; a string
   * (as UTF-8) or bytes are sent as they are. At most 8 MiB. What JSON would drop or change
   * (`undefined`, functions, dates, class instances, `NaN`, …) is an `INVALID_INPUT`.
   */
  readonly body: object | string | Uint8Array;
  /** Media type of a string or of bytes. Default: `"application/json"`. */
  readonly contentType?: string;
  /**
   * An idempotency key of your own, kept verbatim. It belongs to one operation of account and
   * service: under another intent it is a `KEY_CONFLICT`, and nothing is sent. Default: see
   * {@link Service.key}.
   */
  readonly key?: string;
  /** Parameters that the profile asks for, such as which of its endpoints: `{ endpoint: "crawl" }`. */
  readonly params?: Readonly<Record<string, string>>;
  /** Other bounds than the service's. */
  readonly limits?: Limits;
}

/** Work whose price is asked for: what would be submitted. */
export interface Inquiry {
  /** As in {@link Submission.body}. */
  readonly body: object | string | Uint8Array;
  /** As in {@link Submission.contentType}. */
  readonly contentType?: string;
  /** As in {@link Submission.params}. */
  readonly params?: Readonly<Record<string, string>>;
}

/** What a service says that work would cost: credits, decimal numbers as text. */
export interface Quote {
  readonly quoted: string;
  /** The account's balance, where it is told. */
  readonly balance?: string;
  /** The service's id for the exchange. */
  readonly requestId?: string;
}

/** How an operation is going. The last seven are endings: nothing is submitted or polled after them. */
export type Status =
  | "queued"
  | "submitting"
  | "reconciling"
  | "active"
  | "retrieving"
  | "parked"
  | "succeeded"
  | "rejected"
  | "failed"
  | "cancelled"
  | "expired"
  | "incomplete"
  | "abandoned";

/** Why an operation waits for a point in time. */
export type WaitReason =
  | "backoff"
  | "poll"
  | "serverGuidance"
  | "rateLimit"
  | "notFoundGrace"
  | "resultNotReady"
  | "authorization"
  | "inProgress"
  /** A run of a lost answer need not show in the service's listing yet. */
  | "listingLag"
  | "settlement"
  | "delivery"
  /** Submissions are not answered: whether the service is there at all is asked next (`calls.diagnose`). */
  | "diagnosis";

/** How the events of a stream are put together to the result, as the profile says. */
export interface StreamShape {
  readonly form: "sse" | "ndjson";
  /** The event whose data are the result; absent: the data of all events are, as a list. */
  readonly result?: string;
  /** The event that ends the stream. */
  readonly end?: string;
  /** The text of an event that ends the stream and is no part of it, such as `[DONE]`. */
  readonly endData?: string;
  /** Events whose data are lists in the result, each with the name of its member. */
  readonly gather?: Readonly<Record<string, string>>;
}

/** Why an operation waits for a person or code. Its identity is kept; every reason has exits. */
export type ParkReason =
  | "NeedsCredential"
  | "NeedsAccess"
  | "NeedsCredit"
  | "DeadlineExceeded"
  | "BudgetExhausted"
  | "OutcomeUnknown"
  | "Ambiguous"
  | "ScopeChanged"
  | "CancelUnconfirmed"
  | "KeyConflict"
  | "VersionMoved"
  | "JobNotFound";

/** A way out of a park: the call to make. */
export type Exit =
  | "resume()"
  | "resume({limits})"
  | 'resume({acceptRisk: "duplicate"})'
  | "resolve({found})"
  | 'resolve("not-executed")'
  | "revise({body})"
  | 'resolve("abandon")';

/**
 * Credits as the service last reported them, decimal numbers as text; absent where it said nothing.
 * Nothing is assumed: an operation that failed may have cost something, and billing may change late.
 */
export interface Ledger {
  /** What the service said beforehand that the work would cost. */
  readonly quoted?: string;
  /** Set aside when the work was accepted. */
  readonly reserved?: string;
  /** Debited when the work was accepted. */
  readonly base?: string;
  /** Added or taken back by the service's final rules. */
  readonly adjustment?: string;
  /** Taken in all: as the service says, else `base + adjustment`. */
  readonly charged?: string;
  /** What was set aside and is free again. */
  readonly released?: string;
  /** Given back of what was charged. */
  readonly refund?: string;
  /** The account's balance after that. */
  readonly balance?: string;
  /** What reading has cost, reckoned read by read; reads whose answer died with a page are not known. */
  readonly reads?: string;
  /** The service's own word for the state of the charge. */
  readonly tokenState?: string;
  /**
   * What the operation has cost so far: charged less refund, what is still set aside, and reads. Never
   * below 0.
   */
  readonly cost: string;
  /** The same over all operations of the intent up to this one; `limits.cost` bounds it. */
  readonly lineageCost: string;
  /** Billing may still change: it is being read. */
  readonly open: boolean;
  /**
   * There may be a second charge for the same work, which this ledger does not show: the risk was
   * accepted (`acceptRisk`, `onUnknown: "resubmit"`), or the service's listing shows two executions.
   */
  readonly possiblyDuplicated: boolean;
}

/** Ids that show what was executed: safe to send to support. */
export interface Receipt {
  readonly operationId: string;
  readonly key: string;
  /** The service's id for the job. */
  readonly jobId?: string;
  /** The service's id for the last exchange that had one. */
  readonly requestId?: string;
  readonly traceId?: string;
  /** The service's id of the receipt for the charge. */
  readonly chargeReceiptId?: string;
  /**
   * What that receipt is, where the profile says so. `"executionCharge"`: that the execution was
   * charged; it is neither an invoice nor a receipt for a purchase.
   */
  readonly chargeReceiptKind?: "executionCharge" | "purchase" | "invoice";
  /** How many records the service says that it delivered, as its number's text. */
  readonly recordCount?: string;
}

/** What a service said about a refusal or a failure. */
export interface Fault {
  readonly httpStatus?: number;
  /** The service's own code. */
  readonly code?: string;
  /** The service's own message, cut to 500 bytes. */
  readonly message?: string;
  readonly traceId?: string;
}

/** A job that ran and failed. */
export interface Failure extends Fault {
  /** Names this failure: pass it to `retry` to say that it was read. */
  readonly id: string;
  /** `input` and `target` failures are not retried unchanged unless you say `anyway`. */
  readonly class: "input" | "target" | "transient" | "unknown";
}

/** Everything about an operation, at one moment. A plain frozen object; equal moments are identical. */
export interface OperationState {
  readonly id: string;
  readonly service: string;
  readonly intent: string;
  /** The origin of the service's address that it was submitted to; under another it stands still. */
  readonly origin: string;
  /** 0 for the submission, 1 for its first rerun or revision, and so on. */
  readonly ordinal: number;
  /** The operation whose failed job this one runs again, or whose work it corrects. */
  readonly parentId?: string;
  readonly status: Status;
  /** The service's own word for the job's state. */
  readonly serviceStatus?: string;
  /** The service's own account of progress. */
  readonly progress?: string;
  /** What it waits for, where it waits for a point in time. */
  readonly waiting?: { readonly reason: WaitReason; readonly until: number };
  /**
   * The browser says that it has no network: nothing is begun until it has, and no attempt is spent.
   * Services on this machine (`http:`) are reached all the same.
   */
  readonly offline?: true;
  /**
   * What may be wrong, where answer after answer was lost and none has ever come, or to reads alone (CORS, or
   * `baseUrl`), where answers name no job, or where its service has another address now.
   */
  readonly hint?: string;
  /** Why it waits for a person or code, since when, and the ways out. */
  readonly parked?: {
    readonly reason: ParkReason;
    readonly since: number;
    readonly exits: readonly Exit[];
    /** The service's ids of the jobs that may be this operation's, where its listing was read. */
    readonly candidates?: readonly string[];
    /** The listing was read back past the first attempt and shows no such job: nothing ran. */
    readonly absent?: boolean;
  };
  /** A cancellation is wanted and not yet confirmed. */
  readonly cancelling: boolean;
  readonly createdAt: number;
  /** When it ended. */
  readonly endedAt?: number;
  readonly key: string;
  readonly jobId?: string;
  /** Submissions sent so far. */
  readonly attempts: number;
  readonly polls: number;
  /** What the service said, for `rejected`, `expired` and `incomplete`; for a park, its last refusal. */
  readonly fault?: Fault;
  /** What the service said, for `failed`. */
  readonly failure?: Failure;
  /** The kept result, for `succeeded`, and for `incomplete` what came of it. */
  readonly result?: {
    readonly bytes: number;
    /** SHA-256 over the bytes, in hex. */
    readonly sha256: string;
    readonly mediaType?: string;
    /** Where in the bytes the result stands, as a JSON pointer; absent: it is all of them. */
    readonly at?: string;
    /** How the events of a stream are put together to the result. */
    readonly stream?: StreamShape;
    /**
     * Where each page holds its items (a JSON pointer), for a result that came in pages. The bytes are
     * then all pages as the service sent them, as a sequence of JSON texts (RFC 7464,
     * `application/json-seq`); the result is the first page, with the items of all in the place of its own.
     */
    readonly items?: string;
    /** When the service captured it, where it says so; else when it was kept. */
    readonly capturedAt: number;
    /** The service replayed earlier work. */
    readonly replayed: boolean;
  };
  readonly ledger: Ledger;
  readonly receipt: Receipt;
  /** `onSettled` has resolved for the ending. */
  readonly delivered: boolean;
  readonly acknowledged: boolean;
  /** A deletion is wanted and not yet done; `parked` says why it waits for `delete()` to be called again. */
  readonly deletion?: { readonly requestedAt: number; readonly parked?: ParkReason };
  /** Since when only a tombstone is left: body, result and journal are gone. */
  readonly deletedAt?: number;
  /** Grows with every change of the operation. */
  readonly revision: number;
}

/** How it came out. Never an exception: endings and parks alike. */
export type Outcome<Result = unknown> =
  | {
      readonly status: "succeeded";
      readonly data: Result;
      readonly receipt: Receipt;
      readonly ledger: Ledger;
      readonly replayed: boolean;
      readonly capturedAt: number;
    }
  | {
      readonly status: "rejected" | "failed" | "cancelled" | "expired" | "incomplete" | "abandoned";
      readonly error: HoldfastError;
      readonly receipt: Receipt;
      readonly ledger: Ledger;
    }
  | {
      readonly status: "parked";
      readonly reason: ParkReason;
      readonly exits: readonly Exit[];
      readonly error: HoldfastError;
    };

/** One line of an operation's journal. */
export interface JournalEntry {
  /** When; of the first, where several are folded. */
  readonly at: number;
  /** What happened, a stable name such as `"submit.written"`, `"poll.answered"`, `"succeeded"`. */
  readonly event: string;
  /** How often in a row. */
  readonly count: number;
  readonly purpose?: string;
  readonly httpStatus?: number;
  readonly code?: string;
  /** The service's word for the job's state. */
  readonly state?: string;
  /** How long it waits from here, and why. */
  readonly waitMs?: number;
  readonly reason?: string;
  /** What the operation has cost so far, where that has just changed. */
  readonly cost?: string;
}

/**
 * What may be sent to strangers who shall help. Only these members exist: ids, codes, times and counts.
 * A text that is no single word (a URL, a sentence) is told as `"[withheld]"`, wherever it came from;
 * bodies, credentials, queries and messages of the service have no member.
 */
export interface SupportReport {
  /** Version of this package. */
  readonly holdfast: string;
  readonly recordFormat: number;
  readonly profile: string;
  readonly profileDigest: string;
  readonly service: string;
  readonly intent: string;
  readonly operationId: string;
  readonly parentId?: string;
  readonly ordinal: number;
  readonly key?: string;
  readonly jobId?: string;
  readonly requestId?: string;
  readonly traceId?: string;
  readonly chargeReceiptId?: string;
  readonly chargeReceiptKind?: Receipt["chargeReceiptKind"];
  readonly method: string;
  /** Of the submission, without origin and query. */
  readonly path: string;
  readonly createdAt: number;
  readonly status: Status;
  readonly serviceStatus?: string;
  /** Submissions written. */
  readonly attempts: number;
  /** Those beyond the first. */
  readonly retries: number;
  readonly polls: number;
  /** What it cost, as reported; not what the account has left. */
  readonly ledger: Partial<Omit<Ledger, "balance" | "open">>;
  readonly waitingFor?: WaitReason;
  readonly waitingUntil?: number;
  readonly parkedFor?: ParkReason;
  readonly parkedSince?: number;
  readonly endedAt?: number;
  readonly outcome?: Status;
  readonly lastError?: {
    readonly httpStatus?: number;
    readonly code?: string;
    readonly class?: Failure["class"];
    readonly traceId?: string;
  };
  /** The journal, oldest first. */
  readonly transitions: readonly JournalEntry[];
}

/** Told to `observe`, after it is durable. */
export interface HoldfastEvent {
  /**
   * The same stable name as in the journal; or `"callback.failed"`: `authorize`, `account` or `onSettled`
   * threw (`"holdfast.callback"` says which, `"error.type"` what). `"submitted"` is told of every operation that is
   * submitted, once; the journal of one that is sent at once begins with `"submit.written"`.
   */
  readonly name: string;
  readonly at: number;
  /** OpenTelemetry-shaped, such as `"holdfast.operation.id"`, `"http.response.status_code"`. */
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

/** Waits can be given up; giving up a wait cancels nothing. */
export interface WaitOptions {
  /** Rejects the wait with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** One operation. Holding it is not needed: `find` gives it again, after any reload. */
export interface Operation<Result = unknown> extends Omit<OperationState, "result"> {
  /** The state at this moment; identical as long as nothing changes. */
  readonly state: OperationState;
  /** What `JSON.stringify` writes: the state. A result is had by {@link Operation.result} alone. */
  toJSON(): OperationState;
  /**
   * The result, once it is kept. Rejects with a {@link HoldfastError} for every other ending and for
   * a park (`PARKED`, `JOB_NOT_FOUND` or `KEY_CONFLICT`; the error's `exits` say what to do).
   *
   * With a schema it is the schema's output, which sees the events of a stream put together, and of a
   * result in pages the first page with the items of all. Without one, JSON is parsed where the media
   * type says JSON or nothing, events and pages are put together in the same way, `text/*` gives a string, and everything else a `Uint8Array`.
   */
  result(options?: WaitOptions): Promise<Result>;
  /** How it came out: the same as a discriminated union, never an exception for endings or parks. */
  outcome(options?: WaitOptions): Promise<Outcome<Result>>;
  /** The kept result's bytes. Rejects like {@link Operation.result}. */
  blob(options?: WaitOptions): Promise<Blob>;
  /** The same as a stream, which reads each piece from storage when it is wanted. Rejects like {@link Operation.result}. */
  stream(options?: WaitOptions): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** Its states, the present one first, to the ending. A slow reader gets the newest. */
  updates(options?: WaitOptions): AsyncIterableIterator<OperationState>;
  /**
   * Asks for the job to be stopped. Nothing sent yet: it ends at once. Sent: the service is asked,
   * and the job's own end decides (a completion that beats the cancel is a success).
   */
  cancel(): Promise<Operation<Result>>;
  /** Goes on after a park, under the same identity. */
  resume(options?: {
    readonly limits?: Limits;
    readonly acceptRisk?: "duplicate";
  }): Promise<Operation<Result>>;
  /** Settles what cannot be learned by asking: found, not executed, or given up. */
  resolve(how: { readonly found: string } | "not-executed" | "abandon"): Promise<Operation<Result>>;
  /**
   * Runs the failed job again, as new, linked work under the same intent. `reviewed` is the
   * `failure.id` that was read. Refused for `input` and `target` failures unless `anyway`, and while
   * its billing is open (`ledger.open`). `limits` stay as they were where they are not given.
   */
  retry(options: {
    readonly reviewed: string;
    readonly anyway?: boolean;
    readonly limits?: Limits;
  }): Promise<Operation<Result>>;
  /**
   * Puts corrected work in the place of work of which it is proven that nothing ran: rejected, or
   * parked with every attempt refused or none sent; or completes what ended `incomplete`, at the price of
   * new work, by the same request or another. Gives the new, linked operation of the same
   * intent, which has a key of its own; this one ends as `abandoned` in the same transaction, or stays
   * as it ended. `NOT_ALLOWED` where anything else may have run. `contentType` and `limits` stay as they
   * were where they are not given.
   */
  revise(revision: {
    readonly body: object | string | Uint8Array;
    readonly contentType?: string;
    readonly limits?: Limits;
  }): Promise<Operation<Result>>;
  /** Says that the app has what it needs of the ending. */
  acknowledge(): Promise<Operation<Result>>;
  /**
   * Removes body, result and journal, here and, where the profile has a call for it, at the service.
   * What is under way is cancelled first and waited for, and open billing is read out. Resolves when
   * the wish is durable; `deletedAt` tells when it is done: where the service only accepts (202) and jobs
   * can be read, that its copy is gone is read first, for some minutes. A tombstone stays, for 400 days by default:
   * intent, request digest, key, ids and ending. The same request still gives this operation, and no
   * second charge; another one is an `INTENT_CONFLICT`. A result that is deleted is `RESULT_EXPIRED`.
   */
  delete(): Promise<Operation<Result>>;
  /** What happened, oldest first, at most 200 lines. Holds no body, no URL and no credential. */
  journal(): Promise<readonly JournalEntry[]>;
  /** What may be sent to support: see {@link SupportReport}. */
  supportReport(): Promise<SupportReport>;
}

/** Which operations to list. */
export interface ListFilter {
  readonly service?: string;
  readonly status?: Status | readonly Status[];
  readonly acknowledged?: boolean;
  /** At most this many, 1 to 200. Default: 50. */
  readonly limit?: number;
  /** The `cursor` of the page before. */
  readonly cursor?: string;
}

/**
 * What is known of the storage. No browser says whether it is private mode, or when it will evict: where
 * `persisted` is not `true`, it may, and what was stored is gone then.
 */
export interface StorageHealth {
  /** Whether the database could be opened and read just now. */
  readonly opens: boolean;
  /** Why not. */
  readonly fault?: string;
  /** Whether the browser has promised not to evict it. */
  readonly persisted?: boolean;
  /** Bytes that this origin uses and may use, as the browser estimates. */
  readonly usage?: number;
  readonly quota?: number;
  /** What the browser does not tell. */
  readonly unknown: readonly ("persisted" | "usage" | "quota")[];
}

/** A page of operations, newest first. */
export interface OperationPage {
  readonly operations: readonly Operation<unknown>[];
  /**
   * What stands between them, or would, and cannot be read here, whatever the filter; absent where there is none.
   * `NEWER_RECORD`: a later version of Holdfast wrote it, and drives it; reload to have that version.
   * `STORAGE_UNAVAILABLE`: its record is damaged, and nothing drives it: look at the service.
   */
  readonly unreadable?: readonly { readonly id: string; readonly code: "NEWER_RECORD" | "STORAGE_UNAVAILABLE" }[];
  /** Give it to the next `list`; absent on the last page. */
  readonly cursor?: string;
}

type ResultOf<S> = S extends { readonly result: StandardSchema<infer Output> } ? Output : unknown;

/** A client. One per app and page is enough; several share one outbox. */
export interface Holdfast<Services extends Record<string, Service<any>> = Record<string, Service>> {
  /**
   * Hands over one piece of work. Resolves when it is durable, not when it is sent. The same intent
   * gives the same operation.
   *
   * @throws HoldfastError `INVALID_INPUT`, `UNKNOWN_SERVICE`, `NO_ACCOUNT`, `INTENT_CONFLICT`,
   * `KEY_CONFLICT` (nothing was sent), `STORAGE_UNAVAILABLE` (nothing was sent), `SUBMIT_UNCONFIRMED` (submit the same intent again)
   */
  submit<Name extends keyof Services & string>(
    service: Name,
    submission: Submission,
  ): Promise<Operation<ResultOf<Services[Name]>>>;
  /**
   * Makes an operation for a job that exists at the service already, submitted by other means: it is
   * followed from there, and nothing is submitted. The same adoption gives the same operation. Its
   * `key` is empty.
   *
   * @throws HoldfastError `INVALID_INPUT`, `UNKNOWN_SERVICE`, `NO_ACCOUNT`, `INTENT_CONFLICT` (the
   * intent stands for other work), `KEY_CONFLICT` (the job belongs to the operation of the error's
   * `operationId`), `STORAGE_UNAVAILABLE`, `SUBMIT_UNCONFIRMED` (adopt again)
   */
  adopt<Name extends keyof Services & string>(
    service: Name,
    adoption: { readonly intent: string; readonly jobId: string },
  ): Promise<Operation<ResultOf<Services[Name]>>>;
  /**
   * Asks a service what work would cost. Nothing is stored and nothing handed over. To go by the answer,
   * submit with `limits: { cost }`: the price is asked for once more then, and more is not spent.
   * A rate that the profile states and a wait that the service asks for hold for quotes too; one that is
   * asked for from a tab that does not drive the service's work is not counted in the tab that does.
   *
   * @throws HoldfastError `INVALID_INPUT`, `UNKNOWN_SERVICE`, `NO_ACCOUNT`, `NOT_ALLOWED` (the profile has
   * no call for quotes), `NO_QUOTE` (the service did not give one: the message says its status and code)
   */
  quote<Name extends keyof Services & string>(service: Name, inquiry: Inquiry): Promise<Quote>;
  /** The newest operation of that intent, whatever its state; `undefined` when there is none. */
  find<Name extends keyof Services & string>(
    service: Name,
    intent: string,
  ): Promise<Operation<ResultOf<Services[Name]>> | undefined>;
  /**
   * Removes all that is stored of an intent, the tombstone too. **This permits a second charge**:
   * submitted again, the intent is new work. `NOT_ALLOWED` while it is not over, or being deleted.
   */
  forget<Name extends keyof Services & string>(service: Name, intent: string): Promise<void>;
  /** The current account's operations, newest first, a page at a time. */
  list(filter?: ListFilter): Promise<OperationPage>;
  /** Calls back after any change; pair it with `getSnapshot` (`useSyncExternalStore`). */
  subscribe(listener: () => void): () => void;
  /** The states of the operations that this client has seen, newest first, identical between changes. */
  getSnapshot(): readonly OperationState[];
  /**
   * Leaves the current account; call it while `account()` and `authorize` still give it, and change
   * them then. `"keep"`: what is not over stays stored, and goes on when the account is back.
   * `"cancel"`: it is cancelled first; what is not confirmed within 10 s goes on being cancelled then.
   * Lanes are given back, and its states are no longer in memory. Gives the states of what is not over.
   *
   * @throws HoldfastError `INVALID_INPUT`, `NO_ACCOUNT` (another came meanwhile: nothing was cancelled),
   * `STORAGE_UNAVAILABLE` (nothing was left)
   */
  signOut(options: { readonly unsettled: "keep" | "cancel" }): Promise<readonly OperationState[]>;
  /**
   * Deletes storage that cannot be opened any more, and with it every record of what was submitted:
   * **this permits a second charge** for it. A browser that was killed while it made the database can
   * leave one that never opens again. Nothing does this by itself; storage that opens is not deleted.
   *
   * @throws HoldfastError `INVALID_INPUT`, `NOT_ALLOWED` (the storage opens), `STORAGE_UNAVAILABLE` (the
   * browser refuses storage altogether, or it is blocked)
   */
  resetStorage(accepted: { readonly acceptRisk: "duplicate" }): Promise<void>;
  /** What is known of the storage, and what this browser does not tell. */
  storageHealth(): Promise<StorageHealth>;
  /** Opens and resumes whatever is pending, without waiting for a first `submit`. */
  start(): Promise<void>;
  /** Stops driving, and gives what it owned to other tabs. Pending work stays stored. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Code of a {@link HoldfastError}. */
export type ErrorCode =
  | "INVALID_INPUT"
  | "UNKNOWN_SERVICE"
  | "NO_ACCOUNT"
  | "INVALID_PROFILE"
  | "SERVER_ONLY"
  | "INTENT_CONFLICT"
  | "KEY_CONFLICT"
  | "STORAGE_UNAVAILABLE"
  | "SUBMIT_UNCONFIRMED"
  | "PARKED"
  | "REJECTED"
  | "JOB_FAILED"
  | "JOB_NOT_FOUND"
  | "CANCELLED"
  | "RESULT_EXPIRED"
  | "RESULT_INCOMPLETE"
  | "ABANDONED"
  | "ABORTED"
  | "WASM_BLOCKED"
  | "NEWER_RECORD"
  | "NOT_ALLOWED"
  | "NO_QUOTE";

/** Every error of Holdfast. Its message says what happened and what to do next. */
export declare class HoldfastError extends Error {
  readonly name: "HoldfastError";
  readonly code: ErrorCode;
  /** How far the operation had come. */
  readonly stage?: Status;
  readonly operationId?: string;
  /** What to do next, in a sentence. */
  readonly nextStep?: string;
  /** The option that is wrong or in conflict: `"limits.attempts"`, `"intent"`, `"key"`, `"jobId"`. */
  readonly field?: string;
  /** For a park. */
  readonly reason?: ParkReason;
  /** For a park: the calls that lead out of it. */
  readonly exits?: readonly Exit[];
  /** For `JOB_FAILED`: pass its `id` to `retry`. */
  readonly failure?: Failure;
  /** What the service said. */
  readonly fault?: Fault;
  /** For a park and an ending: submissions sent. */
  readonly attempts?: number;
  /** For a park and an ending: the ids, the job's among them. */
  readonly receipt?: Receipt;
  /** For a park and an ending: what it has cost. */
  readonly ledger?: Ledger;
  readonly cause?: unknown;
}

/** Whether something is a {@link HoldfastError}, of this copy of the package or another. */
export declare function isHoldfastError(value: unknown): value is HoldfastError;

/**
 * `unknown`, or for types alone what is wrong with the services: that there is none, or an option that no service has.
 * Of services that are still to be inferred it says nothing, so that a function over them may hand them on.
 */
export type CheckedServices<Services> = IsWrong<Services> extends true ? WrongServices<Services> : unknown;

/** The options of every kind of service. */
type KnownOption = keyof DirectService | keyof ProxiedService | keyof RelayedService;

/** The sentences of {@link CheckedServices}; of a service that is `any` there is none. */
type WrongServices<Services> =
  | ([keyof Services] extends [never] ? "There must be a service." : never)
  | {
      [Name in keyof Services & string]: 0 extends 1 & Services[Name]
        ? never
        : `${Name} has no option "${Exclude<keyof Services[Name] & string, KnownOption>}".`;
    }[keyof Services & string];

/** Whether there is a sentence. Asked so that the compiler says no where it only knows of what kind they will be. */
type IsWrong<Services> = [WrongServices<Services>] extends [0] ? false : true;

/**
 * A service as it is: for packages that ship one, so that its types are checked where it is written and
 * inferred where it is used.
 *
 * @example
 * export const reports = (authorize) =>
 *   defineService({ profile, baseUrl: "https://api.example.com", result: ReportSchema, authorize });
 */
export declare function defineService<const Own extends Service<any>>(service: Own & CheckedServices<{ service: Own }>): Own;

/**
 * Makes a client. Synchronous and inert: nothing is loaded, opened or sent before the first use, and
 * importing or calling it during server rendering touches nothing.
 *
 * @example
 * const holdfast = createHoldfast({
 *   account: () => session.userId,
 *   services: { reports: { profile: "runharvester", baseUrl: "https://api.example.com", authorize } },
 * });
 * const operation = await holdfast.submit("reports", { intent: `daily:${day}`, body: { url } });
 * const report = await operation.result();
 */
export declare function createHoldfast<const Services extends Record<string, Service<any>>>(
  options: HoldfastOptions<Services> & { readonly services: CheckedServices<Services> },
): Holdfast<Services>;
