// Browsers to kill: each seat is a profile folder with a Chromium that runs on it.
import { Chromium, findSecret, makeProfile, removeProfile } from "../harness.mjs";

/** A bounded number of profiles, each for one test at a time. */
export class Seats {
  #free = [];
  #all = [];
  #waiting = [];

  /** @param {number} count */
  static async open(count) {
    const seats = new Seats();
    for (let index = 0; index < count; index++) {
      const profile = await makeProfile();
      const seat = { profile, chromium: undefined, tokens: [], key: undefined };
      seats.#free.push(seat);
      seats.#all.push(seat);
    }
    return seats;
  }

  /** Runs a test with a seat whose browser lives; what it left open is closed. */
  async with(work) {
    const seat = this.#free.pop() ?? (await new Promise((resolve) => this.#waiting.push(resolve)));
    try {
      seat.chromium ??= await Chromium.open(seat.profile);
      return await work(seat);
    } catch (error) {
      // Nothing is known of this browser any more.
      await seat.chromium?.kill();
      seat.chromium = undefined;
      throw error;
    } finally {
      const next = this.#waiting.shift();
      if (next) next(seat);
      else this.#free.push(seat);
    }
  }

  /**
   * Kills every browser, and searches what they wrote: where a token of a test stands, and the
   * profiles in which the search does not even find a key that is stored.
   */
  async search() {
    await Chromium.killAll();
    const used = this.#all.filter(({ key }) => key);
    const leaks = [];
    const blind = [];
    for (const { profile, tokens, key } of used) {
      leaks.push(...(await findSecret(profile, ...tokens)).found);
      if (!(await findSecret(profile, key)).found.length) blind.push(profile);
    }
    return { leaks, blind, searched: used.length > 0 };
  }

  /** Removes the profiles. */
  async close() {
    await Chromium.killAll();
    for (const { profile } of this.#all) await removeProfile(profile);
  }
}

/** Kills a seat's browser, and starts it again over the same profile. */
export async function reopen(seat) {
  await seat.chromium.kill();
  seat.chromium = undefined;
  seat.chromium = await Chromium.open(seat.profile);
}
