// Starts the page, and draws all of it again when the language changes.

function drawStatic() {
  document.documentElement.lang = language;
  document.title = say("title");
  for (const element of document.querySelectorAll("[data-say]")) element.textContent = say(element.dataset.say);
  for (const element of document.querySelectorAll("[data-say-label]")) element.setAttribute("aria-label", say(element.dataset.sayLabel));
}

function drawHero() {
  const rows = REPORT.faults.flatMap((fault) => fault.variants);
  const killed = rows.filter((row) => row.status === "killed").length;
  const witnessing = rows.reduce((sum, row) => sum + row.witnessing, 0);
  const alarms = REPORT.detectors.reduce((sum, one) => sum + one.alarms, 0);
  const apart = Math.max(0, ...rows.map((row) => real(row.restored)));
  definitions("tiles", [
    [say("tiles.killed"), `${killed}/${rows.length}`], [say("tiles.alarms"), String(alarms)],
    [say("tiles.named"), `${rows.reduce((sum, row) => sum + row.named, 0)}/${witnessing}`],
    [say("tiles.restored"), apart === 0 ? say("identical") : short(apart)],
  ]);
  const wrong = rows.filter((row) => row.status !== "killed").map((row) => `${row.fault}/${row.variant}: ${named("status", row.status)}`);
  get("problem").hidden = !wrong.length;
  get("problem").textContent = wrong.join("; ");
  get("origin").textContent = say("origin", { seed: REPORT.seed, examples: REPORT.examples, detectors: REPORT.detectors.length });
}

const GALLERY = [["mask_adds_zero", "zero"], ["flipped_triangle", "flipped"], ["head_seq_swap", "both"]];

// What the page is about in four pictures: who sees whom in a sound block, and with three of the faults.
function drawGallery() {
  const shown = [[say("gallery.sound"), PART.healthy[0], "healthy"], ...GALLERY.flatMap(([fault, variant]) => {
    const found = PART.sights.find((sight) => sight.fault === fault && sight.variant === variant);
    return found?.looks[0].matrix ? [[say(`toy fault.${fault}`), found.looks[0], "faulty"]] : [];
  })];
  fill("gallery", make("div", { class: "gallery" }, ...shown.map(([name, one, hue]) => make("figure", {},
    heat(one.matrix, { label: `${name}: ${named("pattern", one.pattern)}`, hue }), make("figcaption", { class: "over" }, name)))),
  make("p", { class: "note" }, say("gallery.note")),
  numbers(say("gallery.note"), () => make("div", {}, ...shown.map(([name, one]) => seenDigits(name, one, say("gallery.note"))))));
}

function drawQuiz() {
  const open = [...get("questions").querySelectorAll("details")].map((details) => details.open);
  fill("questions", ...PART.questions.map((asked, at) => make("li", {}, make("details", { open: Boolean(open[at]) },
    make("summary", {}, local(asked.question)), make("p", {}, local(asked.answer))))));
}

function drawEverything() {
  drawStatic();
  drawHero();
  drawGallery();
  if (DATA.subject) drawSubject();
  drawQuiz();
  if (REPORT.faults.length) {
    drawCards();
    drawExplorer();
    drawMatrix();
  }
  drawAttention();
  drawSoftmax();
  drawSaturation();
  drawPositions();
  drawShapes();
  drawProse();
}

function speak(wanted) {
  language = wanted;
  drawEverything();
}

function firstLanguage() {
  const asked = document.documentElement.dataset.language || navigator.language || "en";
  return asked.toLowerCase().startsWith("zh") ? "zh" : "en";
}

function start() {
  if (REPORT.faults.length) startExplorer();
  startAttention();
  startSoftmax();
  startPositions();
  startShapes();
  get("language").addEventListener("change", (event) => speak(event.target.value));
  // On paper nothing can be opened.
  window.addEventListener("beforeprint", () => document.querySelectorAll("#questions details").forEach((one) => { one.open = true; }));
  speak(firstLanguage());
  get("language").querySelector(`input[value=${language}]`).checked = true;
}

start();
