import { make, tame } from "./elements.js";
import { setDigits } from "./formats.js";

// The web app names its frame: JSON with its own URL, the last view and the last marks.
export const FRAMED = parent !== window && window.name.startsWith("{");
if (FRAMED) Object.assign(document.documentElement.dataset, { framed: "" }, JSON.parse(window.name));
export const data = JSON.parse(document.getElementById("data").textContent);
export const submissions = data.document.submissions; // the best first
// Names are keys: no object has a "constructor" that is not in the data.
const forgetPrototype = (value) => {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return;
  Object.values(Object.setPrototypeOf(value, null)).forEach(forgetPrototype);
};
[data, ...submissions].forEach(forgetPrototype);
setDigits(data.digits);
export const labels = submissions.map(({ name }) => tame(name));
export const several = submissions.length > 1;
export const crowded = submissions.length > 6; // counts are left out
export const ofStrings = data.of_strings; // not lists and nested values
export const FIELDS = Object.keys(data.groups);
export const BASELINE = several ? submissions.findIndex(({ name }) => name === data.reported_baseline) : -1;
const COLORS = 9; // more submissions repeat the colors
export const pairOf = (place) =>
  data.document.comparisons.find(({ second }) => second === submissions[place].name);
export const findHint = (place) => {
  const { name } = submissions[place];
  return data.document.hints.find(
    ({ extract, anls, submission }) => extract && anls !== null && (!several || submission === name),
  );
};

export const names = submissions.map(({ name }) => tame(data.names[name])); // without a common beginning
export const makeName = (place) => {
  const dot = make("i", { class: `dot s${place % COLORS}` });
  return make("bdi.name", { title: labels[place] }, dot, names[place]);
};

// The answers of each submission, by the numbers of the questions

export const OUTCOMES = data.outcomes.map(({ name }) => name);
// What an answer loses most to; of a nested value, how many of its leaves have which cause
export const describeOutcome = (place, row) => {
  const counts = Object.entries(data.leaves[place]?.[row] ?? {});
  return counts.length ? counts.map(([cause, count]) => `${count} ${cause}`).join(", ") : answers[place][row].outcome;
};
const NOT_ASKED = { prediction: null, score: null, outcome: "", sentence: "", closest: 0 };
const readAnswer = (answer) => {
  if (!answer) return NOT_ASKED;
  const { outcome, sentence } = answer;
  return Object.assign(answer, { outcome: OUTCOMES[outcome], sentence: data.sentences[sentence] });
};
export const answers = data.answers.map(({ rows }) => rows.map(readAnswer));

// The answer of the first of these submissions that a mark can accept; "" for none
export const findAcceptable = (places, row) => {
  const own = places.filter((place) => place >= 0).map((place) => answers[place][row]);
  return (ofStrings && own.find(({ prediction, score }) => score < 1 && prediction?.trim())?.prediction) || "";
};

export const cutFolder = (name) => String(name).replace(/^.*[\\/]/s, "");
export const pageName = (row) => data.pages[row];
export const pageStem = (row) => cutFolder(pageName(row)).replace(/\.[a-z]\w{2,3}$/i, "");
