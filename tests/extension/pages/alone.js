// Submits the intent that its address names, and closes as soon as that is durable.
import { connect } from "./holdfast/extension.js";

const intent = decodeURIComponent(location.hash.slice(1));
await connect({ services: { reports: {} } }).submit("reports", { intent, body: { url: "https://example.com", duration_ms: 500 } });
const tab = await (globalThis.browser ?? chrome).tabs.getCurrent();
await (globalThis.browser ?? chrome).tabs.remove(tab.id);
