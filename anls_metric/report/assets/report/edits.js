// Draws an answer and its edits to the closest reference, for report and web app. Python finds them: the numbers of
// characters of both texts in an equal part, in an edit, and so on.
import { make, markHidden, formatCount } from "./elements.js";
import { makeBadge } from "./formats.js";

const CONTEXT = 60; // equal characters to show beside a difference of a long text
const SPACES = { " ": "␣", "\n": "↵\n", "\t": "⇥", "\u00a0": "⍽" };
const markSpaces = (text) =>
  markHidden(/^\s+$/.test(text) ? text.replace(/[ \n\t\u00a0]/g, (space) => SPACES[space]) : text);
const FREE = { class: "free", title: "not counted by this variant" };

const WHOLE = { dir: "auto", tabindex: 0, onfocus: ({ target }) => target.classList.add("whole") };

// Characters that are compared as equal. Differences in case or spaces get a weak mark.
const drawEqual = (left, right) => {
  if (left.length !== right.length) {
    const [gone, come] = [left.join(""), right.join("")].map(markSpaces);
    return [left.length > 0 && make("del", FREE, gone), right.length > 0 && make("ins", FREE, come)];
  }
  const runs = [];
  left.forEach((character, place) => {
    const isSame = character === right[place];
    if (runs.at(-1)?.isSame === isSame) runs.at(-1).text += character;
    else runs.push({ isSame, text: character });
  });
  return runs.map(({ isSame, text }) => (isSame ? markHidden(text) : make("span", FREE, markHidden(text))));
};
const drawLongEqual = (left, right, isFirst, isLast) => {
  if (left.length !== right.length || left.length <= 3 * CONTEXT) return drawEqual(left, right);
  const [before, end] = [isFirst ? 0 : CONTEXT, left.length - (isLast ? 0 : CONTEXT)];
  const gap = make("span.gap", ` … ${formatCount(end - before)} equal characters … `);
  const draw = (from, to) => drawEqual(left.slice(from, to), right.slice(from, to));
  return [draw(0, before), gap, draw(end)];
};
const drawEdits = (prediction, closest, parts) => {
  const [left, right] = [Array.from(prediction), Array.from(closest)]; // Python counts characters, not units of UTF-16
  let [before, after] = [0, 0];
  const items = [];
  for (let place = 0; place < parts.length; place += 2) {
    const gone = left.slice(before, (before += parts[place]));
    const come = right.slice(after, (after += parts[place + 1]));
    if (place % 4 === 0) items.push(drawLongEqual(gone, come, place === 0, place + 2 >= parts.length));
    else {
      items.push(gone.length > 0 && make("del", { dir: "auto" }, markSpaces(gone.join(""))));
      items.push(come.length > 0 && make("ins", { dir: "auto" }, markSpaces(come.join(""))));
    }
  }
  return make("div.edits", WHOLE, items);
};
export const drawText = (text) =>
  make("div.text", WHOLE, text === "" ? make("span.nothing", "empty") : markHidden(text));

// A list or a nested value: a tree with a score at each branch, and the edits of each leaf
const drawLeaf = ({ prediction, reference, score, edits }) => {
  if (prediction === reference) return make("span.leaf", { dir: "auto" }, markHidden(prediction ?? ""));
  if (edits && score > 0) return drawEdits(prediction, reference, edits);
  const gone = prediction && make("del", { dir: "auto" }, markHidden(prediction));
  const come = reference && make("ins", { dir: "auto" }, markHidden(reference));
  return make("span.leaf.edits", { dir: "auto" }, gone, come);
};
const listBranches = (children) => {
  const items = children.map((branch) => {
    const { name, prediction, reference, score, sentence, inside } = branch;
    const head = [make("span.path", { dir: "auto" }, markHidden(name.replace(/^\./, ""))), makeBadge(score)];
    if (inside.length) return make("li", head, listBranches(inside));
    return make("li", head, drawLeaf(branch), prediction !== reference && make("span.said", sentence));
  });
  return make("ul.tree", items);
};
// The leaves of a nested value that are not right, with their paths
export const listWrong = ({ inside }, start = "") =>
  inside.flatMap((branch) => {
    const path = start + (start || !branch.name.startsWith(".") ? branch.name : branch.name.slice(1));
    if (branch.inside.length) return listWrong(branch, path);
    return branch.score < 1 ? [{ ...branch, path }] : [];
  });
// The reason of a score, and behind it the edits: folded for a score of 0, which has many.
export const drawPrediction = (prediction, closest, { score, sentence, edits, tree }) => {
  if (tree) {
    const wrong = listWrong(tree).map((leaf) => ({ ...leaf, name: leaf.path }));
    const whole = make("details.said", make("summary", "all values"), listBranches(tree.inside));
    return [listBranches(wrong), make("div.said", sentence), whole];
  }
  const head = make("summary", sentence ?? "edits");
  const reason = edits
    ? make("details.said", { open: score > 0 }, head, drawEdits(prediction, closest, edits))
    : make("div.said", sentence, edits === null && " There are too many edits to show.");
  return [drawText(prediction), reason];
};
