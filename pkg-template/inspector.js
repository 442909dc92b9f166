// @ts-check
/** A window into a client, for any page: what is under way, why it waits, and what can be done. */
/** @import * as Api from "./index.d.ts" */
/** @import * as Inspector from "./inspector.d.ts" */
import { HoldfastError } from "./error.js";
import { Detail, h, statusOf } from "./inspector-detail.js";
import { style } from "./inspector-style.js";
import { whyOf } from "./inspector-words.js";
import { isEnded, UNSETTLED } from "./status.js";
import { watchOperations } from "./watch.js";

const NAME = "holdfast-inspector";
/** How often waits are counted down, in milliseconds. */
const TICK_MS = 1000;
/** How many operations are shown at a time. */
const SHOWN_MAX = 200;
const EVERY = "every service";

/** Which operations are shown: a name, and a filter of the list. @type {Record<string, Api.ListFilter>} */
const KINDS = {
  all: {},
  "under way": { status: UNSETTLED.filter((status) => status !== "parked") },
  "needs you": { status: "parked" },
  "not taken yet": { acknowledged: false },
  failed: { status: ["rejected", "failed", "expired", "incomplete"] },
};

/** @type {typeof Inspector.inspect} */
export function inspect(holdfast, target = globalThis.document?.body) {
  if (!target) {
    throw new HoldfastError("inspect() needs a document, and an element to show itself in: here is none.", {
      code: "NOT_ALLOWED",
      nextStep: "Call it in a page that has its body.",
    });
  }
  if (!customElements.get(NAME)) customElements.define(NAME, makeElement());
  const element = /** @type {any} */ (document.createElement(NAME));
  element.holdfast = holdfast;
  target.append(element);
  return element;
}

/** The element's class: on a server there is nothing to extend. */
const makeElement = () =>
  class extends HTMLElement {
    /** @type {View | undefined} */
    #view;
    /** @type {Api.Holdfast<any> | undefined} */
    holdfast;

    connectedCallback() {
      if (this.holdfast) this.#view ??= new View(this.shadowRoot ?? this.attachShadow({ mode: "open" }), this.holdfast);
      this.#view?.begin();
    }

    disconnectedCallback() {
      this.#view?.end();
    }
  };

class View {
  #holdfast;
  #kind = h("select", {}, ...Object.keys(KINDS).map((name) => h("option", {}, name)));
  /** The services that have been seen. */
  #service = h("select", {}, h("option", {}, EVERY));
  #text = h("input", { type: "search", placeholder: "intent, key, job" });
  #list = h("ul", { "aria-label": "Operations" });
  #none = h("p", { className: "empty", role: "status" });
  #count = h("span");
  #newer = h("button", { type: "button", onclick: () => this.#turn(-1) }, "Newer");
  #older = h("button", { type: "button", onclick: () => this.#turn(1) }, "Older");
  #pages = h("div", { className: "row pages", role: "group", "aria-label": "More operations", hidden: true }, this.#newer, this.#older);
  /** The cursors that led to the page that is shown. @type {string[]} */
  #cursors = [];
  #detail = new Detail();
  /** The rows, by operation. @type {Map<string, { item: any, element: any, show: (state: Api.OperationState) => void }>} */
  #rows = new Map();
  /** @type {string | undefined} */
  #chosen;
  /** @type {ReturnType<typeof watchOperations> | undefined} */
  #watch;
  #stop = () => {};
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #ticking;

