// `fetch`, over a connection of its own, for servers that are killed. That of Node 20 never ends where it is the first of
// its process and the server dies before what parses answers is compiled; and of a connection that was kept it may find,
// on a busy machine, that the server has closed it.
import { request } from "node:http";
import { Readable } from "node:stream";

/** The statuses of answers without a body: a `Response` of these takes none. */
const BODILESS = [204, 205, 304];

/**
 * @param {string} url
 * @param {{ method?: string, headers?: Record<string, string | number>, body?: string }} [init]
 * @returns {Promise<Response>}
 */
export const fetch = (url, { method = "GET", headers = {}, body } = {}) =>
  new Promise((resolve, reject) => {
    const answered = (/** @type {import("node:http").IncomingMessage} */ answer) => {
      const all = /** @type {[string, string][]} */ (Object.entries(answer.headers));
      const status = answer.statusCode ?? 0;
      const isBodiless = BODILESS.includes(status);
      try {
        resolve(new Response(isBodiless ? null : /** @type {any} */ (Readable.toWeb(answer)), { status, headers: all }));
      } catch (error) {
        // A status that no `Response` has: thrown here, it would end the process.
        reject(error);
      }
      // What nobody reads holds the connection open.
      if (isBodiless) answer.resume();
    };
    request(new URL(url), { method, headers, agent: false }, answered).on("error", reject).end(body);
  });
