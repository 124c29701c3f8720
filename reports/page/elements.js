// Words, elements and tables. Text only ever becomes text: nothing here parses markup.

const DATA = JSON.parse(document.getElementById("data").textContent);
const REPORT = DATA.report;
const PART = unpooled(REPORT.page);
let language = "en";

// A matrix that occurs again stands in the data once.
function unpooled(branch) {
  if (Array.isArray(branch)) return branch.map(unpooled);
  if (branch === null || typeof branch !== "object") return branch;
  if ("pooled" in branch) return DATA.matrices[branch.pooled];
  return Object.fromEntries(Object.entries(branch).map(([name, inner]) => [name, unpooled(inner)]));
}

// One entry of the words, its {places} filled in.
function say(key, places = {}) {
  const words = DATA.words[language][key];
  if (words === undefined) throw new Error(`no words for ${key}`);
  return words.replace(/\{(\w+)\}/gu, (_, name) => String(places[name]));
}

// The words for a name where there are some, else the name itself.
function named(prefix, name) {
  return DATA.words[language][`${prefix}.${name}`] ?? name;
}

function local(text) {
  return text[language] ?? text.en;
}

function get(id) {
  return document.getElementById(id);
}

function make(tag, attributes = {}, ...children) {
  return dressed(document.createElement(tag), attributes, children);
}

function drawn(tag, attributes = {}, ...children) {
  return dressed(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function dressed(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function fill(id, ...children) {
  get(id).replaceChildren(...children);
}

// Three digits, never rounded to something it is not: "0", "0.0285", "2.8e−6", "∞".
function short(value) {
  const number = real(value);
  if (number === null || number === undefined) return "–";
  if (Number.isNaN(number)) return "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  const size = Math.abs(number);
  const plain = number === 0 || (size >= 1e-3 && size < 1e4);
  return minus(plain ? String(Number(number.toPrecision(3))) : shortPower(number));
}

function shortPower(number) {
  const [digits, power] = number.toExponential(1).split("e");
  return `${digits.replace(/\.0$/u, "")}e${power.replace("+", "")}`;
}

function fixed(number, digits) {
  if (!Number.isFinite(number)) return short(number);
  return minus((number + 0).toFixed(digits)).replace(/^−(0\.?0*)$/u, "$1");
}

function percent(share) {
  return `${fixed(100 * share, 1)} %`;
}

function minus(text) {
  return text.replaceAll("-", "−");
}

// A number as it is shown, with all its digits as its machine-readable value.
function datum(value, shown = short(value)) {
  return make("data", { value: String(real(value)) }, shown);
}

// A table with a caption for those who cannot see where it stands. Cells: text or elements.
function table(caption, headers, rows, kind = "") {
  const head = make("tr", {}, ...headers.map((text) => make("th", { scope: "col" }, text)));
  return make("table", { class: kind }, make("caption", { class: "unseen" }, caption),
    make("thead", {}, head), make("tbody", {}, ...rows.map(tableRow)));
}

function tableRow(cells) {
  const [first, ...rest] = cells;
  return make("tr", {}, make("th", { scope: "row" }, first), ...rest.map((cell) => make("td", {}, cell)));
}

// The numbers of a picture, one click away and made at that click.
function numbers(caption, build) {
  const summary = make("summary", {}, say("numbers"), make("span", { class: "unseen" }, `: ${caption}`));
  const details = make("details", { class: "numbers" }, summary);
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) {
      details.append(make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, build()));
    }
  });
  return details;
}

// All digits of a matrix; rows and columns by their names.
function matrixTable(caption, matrix, corner, rowNames, columnNames) {
  const rows = matrix.map((line, at) => [rowNames[at], ...line.map((value) => datum(value, minus(String(real(value)))))]);
  return table(caption, [corner, ...columnNames], rows, "digits");
}

function radio(group, value, label, checked, changed) {
  const input = make("input", { type: "radio", name: group, value, checked });
  input.addEventListener("change", () => changed(value));
  return make("label", {}, input, make("span", {}, label));
}

function definitions(id, pairs) {
  fill(id, ...pairs.map(([term, ...what]) => make("div", {}, make("dt", {}, term), make("dd", {}, ...what))));
}

// Says beside a field what is wrong with it, "" when nothing is.
function complain(field, messageId, message) {
  tell(messageId, message);
  flag(field, Boolean(message));
}

// A message that stays as it is is not written again: it would be read out again.
function tell(id, message) {
  if (get(id).textContent !== message) get(id).textContent = message;
}

function flag(field, wrong) {
  if (wrong) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
}
