// Pictures from numbers: heat maps, bars, lines, and a strip that shows a margin. Colours are the style sheet's.

const CELL = 26;
const TONES = 32;
const LABELLED_UP_TO = 12;
const WRITTEN_UP_TO = 6;

// How strong a value from 0 to 1 is drawn: a faint leak must show, so the root is taken; exactly 0 is an empty cell.
function strength(value) {
  return value > 0 ? 0.12 + 0.88 * Math.sqrt(Math.min(value, 1)) : 0;
}

// A matrix of numbers from 0 to 1 as squares. rowNames and columnNames stand at its sides while it is small.
function heat(matrix, { label, hue, rowNames, columnNames = rowNames, marked = -1, strong = strength, tall = CELL }) {
  const rows = matrix.length, columns = matrix[0].length;
  const named = Boolean(rowNames) && Math.max(rows, columns) <= LABELLED_UP_TO;
  const slanted = named && columnNames.some((name) => cut(name, CELL - 4) !== name);
  const left = named ? 58 : 2, top = named ? (slanted ? 46 : 22) : 2;
  const size = { width: left + columns * CELL + 2, height: top + rows * tall + 2 };
  const cells = squares(matrix, left, top, tall, strong);
  const picture = drawn("svg", {
    viewBox: `0 0 ${size.width} ${size.height}`, role: "img", "aria-label": label, class: `heat ${hue}`, "--cells": columns,
  }, ...cells, ...(named ? names(rowNames, columnNames, left, top, slanted) : []));
  if (rows <= WRITTEN_UP_TO && named) picture.append(...written(matrix, left, top));
  if (marked >= 0) {
    picture.append(drawn("rect", { x: left, y: top + marked * CELL, width: columns * CELL, height: CELL, class: "marked" }));
  }
  return picture;
}

// What is no share of anything, NaN or less than nothing, is crossed out.
const odd = (value, strong) => Number.isNaN(value) || (strong === strength && value < 0);

// One path for all squares of one tone: a thousand elements would take longer to style than to draw.
function squares(matrix, left, top, tall, strong) {
  const tones = new Map();
  matrix.forEach((row, t) => row.forEach((value, s) => {
    const wrong = odd(real(value), strong), force = strong(real(value));
    const tone = wrong ? "odd" : force > 0 ? Math.ceil(force * TONES) / TONES : 0;
    const x = left + s * CELL + 1, y = top + t * tall + 1, wide = CELL - 2, high = tall - 2;
    const path = wrong ? `M${x + 4} ${y + 4}l${wide - 8} ${high - 8}m0 ${8 - high}l${8 - wide} ${high - 8}`
      : `M${x} ${y}h${wide}v${high}h${-wide}z`;
    tones.set(tone, (tones.get(tone) ?? "") + path);
  }));
  return [...tones].map(([tone, path]) => (tone === "odd" ? drawn("path", { d: path, class: "odd" }) : drawn("path", {
    d: path, class: tone ? "cell" : "cell empty", "fill-opacity": tone ? tone.toFixed(3) : null,
  })));
}

// Long words over narrow columns stand at a slant.
function names(rowNames, columnNames, left, top, slanted) {
  const across = columnNames.map((name, at) => {
    const x = left + (at + 0.5) * CELL, y = top - 7;
    const turn = slanted ? { transform: `rotate(-52 ${x} ${y})` } : { class: "middle" };
    return drawn("text", { x, y, ...turn }, cut(name, slanted ? 48 : CELL));
  });
  const down = rowNames.map((name, at) =>
    drawn("text", { x: left - 5, y: top + (at + 0.64) * CELL, class: "end" }, cut(name, left - 6)));
  return [...across, ...down];
}

// A word cut to what fits into so many units; Chinese letters are twice as wide.
function cut(word, room) {
  let used = 0, kept = "";
  for (const letter of word) {
    used += letter.codePointAt(0) > 0x2e7f ? 11 : 6;
    if (used > room) return `${kept}…`;
    kept += letter;
  }
  return kept;
}

function written(matrix, left, top) {
  return matrix.flatMap((row, t) => row.map((value, s) => drawn("text", {
    x: left + (s + 0.5) * CELL, y: top + (t + 0.62) * CELL, class: "middle inside",
  }, tight(real(value)))));
}

// Two decimals without the leading zero: what fits into a cell.
function tight(value) {
  return value === 0 ? "0" : value.toFixed(2).replace(/^0\./u, ".").replace(/^1\.00$/u, "1");
}

