// Faults of browsers, let in for a test by replacing a method. Each function gives what undoes it.

function replace(kind, method, make) {
  const prototype = globalThis[kind].prototype;
  const original = prototype[method];
  prototype[method] = make(original);
  return () => {
    prototype[method] = original;
  };
}

// Notes the arguments of every call.
export function recordCalls(kind, method, log) {
  return replace(kind, method, (original) => function (...args) {
    log.push(args);
    return original.apply(this, args);
  });
}

// The next calls throw.
export function throwing(kind, method, error, times) {
  return replace(kind, method, (original) => function (...args) {
    if (times-- > 0) throw new DOMException("by the test", error);
    return original.apply(this, args);
  });
}

// Opening gives a request that never settles (Safari 14's first opening).
export function neverOpening() {
  return replace("IDBFactory", "open", () => () => new EventTarget());
}

// No transaction ever tells its end (a lost connection to the storage process).
export function neverCompleting() {
  return replace("IDBDatabase", "transaction", (original) => function (...args) {
    const transaction = original.apply(this, args);
    for (const name of ["oncomplete", "onabort"]) {
      Object.defineProperty(transaction, name, { set() {}, get: () => null });
    }
    return transaction;
  });
}

// The next transaction is aborted with UnknownError, before its reads have succeeded or after its
// writes were made.
export function losingTheServer(beforeStep) {
  let armed = true;
  const lost = () => new DOMException("Connection to Indexed Database server lost", "UnknownError");
  return replace("IDBDatabase", "transaction", (original) => function (...args) {
    const transaction = original.apply(this, args);
    if (!armed) return transaction;
    armed = false;
    Object.defineProperty(transaction, "error", { get: lost });
    if (beforeStep) queueMicrotask(() => transaction.abort());
    else {
      // What commits could not be aborted any more.
      transaction.commit = () => undefined;
      const objectStore = transaction.objectStore.bind(transaction);
      transaction.objectStore = (name) => {
        const store = objectStore(name);
        const put = store.put.bind(store);
        store.put = (...values) => {
          const request = put(...values);
          request.onsuccess = () => transaction.abort();
          return request;
        };
        return store;
      };
    }
    return transaction;
  });
}

export function withoutIndexedDb() {
  const original = Object.getOwnPropertyDescriptor(globalThis, "indexedDB");
  Object.defineProperty(globalThis, "indexedDB", { value: undefined, configurable: true });
  return () => Object.defineProperty(globalThis, "indexedDB", original);
}

// A connection of somebody who does not let go when an upgrade waits.
export function openRaw(name, version) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, version);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

// Writes a value past the store.
export async function putRaw(name, store, value) {
  const database = await openRaw(name);
  await new Promise((resolve, reject) => {
    const transaction = database.transaction(store, "readwrite");
    transaction.objectStore(store).put(value);
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
  database.close();
}
