// Contracts of services, at a pace that suits many lives one after another.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** How often is asked how a job is. */
const POLL = { firstMs: 300, factor: 1.2, capMs: 500 };

const read = (folder, name) => JSON.parse(readFileSync(join(folder, `profiles/${name}.json`), "utf8"));

/**
 * A service with keys.
 *
 * @param {string} folder The package.
 */
export function quickProfile(folder) {
  const profile = read(folder, "runharvester");
  profile.poll = POLL;
  profile.settlement.pace = POLL;
  return profile;
}

/**
 * A service without keys: its submissions are soon over, its listing lags little, and no pause is long.
 *
 * @param {string} folder The package.
 * @param {{ timeoutMs?: number, lagMs?: number }} [own] How long a submission may take, and how far the listing lags.
 */
export function quickListing(folder, { timeoutMs = 5000, lagMs = 2000 } = {}) {
  const profile = read(folder, "bulkgrid");
  profile.poll = POLL;
  profile.retry = { firstMs: 300, factor: 2, capMs: 1000 };
  profile.calls.submit.timeoutMs = timeoutMs;
  profile.reconcile.lagMs = lagMs;
  return profile;
}
