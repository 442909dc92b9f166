/**
 * A whole world for tests of recovery, in milliseconds and without a browser: the module that is published,
 * over a disk, a line, services and a time that are simulated. For `node:test`, Vitest, and their like.
 *
 * Time stands still while the app's own code runs, and passes by itself while something of a client is
 * awaited: a job of an hour is over at once, and a wait that a service asks for is kept all the same.
 *
 * @packageDocumentation
 */
import type { CheckedServices, Holdfast, HoldfastOptions, OperationState, Service } from "./index.js";

export { HoldfastError, isHoldfastError } from "./index.js";

/** What a scripted service is asked for. */
export interface ScriptedRequest {
  /** What was submitted: the value, where it is JSON. */
  readonly body: any;
  /** What the profile's path was filled with. */
  readonly params: Readonly<Record<string, string>>;
  readonly key: string | undefined;
  /** How many executions there were before. */
  readonly run: number;
}

/** How a service behaves, beyond what its profile says. */
export interface ServiceScript {
  /** How long a job takes, in milliseconds. Default: 1000. */
  readonly durationMs?: number | ((request: ScriptedRequest) => number);
  /** What it costs, in credits. Default: 1. */
  readonly price?: number | ((request: { readonly body: any }) => number);
  /** How a job ends. Default: `"completed"`. */
  readonly outcome?: "completed" | "failed" | ((request: ScriptedRequest) => "completed" | "failed");
  /**
   * The result of a job that completes; a string is sent as text. Where the profile says that the call answers with
   * a stream, it comes as events. Default: `{ ok: true }`.
   */
  readonly result?: (request: ScriptedRequest) => unknown;
  /** Refuses a submission, before anything is executed. Default status: 422. */
  readonly refuse?: (
    request: ScriptedRequest,
  ) => { readonly status?: number; readonly code?: string; readonly message?: string } | undefined;
  /** How long an exchange takes, in milliseconds. Default: 20. */
  readonly latencyMs?: number;
}

/** The calls of a profile. */
export type Call = "submit" | "poll" | "result" | "cancel" | "retry" | "delete" | "list" | "quote" | "diagnose";

/** Something that goes wrong. */
export interface Fault {
  /**
   * `"lostAfter"`: it is done and charged, and the answer is lost; `"lostBefore"`: the request never arrives;
   * `"truncated"`: the answer breaks off. The others are answers in the place of the service.
   */
  readonly fault:
    | "lostAfter"
    | "lostBefore"
    | "truncated"
    | "rateLimited"
    | "unavailable"
    | "htmlError"
    | "notFound"
    | "unauthorized"
    | "noCredit";
  /** At which call. Default: `"submit"`. */
  readonly call?: Call;
  /** How often. Default: once. */
  readonly times?: number;
  /** Seconds of `Retry-After`, for `"rateLimited"` (default 1) and `"unavailable"`. */
  readonly retryAfter?: number;
  /** At which service. Default: at every one. */
  readonly service?: string;
}

/** Options of {@link simulate}. */
export interface SimulateOptions {
  readonly faults?: readonly Fault[];
  /** When it begins, in milliseconds since the Unix epoch. Default: the beginning of 2026. */
  readonly now?: number;
}

/** A request that a service has seen. */
export interface SimulatedRequest {
  readonly call: string;
  readonly method: string;
  readonly url: string;
  readonly key: string | undefined;
  readonly body: string;
  readonly at: number;
}

/** What a service has done. */
export interface ServiceLedger {
  /** Jobs that were run: one for each key. */
  readonly executions: number;
  readonly charges: number;
  /** Credits, in all. */
  readonly charged: number;
  /** Results that were handed out. */
  readonly results: number;
  /** Submissions that arrived, repeated ones too. */
  readonly submits: number;
  readonly polls: number;
  readonly jobs: readonly {
    readonly id: string;
    readonly key: string;
    readonly status: string;
    readonly createdAt: number;
    readonly body: string;
  }[];
}

/** A scripted service, from the outside. */
export interface SimulatedService {
  ledger(): ServiceLedger;
  requests(): readonly SimulatedRequest[];
  /** Lets more go wrong from now on. */
  fault(...faults: readonly Fault[]): void;
  /** Withholds the answers of a call from now on: it is done and charged, and nobody hears of it. */
  hold(call?: Call): void;
  /** Resolves when an answer is withheld: the moment to {@link World.crash}. */
  held(): Promise<void>;
  /** Lets withheld answers go. */
  release(): void;
}

/** A simulated world: one disk, one time, and services that outlive every client. */
export interface World {
  /** The time, in milliseconds since the Unix epoch. */
  readonly now: number;
  /**
   * As in `holdfast`, with the app's own options: give it to the code under test. Its services are those that
   * `simulate` was given, by name, as their profiles describe them; `fetch` and `module` are the world's, and so is
   * the disk: `storage` of `holdfast/node` is left aside.
   */
  readonly createHoldfast: <const Services extends Record<string, Service<any>>>(
    options: HoldfastOptions<Services> & { readonly services: CheckedServices<Services>; readonly storage?: unknown },
  ) => Omit<Holdfast<Services>, "resetStorage" | "storageHealth">;
  /**
   * Kills every client, as a browser is killed: what it had in memory is gone, and no answer reaches it. What
   * waits for it is rejected. Make another client then. `lose: "relaxed"`: the power failed too, and what was
   * not written strictly is as it was.
   */
  crash(options?: { readonly lose?: "relaxed" }): Promise<void>;
  /** Lets time pass, in milliseconds. */
  advance(ms: number): Promise<void>;
  /** Lets time pass until everything is over or parked, for two days at most; gives what is left. */
  settle(): Promise<readonly OperationState[]>;
  /** A service of the world; it is there once a client has been used. */
  service(name: string): SimulatedService;
}

/**
 * Makes a world.
 *
 * @throws HoldfastError `INVALID_INPUT` for a service, an option or a fault that it does not know, by its `field`. So do
 *   `fault` and `hold` of a service, and `service` itself.
 *
 * @example
 * const world = await simulate({ reports: { durationMs: 60_000, result: () => ({ rows: 3 }) } });
 * const options = { account: () => "local", services: { reports: { profile: "runharvester", baseUrl: "https://api.example.com", authorize } } };
 *
 * const first = world.createHoldfast(options);
 * await first.start();
 * world.service("reports").hold();
 * await first.submit("reports", { intent: "a", body: { url } });
 * await world.service("reports").held();          // accepted and charged, and nobody has heard of it
 * await world.crash();
 * world.service("reports").release();
 *
 * const again = world.createHoldfast(options);
 * await again.start();
 * const operation = await again.find("reports", "a");
 * assert.deepEqual(await operation?.result(), { rows: 3 });
 * assert.equal(world.service("reports").ledger().executions, 1);
 */
export declare function simulate(
  services: Readonly<Record<string, ServiceScript>>,
  options?: SimulateOptions,
): Promise<World>;