// One bar per entry: { label, share, hue, note }.
function bars(entries, label) {
  return make("ul", { class: "bars", "aria-label": label }, ...entries.map(({ label: name, share, hue, note }) =>
    make("li", { class: hue },
      make("span", { class: "name" }, name),
      make("span", { class: "track", "aria-hidden": "true" }, make("span", { class: "fill", "--share": share })),
      datum(share, percent(share)), make("span", { class: "aside" }, note ?? ""))));
}

const CHART = { width: 380, height: 236, left: 44, right: 20, top: 14, bottom: 40 };

// Lines over x. series: { name, values, hue, mark }. The lines differ in colour, dash and marker.
function lines({ label, x, series, axis, logarithmic = false, top, bottom = 0, ticks, at = null }) {
  const { width, height, left, right, top: above, bottom: below } = CHART;
  const place = logarithmic ? Math.log2 : (value) => value;
  const first = place(x[0]), span = place(x.at(-1)) - first;
  const across = (value) => left + ((place(value) - first) / span) * (width - left - right);
  const down = (value) => height - below - ((value - bottom) / (top - bottom)) * (height - above - below);
  return drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "chart" },
    ...levels(bottom, top, across(x[0]), across(x.at(-1)), down), ...stops(ticks ?? x, across, height - below),
    drawn("text", { x: (left + width - right) / 2, y: height - 6, class: "middle" }, axis),
    ...(at === null ? [] : [drawn("line", { x1: across(at), x2: across(at), y1: above, y2: height - below, class: "cursor" })]),
    ...series.flatMap((one) => line(one, x, across, down)));
}

function levels(bottom, top, from, to, down) {
  return range(5).flatMap((at) => {
    const value = bottom + ((top - bottom) * at) / 4;
    return [drawn("line", { x1: from, x2: to, y1: down(value), y2: down(value), class: "grid" }),
      drawn("text", { x: from - 6, y: down(value) + 4, class: "end" }, short(Number(value.toPrecision(3))))];
  });
}

function stops(values, across, y) {
  return values.map((value) => drawn("text", { x: across(value), y: y + 16, class: "middle" }, String(value)));
}

function line({ values, hue, mark }, x, across, down) {
  const points = values.map((value, at) => [across(x[at]), down(value)]);
  const path = points.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(" ");
  const marks = mark ? points.map(([a, b]) => (mark === "round"
    ? drawn("circle", { cx: a, cy: b, r: 3.6, class: `dot ${hue}` })
    : drawn("rect", { x: a - 3.4, y: b - 3.4, width: 6.8, height: 6.8, class: `dot ${hue}` }))) : [];
  return [drawn("polyline", { points: path, class: `line ${hue}` }), ...marks];
}

// What the lines are called, with the marks that stand on them.
function legend(entries) {
  return make("ul", { class: "legend" }, ...entries.map(([name, hue, mark]) =>
    make("li", { class: hue }, make("span", { class: `swatch ${mark}`, "aria-hidden": "true" }), name)));
}

const STRIP = { width: 300, height: 34, lowest: -18, highest: 2, zero: 8, left: 34, right: 8 };

// Healthy and faulty on one logarithmic axis with the threshold between them; exactly 0 has a place of its own.
function strip({ healthy, faulty, threshold, label }) {
  const { width, height, lowest, highest, zero, left, right } = STRIP;
  const across = (value) => {
    if (!(value > 0)) return zero;
    const power = Math.min(Math.max(Math.log10(value), lowest), highest);
    return left + ((power - lowest) / (highest - lowest)) * (width - left - right);
  };
  const y = 12, from = across(healthy), to = across(faulty);
  return drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "margin" },
    drawn("line", { x1: left, x2: width - right, y1: y, y2: y, class: "grid" }),
    drawn("line", { x1: from, x2: to, y1: y, y2: y, class: "between" }),
    drawn("line", { x1: across(threshold), x2: across(threshold), y1: y - 9, y2: y + 9, class: "threshold" }),
    drawn("circle", { cx: from, cy: y, r: 5, class: "dot healthy" }),
    drawn("rect", { x: to - 5, y: y - 5, width: 10, height: 10, class: "dot faulty" }),
    drawn("text", { x: zero, y: height - 1, class: "middle" }, "0"),
    ...[-16, -8, 0].map((power) =>
      drawn("text", { x: across(10 ** power), y: height - 1, class: "middle" }, power ? `1e${minus(String(power))}` : "1")));
}
