// @ts-check
/**
 * Who lives in an object. A platform that lets one instance of an object live at a time has killed every
 * other: its lanes are taken over at once. Where it has not, epochs and `send_before` still hold.
 */
export function objectLocks() {
  /** @type {Set<string>} */
  const held = new Set();
  return {
    /**
     * @param {string} name
     * @param {{ ifAvailable?: boolean }} options
     * @param {(lock: object | null) => any} callback
     */
    async request(name, { ifAvailable }, callback) {
      if (ifAvailable) return callback(held.has(name) ? null : {});
      held.add(name);
      try {
        return await callback({});
      } finally {
        held.delete(name);
      }
    },
    clear: () => held.clear(),
  };
}
