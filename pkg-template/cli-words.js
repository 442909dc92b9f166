// @ts-check
/** A profile, told in words. */

/** @type {Record<string, string>} */
export const CALLS = {
  submit: "hands work over", poll: "reads the job", result: "reads the result", cancel: "stops the job",
  retry: "runs a failed job again", delete: "deletes the job", list: "lists recent jobs", quote: "asks for the price", diagnose: "tells whether the service is there, where submissions are not answered",
};

/** @type {Record<string, string>} */
export const MEANINGS = {
  rateLimited: "the service takes nothing for a while: everything waits",
  transient: "it may pass: it is tried again",
  notFound: "the job is not known",
  unknown: "whether it ran cannot be learned by asking: it parks",
  notReady: "the result is not there yet: it is asked for again",
  expired: "the result is gone: the operation ends as expired",
  rejected: "refused, and nothing ran",
  failed: "the job ran and failed",
  keyConflict: "the key belongs to another request: it parks",
  inProgress: "the same key is at work: it is waited for",
  runningOrFailed: "the key was used, and what came of it is not told: it parks",
  consumed: "the key was used and nothing is replayed: it parks",
  versionMoved: "what the request was made against has changed: it parks",
  alreadyEnded: "the job had ended already",
  needsAccess: "access is missing: it parks until a person gives it",
  needsCredential: "the credential is refused: it parks until there is another",
  needsCredit: "there is no credit: it parks until there is",
  sourceBlocked: "the source refuses: the job has failed",
  undelivered: "the work ran, and its result was not delivered: it is asked for again",
};

/** Units, largest first, in milliseconds. @type {[string, number][]} */
const UNITS = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1000], ["millisecond", 1]];

/** @param {number} ms */
function span(ms) {
  const [name, length] = UNITS.find(([, own]) => ms >= own && ms % own === 0) ?? ["millisecond", 1];
  const count = ms / length;
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

/**
 * @param {any} profile
 * @returns {string[]}
 */
export function explained(profile) {
  const { calls, params = {}, states = {}, meanings = [] } = profile;
  const lines = [`${profile.name}${profile.serverOnly ? " asks to be called from servers only: a page refuses it" : ""}`.trim(), "", ...keyWords(profile)];
  const open = Object.entries(params).map(([name, values]) =>
    values.length ? `${name} (${values.join(", ")}; first where none is given)` : `${name} (any)`);
  if (open.length) lines.push(`A submission names: ${open.join("; ")}.`);
  lines.push("", "Calls:");
  for (const [name, call] of Object.entries(calls)) {
    const where = [call.link && `the address that an answer gave as "${call.link}"`, call.path].filter(Boolean).join(", else ");
    lines.push(`  ${name.padEnd(7)} ${call.method} ${where}: ${CALLS[name] ?? ""}, in ${span(call.timeoutMs ?? 30_000)} at most`);
  }
  lines.push("", ...resultWords(profile));
  if (Object.keys(states).length) {
    lines.push("", "States (another word means: still running):");
    for (const meaning of new Set(Object.values(states))) {
      const words = Object.keys(states).filter((word) => states[word] === meaning);
      lines.push(`  ${meaning}: ${words.map((word) => word.replace(/^http:/, "HTTP ")).join(", ")}`);
    }
  }
  if (meanings.length) {
    lines.push("", "Answers that mean something of their own:");
    for (const { on, status, code, means } of meanings) {
      const what = [code, status && `HTTP ${status}`].filter(Boolean).join(" with ");
      lines.push(`  ${what}${on ? ` to ${on.join(" or ")}` : ""}: ${MEANINGS[means] ?? means}`);
    }
  }
  return [...lines, "", ...pageWords(profile)];
}

/** @param {any} profile */
function keyWords({ key, reconcile, calls }) {
  if (key) {
    const place = key.header ? `header ${key.header}` : key.field ? `the body's ${key.field}` : `query ?${key.query}=`;
    const kept = key.retentionMs ? ` The service keeps it for ${span(key.retentionMs)}; after that nothing unresolved is sent again.` : "";
    return [
      `The idempotency key travels in ${place}${key.quoted ? ", in quotes" : ""}.${kept}`,
      "A lost answer is settled by sending the same bytes under the same key: at most one execution.",
    ];
  }
  if (!reconcile) return ["The service knows no idempotency keys. A lost answer parks: nothing is sent again by itself."];
  return [
    "The service knows no idempotency keys.",
    `A lost answer is looked for by ${calls.list.method} ${calls.list.path}, where a job may be missing for ${span(reconcile.lagMs ?? 0)}; what is not found parks, unless the app says onUnknown: "resubmit".`,
  ];
}

/** @param {any} profile */
function resultWords({ calls, resultAt, pages, retentionMs }) {
  const where = calls.result ? "is read by its own call" : calls.poll ? "stands in the answer to poll" : "is the answer to the submission";
  const at = resultAt ? `, at ${resultAt}` : "";
  const paged = pages ? `, page by page (items at ${pages.items})` : "";
  const kept = retentionMs ? ` The service keeps it for ${span(retentionMs)}.` : "";
  return [`The result ${where}${at}${paged}.${kept}`];
}

/** @param {any} profile */
function pageWords({ calls, key, facts = {}, carry = {}, serverOnly }) {
  if (serverOnly) return [];
  const methods = [...new Set(Object.values(calls).map((call) => call.method))];
  const sent = ["content-type", ...(key?.header ? [key.header] : []), ...Object.values(calls).flatMap((call) => Object.keys(call.headers ?? {}))];
  const places = [...Object.values(facts), ...Object.values(carry)].flat().filter((place) => place.startsWith("header:"));
  const read = ["Retry-After", "Date", ...places.map((place) => place.slice(7))];
  return [
    "For a page of another origin the service must allow (CORS):",
    `  methods: ${methods.join(", ")}`,
    `  headers: ${[...new Set(sent)].join(", ")}, and those of authorize`,
    `  and expose: ${[...new Set(read)].join(", ")}`,
    key ? "Or keep the credential on a server of your own: holdfast/proxy." : "A proxy does not help: without keys, a browser's own repetitions are executions.",
  ];
}
