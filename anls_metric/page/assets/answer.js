// Draws one answer with the functions of the report: tiles of characters or a tree, the score, a gauge, the variants.
import { make, markHidden, countNoun, formatCount } from "../../report/assets/report/elements.js";
import { formatScore, formatAnswer, makeBadge } from "../../report/assets/report/formats.js";
import { drawPrediction } from "../../report/assets/report/edits.js";

const MAX_TILES = 120; // a longer answer is shown as a text with its edits

// The columns of tiles: what both texts have at a place, and whether it is an edit. Python finds the parts.
const listColumns = (prediction, closest, sizes) => {
  const [left, right] = [Array.from(prediction), Array.from(closest)]; // Python counts characters, not units of UTF-16
  let [before, after] = [0, 0];
  const columns = [];
  for (let place = 0; place < sizes.length; place += 2) {
    const [gone, come] = [sizes[place], sizes[place + 1]];
    for (let step = 0; step < Math.max(gone, come); step += 1) {
      const pair = [step < gone ? left[before + step] : "", step < come ? right[after + step] : ""];
      columns.push({ pair, isEdit: place % 4 === 2 });
    }
    [before, after] = [before + gone, after + come];
  }
  return columns;
};
const makeTile = (character, isEdit, isSame) => {
  const style = isEdit ? ".edit" : isSame ? "" : ".free";
  return make(`span.tile${character === "" ? ".gap" : ""}${style}`, character === " " ? "␣" : markHidden(character));
};
const drawTiles = ({ prediction, closest, drawn }) => {
  const columns = listColumns(prediction, closest, drawn.edits);
  const pairs = columns.map(({ pair, isEdit }) =>
    make("span.column", pair.map((character) => makeTile(character, isEdit, pair[0] === pair[1]))),
  );
  const edits = countNoun(columns.filter(({ isEdit }) => isEdit).length, "edit");
  const label = `answered “${prediction}”, right is “${closest}”, ${edits}`;
  const names = make("span.names", { "aria-hidden": "true" }, make("span", "answered"), make("span", "right"));
  const attributes = { role: "img", "aria-label": label, style: { "--columns": pairs.length } };
  return make("div.tiles", names, make("div", attributes, pairs));
};
const drawTexts = (answer) => {
  const { prediction, closest, drawn, score } = answer;
  const isShort = drawn.edits && Array.from(prediction + closest).length <= MAX_TILES;
  return isShort ? drawTiles(answer) : drawPrediction(prediction, closest, { ...drawn, score });
};

// From 0 to 100, with the similarity and the threshold
const drawGauge = ({ score, similarity = score, minimum = 0 }) => {
  const at = (share) => ({ style: { "--at": `${100 * share}%` } });
  const under = `under ${formatScore(minimum).replace(/\.0$/, "")}: scores 0`;
  const label = `${formatAnswer(similarity)} of 100${minimum > 0 ? `, ${under}` : ""}`;
  return make(
    "div.gauge",
    { role: "img", "aria-label": label, style: { "--minimum": `${100 * minimum}%` } },
    make("div.bar", make("i.similarity", at(similarity)), minimum > 0 && make("i.threshold", at(minimum))),
    make("span", at(0), "0"),
    minimum > 0 && make("span.under", at(minimum), under),
    make("span", at(1), "100"),
  );
};
export const drawAnswer = (answer, lesson) => [
  drawTexts(answer),
  make("div.score-line", makeBadge(answer.score), drawGauge(answer)),
  make("p.why", answer.sentence, lesson && [" ", make("b", lesson)]),
];

// A table of numbers: the first cell of a row is its name.
const makeNumbers = (heads, rows) => {
  const head = heads.map((text) => make("th", { scope: "col" }, text));
  const makeRow = ([name, ...cells]) => [make("th", { scope: "row" }, name), cells.map((cell) => make("td", cell))];
  const body = rows.map((row) => make("tr", makeRow(row)));
  const table = make("table.numbers", make("thead", make("tr", head)), make("tbody", body));
  return make("div.scroll", { tabindex: 0, role: "region", "aria-label": heads[0] }, table);
};
const drawReferences = ({ references, closest }) => {
  const rows = references.map(({ reference, distance, length, similarity }) => [
    [make("q", { dir: "auto" }, markHidden(reference)), reference === closest && make("span.tag", "closest")],
    ...[distance, length].map(formatCount),
    formatAnswer(similarity),
  ]);
  const numbers = makeNumbers(["reference", "edits", "length", "similarity"], rows);
  const title = make("summary", `The closest of ${countNoun(rows.length, "reference")} decides`);
  return make("details", { id: "references" }, title, numbers);
};
// How many variants agree, and which do not
const drawVariants = ({ score, variants }, scorers) => {
  const names = Object.keys(variants);
  const others = names.filter((name) => variants[name] !== score);
  const scores = [...new Set(others.map((name) => variants[name]))].sort((one, other) => other - one);
  const listed = scores.slice(0, 3).map(formatAnswer).join(", ") + (scores.length > 3 ? ", …" : "");
  const rest = others.length === 1 ? `one gives ${listed}` : `the others give ${listed}`;
  const agreeing = `${names.length - others.length} of ${names.length} published variants agree`;
  const rows = [...others, ...names.filter((name) => !others.includes(name))].map((name) => [
    [make("b", name), make("small", scorers[name].meaning)],
    formatAnswer(variants[name]),
  ]);
  const title = others.length ? `${agreeing}; ${rest}` : agreeing;
  return make("details", { id: "variants" }, make("summary", title), makeNumbers(["variant", "score"], rows));
};
export const drawMore = (answer, scorers) => [
  answer.variants && drawVariants(answer, scorers),
  answer.references?.length > 1 && drawReferences(answer),
];
