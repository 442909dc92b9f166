// Browsers to kill: each seat is a profile folder with a browser that runs on it.
import { credentialsIn, findSecret, makeProfile, openBrowser, removeProfile } from "../harness.mjs";

/** A bounded number of profiles, each for one test at a time. */
export class Seats {
  #free = [];
  #all = [];
  #waiting = [];

  /** @param {number} count */
  static async open(count) {
    const seats = new Seats();
    for (let index = 0; index < count; index++) {
      const seat = { profile: await makeProfile(), browser: undefined, key: undefined };
      seats.#free.push(seat);
      seats.#all.push(seat);
    }
    return seats;
  }

  /** Runs a test with a seat whose browser lives; what it left open is closed. */
  async with(work) {
    const seat = this.#free.pop() ?? (await new Promise((resolve) => this.#waiting.push(resolve)));
    try {
      seat.browser ??= await openBrowser(seat.profile);
      return await work(seat);
    } catch (error) {
      // Nothing is known of this browser any more.
      await leave(seat);
      throw error;
    } finally {
      const next = this.#waiting.shift();
      if (next) next(seat);
      else this.#free.push(seat);
    }
  }

  /**
   * Kills every browser, and searches what they wrote: where a credential stands, and the profiles in which the search
   * does not even find a key that is stored.
   */
  async search() {
    await this.#leaveAll();
    const used = this.#all.filter(({ key }) => key);
    const leaks = [];
    const blind = [];
    for (const { profile, key } of used) {
      leaks.push(...(await credentialsIn(profile)));
      if (!(await findSecret(profile, key)).found.length) blind.push(profile);
    }
    return { leaks, blind, searched: used.length > 0 };
  }

  /** Removes the profiles. */
  async close() {
    await this.#leaveAll();
    for (const { profile } of this.#all) await removeProfile(profile);
  }

  #leaveAll() {
    return Promise.all(this.#all.map(leave));
  }
}

/** Kills a seat's browser, and starts it again over the same profile. */
export async function reopen(seat) {
  await leave(seat);
  seat.browser = await openBrowser(seat.profile);
}

async function leave(seat) {
  await seat.browser?.kill();
  seat.browser = undefined;
}
