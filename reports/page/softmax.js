// Softmax with a temperature, and what the missing scale does to it as d_k grows.

const MOST_LOGITS = 32;
let logits = [1, 2, 0.5, 3];

function startSoftmax() {
  for (const id of ["logits", "temperature"]) get(id).addEventListener("input", drawSoftmax);
}

function logitsProblem() {
  const parsed = parseNumbers(get("logits").value);
  if (parsed.bad !== undefined) return say("softmax.bad", { piece: parsed.bad });
  if (!parsed.numbers.length) return say("softmax.empty");
  return parsed.numbers.length > MOST_LOGITS ? say("softmax.long", { count: parsed.numbers.length, most: MOST_LOGITS }) : "";
}

function drawSoftmax() {
  const problem = logitsProblem();
  complain(get("logits"), "logits-error", problem);
  if (!problem) logits = parseNumbers(get("logits").value).numbers;
  const temperature = Number(get("temperature").value), weights = softmax(logits, temperature);
  get("temperature-reading").textContent = `T = ${temperature.toFixed(2)}`;
  fill("softmax-bars", bars(weights.map((share, at) => ({ label: `tok${at}`, share, hue: "healthy" })), say("softmax.bars")));
  const largest = Math.max(...weights);
  get("softmax-note").textContent = say("softmax.note", {
    entropy: fixed(entropy(weights), 3), most: fixed(Math.log2(weights.length), 3), largest: percent(largest),
    slope: fixed((largest * (1 - largest)) / temperature, 4),
  });
}

const SATURATION = [["entropy", 4], ["largest", 1], ["slope", 0.24]];

function saturationRows() {
  return PART.slopes.map((slope) => {
    const row = REPORT.symptoms.find((one) => one.head_width === slope.head_width);
    return { ...row, scaled_slope: slope.scaled, unscaled_slope: slope.unscaled, head_width: slope.head_width };
  }).filter((row) => Number.isFinite(row.scaled_entropy));
}

function drawSaturation() {
  const rows = saturationRows();
  if (rows.length < 2) return;
  const x = rows.map((row) => row.head_width);
  fill("saturation", ...SATURATION.map(([name, top]) => saturationChart(name, top, x, rows)));
  const columns = SATURATION.flatMap(([name]) => ["scaled", "unscaled"].map((kind) => `${kind}_${name}`));
  const extra = ["scaled_gradient", "unscaled_gradient", "product_spread", "own_product"];
  const shown = [...columns, ...extra].filter((column) => rows[0]?.[column] !== undefined);
  fill("saturation-numbers", numbers(say("saturation.title"), () => table(say("saturation.title"),
    ["d_k", ...shown.map((column) => named("symptom", column))],
    rows.map((row) => [String(row.head_width), ...shown.map((column) => datum(row[column]))]), "digits")));
}

function saturationChart(name, top, x, rows) {
  const series = [["scaled", "healthy", "round"], ["unscaled", "faulty", "square"]];
  const title = say(`saturation.${name}`);
  return make("figure", {}, make("figcaption", {}, make("strong", {}, title)),
    lines({ label: title, x, axis: "d_k", logarithmic: true, top,
      series: series.map(([kind, hue, mark]) => ({ values: rows.map((row) => row[`${kind}_${name}`]), hue, mark })) }),
    legend(series.map(([kind, hue, mark]) => [say(`saturation.${kind}`), hue, mark])));
}
