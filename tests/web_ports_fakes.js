// Stand-ins for fetch, and faults of browsers. What replaces a global gives what undoes it.

// Notes its calls, and answers with a response whose body has these pieces; `end` says how the body
// goes on after them: "close", "error", or "hang" until the signal aborts.
export function fakeFetch(log, status, pieces, end) {
  return function (url, init) {
    log.push({ url, ...init });
    const body = new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
        if (end === "close") controller.close();
        if (end === "error") setTimeout(() => controller.error(new TypeError("by the test")), 5);
        if (end === "hang")
          init.signal.addEventListener("abort", () => controller.error(init.signal.reason));
      },
    });
    const headers = { "content-type": "text/plain", "x-request-id": "r1" };
    return Promise.resolve(new Response(body, { status, headers }));
  };
}

// Answers with this value, whatever it is.
export function answering(value) {
  return () => Promise.resolve(value);
}

export function emptyResponse() {
  return new Response(null, { status: 204 });
}

export function opaqueRedirect() {
  return { type: "opaqueredirect", status: 0, headers: new Headers(), body: null };
}

export function rejecting() {
  return () => Promise.reject(new TypeError("Failed to fetch"));
}

export function throwing() {
  return () => {
    throw new TypeError("by the test");
  };
}

// Never answers, whatever the signal says.
export function silent(log) {
  return (url, init) => {
    log.push({ url, ...init });
    return new Promise(() => {});
  };
}

export function replaceGlobal(owner, name, value) {
  const original = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { value, configurable: true });
  return () => {
    delete owner[name];
    if (original) Object.defineProperty(owner, name, original);
  };
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
