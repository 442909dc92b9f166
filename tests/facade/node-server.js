// A handler of Request to Response behind Node's HTTP server, by the package's own adapter.
import { createServer } from "node:http";
import { toNodeHandler } from "../../pkg-template/proxy-node.js";

/**
 * Serves a handler on a free port of this machine.
 *
 * @param {(request: Request) => Promise<Response>} handle
 * @returns {Promise<{ origin: string, stop: () => Promise<void> }>}
 */
export async function serve(handle) {
  const server = createServer(toNodeHandler(handle));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { origin: `http://127.0.0.1:${server.address().port}`, stop };
}
