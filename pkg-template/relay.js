// @ts-check
/**
 * The operation protocol for browsers: an HTTP handler over `jobs()`. The page's key is the intent here,
 * so that a lost answer between page and edge is as safe as one beyond. `www/docs/relay.md` describes it.
 */
/** @import * as Api from "./cloudflare.d.ts" */
/** @import { Operation } from "./operation.js" */
import { bodyBytesMaxOf } from "./body-bounds.js";
import { HoldfastError, isHoldfastError } from "./error.js";
import { checkFunction, checkNames } from "./check.js";
import { jobs, RemoteObject, shardOf } from "./jobs.js";
import { eventsOf, resultOf } from "./relay-answers.js";
import { checkCount, checkRate, limitsOf } from "./relay-limits.js";

/** Largest body, in bytes, where nothing else is said. */
const BODY_BYTES = 1024 * 1024;
/** Largest body of a verb, in bytes. */
const VERB_BYTES_MAX = 64 * 1024;

/** A media type with its parameters, as it is sent on to the service. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?: *; *[\w.-]+=(?:[\w.:+-]+|"[\w ./:+-]*"))*$/;

/** What may be asked of an operation, and how a body of JSON says it. */
const VERBS = {
  cancel: (/** @type {any} */ own) => own.cancel(),
  acknowledge: (/** @type {any} */ own) => own.acknowledge(),
  resume: (/** @type {any} */ own, /** @type {any} */ given) => own.resume(given),
  resolve: (/** @type {any} */ own, /** @type {any} */ given) => own.resolve(given),
  retry: (/** @type {any} */ own, /** @type {any} */ given) => own.retry(given),
  revise: (/** @type {any} */ own, /** @type {any} */ given) => own.revise(given),
};

/** The status of each error. */
const STATUS = {
  INVALID_INPUT: 400,
  UNKNOWN_SERVICE: 404,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ALLOWED: 409,
  KEY_CONFLICT: 409,
  RESULT_NOT_READY: 409,
  RESULT_EXPIRED: 410,
  TOO_LARGE: 413,
  RANGE_NOT_SATISFIABLE: 416,
  INTENT_CONFLICT: 422,
  FORBIDDEN: 403,
  TOO_MANY: 429,
};

/** Nobody but the caller may keep an answer, and none of it is a page. */
const HEADERS = {
  "cache-control": "private, no-store",
  "content-security-policy": "sandbox; default-src 'none'",
  "x-content-type-options": "nosniff",
};

/** @type {typeof Api.relay} */
export async function relay(request, namespace, given) {
  try {
    checkNames(given, "relay", "allow path bodyBytesMax limits");
    const { allow, path = "/operations" } = given;
    const bodyBytesMax = bodyBytesMaxOf(given.bodyBytesMax, BODY_BYTES);
    const limits = limitsOf(given.limits);
    checkFunction(allow, "allow");
    const caller = `relay:${await callerOf(request, allow)}`;
    const { service, id, verb, query } = placeOf(request, path);
    const scope = { request, namespace, service, caller, bodyBytesMax, limits };
    await checkRate(namespace, caller, limits.requestsPerMinute);
    if (id === undefined && request.method === "GET") return await list(scope, query);
    if (query.size) throw problem("INVALID_INPUT", "Nothing is asked for by a query here.");
    if (id === undefined) return await submit(scope);
    const object = objectAt(scope, id);
    return await ask(scope, object, await operationIn(object, scope.service, id.slice(4)), verb);
  } catch (error) {
    return refused(error);
  }
}

/**
 * Who asks. Nobody is let in where the app does not say so, and no page of another site.
 *
 * @param {Request} request
 * @param {Api.RelayOptions["allow"]} allow
 */
