// The background: it drives the work, dies of idleness every thirty seconds, and is woken for what is due.
import { background } from "./holdfast/extension.js";
import { baseUrl } from "./config.js";

const api = globalThis.browser ?? chrome;

// In the first turn: nothing is awaited before this call.
background({
  account: () => "local",
  services: {
    reports: { profile: "runharvester", baseUrl, authorize },
  },
  onSettled: saved,
});

// Called until it resolves, at least once for each ending: here belongs what keeps the result for good.
async function saved({ intent, status }) {
  await api.storage.local.set({ [intent]: status });
  await api.action.setBadgeText({ text: status === "succeeded" ? "✓" : "!" });
}

// Asked for at each request: a credential is never stored with the work. `session` lives in memory only.
async function authorize() {
  const { token = "demo-token" } = await api.storage.session.get("token");
  return { headers: { authorization: `Bearer ${token}` }, scope: "demo" };
}
