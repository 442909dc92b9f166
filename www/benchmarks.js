// Draws the lines of JSON that `cargo xtask bench NAME --save` keeps: what has a floor as bars over it, the
// rest as a table. Nothing is drawn of a bench that was not saved: `benchmarks/index.json` names those that were.
const BENCHES = {
  bytes: "What each part of the module weighs, and what other packages weigh, bundled in the same way.",
  operation: "One operation, from submit() to the kept result, and how long until its POST leaves.",
  timeline: "What one operation asks the browser for, and when.",
  many: "Many submits at once in one tab: those that wait share a transaction; the floor makes one for each.",
  outbox: "An outbox that has grown, with ten operations due; the floor is the smallest one.",
  long: "Many operations through one tab; the floor is the same tab before most of them.",
  cold: "A page that has just been opened, until its first submission is durable.",
  takeover: "A tab that drives a job and is gone, until another tab asks for it.",
  edge: "Operations over Durable Objects in workerd.",
  poll: "How often a job is asked for, and how late its end is known.",
  storm: "Ten thousand clients after an outage of five minutes.",
  "lost-answers": "How many jobs one call makes where answers are lost.",
};

const WIDTH = 760;
const LABEL = 330;
const ROW = 30;
const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function shape(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const told = (value) => (typeof value === "number" ? value.toLocaleString("en", { maximumSignificantDigits: 3 }) : `${value ?? ""}`);

/** The number that a goal like "≤ 1.15" sets for a ratio; none for goals of another kind. */
const goalOf = ({ goal }) => Number(/^(?:ratio )?≤ ([\d.]+)$/.exec(goal ?? "")?.[1]) || undefined;

/** Bars of ratios: the floor is 1, and a goal is a dashed mark. */
function chart(rows, title) {
  const most = Math.max(1.25, ...rows.flatMap((row) => [row.ratio, goalOf(row) ?? 0])) * 1.05;
  const x = (ratio) => LABEL + ((WIDTH - LABEL - 60) * ratio) / most;
  const height = rows.length * ROW + 22;
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "chart", role: "img", "aria-label": title });
  const ratios = rows.map((row, at) => shape("text", { x: x(row.ratio) + 6, y: at * ROW + 19, class: "ratio" }, `${told(row.ratio)}×`));
  rows.forEach((row, at) => {
    const [y, goal] = [at * ROW, goalOf(row)];
    const kind = goal === undefined ? "" : row.ratio <= goal ? "met" : "missed";
    svg.append(shape("text", { x: 0, y: y + 18 }, row.what));
    svg.append(shape("rect", { x: LABEL, y: y + 6, width: x(row.ratio) - LABEL, height: ROW - 12, rx: 3, class: `bar ${kind}` }));
    if (goal) svg.append(shape("line", { x1: x(goal), x2: x(goal), y1: y + 2, y2: y + ROW - 2, class: "goal" }));
  });
  svg.append(shape("line", { x1: x(1), x2: x(1), y1: 0, y2: height - 18, class: "floor" }));
  svg.append(shape("text", { x: x(1), y: height - 4, "text-anchor": "middle", class: "quiet" }, "the floor"));
  // Over the lines: many a ratio stands where one is drawn.
  svg.append(...ratios);
  return svg;
}

function table(rows) {
  const columns = [...new Set(rows.flatMap(Object.keys))].filter((name) => !["bench", "on", "versions"].includes(name));
  const head = element("tr", {}, ...columns.map((name) => element("th", { scope: "col" }, name)));
  const body = rows.map((row) =>
    element("tr", {}, ...columns.map((name) => element("td", typeof row[name] === "number" ? { class: "number" } : {}, told(row[name])))),
  );
  return element("div", { class: "figures" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
}

function draw(name, rows) {
  const section = element("section", {}, element("h2", {}, `${name} `, element("small", {}, `cargo xtask bench ${name}`)), element("p", {}, BENCHES[name]));
  for (const [on, own] of Map.groupBy(rows, (row) => row.on ?? "")) {
    const { versions = {} } = own[0];
    if (on) section.append(element("h3", {}, versions.browser ?? on));
    const ratios = own.filter((row) => row.ratio !== undefined);
    if (ratios.length) section.append(chart(ratios, `${name}, as multiples of the floor`));
    section.append(ratios.length ? element("details", {}, element("summary", {}, "The figures"), table(own)) : table(own));
  }
  return section;
}

const read = async (name) => {
  const answer = await fetch(`benchmarks/${name}`);
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer.text();
};

const saved = JSON.parse(await read("index.json"));
const sections = await Promise.all(
  Object.keys(BENCHES).filter((name) => saved.includes(name)).map(async (name) => {
    const lines = (await read(`${name}.jsonl`)).split("\n").filter(Boolean);
    return draw(name, lines.map((line) => JSON.parse(line)));
  }),
);
document.querySelector("main").replaceChildren(...sections);
