// The data of the report: the JSON that Python wrote into the file.
import { make, tame } from "./elements.js";

export const FRAMED = location.protocol === "about:"; // in a frame of the page
export const data = JSON.parse(document.getElementById("data").textContent);
export const submissions = data.document.submissions;
export const labels = submissions.map(({ name }) => tame(name));
export const several = submissions.length > 1;
export const ofStrings = data.curves !== null; // not lists and nested values
export const FIELDS = Object.keys(data.groups);
export const BASELINE = !several ? -1 : Math.max(0, submissions.findIndex(({ name }) => name === data.document.baseline));
export const COLORS = 8; // more submissions repeat the colors with other dashes
const MANY = 8; // more submissions are only shown on request
export const hasMany = submissions.length > MANY;
export const isCompared = Object.keys(data.pairs).length > 0;
export const getPair = (baseline, place) => data.pairs[submissions[baseline]?.name]?.[submissions[place].name];

// The answers of each submission by the numbers of the questions.
const NOT_ASKED = { prediction: null, score: null, outcome: -1, sentence: "", closest: 0, similarity: null };
const readAnswer = (parts) => {
  if (!parts) return NOT_ASKED;
  const [prediction, score, outcome, sentence, closest, more] = parts;
  return { prediction, score, outcome, sentence: data.sentences[sentence], closest, similarity: score, ...more };
};
export const answers = data.answers.map(({ rows }) => rows.map(readAnswer));

// The outcomes in the order of a bar, from correct to wrong.
const BAR = ["equal", "close enough", "same value", "contains an answer", "part of an answer", "formatting", "another number", "refusal", "empty", "missing", "other"];
export const findOutcome = (name) => data.outcomes.findIndex((outcome) => outcome.name === name);
export const ORDER = BAR.map(findOutcome);

// The prefix and suffix that all names share are shown once.
const LONG_NAME = 24;
const LONG_SHARE = 8;
const SEPARATORS = "-_./ ";
const findSharedParts = (names) => {
  if (names.length < 2 || Math.max(...names.map((name) => name.length)) < LONG_NAME) return ["", ""];
  const [first] = names;
  const shortest = Math.min(...names.map((name) => name.length)) - 1;
  let begin = 0;
  while (begin < shortest && names.every((name) => name[begin] === first[begin])) begin++;
  while (begin && !SEPARATORS.includes(first[begin - 1])) begin--;
  let end = 0;
  while (end < shortest - begin && names.every((name) => name.at(-1 - end) === first.at(-1 - end))) end++;
  while (end && !SEPARATORS.includes(first.at(-end))) end--;
  return begin + end < LONG_SHARE ? ["", ""] : [first.slice(0, begin), end ? first.slice(-end) : ""];
};
export const SHARED = findSharedParts(labels);
export const names = labels.map((name) => name.slice(SHARED[0].length, name.length - SHARED[1].length));
// A name breaks after its separators.
const breakName = (name) => name.split(/(?<=[_\-./])/).flatMap((part) => [part, make("wbr")]);
export const makeName = (place) =>
  make(
    "span",
    { class: `name s${place % COLORS}`, title: names[place] === labels[place] ? undefined : labels[place] },
    make("i", { class: "dot" }),
    make("bdi", {}, breakName(names[place])),
  );

// The image or the document of a question

const ENDING = /\.(?:png|jpe?g|webp|tiff?|gif|bmp|pdf)$/i;
const stems = data.pages.map((name) => name.split(/[\\/]/).pop().replace(ENDING, ""));
export const pageName = (row) => data.pages[row];
export const pageStem = (row) => stems[row];
export const documentOf = (stem) => (stem.includes("_") ? stem.slice(0, stem.lastIndexOf("_")) : "");
