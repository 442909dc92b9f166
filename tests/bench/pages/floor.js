// The floor: what a careful person writes by hand for the same service, with the same durable writes and
// the same requests, and nothing for the cases in which something goes wrong. One database, one object
// store; a write is one strict transaction, awaited before what rests on it; rows are small objects; no
// serialisation but the browser's own. It makes no journal, knows no other tab, and reads nothing back.

/** What a request of IndexedDB comes to. @param {IDBRequest} request */
export const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

export class Floor {
  #database;

  /** @param {string} name */
  async open(name = "floor") {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("operations", { keyPath: "id" });
      request.result.createObjectStore("bodies");
      request.result.createObjectStore("results");
    };
    this.#database = await done(request);
    return this;
  }

  /** One strict transaction. @param {string[]} stores @param {(transaction: IDBTransaction) => void} put */
  write(stores, put) {
    return new Promise((resolve, reject) => {
      const transaction = this.#database.transaction(stores, "readwrite", { durability: "strict" });
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
      put(transaction);
      transaction.commit();
    });
  }

  /** Writes the operation down: the POST may go. */
  async begin(intent, body) {
    const operation = { id: crypto.randomUUID(), key: `"${crypto.randomUUID()}"`, intent, state: "sent", createdAt: Date.now() };
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    await this.write(["operations", "bodies"], (transaction) => {
      transaction.objectStore("operations").put(operation);
      transaction.objectStore("bodies").put(bytes, operation.id);
    });
    return { operation, bytes };
  }

  /** From the intent to the kept result, where the answer is the result. */
  async answered(url, headers, intent, body) {
    const { operation, bytes } = await this.begin(intent, body);
    return this.finish(url, headers, operation, bytes);
  }

  /** The rest of it, for one that is written down. */
  async finish(url, headers, operation, bytes) {
    return this.#keep(operation, await this.#post(url, headers, operation, bytes));
  }

  /** From the intent to the kept result, where a job is polled: every answer that moves it on is written. */
  async polled(url, headers, intent, body, waits) {
    const { operation, bytes } = await this.begin(intent, body);
    const accepted = await (await this.#post(url, headers, operation, bytes)).json();
    Object.assign(operation, { state: "active", job: accepted.id });
    await this.write(["operations"], (transaction) => transaction.objectStore("operations").put(operation));
    for (let at = 0; operation.state !== "completed"; at++) {
      await new Promise((resolve) => setTimeout(resolve, waits(at)));
      const { status } = await (await fetch(`${url}/${operation.job}`, { headers })).json();
      operation.state = status;
      await this.write(["operations"], (transaction) => transaction.objectStore("operations").put(operation));
    }
    return this.#keep(operation, await fetch(`${url}/${operation.job}/result`, { headers }));
  }

  #post(url, headers, operation, body) {
    const all = { ...headers, "content-type": "application/json", "idempotency-key": operation.key };
    return fetch(url, { method: "POST", headers: all, body });
  }

  /** Keeps the result's bytes, and with them the ending. */
  async #keep(operation, response) {
    const result = new Uint8Array(await response.arrayBuffer());
    Object.assign(operation, { state: "succeeded", bytes: result.length, endedAt: Date.now() });
    await this.write(["operations", "results"], (transaction) => {
      transaction.objectStore("results").put(result, operation.id);
      transaction.objectStore("operations").put(operation);
    });
    return JSON.parse(new TextDecoder().decode(result));
  }
}
