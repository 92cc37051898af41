// The data of the report: the JSON that Python wrote into the file.
import { make, tame } from "./elements.js";

export const data = JSON.parse(document.getElementById("data").textContent);
export const several = data.submissions.length > 1;
export const FIELDS = Object.keys(data.tables);
export const BASELINE = !several ? -1 : data.baseline < 0 ? 1 : data.baseline;
export const COLOURS = 8; // more submissions repeat the colours with other dashes
const MANY = 8; // more submissions are only shown on request
export const hasMany = data.submissions.length > MANY;

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
export const SHARED = findSharedParts(data.submissions);
export const names = data.submissions.map((name) => name.slice(SHARED[0].length, name.length - SHARED[1].length));
// A name breaks after its separators.
const breakName = (name) => name.split(/(?<=[_\-./])/).flatMap((part) => [part, make("wbr")]);
export const makeName = (place) =>
  make(
    "span",
    { class: `name s${place % COLOURS}`, title: names[place] === data.submissions[place] ? undefined : tame(data.submissions[place]) },
    make("i", { class: "dot" }),
    make("bdi", {}, breakName(names[place])),
  );

// The image or the document of a question

const ENDING = /\.(?:png|jpe?g|webp|tiff?|gif|bmp|pdf)$/i;
const stems = data.pages.names.map((name) => name.split(/[\\/]/).pop().replace(ENDING, ""));
export const pageName = (row) => data.pages.names[data.pages.of[row]] ?? "";
export const pageStem = (row) => stems[data.pages.of[row]] ?? "";
export const documentOf = (stem) => (stem.includes("_") ? stem.slice(0, stem.lastIndexOf("_")) : "");
