// Somebody's own code: the verdict on it, who sees whom in it beside sound code and the fault it looks like, the contracts.

const OWN = DATA.subject;
const SHOWN = { all: () => true, broken: (one) => one.verdict === "broken", measured: (one) => one.value !== null,
  unmeasured: (one) => one.value === null };
const own = { part: 0, filter: "all" };

// Sentences stand in the data once, in both languages; whatever says one names its place.
function said(place) {
  return local(OWN.texts[place]);
}

function saidPairs(pairs) {
  return pairs.map(([label, text]) => [said(label), said(text)]);
}

function drawSubject() {
  drawParts();
  drawVerdict();
  definitions("subject-facts", saidPairs(partShown().facts));
  get("subject-measured").hidden = !partShown().contracts.length;
  if (!partShown().contracts.length) return;
  fill("subject-looks", ...partShown().looks.map(ownLook));
  get("subject-counts").textContent = said(partShown().counts);
  drawFilter();
  drawContracts();
  definitions("subject-remarks", saidPairs(partShown().remarks));
}

function partShown() {
  return OWN.parts[own.part];
}

// Of a model and its blocks, one is shown at a time.
function drawParts() {
  get("subject-choice").hidden = OWN.parts.length === 1;
  get("subject-left-out").textContent = OWN.left_out ? say("subject.left out", { count: OWN.left_out }) : "";
  if (get("subject-part-options").dataset.language === language) return;
  get("subject-part-options").dataset.language = language;
  fill("subject-part-options", ...OWN.parts.map((part, at) =>
    radio("subject-part", String(at), say("subject.part verdict", { part: at ? shortName(part.name) : say("subject.whole"), verdict: said(part.title) }), at === own.part, choosePart)));
}

// "GPT.h.0" after "my_gpt.py:GPT" is "h.0".
function shortName(name) {
  const whole = OWN.parts[0].name;
  return name.startsWith(`${whole}.`) ? name.slice(whole.length + 1) : name;
}

function choosePart(at) {
  own.part = Number(at);
  own.filter = "all";
  get("subject-filter-options").removeAttribute("data-language");
  drawSubject();
}

// A shape for each verdict besides its colour: a disc, a square, a diamond.
const MARKS = { sound: "●", holds: "●", broken: "■", unusable: "■", fragile: "◆", undecided: "◇", "not observable": "–", "not applicable": "·" };
const HUES = { sound: "healthy", holds: "healthy", broken: "faulty", unusable: "faulty", fragile: "faulty" };

function mark(verdict, text) {
  return make("span", { class: `mark ${HUES[verdict] ?? "neither"}` },
    make("span", { "aria-hidden": "true" }, `${MARKS[verdict]} `), text);
}

function drawVerdict() {
  const part = partShown();
  fill("subject-name", part.name);
  fill("subject-verdict", mark(part.verdict, said(part.title)), make("span", { class: "meaning" }, said(part.meaning)));
  fill("subject-nearest", ...part.nearest.map((one) => candidate(one.own ? say("subject.looks like") : say("subject.relative"), one)),
    ...(part.runner_up ? [candidate(say("subject.runner-up"), part.runner_up)] : []));
}

function candidate(label, one) {
  const line = make("p", { class: "candidate" }, `${label} `, make("code", {}, `${one.fault}/${one.variant}`), " ",
    say("subject.distance"), " ", datum(one.distance, fixed(one.distance, 2)), say("subject.colon"), said(one.wrong));
  if (referenceOf(one)) line.append(" ", opener(one));
  return line;
}

function referenceOf({ fault, variant }) {
  return PART.sights.find((sight) => sight.fault === fault && sight.variant === variant) && faultOf(fault);
}

// Opens the same variant in the reference block, farther down.
function opener({ fault, variant }) {
  const open = make("button", { type: "button", class: "open" }, say("subject.open"),
    make("span", { class: "unseen" }, ` ${fault}/${variant}`));
  open.addEventListener("click", () => {
    openFault(fault);
    chosen.variant = variant;
    drawExplorer();
  });
  return open;
}

// Yours, what sound code shows, and what each named fault shows in the reference block.
function ownLook(one) {
  const part = partShown(), title = one.probe === "block" ? say("subject.through") : say(`probe.${one.probe}`);
  const like = (list) => list.find((look) => look.probe === one.probe);
  const hue = one.pattern === "causal" || !one.pattern ? "healthy" : "faulty";
  const pictures = [[say("subject.yours"), one, hue]];
  if (part.compared && one.matrix) {
    pictures.push([say("subject.sound"), like(PART.healthy), "healthy"]);
    for (const near of part.nearest.filter(referenceOf)) {
      const sight = PART.sights.find((each) => each.fault === near.fault && each.variant === near.variant);
      pictures.push([`${near.variant} (${near.fault})`, like(sight.looks), "faulty"]);
    }
  }
  return make("figure", { class: "look" },
    make("figcaption", {}, make("strong", {}, title), " ", make("span", { class: "note" }, say(`probe.${one.probe} note`))),
    make("div", { class: "twins" }, ...(one.matrix ? pictures.map(([name, look, colour]) => seen(name, look, colour, title))
      : [make("p", { class: "nothing" }, said(one.reason))])),
    one.pattern ? make("p", { class: "pattern" }, say("pattern.line", { pattern: named("pattern", one.pattern) })) : "",
    part.compared || !one.matrix ? "" : make("p", { class: "note" }, say("subject.not compared")),
    ...(one.matrix ? [numbers(title, () => make("div", {}, ...pictures.map(([name, look]) => seenDigits(name, look, title))))] : []));
}

function drawFilter() {
  if (get("subject-filter-options").dataset.language === language) return;
  get("subject-filter-options").dataset.language = language;
  fill("subject-filter-options", ...Object.entries(SHOWN).map(([name, wanted]) => radio("subject-filter", name,
    `${named("subject filter", name)} (${partShown().contracts.filter(wanted).length})`, name === own.filter, chooseFilter)));
}

function chooseFilter(name) {
  own.filter = name;
  drawContracts();
}

function drawContracts() {
  const rows = partShown().contracts.filter(SHOWN[own.filter]).map((one) => [
    make("span", {}, make("code", {}, ...breakable(one.name)), make("span", { class: "law" }, lawOf(one.name))),
    one.value === null ? "–" : datum(one.value), datum(one.threshold),
    mark(one.verdict, local(OWN.contracts[one.verdict])), said(one.reason)]);
  fill("subject-contracts", rows.length ? table(say("subject.contracts"), ["contract", "value", "threshold", "verdict", "why"]
    .map((name) => named("subject column", name)), rows, "contracts") : make("p", {}, say("subject.none")));
}

// A name may go on in the next line after each "_".
function breakable(name) {
  return name.split("_").flatMap((word, at) => (at ? ["_", make("wbr"), word] : [word]));
}

function lawOf(name) {
  const detector = REPORT.detectors.find((one) => one.name === name);
  return detector ? local(detector.law) : "";
}
