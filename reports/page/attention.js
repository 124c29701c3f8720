// The causal attention demonstration: a sentence, a query to move, each fault, larger vectors.

const MOST_WORDS = 32;
const toy = { words: ["the", "cat", "sat"], query: 2, fault: "", size: 1, heads: 1 };

function startAttention() {
  get("sentence").addEventListener("input", readSentence);
  get("query").addEventListener("input", () => {
    toy.query = Number(get("query").value);
    drawAttention();
  });
  for (const [id, key] of [["toy-size", "size"], ["toy-heads", "heads"]]) {
    get(id).addEventListener("change", (event) => {
      toy[key] = Number(event.target.value);
      drawAttention();
    });
  }
}

function chooseToyFault(fault) {
  toy.fault = fault;
  // With one head there is nothing to confuse: the fault would change nothing at all.
  if (fault === "head_seq_swap" && toy.heads === 1) {
    toy.heads = 2;
    get("toy-heads").querySelector("input[value='2']").checked = true;
  }
  drawAttention();
}

function readSentence() {
  const words = get("sentence").value.split(/\s+/u).filter(Boolean);
  if (words.length) {
    const last = toy.query === toy.words.length - 1;
    toy.words = words.slice(0, MOST_WORDS);
    toy.query = last ? toy.words.length - 1 : Math.min(toy.query, toy.words.length - 1);
  }
  drawAttention();
}

function sentenceProblem() {
  const count = get("sentence").value.split(/\s+/u).filter(Boolean).length;
  if (!count) return say("attention.empty");
  return count > MOST_WORDS ? say("attention.long", { count, most: MOST_WORDS }) : "";
}

function toyInput() {
  return toy.words.map((word) => toyVector(word).map((number) => number * toy.size));
}

function drawAttention() {
  complain(get("sentence"), "sentence-error", sentenceProblem());
  drawToyChoices();
  const x = toyInput(), found = toyAttention(x, toy.heads, toy.fault), sound = toyAttention(x, toy.heads, "");
  get("query").max = String(toy.words.length - 1);
  get("query").value = String(toy.query);
  get("query-word").textContent = `${toy.query} (${toy.words[toy.query]})`;
  get("query").setAttribute("aria-valuetext", get("query-word").textContent);
  tell("toy-state", say(`toy.${toy.fault || "none"}${UNSEEN[toy.fault] === toy.heads ? " unseen" : ""}`));
  drawToyBars(found, sound);
  fill("toy-matrix", ...found.weights.map(toyHead));
  drawToyNumbers(x, found);
}

function drawToyChoices() {
  if (get("toy-fault-options").dataset.language === language) return;
  get("toy-fault-options").dataset.language = language;
  const faults = [["", say("attention.sound")], ...TOY_FAULTS.map((name) => [name, say(`toy fault.${name}`)])];
  fill("toy-fault-options", ...faults.map(([name, label]) => radio("toy-fault", name, label, name === toy.fault, chooseToyFault)));
}

// The number of heads with which a fault changes nothing: d_k = 1 needs no scale, one head has no axes to confuse.
const UNSEEN = { missing_scale: 2, head_seq_swap: 1 };

const TOY_FAULTS = ["residual_shape", "missing_scale", "mask_adds_zero", "flipped_triangle", "head_seq_swap"];

function headTitle(at) {
  return toy.heads > 1 ? say("attention.head", { at: at + 1 }) : "";
}

function toyHue() {
  return toy.fault ? "faulty" : "healthy";
}

function drawToyBars(found, sound) {
  const word = toy.words[toy.query];
  get("toy-bars-title").textContent = say("attention.bars", { word, at: toy.query });
  fill("toy-bars", ...found.weights.map((weights, at) => make("div", {},
    headTitle(at) ? make("p", { class: "over" }, headTitle(at)) : "",
    bars(weights[toy.query].map((share, s) => ({
      label: toy.words[s], share, hue: toyHue(), note: barNote(share, sound.weights[at][toy.query][s], s),
    })), `${get("toy-bars-title").textContent} ${headTitle(at)}`))));
  get("toy-output").textContent = say("attention.output", {
    output: vectorText(found.output[toy.query]), sound: vectorText(sound.output[toy.query]),
    rule: say(toy.fault === "residual_shape" ? "attention.no residual" : "attention.residual"),
  });
}

function barNote(share, sound, s) {
  if (share !== sound) return say("attention.was", { share: percent(sound) });
  return s > toy.query && share === 0 ? say("attention.future") : "";
}

function vectorText(vector) {
  return `(${vector.map((number) => fixed(number, 3)).join(", ")})`;
}

function toyHead(weights, at) {
  const label = say("attention.picture", { count: toy.words.length, pattern: toy.fault ? say(`toy fault.${toy.fault}`) : say("attention.sound") });
  return make("figure", {}, headTitle(at) ? make("figcaption", { class: "over" }, headTitle(at)) : "",
    heat(weights, { label: `${label} ${headTitle(at)}`, hue: toyHue(), rowNames: toy.words, marked: toy.query }));
}

function drawToyNumbers(x, found) {
  const open = Boolean(get("toy-numbers").querySelector("details[open]"));
  const names = toy.words.map((word, at) => `${at} ${word}`);
  const details = numbers(say("attention.matrix"), () => make("div", {},
    ...found.weights.map((weights, at) => make("div", {}, make("p", { class: "over" }, headTitle(at) || say("attention.matrix")),
      matrixTable(`${say("attention.matrix")} ${headTitle(at)}`, weights, say("corner"), names, names))),
    make("p", { class: "over" }, say("attention.vectors")),
    table(say("attention.vectors"), [say("attention.word"), "q = k = v", "y"],
      names.map((name, at) => [name, vectorText(x[at]), vectorText(found.output[at])]), "digits")));
  fill("toy-numbers", details);
  details.open = open;
}
