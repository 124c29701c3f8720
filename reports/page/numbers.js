// What the page computes: softmax, causal attention with each fault in it, toy vectors. No drawing here.
"use strict";

const TOY_VECTORS = new Map([["the", [0.4, 0.0]], ["cat", [0.3, 0.2]], ["sat", [0.2, 0.3]]]);
const TOY_STEP = 9;
const TOY_UNIT = 20;

// Two numbers from 0 to 0.4 for any word: its codes added up, and added up times their place, both modulo 9, over 20.
function toyVector(word) {
  const known = TOY_VECTORS.get(word.toLowerCase());
  if (known) return [...known];
  let plain = 0, placed = 0, place = 0;
  for (const letter of word) {
    place += 1;
    plain += letter.codePointAt(0);
    placed += place * letter.codePointAt(0);
  }
  return [(plain % TOY_STEP) / TOY_UNIT, (placed % TOY_STEP) / TOY_UNIT];
}

function dot(a, b) {
  return a.reduce((sum, number, at) => sum + number * b[at], 0);
}

// exp(z_i) / sum exp(z_j), z = logits / temperature; a row of nothing but -Infinity gives zeros, as in the library.
function softmax(logits, temperature = 1) {
  const scaled = logits.map((logit) => logit / temperature);
  const largest = Math.max(...scaled);
  if (largest === -Infinity) return scaled.map(() => 0);
  const raised = scaled.map((logit) => Math.exp(logit - largest));
  const total = raised.reduce((sum, number) => sum + number, 0);
  return raised.map((number) => number / total);
}

// In bits; 0 log 0 is 0.
function entropy(weights) {
  return weights.reduce((sum, w) => sum - (w > 0 ? w * Math.log2(w) : 0), 0);
}

// [token, D] -> [head, token, channel]. The fault reads the same numbers in their order, without moving an axis.
function splitHeads(x, heads, swapped) {
  const tokens = x.length, width = x[0].length / heads, flat = x.flat();
  const place = (h, t, c) => (swapped ? (h * tokens + t) * width + c : t * heads * width + h * width + c);
  return range(heads).map((h) => range(tokens).map((t) => range(width).map((c) => flat[place(h, t, c)])));
}

function mergeHeads(x, swapped) {
  const heads = x.length, tokens = x[0].length, width = x[0][0].length;
  if (!swapped) return range(tokens).map((t) => range(heads).flatMap((h) => x[h][t]));
  const flat = x.flat(2);
  return range(tokens).map((t) => flat.slice(t * heads * width, (t + 1) * heads * width));
}

function hidden(fault, query, key) {
  if (fault === "mask_adds_zero") return false;
  return fault === "flipped_triangle" ? key < query : key > query;
}

function headAttention(x, fault) {
  const scale = fault === "missing_scale" ? 1 : 1 / Math.sqrt(x[0].length);
  const weights = x.map((query, t) =>
    softmax(x.map((key, s) => (hidden(fault, t, s) ? -Infinity : dot(query, key) * scale))));
  const attended = weights.map((row) =>
    x[0].map((_, c) => row.reduce((sum, w, s) => sum + w * x[s][c], 0)));
  return { weights, attended };
}

// Causal attention with q = k = v = x [token, D] and a residual, sound (fault "") or with one of the five faults.
function toyAttention(x, heads, fault) {
  const swapped = fault === "head_seq_swap";
  const each = splitHeads(x, heads, swapped).map((head) => headAttention(head, fault));
  const attended = mergeHeads(each.map((head) => head.attended), swapped);
  const kept = fault === "residual_shape" ? 0 : 1;
  const output = x.map((row, t) => row.map((number, c) => kept * number + attended[t][c]));
  return { weights: each.map((head) => head.weights), attended, output };
}

// The numbers of a comma-separated text, or the first piece that is none.
function parseNumbers(text) {
  const pieces = text.split(/[,，\s]+/u).filter((piece) => piece !== "");
  const bad = pieces.find((piece) => !/^[-+−]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/iu.test(piece)
    || !Number.isFinite(Number(piece.replace("−", "-"))));
  return bad === undefined ? { numbers: pieces.map((piece) => Number(piece.replace("−", "-"))) } : { bad };
}

function range(count) {
  return Array.from({ length: count }, (_, at) => at);
}

// JSON has no infinity: the report writes it as a word.
function real(value) {
  if (typeof value !== "string") return value;
  return { inf: Infinity, "-inf": -Infinity, nan: NaN }[value];
}
