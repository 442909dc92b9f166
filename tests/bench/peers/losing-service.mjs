// A service that makes a job of every POST, and loses its first two answers.
import { createServer } from "node:http";

/** The ways in which an answer is lost, by name. */
export const losses = new Map([
  ["reset", (response) => response.socket.resetAndDestroy()],
  ["502", (response) => response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad Gateway</h1>")],
  ["503", (response) => response.writeHead(503, { "content-type": "application/json" }).end("{}")],
  ["503 + Retry-After: 2", (response) => response.writeHead(503, { "retry-after": "2" }).end()],
]);

const LOST = 2;

// What every one of the clients finds its own members in.
const said = (id, status) => ({
  id,
  object: "response",
  status,
  success: true,
  url: `/jobs/${id}`,
  data: { id, status: "READY" },
  output: [],
  request_id: id,
  status_url: `/jobs/${id}`,
  response_url: `/jobs/${id}`,
  token_state: "charged",
});

/**
 * Listens on this machine; the only thing that makes two submissions one job is the same Idempotency-Key.
 *
 * @returns {Promise<{origin: string, port: number, posts: {at: number, key?: string}[], jobs: () => number, close: () => void}>}
 */
export async function losingService(lose) {
  const posts = [];
  const jobs = new Map();
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const json = (status, body) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      if (request.method !== "POST") return json(200, said("job_1", "completed"));
      const key = request.headers["idempotency-key"];
      posts.push({ at: performance.now(), key });
      const name = key ?? `post ${posts.length}`;
      if (!jobs.has(name)) jobs.set(name, `job_${jobs.size + 1}`);
      if (posts.length <= LOST) return lose(response);
      json(200, said(jobs.get(name), "queued"));
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${port}`, port, posts, jobs: () => jobs.size, close };
}