  /**
   * @param {ShadowRoot} root
   * @param {Api.Holdfast<any>} holdfast
   */
  constructor(root, holdfast) {
    this.#holdfast = holdfast;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    // A content policy that forbids inline styles lets this be.
    root.adoptedStyleSheets = [sheet];
    for (const choice of [this.#kind, this.#service]) choice.addEventListener("change", () => this.#follow());
    this.#text.addEventListener("input", () => this.#draw());
    root.append(
      h("div", { className: "bar" },
        h("h2", {}, "Holdfast ", this.#count),
        h("label", {}, "Show", this.#kind),
        h("label", {}, "Service", this.#service),
        h("label", {}, "Find", this.#text),
      ),
      h("div", { className: "panes" }, h("div", {}, this.#list, this.#none, this.#pages), this.#detail.element),
    );
  }

  begin() {
    this.#follow();
    this.#ticking ??= setInterval(() => this.#tick(), TICK_MS);
  }

  end() {
    this.#stop();
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  /**
   * Shows the operations of the choices from a page on: the first, or that of a cursor.
   *
   * @param {string[]} [cursors]
   */
  #follow(cursors = []) {
    this.#stop();
    this.#cursors = cursors;
    const service = this.#service.value;
    const cursor = cursors.at(-1);
    this.#watch = watchOperations(this.#holdfast, {
      ...KINDS[this.#kind.value], limit: SHOWN_MAX, ...(service !== EVERY && { service }), ...(cursor && { cursor }),
    });
    this.#stop = this.#watch.subscribe(() => this.#draw());
    this.#draw();
  }

  /** @param {1 | -1} way */
  #turn(way) {
    const view = this.#watch?.getSnapshot();
    if (way < 0) this.#follow(this.#cursors.slice(0, -1));
    else if (view?.cursor) this.#follow([...this.#cursors, view.cursor]);
  }

  /** @param {string | undefined} cursor */
  #offer(cursor) {
    const focused = this.#pages.getRootNode().activeElement;
    this.#newer.hidden = !this.#cursors.length;
    this.#older.hidden = cursor === undefined;
    this.#pages.hidden = this.#newer.hidden && this.#older.hidden;
    // A button that leads nowhere further goes, and would take the focus with it.
    if (focused === this.#newer && focused.hidden) this.#older.focus();
    if (focused === this.#older && focused.hidden) this.#newer.focus();
  }

  /** @param {string} name */
  #know(name) {
    const names = [...this.#service.options].map((/** @type {any} */ own) => own.value);
    if (!names.includes(name)) this.#service.append(h("option", {}, name));
  }

  #draw() {
    const view = this.#watch?.getSnapshot();
    if (!view) return;
    const text = this.#text.value.trim().toLowerCase();
    const items = view.items.filter(({ state }) =>
      [state.intent, state.key, state.jobId, state.service, state.id].some((own) => own?.toLowerCase().includes(text)),
    );
    for (const { state } of view.items) this.#know(state.service);
    const rows = items.map((item) => this.#row(item));
    // Each holds its operation: what is not shown is let go.
    const ids = new Set(items.map(({ state }) => state.id));
    for (const id of this.#rows.keys()) if (!ids.has(id)) this.#rows.delete(id);
    rows.forEach(({ element }, index) => {
      const there = this.#list.children[index];
      if (there !== element) this.#list.insertBefore(element, there ?? null);
    });
    while (this.#list.children.length > rows.length) this.#list.lastChild.remove();
    this.#count.textContent = view.status === "ready" ? `${items.length}${this.#cursors.length ? " older" : view.cursor ? " newest" : ""}` : "";
    if (view.status !== "pending") this.#offer(view.cursor);
    this.#none.hidden = rows.length > 0;
    this.#none.textContent = view.status === "unavailable" ? view.error.message : view.status === "pending" ? "Reading …" : "There is none.";
    const shown = items.find(({ state }) => state.id === this.#chosen) ?? items[0];
    this.#choose(shown?.operation);
  }

  /** @param {{ state: Api.OperationState, operation: Api.Operation<any> }} item */
  #row(item) {
    const { id } = item.state;
    const row = this.#rows.get(id) ?? this.#makeRow(id);
    if (row.item !== item) row.show(item.state);
    row.item = item;
    return row;
  }

  /** @param {string} id */
  #makeRow(id) {
    const button = h("button", { type: "button" });
    const row = {
      /** @type {any} */ item: undefined,
      element: h("li", {}, button),
      show: (/** @type {Api.OperationState} */ state) =>
        button.replaceChildren(
          h("span", { className: "name" }, state.intent), statusOf(state), h("span", { className: "why" }, whyOf(state)),
        ),
    };
    button.addEventListener("click", () => {
      this.#chosen = id;
      this.#choose(row.item.operation);
    });
    this.#rows.set(id, row);
    return row;
  }

  /** @param {Api.Operation<any> | undefined} operation */
  #choose(operation) {
    for (const [id, { element }] of this.#rows) {
      element.firstChild.setAttribute("aria-current", String(id === operation?.id));
    }
    this.#detail.show(operation);
  }

  #tick() {
    this.#detail.tick();
    for (const { item, element } of this.#rows.values()) {
      if (element.isConnected && !isEnded(item.state)) element.querySelector(".why").textContent = whyOf(item.state);
    }
  }
}
