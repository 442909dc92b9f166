// @ts-check
/** How large a body may be that comes over HTTP. */
import { invalid } from "./error.js";
import { BODY_BYTES_MAX } from "./submission.js";

/**
 * The option `bodyBytesMax`, as far as the module can keep bodies.
 *
 * @param {any} given
 * @param {number} usual
 * @returns {number}
 */
export function bodyBytesMaxOf(given, usual) {
  const most = given ?? usual;
  if (!(Number.isSafeInteger(most) && most > 0)) {
    throw invalid("bodyBytesMax", "bodyBytesMax must be a whole number above 0.");
  }
  return Math.min(most, BODY_BYTES_MAX);
}
