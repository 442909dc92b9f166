// A service whose idempotency this project did not write: @node-idempotency/core with its memory.
import { createServer } from "node:http";
import { Idempotency, IdempotencyErrorCodes } from "@node-idempotency/core";
import { MemoryStorageAdapter } from "@node-idempotency/storage-adapter-memory";
import { until } from "./until.mjs";

/** What the draft of the `Idempotency-Key` header says of what that package refuses. */
const STATUSES = {
  [IdempotencyErrorCodes.REQUEST_IN_PROGRESS]: 409,
  [IdempotencyErrorCodes.IDEMPOTENCY_FINGERPRINT_MISSMATCH]: 422,
};

/** What a page of another origin may send and read, unless a test says else. */
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "authorization, content-type, idempotency-key",
  "access-control-expose-headers": "idempotency-replayed",
};

/** A running service: `POST /work` does its work once for each key, and answers with it. */
export class Peer {
  #server;
  #idempotency = new Idempotency(new MemoryStorageAdapter(), { enforceIdempotency: true });
  /** @type {Promise<void>} */
  #gate = Promise.resolve();

  /** How often the work was done. */
  executions = 0;
  /** The submissions: key, body and the status of the answer, in the order of the answers. */
  answers = [];
  /** The headers of what was read: `GET /health`. */
  reads = [];
  /** What a page of another origin may send and read. */
  cors = { ...CORS };

  static async start() {
    const peer = new Peer();
    peer.#server = createServer((request, response) => void peer.#serve(request, response));
    await new Promise((resolve) => peer.#server.listen(0, "127.0.0.1", resolve));
    peer.origin = `http://127.0.0.1:${peer.#server.address().port}`;
    return peer;
  }

  async stop() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Work that begins from now on is not done before the function that this gives is called. */
  hold() {
    let open;
    this.#gate = new Promise((resolve) => (open = resolve));
    return open;
  }

  /** Resolves once a submission was answered with this status. */
  answered(status) {
    return until(() => this.answers.some((answer) => answer.status === status), `An answer with ${status}`);
  }

  /** Resolves once the work has begun. */
  begun() {
    return until(() => this.executions > 0, "The work");
  }

  async #serve(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method === "OPTIONS") return response.writeHead(204, this.cors).end();
    if (request.method === "GET") {
      this.reads.push(request.headers);
      return response.writeHead(200, this.cors).end("fine");
    }
    const text = Buffer.concat(chunks).toString();
    const { status, headers, body } = await this.#answer(request, JSON.parse(text));
    this.answers.push({ key: request.headers["idempotency-key"], text, status });
    const type = status < 400 ? "application/json" : "application/problem+json";
    response.writeHead(status, { ...this.cors, ...headers, "content-type": type }).end(JSON.stringify(body));
  }

  async #answer({ headers, method, url }, body) {
    const call = { headers, method, path: url, body };
    try {
      const first = await this.#idempotency.onRequest(call);
      if (first) return { status: 201, headers: { "idempotency-replayed": "true" }, body: first.body };
    } catch (error) {
      const { code, message: title } = error;
      return { status: STATUSES[code] ?? 400, body: { type: "about:blank", title, code } };
    }
    this.executions += 1;
    await this.#gate;
    const done = { body: { execution: this.executions, of: body } };
    await this.#idempotency.onResponse(call, done);
    return { status: 201, ...done };
  }
}
