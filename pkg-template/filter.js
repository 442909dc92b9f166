// @ts-check
/** @import * as Api from "./index.d.ts" */
import { checkNames } from "./check.js";
import { invalid } from "./error.js";

/**
 * Checks what `list` is given, as far as the module does not.
 *
 * @param {Api.ListFilter} filter
 */
export function checkFilter(filter) {
  checkNames(filter, "filter", "service status acknowledged limit cursor");
  const { limit } = filter;
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= 200)) {
    throw invalid("limit", "limit must be a whole number from 1 to 200.");
  }
}
