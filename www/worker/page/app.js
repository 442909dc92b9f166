// The page: ordinary Holdfast, whose service is the relay. It may be closed at any moment.
import { createHoldfast } from "./holdfast.js";

const byId = (id) => document.getElementById(id);
const say = (error) => (byId("said").textContent = error.message);

let caller;

const holdfast = createHoldfast({
  // Nobody's work is shown or driven while nobody is signed in.
  account: () => caller,
  services: {
    // The cookie says who asks. The scope says it to Holdfast: what one caller has begun is not sent again as another's.
    crawls: { relay: "/operations", authorize: () => ({ headers: {}, scope: caller }) },
  },
});
globalThis.holdfast = holdfast;
holdfast.subscribe(draw);

byId("sign-in").addEventListener("submit", async (event) => {
  event.preventDefault();
  const body = JSON.stringify(Object.fromEntries(new FormData(event.target)));
  await signIn({ method: "POST", body });
});

async function signIn(request) {
  try {
    const answer = await fetch("/session", request);
    caller = answer.ok ? (await answer.json()).caller : undefined;
    byId("sign-in").hidden = caller !== undefined;
    byId("submit").hidden = caller === undefined;
    if (caller === undefined) return;
    // What an earlier page has begun goes on.
    await holdfast.start();
    await holdfast.list({ limit: 50 });
    draw();
  } catch (error) {
    say(error);
  }
}

byId("submit").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { url } = Object.fromEntries(new FormData(event.target));
  try {
    // The same address on the same day is the same crawl.
    await holdfast.submit("crawls", { intent: `${new Date().toISOString().slice(0, 10)} ${url}`, body: { url } });
    byId("said").textContent = "Stored: you may close this page.";
  } catch (error) {
    say(error);
  }
});

function draw() {
  byId("operations").replaceChildren(...holdfast.getSnapshot().slice(0, 50).map(row));
}

function row({ id, intent, status, jobId, progress }) {
  const [item, name] = ["li", "b"].map((tag) => document.createElement(tag));
  name.textContent = status;
  item.dataset.status = status;
  item.append(name, intent, progress ? ` (${progress})` : "");
  if (status === "succeeded") item.append(" ", action("Show", async (own) => (byId("said").textContent = JSON.stringify(await own.result()))));
  else if (jobId && /active|retrieving/.test(status)) item.append(" ", action("Cancel", (own) => own.cancel()));
  return item;

  function action(text, run) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: text });
    button.addEventListener("click", async () => {
      try {
        await run(await holdfast.find("crawls", intent));
      } catch (error) {
        say(error);
      }
    });
    return button;
  }
}

// Last, for whoever is shown a form must find it listened to.
await signIn();
