// The oral exercise: every shape from (B, T, D) to the output projection, for sizes typed in.

const SIZES = { B: "size-batch", T: "size-tokens", H: "size-heads", d: "size-width" };
const LARGEST_SIZE = 4096;

// Each step with its axes; D = H d.
const STEPS = [
  ["x", "BTD"], ["qkv", "BTD"], ["split", "BHTd"], ["score", "BHTS"], ["mask", "TS"],
  ["softmax", "BHTS"], ["mix", "BHTd"], ["merge", "BTD"], ["project", "BTD"], ["add", "BTD"],
];

let sizes = { B: 2, T: 5, H: 3, d: 4 };

function startShapes() {
  for (const id of Object.values(SIZES)) get(id).addEventListener("input", drawShapes);
}

function drawShapes() {
  const read = Object.fromEntries(Object.entries(SIZES).map(([axis, id]) => [axis, get(id).value === "" ? NaN : Number(get(id).value)]));
  const bad = Object.keys(read).filter((axis) => !(Number.isInteger(read[axis]) && read[axis] >= 1 && read[axis] <= LARGEST_SIZE));
  tell("sizes-error", bad.length ? say("shapes.bad", { most: LARGEST_SIZE }) : "");
  for (const [axis, id] of Object.entries(SIZES)) flag(get(id), bad.includes(axis));
  if (!bad.length) sizes = read;
  fill("flow", ...STEPS.map(step));
}

function extent(axis) {
  return { ...sizes, S: sizes.T, D: sizes.H * sizes.d }[axis];
}

function step([name, axes]) {
  const shape = make("code", { class: "shape" }, "(", ...[...axes].flatMap((axis, at) => [at ? ", " : "", dimension(axis)]), ")");
  return make("li", { class: `step ${name}` }, make("strong", {}, say(`step.${name}`)), shape, make("span", { class: "note" }, say(`step.${name} note`)));
}

function dimension(axis) {
  return make("span", { class: `axis ${axis}` }, make("i", {}, { S: "T", d: "d_k" }[axis] ?? axis), " ", String(extent(axis)));
}

function drawProse() {
  for (const list of ["bridges", "analogies"]) {
    const names = Object.keys(DATA.words.en).filter((key) => key.startsWith(`${list}.`) && key.endsWith(" text"));
    definitions(list, names.map((key) => [say(key.replace(/ text$/u, "")), say(key)]));
  }
}
