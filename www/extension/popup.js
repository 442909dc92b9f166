// The popup: it may be closed at any moment, and shows the same work when it is opened again.
import { connect } from "./holdfast/extension.js";

const holdfast = connect({ services: { reports: {} } });
globalThis.holdfast = holdfast;

const byId = (id) => document.getElementById(id);
const list = byId("operations");

byId("submit").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { intent, url } = Object.fromEntries(new FormData(event.target));
  try {
    await holdfast.submit("reports", { intent, body: { url } });
    byId("said").textContent = "Stored: you may close this popup.";
  } catch (error) {
    byId("said").textContent = error.message;
  }
});

holdfast.subscribe(draw);
holdfast.list({ limit: 20 }).then(draw, (error) => (byId("said").textContent = error.message));

function draw() {
  list.replaceChildren(...holdfast.getSnapshot().slice(0, 20).map(row));
}

function row({ id, intent, status, waiting, attempts, parked }) {
  const [item, name, state] = ["li", "b", "span"].map((tag) => document.createElement(tag));
  name.textContent = name.title = intent;
  state.textContent = status;
  item.append(name, state);
  if (!status.match(/succeeded|failed|cancelled|rejected|expired|incomplete|abandoned/)) {
    item.append(button("Cancel", id));
  }
  const more = parked?.reason ?? waiting?.reason;
  if (more) item.append(Object.assign(document.createElement("small"), { textContent: `${more}, attempts ${attempts}` }));
  return item;
}

function button(text, id) {
  const made = Object.assign(document.createElement("button"), { textContent: text });
  made.addEventListener("click", async () => {
    const { operations } = await holdfast.list({ limit: 200 });
    await operations.find((operation) => operation.id === id)?.cancel();
  });
  return made;
}