async function callerOf(request, allow) {
  const isForeign = request.headers.get("sec-fetch-site") === "cross-site";
  /** @type {any} */
  let given;
  try {
    given = isForeign ? undefined : await allow?.(request);
  } catch {
    // Whoever cannot be told is nobody.
  }
  const caller = given?.caller;
  if (typeof caller === "string" && caller && caller.length <= 256 && !/\p{Cc}|\p{Surrogate}/u.test(caller)) return caller;
  throw problem("FORBIDDEN", "This request is not allowed.", "Sign in, and ask again.");
}

/**
 * @param {Request} request
 * @param {string} path
 */
function placeOf(request, path) {
  const { pathname, searchParams } = new URL(request.url);
  const below = pathname.startsWith(`${path}/`) ? pathname.slice(path.length + 1) : "";
  const [, service, id, verb] = /^([\w.-]{1,64})(?:\/([0-9a-f]{3}\.[\w-]{1,64})(?:\/([a-z]{1,16}))?)?$/.exec(below) ?? [];
  if (service === undefined) throw problem("NOT_FOUND", "There is nothing here.");
  return { service, id, verb, query: searchParams };
}

/** @typedef {{ request: Request, namespace: Api.Namespace, service: string, caller: string, bodyBytesMax: number, limits: NonNullable<Api.RelayOptions["limits"]> }} Scope */

/**
 * A page of the caller's operations of a service.
 *
 * @param {Scope} scope
 * @param {URLSearchParams} query
 */
async function list({ namespace, service, caller }, query) {
  const { limit, ...rest } = Object.fromEntries(query);
  const filter = { ...rest, ...(limit !== undefined && { limit: Number(limit) }) };
  checkNames(filter, "query", "status cursor limit");
  const page = await jobs(namespace, { caller }).list(/** @type {any} */ ({ ...filter, service }));
  const operations = page.operations.map(async ({ state }) =>
    wire(new RemoteObject(namespace, await shardOf(caller, state.intent), caller), state),
  );
  return json({ operations: await Promise.all(operations), cursor: page.cursor });
}

/** @param {Scope} scope */
async function submit({ request, namespace, service, caller, bodyBytesMax, limits }) {
  if (request.method !== "POST") throw problem("METHOD_NOT_ALLOWED", "Work is handed over by POST.");
  const key = request.headers.get("idempotency-key") ?? "";
  if (!/^[\w.:~-]{1,255}$/.test(key)) {
    throw problem("INVALID_INPUT", "Idempotency-Key must be 1 to 255 characters of [A-Za-z0-9_.:~-].");
  }
  const body = await bytesOf(request, bodyBytesMax);
  const intent = `${service}:${key}`;
  const object = new RemoteObject(namespace, await shardOf(caller, intent), caller);
  await checkCount(namespace, { object, caller, service, intent }, limits.operations);
  const contentType = request.headers.get("content-type") ?? "application/json";
  if (!MEDIA_TYPE.test(contentType)) throw problem("INVALID_INPUT", "Content-Type must be a media type.");
  const operation = object.operationOf(await object.call("submit", [service, JSON.stringify({ intent, contentType }), body]));
  return told(object, operation, 202);
}

/**
 * @param {Scope} scope
 * @param {string} id
 */
const objectAt = ({ namespace, caller }, id) => new RemoteObject(namespace, parseInt(id.slice(0, 3), 16), caller);

/**
 * An operation of this caller and service. What is another's is not there.
 *
 * @param {RemoteObject} object
 * @param {string} service
 * @param {string} id
 */
async function operationIn(object, service, id) {
  const json = await object.call("load", [id]);
  const operation = json === undefined ? undefined : object.operationOf(json);
  if (operation?.state.service !== service) throw problem("NOT_FOUND", "There is no such operation.");
  return operation;
}

/**
 * @param {Scope} scope
 * @param {RemoteObject} object
 * @param {Operation} operation
 * @param {string | undefined} verb
 */
