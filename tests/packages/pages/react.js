// React, its renderer and the hooks, for tests that run in a page.
import * as React from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { createHoldfast } from "holdfast";
import { useOperation, useOperations } from "holdfast/react";

const h = React.createElement;

/** One operation as text, with buttons for what can be done, as an app would show it. */
function Report({ holdfast, intent }) {
  const view = useOperation(holdfast, "reports", intent);
  globalThis.views.push(view);
  globalThis.view = view;
  const { outcome } = view;
  return h("p", { id: "report" }, view.status, outcome?.status === "succeeded" ? ` ${JSON.stringify(outcome.data)}` : "");
}

function List({ holdfast, filter }) {
  const { status, items } = useOperations(holdfast, filter);
  return h("ul", { id: "list" }, status, items.map(({ state }) => h("li", { key: state.id }, `${state.intent}:${state.status}`)));
}

Object.assign(globalThis, {
  React, createRoot, hydrateRoot, h, createHoldfast, Report, List,
  views: [],
  isReady: true,
  open: (account = () => "local") =>
    createHoldfast({
      account,
      services: {
        reports: {
          profile: "runharvester",
          baseUrl: location.origin,
          authorize: () => ({ headers: { authorization: "Bearer demo-token" } }),
        },
      },
    }),
  /** Renders in StrictMode, and gives the root. */
  mount(element, place = "root") {
    const root = createRoot(document.getElementById(place));
    root.render(h(React.StrictMode, null, element));
    return root;
  },
  textOf: (id) => document.getElementById(id)?.textContent,
});
