// The choices of the reader, which the URL holds
import { MARK_FILTERS } from "./marks.js";
import { data, labels, several, names, submissions, OUTCOMES, BASELINE, FIELDS, FRAMED } from "./data.js";

const ABOUT = submissions.findIndex(({ name }) => name === data.about); // what the claims are about
export const START_SORT = BASELINE < 0 ? "first" : "difference";
const START = {
  open: -1,
  first: Math.max(ABOUT, 0), // a difference is first minus second, the baseline
  second: BASELINE, // -1: none
  search: "",
  outcome: "",
  lost: [],
  change: "",
  group: null, // [field, name]
  only: "",
  confusion: null,
  mark: "",
  sort: START_SORT,
  direction: 1,
  page: 0,
  models: "",
  order: "",
  look: "",
  field: data.first_field,
  whole: "",
};
export const state = { ...START, unknown: "" };
export const SUSPECTED = "suspected_label_errors";
export const SORTS = ["question", "references", "first", "second", "difference"];
export const CHANGES = {
  losses: (value) => value < 0,
  wins: (value) => value > 0,
  different: (value) => value !== 0,
  same: (value) => value === 0,
};
// The confusions of all submissions, by their parameter in the URL
const CONFUSIONS = new Map(
  data.answers
    .flatMap(({ confusions }) => confusions)
    .map(({ predicted, accepted }) => [JSON.stringify([predicted, accepted]), [predicted, accepted]]),
);

// The URL: #q-ID?name=value&...

const wellForm = (text) => text.toWellFormed(); // an id may have half a character
const isOneOf = (values) => (text) => (values.includes(text) ? text : undefined);
const findSubmission = (text) => {
  const place = labels.indexOf(text);
  return place < 0 ? undefined : place;
};
const parseOutcomes = (text) => {
  const outcomes = text.split(",");
  return outcomes.every((name) => OUTCOMES.includes(name)) ? outcomes : undefined;
};
const parseGroup = (text) => {
  const field = FIELDS.find((name) => text.startsWith(`${name}:`));
  const name = field && Object.keys(data.groups[field]).find((each) => each === text.slice(field.length + 1));
  return name === undefined ? undefined : [field, name];
};
// The name of a parameter -> the property of the state, and how to write and read it
const PARAMETERS = {
  first: { key: "first", format: (place) => labels[place], parse: findSubmission },
  against: {
    key: "second",
    format: (place) => (place < 0 ? "" : labels[place]),
    parse: (text) => (text === "" ? -1 : findSubmission(text)),
  },
  search: { key: "search" },
  outcome: { key: "outcome", parse: isOneOf(OUTCOMES) },
  lost: { key: "lost", parse: parseOutcomes },
  change: { key: "change", parse: isOneOf(several ? Object.keys(CHANGES) : []) },
  group: { key: "group", format: ([field, name]) => `${field}:${name}`, parse: parseGroup },
  mark: { key: "mark", parse: isOneOf(MARK_FILTERS) },
  only: { key: "only", parse: isOneOf([SUSPECTED]) },
  confusion: { key: "confusion", format: JSON.stringify, parse: (text) => CONFUSIONS.get(text) },
  sort: { key: "sort", parse: (text) => (SORTS.includes(text.replace(/^-/, "")) ? text : undefined) },
  page: { key: "page", format: (page) => page + 1, parse: (text) => Math.max(parseInt(text, 10) - 1, 0) || 0 },
  models: { key: "models" },
  order: { key: "order", parse: isOneOf(["files"]) },
  look: { key: "look", parse: isOneOf(["confusions"]) },
  by: { key: "field", parse: (text) => FIELDS.find((field) => field === text) },
};
const rowsById = new Map(data.ids.map((id, row) => [wellForm(id), row]));