async function ask({ request, service, bodyBytesMax }, object, operation, verb) {
  const { method, headers } = request;
  if (method === "GET") {
    if (verb === undefined) return told(object, operation);
    if (verb === "journal") return json(await operation.journal());
    if (verb === "result") return resultOf(operation, headers.get("range"), problem, HEADERS);
    if (verb === "events") return eventsOf(operation, headers.get("last-event-id"), (state) => wire(object, state), HEADERS, request.signal);
  }
  if (method === "DELETE" && verb === undefined) {
    await operation.delete();
    // The wish is durable here, and nothing is left to be waited for: the relay goes on with it.
    return told(object, await operationIn(object, service, operation.state.id));
  }
  if (method === "POST" && verb !== undefined && Object.hasOwn(VERBS, verb)) {
    const bytes = await bytesOf(request, verb === "revise" ? bodyBytesMax : VERB_BYTES_MAX);
    const given = bytes.length ? parsed(bytes) : {};
    return told(object, await /** @type {Record<string, (own: Operation, given: any) => any>} */ (VERBS)[verb](operation, given));
  }
  throw problem("METHOD_NOT_ALLOWED", "There is no such call of an operation.");
}

/**
 * The bytes of a body, which is read no further than it may be long.
 *
 * @param {Request} request
 * @param {number} most
 */
async function bytesOf(request, most) {
  const pieces = [];
  let length = 0;
  for await (const piece of /** @type {AsyncIterable<Uint8Array>} */ (/** @type {any} */ (request.body ?? []))) {
    length += piece.length;
    if (length > most) throw problem("TOO_LARGE", `A body has ${most} bytes at most.`);
    pieces.push(piece);
  }
  return new Uint8Array(await new Blob(/** @type {BlobPart[]} */ (pieces)).arrayBuffer());
}

/** @param {Uint8Array} bytes */
function parsed(bytes) {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw problem("INVALID_INPUT", "The body is no JSON.");
  }
}

/**
 * @param {RemoteObject} object
 * @param {Operation} operation
 * @param {number} [status]
 */
const told = (object, operation, status = 200) => json(wire(object, operation.state), status);

/**
 * A state as it is told: under an id that leads to its object, without what concerns the edge alone.
 *
 * @param {RemoteObject} object
 * @param {Api.OperationState} state
 */
function wire(object, { key, intent, origin, ledger, result, ...state }) {
  const { balance, ...shown } = ledger;
  const lost = { rejected: "input", incomplete: "unknown", abandoned: "unknown" }[/** @type {string} */ (state.status)];
  return {
    ...state,
    id: `${object.name}.${state.id}`,
    key: intent.slice(intent.indexOf(":") + 1),
    ledger: { ...shown, state: ledger.open ? "open" : "closed" },
    receipt: { ...state.receipt, operationId: `${object.name}.${state.id}`, key: undefined },
    ...(result && { result: { bytes: result.bytes, sha256: result.sha256, mediaType: result.mediaType, replayed: result.replayed } }),
    ...(lost && !state.failure && { failure: { ...state.fault, class: lost } }),
  };
}

/**
 * @param {unknown} value
 * @param {number} [status]
 */
const json = (value, status = 200) =>
  new Response(JSON.stringify(value), { status, headers: { ...HEADERS, "content-type": "application/json" } });

/** @type {(code: string, message: string, nextStep?: string) => Api.HoldfastError} */
const problem = (code, message, nextStep) => new HoldfastError(message, { code: /** @type {any} */ (code), nextStep });

/**
 * What a caller is told of an error: of one that is not ours, nothing.
 *
 * @param {any} error
 */
function refused(error) {
  /** @type {{ code: string, message: string, field?: string, nextStep?: string, operationId?: string, retryAfter?: number }} */
  let told = { code: "ABORTED", message: "The relay failed." };
  if (isHoldfastError(error)) told = error;
  else console.error("Holdfast: a relay failed.", error);
  const { code, message, field, nextStep, operationId, retryAfter } = told;
  const status = /** @type {Record<string, number>} */ (STATUS)[code] ?? 503;
  const answer = json({ error: { code, message, field, nextStep, operationId } }, status);
  if (retryAfter) answer.headers.set("retry-after", `${retryAfter}`);
  return answer;
}
