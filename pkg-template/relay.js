// @ts-check
/**
 * The operation protocol for browsers: an HTTP handler over what `jobs()` stands on. The page's key is the intent here,
 * so that a lost answer between page and edge is as safe as one beyond. `www/docs/relay.md` describes it.
 */
/** @import * as Api from "./cloudflare.d.ts" */
/** @import { Operation } from "./operation.js" */
import { bodyBytesMaxOf } from "./body-bounds.js";
import { checkFunction, checkNames } from "./check.js";
import { listed, RemoteObject, shardOf } from "./jobs.js";
import { eventsOf, resultOf } from "./relay-answers.js";
import { callerOf, checkSaid } from "./relay-callers.js";
import { checkCount, checkRate, limitsOf } from "./relay-limits.js";
import { json, problem, refused, wire } from "./relay-wire.js";

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

/** What makes new work of work that is over. */
const REPEATS = ["retry", "revise"];

/** @type {typeof Api.relay} */
export async function relay(request, namespace, given) {
  /** What an error is told with. @type {{ object?: string, trusted?: boolean }} */
  const asked = {};
  try {
    checkNames(given, "relay", "allow path bodyBytesMax limits");
    const { allow, path = "/operations" } = given;
    const bodyBytesMax = bodyBytesMaxOf(given.bodyBytesMax, BODY_BYTES);
    const limits = limitsOf(given.limits);
    checkFunction(allow, "allow");
    const { caller, trusted } = await callerOf(request, allow);
    const { service, id, verb, query } = placeOf(request, path);
    const scope = { request, namespace, service, caller, trusted, bodyBytesMax, limits };
    await checkRate(namespace, caller, limits.requestsPerMinute);
    if (id === undefined && request.method === "GET") return await list(scope, query);
    if (query.size) throw problem("INVALID_INPUT", "Nothing is asked for by a query here.");
    const work = id === undefined ? await handedOver(scope) : { object: objectAt(scope, id), id: id.slice(4) };
    Object.assign(asked, { object: work.object.name, trusted });
    return "id" in work ? await ask(scope, work, verb) : await submit(scope, work);
  } catch (error) {
    return refused(error, asked);
  }
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

/**
 * @typedef {{
 *   request: Request,
 *   namespace: Api.Namespace,
 *   service: string,
 *   caller: string,
 *   trusted: boolean,
 *   bodyBytesMax: number,
 *   limits: NonNullable<Api.RelayOptions["limits"]>,
 * }} Scope
 */

/**
 * A page of the caller's operations of a service.
 *
 * @param {Scope} scope
 * @param {URLSearchParams} query
 */
async function list({ namespace, service, caller, trusted }, query) {
  const { limit, ...rest } = Object.fromEntries(query);
  const filter = { ...rest, ...(limit !== undefined && { limit: Number(limit) }) };
  checkNames(filter, "query", "status cursor limit");
  return json(
    await listed(
      (shard) => new RemoteObject(namespace, shard, caller),
      /** @type {any} */ ({ ...filter, service }),
      (object, state) => wire(object.name, trusted, state),
      (object, own) => `${object.name}.${own}`,
    ),
  );
}

/**
 * What a submission says, and the object that its key leads to.
 *
 * @param {Scope} scope
 */
async function handedOver({ request, namespace, service, caller, bodyBytesMax }) {
  if (request.method !== "POST") throw problem("METHOD_NOT_ALLOWED", "Work is handed over by POST.");
  const key = request.headers.get("idempotency-key") ?? "";
  if (!/^[\w.:~-]{1,255}$/.test(key)) {
    throw problem("INVALID_INPUT", "Idempotency-Key must be 1 to 255 characters of [A-Za-z0-9_.:~-].");
  }
  const contentType = request.headers.get("content-type") ?? "application/json";
  if (!MEDIA_TYPE.test(contentType)) throw problem("INVALID_INPUT", "Content-Type must be a media type.");
  const body = await bytesOf(request, bodyBytesMax);
  const intent = `${service}:${key}`;
  return { object: new RemoteObject(namespace, await shardOf(caller, intent), caller), intent, contentType, body };
}

/**
 * @param {Scope} scope
 * @param {Awaited<ReturnType<typeof handedOver>>} work
 */
async function submit({ namespace, service, caller, trusted, limits }, { object, intent, contentType, body }) {
  await checkCount(namespace, { object, caller, service, intent }, limits.operations);
  const operation = object.operationOf(await object.call("submit", [service, JSON.stringify({ intent, contentType }), body]));
  return json(wire(object.name, trusted, operation.state), 202);
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
 * @param {{ object: RemoteObject, id: string }} work
 * @param {string | undefined} verb
 */
async function ask(scope, { object, id }, verb) {
  const { request, service, trusted } = scope;
  const { method, headers } = request;
  const shown = (/** @type {Api.OperationState} */ state) => wire(object.name, trusted, state);
  if (method === "POST" && verb !== undefined && Object.hasOwn(VERBS, verb)) {
    return json(shown((await changed(scope, object, id, verb)).state));
  }
  const operation = await operationIn(object, service, id);
  if (method === "GET") {
    if (verb === undefined) return json(shown(operation.state));
    if (verb === "journal") return json(await operation.journal());
    if (verb === "result") return resultOf(object, operation, headers);
    if (verb === "events") return eventsOf(operation, headers.get("last-event-id"), shown, request.signal);
  }
  if (method === "DELETE" && verb === undefined) {
    await operation.delete();
    // The wish is durable here, and nothing is left to be waited for: the relay goes on with it.
    return json(shown((await operationIn(object, service, id)).state));
  }
  throw problem("METHOD_NOT_ALLOWED", "There is no such call of an operation.");
}

/**
 * An operation after something was asked of it, or the new one that came of that.
 *
 * @param {Scope} scope
 * @param {RemoteObject} object
 * @param {string} id
 * @param {string} verb
 * @returns {Promise<Operation>}
 */
async function changed({ request, namespace, service, caller, trusted, bodyBytesMax, limits }, object, id, verb) {
  const bytes = await bytesOf(request, verb === "revise" ? bodyBytesMax : VERB_BYTES_MAX);
  const given = bytes.length ? parsed(bytes) : {};
  if (!trusted) checkSaid(verb, given);
  const operation = await operationIn(object, service, id);
  if (REPEATS.includes(verb)) {
    const { intent } = operation.state;
    await checkCount(namespace, { object, caller, service, intent, after: id }, limits.operations);
  }
  return /** @type {Record<string, (own: Operation, given: any) => any>} */ (VERBS)[verb](operation, given);
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
