/** The module's surface as the facade uses it, in the place of the generated declarations. */
export interface Host {
  account(): string | null;
  authorize(
    service: string,
    purpose: "submit" | "reconcile" | "poll" | "result" | "call" | "quote",
    refresh: boolean,
  ): Promise<{ headers: [string, string][]; scope?: string } | null>;
  validates(service: string): boolean;
  validate(service: string, result: string, bytes: Uint8Array): Promise<string | null>;
  consumes: boolean;
  settled(stateJson: string, account: string): Promise<void>;
  notify(stateJson: string, entriesJson: string, account: string): void;
  fetch: typeof globalThis.fetch | undefined;
  database: { run(what: string, args: any[]): { readonly done: Promise<any>; drop(): void }; forget(): void };
  arm?: ((delayMs: number | undefined) => void) | undefined;
  turn?: ((service: string, id: string, alone?: string) => Promise<number>) | undefined;
  locks?: { request(name: string, options: any, callback?: any): Promise<any> } | undefined;
}

export class Client {
  constructor(configJson: string, host: Host);
  submit(service: string, submissionJson: string, body: Uint8Array): Promise<string>;
  adopt(service: string, adoptionJson: string): Promise<string>;
  quote(service: string, inquiryJson: string, body: Uint8Array): Promise<string>;
  find(service: string, intent: string): Promise<string | undefined>;
  forget(service: string, intent: string): Promise<string[]>;
  load(id: string): Promise<string | undefined>;
  list(filterJson: string): Promise<string>;
  command(id: string, commandJson: string): Promise<string>;
  revise(id: string, revisionJson: string, body: Uint8Array): Promise<string>;
  supportReport(id: string): Promise<string>;
  journal(id: string): Promise<string>;
  chunk(id: string, index: number): Promise<Uint8Array | undefined>;
  wake(): void;
  yield(): void;
  hint(service: string): void;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Generated with `--experimental-reset-state-function`: a new instance in the place of the old. */
export function __wbg_reset_state(): void;

export default function init(options: { module_or_path: unknown }): Promise<unknown>;
