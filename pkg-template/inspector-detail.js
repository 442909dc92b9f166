// @ts-check
/** One operation in the inspector: what it is at, what can be done, and what has happened. */
/** @import * as Api from "./index.d.ts" */
/** @import { Choice } from "./inspector-words.js" */
import { choicesOf, factsOf, kindOf, lineOf } from "./inspector-words.js";

/**
 * An element with properties and children; `on…` are listeners, what holds a hyphen and `role` attributes.
 *
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string | undefined)} children
 * @returns {any}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else /** @type {any} */ (element)[name] = value;
  }
  element.append(...children.filter((child) => child !== undefined).map((child) => /** @type {Node | string} */ (child)));
  return element;
}

/** @param {Api.OperationState} state */
export const statusOf = (state) =>
  h("span", { className: "status", "data-kind": kindOf(state) }, state.status + (state.cancelling ? ", cancelling" : ""));

export class Detail {
  element = h("section", { className: "detail", "aria-label": "Operation" });
  #head = h("header");
  #facts = h("dl");
  #actions = h("div", { className: "row" });
  #line = h("p", { className: "said", role: "status" });
  #journal = h("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "What happened" });
  #result = lazy("Result", () => this.#readResult());
  #report = lazy("Support report", () => this.#readReport());
  /** @type {Api.Operation<any> | undefined} */
  #operation;
  /** @type {Api.OperationState | undefined} */
  #state;
  #offered = "";

  constructor() {
    this.element.append(
      this.#head, this.#facts, this.#actions, this.#line, this.#result.element,
      h("h4", {}, "What happened"), this.#journal, this.#report.element,
    );
    this.element.hidden = true;
  }

  /** The id of the operation that is shown. */
  get id() {
    return this.#operation?.id;
  }

  /** @param {Api.Operation<any> | undefined} operation */
  show(operation) {
    this.element.hidden = !operation;
    if (operation !== this.#operation) {
      this.#line.textContent = "";
      this.#offered = "";
      this.#journal.replaceChildren();
      this.#result.element.open = this.#report.element.open = false;
    }
    this.#operation = operation;
    const state = operation?.state;
    if (!operation || !state || state === this.#state) return;
    this.#state = state;
    this.#head.replaceChildren(h("h3", {}, `${state.intent}${state.ordinal ? ` · run ${state.ordinal + 1}` : ""}`), statusOf(state));
    this.#result.element.hidden = state.status !== "succeeded" || state.deletedAt !== undefined;
    this.tick();
    this.#offer(operation, state);
    this.#readJournal(operation);
    this.#report.refresh();
  }

  /** Counts down. */
  tick() {
    if (!this.#state) return;
    const facts = factsOf(this.#state);
    const text = JSON.stringify(facts);
    if (this.#facts.dataset.text === text) return;
    this.#facts.dataset.text = text;
    this.#facts.replaceChildren(...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
  }

  /**
   * @param {Api.Operation<any>} operation
   * @param {Api.OperationState} state
   */
  #offer(operation, state) {
    const choices = choicesOf(operation, state);
    const names = JSON.stringify([state.id, state.failure?.id, ...choices.map(({ name }) => name)]);
    // Made anew only when they differ: a button that has the focus keeps it.
    if (names === this.#offered) return;
    this.#offered = names;
    this.#actions.replaceChildren(...choices.map((choice) => this.#control(choice)));
  }

  /** @param {Choice} choice */
  #control({ name, act, asks, long, risky }) {
    if (!asks) return confirmed(name, !!risky, () => this.#run(name, () => act("")));
    const input = h(long ? "textarea" : "input", { required: true, "aria-label": `${name}: ${asks}`, placeholder: asks });
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#run(name, () => act(input.value));
    };
    return h("form", { className: long ? "row tall" : "row", onsubmit: submit }, h("button", {}, name), input);
  }

  /**
   * @param {string} name
   * @param {() => Promise<unknown>} act
   */
  async #run(name, act) {
    const say = (/** @type {string} */ text, wrong = false) => {
      this.#line.textContent = text;
      this.#line.classList.toggle("wrong", wrong);
    };
    say(`${name} …`);
    try {
      await act();
      say(`${name}: done.`);
    } catch (/** @type {any} */ error) {
      say(error.message, true);
    }
  }

  /** @param {Api.Operation<any>} operation */
  async #readJournal(operation) {
    const entries = await operation.journal().catch(() => []);
    if (operation !== this.#operation) return;
    const rows = entries.map(lineOf);
    const columns = /** @type {(keyof ReturnType<typeof lineOf>)[]} */ (["at", "what", "call", "HTTP", "service says", "waits", "cost"]).filter(
      (column) => rows.some((row) => row[column] !== undefined && row[column] !== ""),
    );
    this.#journal.replaceChildren(
      h("table", {},
        h("thead", {}, h("tr", {}, ...columns.map((column) => h("th", { scope: "col" }, column)))),
        h("tbody", {}, ...rows.map((row) => h("tr", {}, ...columns.map((column) => h("td", {}, String(row[column] ?? "")))))),
      ),
    );
  }

  async #readResult() {
    const value = await this.#operation?.result();
    const text = value instanceof Uint8Array ? `${value.length} bytes` : typeof value === "string" ? value : JSON.stringify(value, null, 2);
    return [h("pre", { tabIndex: 0, role: "region", "aria-label": "Result" }, text)];
  }

  async #readReport() {
    const text = JSON.stringify(await this.#operation?.supportReport(), null, 2);
    const copy = () => this.#run("Copy", () => navigator.clipboard.writeText(text));
    return [
      h("button", { type: "button", onclick: copy }, "Copy"),
      h("pre", { tabIndex: 0, role: "region", "aria-label": "Support report" }, text),
    ];
  }
}

/**
 * A button; what cannot be taken back is asked once more.
 *
 * @param {string} name
 * @param {boolean} risky
 * @param {() => void} act
 */
function confirmed(name, risky, act) {
  const button = h("button", { type: "button", className: risky ? "risky" : "" }, name);
  let asked = false;
  const ask = (/** @type {boolean} */ now) => {
    asked = now;
    button.textContent = now ? `${name}: sure?` : name;
  };
  button.addEventListener("click", () => {
    if (risky && !asked) return ask(true);
    ask(false);
    act();
  });
  button.addEventListener("blur", () => ask(false));
  return button;
}

/**
 * A part that is read when it is opened, and again when something changes while it is.
 *
 * @param {string} name
 * @param {() => Promise<Node[]>} load
 */
function lazy(name, load) {
  const content = h("div");
  let turn = 0;
  const refresh = async () => {
    if (!element.open || element.hidden) return;
    const own = (turn += 1);
    const loaded = await load().catch((/** @type {Error} */ error) => [h("p", { className: "said wrong" }, error.message)]);
    if (own === turn) content.replaceChildren(...loaded);
  };
  const element = h("details", { ontoggle: refresh }, h("summary", {}, name), content);
  return { element, refresh };
}
