// The kill matrix as a heat map whose cells are its numbers, and what other tests alone would have caught.

function drawMatrix() {
  const fired = REPORT.detectors.filter((detector) => REPORT.faults.some((fault) =>
    fault.variants.some((row) => row.kills[detector.name] > 0)));
  const silent = REPORT.detectors.filter((detector) => !fired.includes(detector)).map((detector) => detector.name);
  fill("kills", killTable(fired));
  get("silent").textContent = say("matrix.silent", { names: silent.join(", ") || "–" });
  drawAlone();
}

function killTable(detectors) {
  const head = make("tr", {}, make("th", { scope: "col", class: "corner" }, say("matrix.variant")),
    ...detectors.map((one) => make("th", { scope: "col", title: local(one.law) }, make("span", { class: "upright" }, one.name))));
  return make("table", { class: "kills" }, make("caption", { class: "unseen" }, say("matrix.title")), make("thead", {}, head),
    ...REPORT.faults.map((fault) => killGroup(fault, detectors)));
}

function killGroup(fault, detectors) {
  const title = make("tr", { class: "group" }, make("th", { scope: "rowgroup", colspan: detectors.length + 1 },
    make("span", {}, titleOf(fault))));
  return make("tbody", {}, title, ...fault.variants.map((row) => make("tr", {},
    make("th", { scope: "row" }, row.variant), ...detectors.map((one) => killCell(row, one.name)))));
}

function killCell(row, name) {
  const kills = row.kills[name] ?? 0, observed = row.observed[name] ?? 0;
  const words = observed ? say("matrix.cell", { kills, observed }) : say("matrix.unseen");
  const shown = !observed ? "–" : kills ? `${kills}/${observed}` : "·";
  return make("td", { class: kills ? "hit" : "quiet", "--v": (observed ? kills / observed : 0).toFixed(3) },
    make("span", { "aria-hidden": "true" }, shown), make("span", { class: "unseen" }, words));
}

function drawAlone() {
  const headers = [say("alone.test"), say("alone.all"), ...REPORT.faults.map(titleOf)];
  const groups = [REPORT.faults.flatMap((fault) => fault.variants), ...REPORT.faults.map((fault) => fault.variants)];
  const rows = REPORT.alone.map((test) => [named("test", test.name), ...groups.map((rowsOf) => aloneCell(test, rowsOf))]);
  fill("alone", table(say("alone.title"), headers, rows, "alone"));
  const future = REPORT.alone.find((test) => test.name === "future");
  get("alone-note").textContent = future ? say("alone.note", { caught: future.caught.length, total: future.total,
    missed: future.total - future.caught.length - future.sometimes.length }) : "";
}

function aloneCell(test, rows) {
  const names = rows.map((row) => `${row.fault}/${row.variant}`);
  const always = names.filter((name) => test.caught.includes(name)).length;
  const sometimes = names.filter((name) => test.sometimes.includes(name)).length;
  const share = names.length ? always / names.length : 0;
  return make("span", { class: "share" }, make("span", { class: "track", "aria-hidden": "true" },
    make("span", { class: "fill", "--share": share })), `${always}/${names.length}${sometimes ? ` (+${sometimes})` : ""}`);
}