const formatQuestion = (row) => (row < 0 ? "" : `q-${encodeURIComponent(wellForm(data.ids[row]))}`);
const formatQuery = (view) => {
  const values = { ...view, sort: (view.direction < 0 ? "-" : "") + view.sort };
  const parameters = new URLSearchParams();
  for (const [name, { key, format = String }] of Object.entries(PARAMETERS)) {
    if (JSON.stringify(values[key]) !== JSON.stringify(START[key])) parameters.set(name, format(values[key]));
  }
  const query = String(parameters);
  return query && `?${query}`;
};
export const formatUrl = (changes = {}) => {
  const view = { ...state, ...changes };
  return `#${formatQuestion(view.open)}${formatQuery(view)}`;
};
const findQuestion = (text) => {
  const id = new URLSearchParams(`id=${text.replaceAll("+", "%2B")}`).get("id");
  return rowsById.has(id) ? { open: rowsById.get(id) } : { unknown: `The report has no question “${id}”.` };
};
const parseUrl = (hash) => {
  const [, question, query] = /^#?([^?]*)\??(.*)$/s.exec(hash);
  if (question && !question.startsWith("q-")) return null; // a place in the report
  const found = { ...START, unknown: "", ...(question ? findQuestion(question.slice(2)) : {}) };
  for (const [name, text] of new URLSearchParams(query)) {
    const { key, parse = String } = PARAMETERS[name] ?? {};
    const value = key && parse(text);
    if (value === undefined) found.unknown ||= `The URL has an unknown setting: “${name}=${text}”.`;
    else found[key] = value;
  }
  if (found.sort.startsWith("-")) [found.sort, found.direction] = [found.sort.slice(1), -1];
  if (found.first === found.second) found.second = found.first === START.second ? START.first : START.second;
  return found;
};

let listener = () => {};
let shownUrl = location.hash;
const show = (isNew) => {
  const hash = formatUrl();
  if (hash === (shownUrl || "#")) return;
  shownUrl = hash === "#" ? "" : hash;
  try {
    history[isNew ? "pushState" : "replaceState"](null, "", shownUrl || location.pathname + location.search);
  } catch {
    // a frame without its own URL
  }
  if (FRAMED) parent.postMessage({ type: "anls-report-state", hash: shownUrl }, "*");
};
export const FILTERS = ["search", "outcome", "lost", "change", "group", "only", "confusion", "mark"];
export const NO_FILTERS = Object.fromEntries(FILTERS.map((key) => [key, START[key]]));
export const listFilters = () => FILTERS.filter((key) => state[key] && state[key].length !== 0);

// Change the state. A new view is an entry in the history, and a typed letter is none.
export const update = (changes, { focus, isTyped = false } = {}) => {
  const isOther = ["first", "second", "sort", "direction", ...FILTERS].some((key) => key in changes);
  Object.assign(state, isOther && !("page" in changes) ? { page: 0 } : {}, { unknown: "" }, changes);
  listener(changes, focus);
  show(!isTyped);
};
// List the questions behind a number, without the other filters.
export const showQuestions = (changes) => update({ ...NO_FILTERS, open: -1, ...changes }, { focus: "questions" });
export const redraw = (focus) => listener({}, focus);
const follow = (hash) => {
  const found = parseUrl(hash);
  if (!found) return;
  Object.assign(state, found);
  shownUrl = hash;
  listener(found.open >= 0 ? { open: found.open } : {});
  if (!state.unknown) show(false);
};
// A submission is never compared with itself: the two are swapped.
export const choosePair = (changes) => {
  const { first, second } = { ...state, ...changes };
  if (first !== second) return { first, second };
  if ("first" in changes) return { first, second: state.first };
  return { second, first: state.second < 0 ? [...names.keys()].find((place) => place !== second) : state.second };
};
export const begin = (draw) => {
  listener = draw;
  const followLocation = () => location.hash !== shownUrl && follow(location.hash);
  addEventListener("hashchange", followLocation);
  addEventListener("popstate", followLocation);
  follow(FRAMED ? (document.documentElement.dataset.hash ?? "") : location.hash); // the web app writes data-hash
};
