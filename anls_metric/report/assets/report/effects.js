// What the marks change: the scores without the questions left out, and with the accepted answers.
import { make, countNoun } from "./elements.js";
import { data, answers, submissions, names } from "./data.js";
import { listMarked } from "./marks.js";
import { formatScore } from "./formats.js";

const MOST_NAMED = 3;
const MOST_DIGITS = 6;

// The sum of numbers, rounded once, as Python has it
const UNITS = 2 ** 500;
const sumExactly = (numbers) => Number(numbers.reduce((sum, each) => sum + BigInt(each * UNITS), 0n)) / UNITS;
const findFirst = (row, text) => answers.findIndex((own) => own[row].prediction === text);
const scoreAgain = (place, marked) => {
  const [count, ...rest] = data.unseen[place];
  const own = answers[place].map(({ score }) => score);
  for (const [row, { exclude, accept }] of marked) {
    const known = accept.map((text) => data.accepted[row]?.[findFirst(row, text)]?.[place] ?? 0);
    if (own[row] !== null) own[row] = exclude ? null : Math.max(own[row], ...known);
  }
  const kept = own.filter((score) => score !== null);
  return sumExactly([...kept, ...rest]) / (kept.length + count);
};
const rank = (scores) => [...scores.keys()].sort((one, other) => scores[other] - scores[one] || one - other);
const formatChange = (before, after, digits = data.digits) => {
  const [from, to] = [before, after].map((score) => formatScore(score, digits));
  if (from === to && digits < MOST_DIGITS) return formatChange(before, after, digits + 1);
  return [` from ${from} to `, make("data", { value: after }, to)];
};
export const drawEffect = () => {
  const marked = listMarked();
  const active = marked.filter(([, { exclude, accept }]) => exclude || accept.length);
  const typed = active.some(([row, { accept }]) => accept.some((text) => findFirst(row, text) < 0));
  const start = make("b", `Your ${countNoun(marked.length, "mark")} `);
  if (!active.length) return [start, "change no score: leave a question out, or accept an answer."];
  const before = submissions.map(({ anls }) => anls);
  const after = before.map((score, place) => (data.unseen[place] ? scoreAgain(place, active) : score));
  const changed = [...after.keys()].filter((place) => after[place] !== before[place]);
  const parts = changed.slice(0, MOST_NAMED).map((place, number) => {
    return [number > 0 && ", ", make("bdi", names[place]), formatChange(before[place], after[place])];
  });
  const others = changed.length > MOST_NAMED && ` and ${changed.length - MOST_NAMED} others`;
  const stays = String(rank(before)) === String(rank(after));
  const order = stays ? " The order stays." : [" The order changes: ", make("bdi", names[rank(after)[0]]), " leads."];
  return [
    start,
    parts.length ? ["would change ", parts, others, "."] : "would change no score.",
    before.length > 1 && order,
    typed && " What you typed counts once you score again.",
  ];
};
