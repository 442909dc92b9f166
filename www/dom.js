// Making elements, and little else.

/**
 * An element with properties and children; `on…` are listeners, `data-…` `aria-…` and `role` attributes.
 *
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string | number | undefined)} children
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== undefined).map((child) => child.nodeType ? child : String(child)));
  return element;
}

/** A table of rows, over the columns that any of them has. */
export function table(caption, rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return h("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": caption },
    h("table", {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, ...columns.map((column) => h("th", { scope: "col" }, column)))),
      h("tbody", {}, ...rows.map((row) =>
        h("tr", {}, ...columns.map((column) => h("td", {}, plain(row[column])))))),
    ));
}

/** A description list of names and values; absent values are left out. */
export function facts(values) {
  const told = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return h("dl", {}, ...told.flatMap(([name, value]) => [
    h("dt", {}, name),
    h("dd", {}, value.nodeType ? value : plain(value)),
  ]));
}

/** A value as a person reads it. */
export function plain(value) {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The time of day of a point in time. */
export const clock = (ms) => new Date(ms).toLocaleTimeString();

/** Says something in a status line. */
export function say(line, text, wrong = false) {
  line.textContent = text;
  line.classList.toggle("wrong", wrong);
}
