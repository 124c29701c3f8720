// The five faults as cards, and one of them taken apart: before, with the fault, repaired.

const RUNS = ["before", "after", "repaired"];
const chosen = { fault: "", variant: "", phase: "before" };

function faultOf(name) {
  return REPORT.faults.find((fault) => fault.name === name);
}

// Sentences begin with a capital letter in English, which the names of faults do not.
function titleOf(fault) {
  const text = local(fault.title);
  return language === "en" ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

function rowOf() {
  return faultOf(chosen.fault).variants.find((row) => row.variant === chosen.variant);
}

function ofVariant(list) {
  return list.find((entry) => entry.fault === chosen.fault && entry.variant === chosen.variant);
}

function least(values) {
  const known = values.map(real).filter((value) => value !== null && value !== undefined);
  return known.length ? Math.min(...known) : null;
}

function drawCards() {
  fill("cards", ...REPORT.faults.map(card), make("p", { class: "note" }, say("faults.note")));
}

// The lead signal of a fault: that of its first variant, over all variants that have the same.
function lead(fault) {
  const { detector, unit, threshold } = fault.variants[0].reading;
  const alike = fault.variants.filter((row) => row.reading.detector === detector);
  const healthy = Math.max(...alike.map((row) => real(row.reading.healthy)));
  return { detector, unit, threshold: real(threshold), healthy,
    faulty: least(alike.map((row) => row.reading.faulty)), margin: least(alike.map((row) => row.margin)) };
}

function card(fault) {
  const signal = lead(fault);
  const killed = fault.variants.filter((row) => row.status === "killed").length;
  const open = make("button", { type: "button", class: "open" }, say("faults.open"),
    make("span", { class: "unseen" }, ` ${local(fault.title)}`));
  open.addEventListener("click", () => openFault(fault.name));
  return make("article", { class: "card" },
    make("h3", {}, titleOf(fault)), make("p", { class: "code" }, fault.name),
    make("dl", {}, ...["injected", "signal", "repair"].map((key) =>
      make("div", {}, make("dt", {}, say(`faults.${key}`)), make("dd", {}, local(fault[key]))))),
    strip({ ...signal, label: marginWords(signal) }),
    make("p", { class: "figures" }, ...figures(signal)),
    make("p", { class: "ending" }, say("faults.killed", { killed, variants: fault.variants.length }), " · ",
      say("faults.diagnosed", { name: fault.diagnosis })),
    open);
}

function marginWords(signal) {
  return say("faults.margin label", { detector: signal.detector, healthy: short(signal.healthy),
    threshold: short(signal.threshold), faulty: short(signal.faulty), margin: decades(signal) });
}

function decades({ margin, healthy }) {
  if (margin === null) return "–";
  return healthy === 0 ? say("exact") : say("decades", { count: fixed(margin, 1) });
}

function figures(signal) {
  return [make("code", {}, signal.detector), " ",
    make("span", { class: "healthy" }, say("healthy"), " ", datum(signal.healthy)), " · ",
    make("span", { class: "faulty" }, say("faulty"), " ", datum(signal.faulty)), " · ",
    say("threshold"), " ", datum(signal.threshold), " · ", say("margin"), " ", decades(signal)];
}

function openFault(name) {
  chooseFault(name);
  get("explorer-title").focus({ preventScroll: true });
  get("explorer").scrollIntoView({ block: "start" });
}

function chooseFault(name) {
  chosen.fault = name;
  chosen.variant = faultOf(name).variants[0].variant;
  chosen.phase = "before";
  drawExplorer();
}

function startExplorer() {
  chosen.fault = REPORT.faults[0].name;
  chosen.variant = REPORT.faults[0].variants[0].variant;
  get("variant").addEventListener("change", () => {
    chosen.variant = get("variant").value;
    chosen.phase = "before";
    drawExplorer();
  });
  get("inject").addEventListener("click", () => {
    chosen.phase = chosen.phase === "after" ? "repaired" : "after";
    drawPhase();
  });
}

function drawExplorer() {
  const fault = faultOf(chosen.fault);
  if (get("fault-options").dataset.language !== language) {
    get("fault-options").dataset.language = language;
    fill("fault-options", ...REPORT.faults.map((one) =>
      radio("fault", one.name, titleOf(one), one.name === chosen.fault, chooseFault)));
  }
  for (const input of get("fault-options").querySelectorAll("input")) input.checked = input.value === chosen.fault;
  fill("variant", ...fault.variants.map((row) =>
    make("option", { value: row.variant, selected: row.variant === chosen.variant }, row.variant)));
  drawFacts();
  drawPhase();
}

function drawFacts() {
  const explained = PART.explained.find((entry) => entry.fault === chosen.fault), row = rowOf();
  definitions("facts", [
    [say("explorer.written"), local(row.summary)],
    ...(explained ? [[say("explorer.formula"), make("code", {}, explained.formula)],
      [say("explorer.enters"), local(explained.enters)], [say("explorer.shapes"), local(explained.shapes)]] : []),
    [say("explorer.result"), say("explorer.result line", { status: named("status", row.status), caught: row.caught,
      witnessing: row.witnessing, named: row.named, blind: row.named_without_own }), row.reason ? ` (${row.reason})` : ""],
  ]);
}

function drawPhase() {
  const on = chosen.phase === "after", shown = ofVariant(PART.demonstrations), sight = ofVariant(PART.sights);
  get("inject").setAttribute("aria-checked", String(on));
  get("explorer").dataset.phase = chosen.phase;
  get("state").textContent = say(`phase.${chosen.phase}`);
  get("raised").hidden = !(on && shown?.error);
  get("raised").textContent = shown?.error ? say("explorer.raised", { error: shown.error }) : "";
  if (shown) drawSignal(shown);
  fill("stages", ...(shown ? shown.stages.map(stage) : []));
  fill("looks", ...(sight ? sight.looks.map(look) : []));
  fill("chips", ...REPORT.alone.map(chip));
}

function drawSignal(shown) {
  fill("signal", ...RUNS.map((run) => make("li", {
    class: run === "after" ? "faulty" : "healthy", "aria-current": run === chosen.phase ? "step" : null,
  }, make("span", {}, say(`run.${run}`)), datum(shown[run]))));
  get("signal").setAttribute("aria-label", say("explorer.measured", { detector: shown.detector }));
  const sizes = Object.entries(shown.extents).map(([name, size]) => `${named("extent", name)} = ${size}`).join(", ");
  get("extents").textContent = say("explorer.extents", { sizes, detector: shown.detector,
    threshold: short(REPORT.detectors.find((one) => one.name === shown.detector)?.threshold) });
}

function runOf(stage, run) {
  return stage[run] === "same" ? stage.before : stage[run];
}

function stage(one) {
  const [row, column] = one.axes.map((axis) => named("axis", axis));
  const caption = named("stage", one.name), now = runOf(one, chosen.phase);
  const same = one.after === "same";
  return make("figure", { class: "stage" },
    make("figcaption", {}, make("strong", {}, caption), " ",
      make("span", { class: "note" }, say(same ? "stage.same" : "stage.axes", { row, column }))),
    make("div", { class: "twins" },
      twin(say("stage.healthy"), one.before, one.before, "healthy", row, caption),
      twin(say(`run.${chosen.phase}`), now, one.before, chosen.phase === "after" && !same ? "faulty" : "healthy", row, caption)),
    numbers(caption, () => make("div", {}, ...RUNS.map((run) => digits(one, run, row, column, caption)))));
}

function digits(one, run, row, column, caption) {
  const matrix = runOf(one, run), title = `${caption}, ${say(`run.${run}`)}`;
  if (!matrix) return make("p", {}, `${title}: ${say("explorer.nothing")}`);
  return make("div", {}, make("p", { class: "over" }, say(`run.${run}`)), matrixTable(title, matrix, "",
    range(matrix.length).map((at) => `${row} ${at}`), range(matrix[0].length).map((at) => `${column} ${at}`)));
}

function twin(title, matrix, healthy, hue, row, caption) {
  if (!matrix) return make("div", { class: `twin ${hue}` }, make("p", { class: "over" }, title), make("p", {}, say("explorer.nothing")));
  const largest = Math.max(...matrix.flat().concat(healthy?.flat() ?? []).map((v) => Math.abs(real(v))).filter(Number.isFinite), 1e-300);
  const rows = matrix.map((line, t) => make("tr", {}, make("th", { scope: "row" }, make("span", { class: "unseen" }, `${row} `), String(t)),
    ...line.map((value, s) => tinted(real(value), real(healthy?.[t]?.[s] ?? null), largest))));
  return make("div", { class: `twin ${hue}` }, make("p", { class: "over" }, title),
    make("div", { class: "scroll" }, make("table", { class: "tinted" }, make("caption", { class: "unseen" }, `${caption}, ${title}`), make("tbody", {}, ...rows))));
}

// One cell; a number that is not the healthy one is marked, also where only digits that are not shown differ.
function tinted(value, was, largest) {
  const changed = value !== was && !(Number.isNaN(value) && Number.isNaN(was));
  const size = Number.isFinite(value) ? Math.abs(value) / largest : 0;
  return make("td", { class: changed ? "changed" : "", "--v": size.toFixed(3) },
    datum(value, digitsFor(value)), changed ? make("span", { class: "unseen" }, say("changed")) : "");
}

function digitsFor(value) {
  const size = Math.abs(value);
  if (value === 0) return "0";
  return Number.isFinite(value) && (size < 0.005 || size >= 1000) ? minus(value.toExponential(0).replace("e+", "e")) : fixed(value, 2);
}

function look(faulty, at) {
  const healthy = PART.healthy[at], now = chosen.phase === "after" ? faulty : healthy;
  const differs = JSON.stringify(now.matrix) !== JSON.stringify(healthy.matrix);
  const title = named("probe", faulty.probe);
  const pictures = [[say("stage.healthy"), healthy, "healthy"], [say(`run.${chosen.phase}`), now, differs ? "faulty" : "healthy"]];
  return make("figure", { class: "look" },
    make("figcaption", {}, make("strong", {}, title), " ", make("span", { class: "note" }, say(`probe.${faulty.probe} note`))),
    make("div", { class: "twins" }, ...pictures.map(([name, one, hue]) => seen(name, one, hue, title))),
    now.pattern ? make("p", { class: "pattern" }, say("pattern.line", { pattern: named("pattern", now.pattern) })) : "",
    numbers(title, () => make("div", {}, ...pictures.map(([name, one]) => seenDigits(name, one, title)))));
}

function seen(name, one, hue, title) {
  const label = `${title}, ${name}: ${one.matrix ? named("pattern", one.pattern) : say("explorer.nothing")}`;
  return make("div", { class: `twin ${hue}` }, make("p", { class: "over" }, name),
    one.matrix ? heat(one.matrix, { label, hue }) : make("p", { class: "nothing" }, say("explorer.nothing"), " ", one.reason));
}

function seenDigits(name, one, title) {
  if (!one.matrix) return make("p", {}, `${name}: ${one.reason}`);
  return make("div", {}, make("p", { class: "over" }, name), matrixTable(`${title}, ${name}`, one.matrix, say("corner"),
    range(one.matrix.length).map(String), range(one.matrix[0].length).map(String)));
}

function chip(test) {
  const name = `${chosen.fault}/${chosen.variant}`;
  const kind = test.caught.includes(name) ? "caught" : test.sometimes.includes(name) ? "sometimes" : "missed";
  return make("li", { class: kind }, make("strong", {}, named("test", test.name)), " ", say(`alone.${kind}`));
}
