// The choices of the reader. The URL holds all of them, and everything on the page depends on them.
import { MARK_FILTERS } from "./marks.js";
import { data, labels, several, ofStrings, names, findOutcome, BASELINE, FIELDS, FRAMED } from "./data.js";

const START = {
  open: -1, // the row of the open question
  first: BASELINE === 0 ? 1 : 0, // a difference is the score of the first minus the score of the second
  second: BASELINE, // -1: none
  search: "",
  outcomes: [], // filter by outcomes of the first
  before: [], // filter by outcomes of the second
  change: "",
  group: null, // [field, name]
  only: "",
  credit: "", // format loss or wrong-number credit of the first
  confusion: null, // [predicted, accepted] in answers of the first
  range: null, // [low, high] of the similarity of the first
  marks: [], // names of marks
  sort: "first",
  direction: 1,
  page: 0,
  look: "outcomes", // the visible panel
  field: FIELDS[0] ?? "", // the field of the visible groups
  rank: "name", // the sort key of the groups
  all: false, // whether long lists are shown completely
};
export const state = { ...START, unknown: "" };
// The parts of partial credit -> their label. Python says which questions count.
export const PARTIAL_CREDIT = { format_loss: "format loss", wrong_number_credit: "wrong-number credit" };
// The confusions of all submissions, by their parameter in the URL.
const CONFUSIONS = new Map(data.answers.flatMap(({ confusions }) => confusions).map(({ predicted, accepted }) => [JSON.stringify([predicted, accepted]), [predicted, accepted]]));
export const SUSPECTED = "suspected_label_errors"; // the name of a panel, a filter and an order
export const SORTS = ["id", "question", "first", "second", "difference", "outcome"];
export const CHANGES = {
  wins: (value) => value > 0,
  losses: (value) => value < 0,
  different: (value) => value !== 0,
  same: (value) => value === 0,
};
export const RANKS = ["name", "questions", "mean", "difference"];

// The URL: #q-ID?name=value&...

const wellForm = (text) => text.toWellFormed?.() ?? text;
const isOneOf = (values) => (text) => (values.includes(text) ? text : undefined);
const isSigned = (values) => (text) => (values.includes(text.replace(/^-/, "")) ? text : undefined);
const findSubmission = (text) => {
  const place = labels.map(wellForm).indexOf(text);
  return place < 0 ? undefined : place;
};
const listOutcomes = {
  format: (places) => places.map((place) => data.outcomes[place].name).join(","),
  parse: (text) => {
    const places = text.split(",").map(findOutcome);
    return places.includes(-1) ? undefined : places;
  },
};
const asText = { format: String, parse: (text) => text };
// The name of a parameter -> the property of the state, how to write it, and how to read it (undefined: unknown).
const PARAMETERS = {
  first: { key: "first", format: (place) => wellForm(labels[place]), parse: findSubmission },
  against: { key: "second", format: (place) => (place < 0 ? "" : wellForm(labels[place])), parse: (text) => (text === "" ? -1 : findSubmission(text)) },
  search: { key: "search", format: wellForm, parse: (text) => text },
  outcome: { key: "outcomes", ...listOutcomes },
  before: { key: "before", ...listOutcomes },
  change: { key: "change", ...asText, parse: isOneOf(several ? Object.keys(CHANGES) : []) },
  group: {
    key: "group",
    format: ([field, name]) => wellForm(`${field}:${name}`),
    parse: (text) => {
      const field = FIELDS.find((name) => text.startsWith(`${wellForm(name)}:`));
      const found = field && data.groups[field].names.find((name) => wellForm(name) === text.slice(field.length + 1));
      return found === undefined ? undefined : [field, found];
    },
  },
  mark: {
    key: "marks",
    format: (names) => names.join(","),
    parse: (text) => (text.split(",").every((name) => MARK_FILTERS.includes(name)) ? text.split(",") : undefined),
  },
  similarity: {
    key: "range",
    format: (range) => range.join("-"),
    parse: (text) => {
      const [, ...range] = (/^(\d(?:\.\d+)?)-(\d(?:\.\d+)?)$/.exec(text) ?? [""]).map(Number);
      return range.length && range[0] <= range[1] ? range : undefined;
    },
  },
  only: { key: "only", ...asText, parse: isOneOf([SUSPECTED]) },
  partial_credit: { key: "credit", ...asText, parse: isOneOf(ofStrings ? Object.keys(PARTIAL_CREDIT) : []) },
  confusion: { key: "confusion", format: JSON.stringify, parse: (text) => CONFUSIONS.get(text) },
  sort: { key: "sort", ...asText, parse: isSigned([...SORTS, SUSPECTED]) },
  page: { key: "page", format: (page) => String(page + 1), parse: (text) => (/^[1-9]\d{0,6}$/.test(text) ? Number(text) - 1 : undefined) },
  look: { key: "look", ...asText },
  by: { key: "field", format: wellForm, parse: (text) => FIELDS.find((field) => wellForm(field) === text) },
  rank: { key: "rank", ...asText, parse: isSigned(RANKS) },
  all: { key: "all", format: () => "1", parse: (text) => text === "1" || undefined },
};
const ids = new Map();
data.ids.forEach((id, row) => ids.set(wellForm(id), row));

