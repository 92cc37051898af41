// Draws the edits from an answer to the closest accepted answer in the original texts. Python finds them: the numbers of
// characters of both texts in an equal part, in an edit, in an equal part, and so on.
import { make, markHidden, formatCount } from "./elements.js";

const CONTEXT = 60; // equal characters to show beside a difference of a long text
const VISIBLE = { " ": "␣", "\n": "↵\n", "\t": "⇥", "\u00a0": "⍽" };
// The mark of a difference shows spaces between words. A difference of only spaces gets a visible sign.
const markSpaces = (text) => markHidden(/^\s+$/.test(text) ? text.replace(/[ \n\t\u00a0]/g, (sign) => VISIBLE[sign]) : text);
const FREE = { class: "free", title: "not counted by this variant" };

// Characters that are compared as equal. Differences in case or spaces get a weak mark.
const drawEqual = (left, right) => {
  if (left.length !== right.length) {
    return [...(left.length ? [make("del", FREE, markSpaces(left.join("")))] : []), ...(right.length ? [make("ins", FREE, markSpaces(right.join("")))] : [])];
  }
  const runs = [];
  left.forEach((sign, place) => {
    const isSame = sign === right[place];
    if (runs.at(-1)?.isSame === isSame) runs.at(-1).text += sign;
    else runs.push({ isSame, text: sign });
  });
  return runs.flatMap(({ isSame, text }) => (isSame ? markHidden(text) : [make("span", FREE, markHidden(text))]));
};
const drawLongEqual = (left, right, isFirst, isLast) => {
  if (left.length !== right.length || left.length <= 3 * CONTEXT) return drawEqual(left, right);
  const [before, after] = [isFirst ? 0 : CONTEXT, isLast ? 0 : CONTEXT];
  const end = left.length - after;
  const gap = make("span", { class: "gap" }, ` … ${formatCount(end - before)} equal characters … `);
  return [...drawEqual(left.slice(0, before), right.slice(0, before)), gap, ...drawEqual(left.slice(end), right.slice(end))];
};
export const drawEdits = (prediction, closest, parts) => {
  const [left, right] = [Array.from(prediction), Array.from(closest)]; // Python counts characters, not units of UTF-16
  if (!parts) {
    return make("p", { class: "said" }, `${formatCount(left.length)} characters against ${formatCount(right.length)}: too many differences to show.`);
  }
  let [before, after] = [0, 0];
  const items = [];
  for (let place = 0; place < parts.length; place += 2) {
    const gone = left.slice(before, (before += parts[place]));
    const come = right.slice(after, (after += parts[place + 1]));
    if (place % 4 === 0) items.push(...drawLongEqual(gone, come, place === 0, place + 2 >= parts.length));
    else {
      if (gone.length) items.push(make("del", { dir: "auto" }, markSpaces(gone.join(""))));
      if (come.length) items.push(make("ins", { dir: "auto" }, markSpaces(come.join(""))));
    }
  }
  return make("div", { class: "edits", dir: "auto" }, items);
};
