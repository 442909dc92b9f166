// Does one thing as soon as it can, and tells how long after the navigation it was done.
const headers = { authorization: ["Bearer demo", "token"].join("-") };
const intent = crypto.randomUUID();
const body = { url: "https://example.com", intent, duration_ms: 0 };

const open = async (script = "index.js") => {
  const { createHoldfast } = await import(`/pkg/${script}`);
  const own = { authorize: () => ({ headers }) };
  return createHoldfast({
    account: () => "local",
    persist: false,
    services: {
      answered: { profile: "idempotency-key", baseUrl: `${location.origin}/idempotency-key`, ...own },
      polled: { profile: "runharvester", baseUrl: location.origin, ...own },
    },
  });
};

const submit = (holdfast) => holdfast.submit("answered", { intent, params: { path: "v1/reports" }, body });

const TODO = {
  ours: async () => submit(await open()),
  inline: async () => submit(await open("inline.js")),
  async floor() {
    const { Floor } = await import("./floor.js");
    await (await new Floor().open()).begin(intent, body);
  },
  async show() {
    const { operations } = await (await open()).list({ status: ["active"] });
    if (!operations.length) throw new Error("nothing is under way");
    document.body.textContent = operations[0].status;
  },
};

await TODO[location.search.slice(1)]();
globalThis.told = performance.now();