const formatQuestion = (row) => (row < 0 ? "" : `q-${encodeURIComponent(wellForm(data.ids[row]))}`);
const formatQuery = (view) => {
  const values = { ...view, sort: (view.direction < 0 ? "-" : "") + view.sort };
  const parameters = new URLSearchParams();
  for (const [name, { key, format }] of Object.entries(PARAMETERS)) {
    if (JSON.stringify(values[key]) !== JSON.stringify(START[key])) parameters.set(name, format(values[key]));
  }
  const query = String(parameters);
  return query && `?${query}`;
};
export const formatUrl = (changes = {}) => {
  const view = { ...state, ...changes };
  return `#${formatQuestion(view.open)}${formatQuery(view)}`;
};
// The URLs of many questions with one state.
export const makeUrls = () => {
  const query = formatQuery(state);
  return (row) => `#${formatQuestion(row)}${query}`;
};
const parseUrl = (hash) => {
  const found = { ...START, unknown: "" };
  const [, question, query] = /^#?([^?]*)\??(.*)$/s.exec(hash);
  if (question && !question.startsWith("q-")) return null; // a place on the page
  if (question) {
    try {
      const id = decodeURIComponent(question.slice(2));
      found.open = ids.get(id) ?? -1;
      if (found.open < 0) found.unknown = `The report has no question “${id}”.`;
    } catch {
      found.unknown = "The URL of the question is damaged.";
    }
  }
  for (const [name, text] of new URLSearchParams(query)) {
    const parameter = PARAMETERS[name];
    const value = parameter?.parse(text);
    if (value === undefined) found.unknown ||= `The report does not know “${name}=${text}” of the URL.`;
    else found[parameter.key] = value;
  }
  if (found.sort.startsWith("-")) [found.sort, found.direction] = [found.sort.slice(1), -1];
  if (found.first === found.second) found.second = found.first === START.second ? START.first : START.second;
  return found;
};

const PAUSE = 250; // milliseconds between two characters of one search; the browser takes 30 ms to write a URL
let timer;
let lastTyped = 0;
let listener = () => {};
let shownUrl = location.hash;
const show = (isNew) => {
  const hash = formatUrl();
  if (hash === (shownUrl || "#")) return;
  shownUrl = hash === "#" ? "" : hash;
  const url = FRAMED ? location.href.split("#")[0] + hash : shownUrl || location.pathname + location.search;
  try {
    history[isNew ? "pushState" : "replaceState"](null, "", url);
  } catch {
    // a frame without its own URL
  }
  if (FRAMED) parent.postMessage({ type: "anls-report-state", hash: shownUrl }, "*");
};
export const FILTERS = ["search", "outcomes", "before", "change", "group", "only", "credit", "confusion", "marks", "range"];
export const NO_FILTERS = Object.fromEntries(FILTERS.map((key) => [key, START[key]]));
export const isFiltered = () => FILTERS.some((key) => state[key] && String(state[key]) !== "");

// Change the state, and update the page. `isNew` adds an entry to the history for the Back button. While the reader types,
// the URL is written after a pause.
export const update = (changes, { isNew = true, focus, isTyped = false } = {}) => {
  clearTimeout(timer);
  const isOther = ["first", "second", "sort", "direction", ...FILTERS].some((key) => key in changes);
  Object.assign(state, isOther && !("page" in changes) ? { page: 0 } : {}, { unknown: "" }, changes);
  listener(changes, focus);
  const isOneSearch = isTyped && performance.now() - lastTyped < PAUSE;
  if (isTyped) lastTyped = performance.now();
  if (isOneSearch) timer = setTimeout(() => show(false), PAUSE);
  else show(isNew);
};
export const redraw = (focus) => listener({}, focus);
export const follow = (hash) => {
  const found = parseUrl(hash);
  if (!found) return;
  Object.assign(state, found);
  shownUrl = hash;
  listener(found.open >= 0 ? { open: found.open } : {});
  if (!state.unknown) show(false);
};
// Suspected label errors are in the order of their panel: those with the most submissions first.
export const chooseSuspected = (isChosen) => ({ only: isChosen ? SUSPECTED : "", sort: isChosen ? SUSPECTED : START.sort, direction: 1 });
// A submission is never compared with itself: the two are swapped.
export const chooseFirst = (first) => ({ first, second: first === state.second ? state.first : state.second });
export const chooseSecond = (second) => {
  if (second !== state.first) return { second };
  const other = state.second < 0 ? [...names.keys()].find((place) => place !== second) : state.second;
  return { second, first: other };
};
export const baselineOf = () => (state.second < 0 ? BASELINE : state.second);
export const begin = (draw) => {
  listener = draw;
  const followLocation = () => {
    if (location.hash !== shownUrl) follow(location.hash);
  };
  addEventListener("hashchange", followLocation);
  addEventListener("popstate", followLocation);
  follow(FRAMED ? document.documentElement.dataset.hash ?? "" : location.hash); // the page writes data-hash
};
