// The client in a worker, dedicated or shared: submits what it is told to, and tells how it came out.
import { createHoldfast } from "/pkg/index.js";

const holdfast = createHoldfast({
  account: () => "local",
  services: {
    reports: {
      profile: "runharvester",
      baseUrl: location.origin,
      authorize: () => ({ headers: { authorization: ["Bearer demo", "token"].join("-") }, scope: "one" }),
    },
  },
});

const serve = (port) => {
  port.onmessage = async ({ data: { intent, body } }) => {
    const operation = await holdfast.submit("reports", { intent, body });
    port.postMessage({ id: operation.id });
    const { status, data } = await operation.outcome();
    port.postMessage({ id: operation.id, status, records: data?.record_count });
  };
};

if ("onconnect" in globalThis) globalThis.onconnect = ({ ports: [port] }) => serve(port);
else serve(globalThis);
