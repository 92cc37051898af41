// Every question as a square, a block a document: lost, won or the same; or how right one submission is.
import { make, makeFilter, formatCount, tame, rove } from "./elements.js";
import { data, answers, names, cutFolder } from "./data.js";
import { formatDifference } from "./formats.js";
import { state, showQuestions } from "./state.js";
import { subtractScores } from "./questions.js";

const MOST = 5000; // squares; smaller differences are only counted
const WIDE = 80; // columns of a block of over four rows
const LOST = ["lost", "empty", "wrong"];

const classify = (row) => {
  const difference = subtractScores(row);
  if (state.second >= 0) return difference < 0 ? "lost" : difference > 0 ? "won" : "same";
  const { score, outcome } = answers[state.first][row];
  return score === 1 ? "right" : ["empty", "missing"].includes(outcome) ? "empty" : score > 0 ? "close" : "wrong";
};
const measure = (row) => (state.second < 0 ? (answers[state.first][row].score ?? 1) - 1 : subtractScores(row));
const describeBlock = ([name, rows]) => {
  const kinds = rows.map(classify);
  const points = rows.reduce((sum, row) => sum + measure(row), 0) / data.ids.length;
  const lost = kinds.filter((kind) => LOST.includes(kind)).length;
  const group = name !== null && [data.document.clusters.field, name];
  const act = () => showQuestions(group ? { group } : rows.length > 1 ? {} : { search: data.ids[rows[0]] });
  return { name, rows, kinds, points, lost, act, isWhole: rows.length > 2 && lost > 0.7 * rows.length };
};
const sayBlock = ({ name, rows, points, lost }) =>
  `${tame(cutFolder(name ?? "question"))}: ${lost} of ${rows.length} lost, ${formatDifference(points)} points`;
const SQUARES = {};
const makeSquare = (kind) => (SQUARES[kind] ??= make(`i.${kind}`)).cloneNode();
const drawBlock = (block) => {
  const { kinds, act } = block;
  const title = sayBlock(block);
  const style = { "--rows": Math.max(Math.min(4, kinds.length), Math.ceil(kinds.length / WIDE)) };
  return make("button.block", { style, title, "aria-label": title, onclick: act }, kinds.map(makeSquare));
};
const drawLink = (block) => makeFilter(block.name, false, block.act, sayBlock(block));
export const drawMap = () => {
  const blocks = data.documents.map(describeBlock);
  blocks.sort((one, other) => Math.abs(other.points) - Math.abs(one.points));
  let room = MOST;
  const shown = data.ids.length > MOST ? blocks.filter(({ rows }) => (room -= rows.length) >= 0) : blocks;
  // Lost first, then won, then the same
  const order = ({ points }) => points || Infinity;
  const sorted = [...shown].sort((one, other) => order(one) - order(other) || 0);
  const counts = Object.create(null);
  for (const kind of blocks.flatMap(({ kinds }) => kinds)) counts[kind] = (counts[kind] ?? 0) + 1;
  const keys = Object.entries(counts).map(([kind, count]) =>
    make("span.key", make(`i.${kind}`), ` ${formatCount(count)} ${kind}`),
  );
  const whole = blocks.filter(({ isWhole }) => isWhole).slice(0, 3);
  const left = blocks.length - shown.length;
  return [
    make("h2", { id: "map-title" }, "Every question", blocks.length > 1 && " by document"),
    make("p.said", names[state.first], state.second >= 0 && ` minus ${names[state.second]}`),
    rove(make("div.map", sorted.map(drawBlock))),
    make("p.said", keys, left > 0 && `${formatCount(left)} documents are not drawn.`),
    whole.length > 0 && make("p.said.whole", "Lost as a whole:", whole.map(drawLink)),
  ];
};
