/** What the package takes from the platform, and no more. */
declare module "cloudflare:workers" {
  export class DurableObject<Env = unknown> {
    protected readonly ctx: DurableObjectState;
    protected readonly env: Env;
    constructor(context: DurableObjectState, env: Env);
  }
}

declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

interface DurableObjectState {
  readonly id: { toString(): string };
  readonly storage: DurableObjectStorage;
  waitUntil(promise: Promise<unknown>): void;
}

interface DurableObjectStorage {
  readonly sql: { exec(sql: string, ...params: unknown[]): { toArray(): Record<string, unknown>[] } };
  transactionSync<T>(work: () => T): T;
  getAlarm(): Promise<number | null>;
  setAlarm(at: number): Promise<void>;
  sync(): Promise<void>;
}
