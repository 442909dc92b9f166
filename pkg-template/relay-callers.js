// @ts-check
/** Who asks a relay, and what each may ask for: its own work within the app's bounds; the app's staff, more. */
/** @import * as Api from "./cloudflare.d.ts" */
import { HoldfastError } from "./error.js";

/**
 * What only a trusted caller may say, by the verb that takes it. A job that is named is read with the service's one
 * credential, whoever it was run for; bounds and risks are the app's money.
 *
 * @type {Readonly<Record<string, readonly string[] | undefined>>}
 */
const TRUSTED_ONLY = {
  resume: ["limits", "acceptRisk"],
  resolve: ["found"],
  retry: ["limits", "anyway"],
  revise: ["limits"],
};

/** What else there is to do, for those who are not trusted. @type {Readonly<Record<string, string>>} */
const INSTEAD = {
  resume: "Call resume without it, or take another of the operation's exits.",
  resolve: 'Resolve it with "not-executed" or "abandon", as its exits say.',
  retry: "Retry with reviewed alone, or hand corrected work over under another key.",
  revise: "Revise it within the bounds that it has.",
};

/** The exits that need such a word. @type {readonly Api.Exit[]} */
const TRUSTED_EXITS = ["resume({limits})", 'resume({acceptRisk: "duplicate"})', "resolve({found})"];

/**
 * Who asks. Nobody is let in where the app does not say so, and no page of another site.
 *
 * @param {Request} request
 * @param {Api.RelayOptions["allow"]} allow
 */
export async function callerOf(request, allow) {
  const isForeign = request.headers.get("sec-fetch-site") === "cross-site";
  /** @type {any} */
  let given;
  try {
    given = isForeign ? undefined : await allow?.(request);
  } catch {
    // Whoever cannot be told is nobody.
  }
  const caller = given?.caller;
  if (typeof caller === "string" && caller && caller.length <= 256 && !/\p{Cc}|\p{Surrogate}/u.test(caller)) {
    return { caller: `relay:${caller}`, trusted: given.trusted === true };
  }
  throw new HoldfastError("This request is not allowed.", {
    code: /** @type {any} */ ("FORBIDDEN"),
    nextStep: "Sign in, and ask again.",
  });
}

/**
 * Refuses what a caller may not say: before anything is asked of the object that has its work.
 *
 * @param {string} verb
 * @param {any} given The argument of the verb.
 */
export function checkSaid(verb, given) {
  if (typeof given !== "object" || !given) return;
  for (const field of TRUSTED_ONLY[verb] ?? []) {
    // What says nothing is nothing: `anyway: false` is what a retry is without it.
    if (!Object.hasOwn(given, field) || (field === "anyway" && given[field] === false)) continue;
    throw new HoldfastError(`Only a caller whom the relay trusts may say ${field}.`, {
      code: "NOT_ALLOWED",
      field,
      nextStep: INSTEAD[verb],
    });
  }
}

/**
 * A park with the ways out that a caller may take. Jobs that may be an operation's may as well be another caller's:
 * who cannot name one is not told of any.
 *
 * @param {boolean} trusted
 * @param {NonNullable<Api.OperationState["parked"]>} parked
 */
export function exitsFor(trusted, parked) {
  if (trusted) return parked;
  const { candidates, exits, ...shown } = parked;
  return { ...shown, exits: exits.filter((exit) => !TRUSTED_EXITS.includes(exit)) };
}
