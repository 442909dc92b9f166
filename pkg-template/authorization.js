// @ts-check
/** What `authorize` gives, checked before it is used. */
import { invalid } from "./error.js";

/**
 * The credential, where `fetch` would send it. No error here holds any of it.
 *
 * @param {any} given
 * @returns {{ headers: Record<string, string>, scope?: string }}
 */
export function checkAuthorization({ headers, scope }) {
  if (typeof headers !== "object" || !headers || typeof headers[Symbol.iterator] === "function") {
    throw invalid("authorize", "authorize must give {headers: {name: value}}.");
  }
  if (Object.values(headers).some((value) => typeof value !== "string")) {
    throw invalid("authorize", "authorize gave a header field that is not a string.");
  }
  if (scope !== undefined && typeof scope !== "string") {
    throw invalid("authorize", "authorize gave a scope that is not a string.");
  }
  try {
    new Headers(headers);
  } catch {
    // fetch would refuse it, which looks as if a request was lost; and what it says repeats the value.
    throw invalid("authorize", "authorize gave a header field that cannot be sent: its name is none, or its value has a line break or a character beyond Latin-1.");
  }
  return { headers, scope };
}
