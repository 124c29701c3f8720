// Sinusoidal positions: the table as a picture, and the inner product against the distance from any start.

const FARTHEST = 32;
const POSITION_TALL = 13;

function startPositions() {
  for (const id of ["start", "distance"]) get(id).addEventListener("input", drawPositions);
}

function innerProducts(start) {
  return range(FARTHEST + 1).map((distance) => dot(PART.positions[start], PART.positions[start + distance]));
}

function drawPositions() {
  const start = Number(get("start").value), distance = Number(get("distance").value), products = innerProducts(start);
  get("start-reading").textContent = `p = ${start}`;
  get("distance-reading").textContent = `Δ = ${distance}`;
  get("positions-state").replaceChildren(`PE(${start}) · PE(${start + distance}) = `, datum(products[distance], products[distance].toFixed(6)));
  drawPositionTable(start, start + distance);
  const half = PART.positions[0].length / 2;
  fill("positions-chart", lines({ label: say("positions.chart label", { start }), x: range(FARTHEST + 1), ticks: [0, 8, 16, 24, 32],
    axis: say("positions.axis"), top: half, bottom: 0, at: distance, series: [{ values: products, hue: "healthy", mark: "round" }] }));
  const rise = products.findIndex((value, at) => at > 0 && value > products[at - 1]);
  get("positions-note").textContent = say("positions.note", { half, rise, before: rise - 1,
    higher: fixed(products[rise], 3), lower: fixed(products[rise - 1], 3) });
  drawPositionNumbers(start, products);
}

// The squares are made once; moving a slider only moves the two frames.
function drawPositionTable(first, second) {
  const holder = get("positions-table");
  if (holder.dataset.language !== language) {
    holder.dataset.language = language;
    holder.replaceChildren(heat(PART.positions, { label: say("positions.picture", { rows: PART.positions.length, columns: PART.positions[0].length }),
      hue: "healthy", tall: POSITION_TALL, strong: (value) => (value + 1) / 2 }), make("p", { class: "note scale" }, say("positions.scale")));
  }
  const picture = holder.querySelector("svg");
  for (const old of picture.querySelectorAll(".marked")) old.remove();
  for (const row of [first, second]) {
    picture.append(drawn("rect", { x: 2, y: 2 + row * POSITION_TALL, width: PART.positions[0].length * CELL, height: POSITION_TALL, class: "marked" }));
  }
}

function drawPositionNumbers(start, products) {
  const open = Boolean(get("positions-numbers").querySelector("details[open]"));
  const details = numbers(say("positions.products"), () => make("div", {},
    table(say("positions.products"), ["Δ", `PE(${start}) · PE(${start}+Δ)`],
      products.map((value, at) => [String(at), datum(value, minus(String(value)))]), "digits"),
    make("p", { class: "over" }, say("positions.table")),
    table(say("positions.table"), ["p", ...range(PART.positions[0].length).map(String)],
      PART.positions.map((row, at) => [String(at), ...row.map((value) => datum(value, fixed(value, 3)))]), "digits")));
  fill("positions-numbers", details);
  details.open = open;
}
