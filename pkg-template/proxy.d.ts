/**
 * A proxy that keeps a service's credential on the server, for pages: a stateless `Request → Response`
 * handler for any server that speaks the web's own types (Next.js, Remix, Hono, Deno, Bun, Workers, …).
 *
 * It is for services that know idempotency keys: the page makes and stores the key, the proxy adds the
 * credential. It lets through what the profile's calls send and nothing else, follows no redirect, and
 * passes on neither cookies nor credentials of the page, nor headers of the answer that the profile does
 * not read. Its answers are never a page of your origin (`Content-Security-Policy: sandbox`).
 *
 * @packageDocumentation
 */
import type { BuiltInProfile, Purpose } from "./index.js";

export { HoldfastError, isHoldfastError } from "./index.js";

/** What the proxy's `authorize` is asked for. */
export interface ProxyAuthorizeRequest {
  /** What the page has sent; look at its cookies, and leave its body. */
  readonly request: Request;
  /** For which exchange. */
  readonly purpose: Purpose;
  /**
   * `true` after the service has refused (401) the credential that was just given: get a new one. Asked once
   * for a request; another credential is tried, the same one or `null` passes the refusal on to the page. A body
   * of more than 256 KiB, which is streamed, is not sent a second time here; the page does it.
   */
  readonly refresh: boolean;
  /** Aborted when the page has gone, or the call has taken too long. */
  readonly signal: AbortSignal;
}

/** Options of {@link createProxy}. */
export interface ProxyOptions {
  /** As in the service of the page: a built-in name, or a profile of your own. It must have a `key`. */
  readonly profile: BuiltInProfile | (string & {}) | object;
  /** Where the service is, for example `"https://api.example.com"`. `https:`, or loopback. */
  readonly baseUrl: string;
  /** The path that the handler is reached at, for example `"/api/reports"`; the page names the same as `proxy`. */
  readonly mount: string;
  /**
   * Looks who asks, and gives the service's credential as header fields. `null` is answered with 401, on
   * which the page's operation parks as `NeedsCredential`; a `Response` of your own is passed on. Where this throws, or
   * gives what `fetch` would not send, nothing is sent: what would change something is answered with 401
   * (`AUTHORIZE_FAILED`), which the page counts as refused, never as an unknown outcome; what reads, with 502, and it is
   * asked again. A 401 of the service is passed on where it throws when it is asked for another credential.
   */
  readonly authorize: (
    request: ProxyAuthorizeRequest,
  ) =>
    | { readonly headers: Readonly<Record<string, string>> }
    | Response
    | null
    | Promise<{ readonly headers: Readonly<Record<string, string>> } | Response | null>;
  /**
   * The values that the parameters of the profile's paths may have; required where the profile lets any be
   * submitted: `{ path: ["v1/reports"] }`.
   */
  readonly params?: Readonly<Record<string, string | readonly string[]>>;
  /**
   * Paths that links in the headers of answers lead to, for profiles that follow such: `["/operations/{id}"]`.
   * `{id}` is one segment of any text, `{+id}` several.
   */
  readonly links?: readonly string[];
  /** Largest body of a request, in bytes. Default: 8 MiB. */
  readonly bodyBytesMax?: number;
  /** What sends requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Told why a request was answered with 502 or 500, and what `authorize` threw. Default: `console.error`, without the error's message. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Makes a handler. It keeps nothing between requests.
 *
 * The page's cookies decide who asks, so only the app's own script is let in: requests of other origins,
 * and those that would show an answer as a page, are refused (403).
 *
 * @example
 * // app/api/reports/[...path]/route.js (Next.js)
 * import { createProxy } from "holdfast/proxy";
 *
 * const proxy = createProxy({
 *   profile: "runharvester",
 *   baseUrl: "https://api.example.com",
 *   mount: "/api/reports",
 *   authorize: async ({ request }) =>
 *     (await userOf(request)) ? { headers: { authorization: `Bearer ${process.env.REPORTS_KEY}` } } : null,
 * });
 * export { proxy as GET, proxy as POST, proxy as DELETE };
 *
 * // In the page: createHoldfast({ account, services: { reports: { profile: "runharvester", proxy: "/api/reports" } } })
 *
 * @throws HoldfastError `INVALID_INPUT`, and for a profile that is given as an object `INVALID_PROFILE` (no key, or its
 *   links stand in bodies). A built-in one is loaded by the first request: each is answered with 500 and that error then.
 */
export declare function createProxy(options: ProxyOptions): (request: Request) => Promise<Response>;

/**
 * A handler for Node's own `http` server and what is built like it (Express, Connect, Fastify's raw requests):
 * mount it before anything that reads bodies.
 *
 * @example
 * import { createServer } from "node:http";
 * import { createProxy, toNodeHandler } from "holdfast/proxy";
 *
 * const proxy = toNodeHandler(createProxy({ profile: "runharvester", baseUrl, mount: "/api/reports", authorize }));
 *
 * createServer((request, response) => {
 *   if (request.url?.startsWith("/api/reports/")) return proxy(request, response);
 *   response.writeHead(404).end();
 * }).listen(3000);
 *
 * // Express: app.use("/api/reports", proxy) before express.json()
 */
export declare function toNodeHandler(
  handler: (request: Request) => Promise<Response>,
): (incoming: NodeRequest, outgoing: NodeResponse, next?: (error: unknown) => void) => Promise<void>;

/** As much of Node's `IncomingMessage` as is used. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly headers: { readonly host?: string | undefined };
  readonly readableDidRead?: boolean;
  iterator(options: { destroyOnReturn: boolean }): AsyncIterator<Uint8Array>;
  resume(): unknown;
}

/** As much of Node's `ServerResponse` as is used. */
export interface NodeResponse {
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly destroyed: boolean;
  writeHead(status: number, headers?: any): any;
  write(piece: Uint8Array): boolean;
  end(text?: string): any;
  destroy(): any;
  once(event: string, listener: () => void): any;
}
