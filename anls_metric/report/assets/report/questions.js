// Filters and sorts the questions.
import { data, answers, pageName, pageStem, documentOf } from "./data.js";
import { hasMark, countMarks } from "./marks.js";
import { state, CHANGES, FILTERS, SUSPECTED } from "./state.js";

const haystacks = data.ids.map(() => undefined);
const joinTexts = (row) =>
  (haystacks[row] ??= [data.ids[row], data.questions[row], ...data.references[row], pageName(row), ...answers.flatMap((rows) => [rows[row].prediction ?? "", rows[row].raw ?? ""])]
    .join("\n")
    .toLowerCase());
// The texts for the search are prepared while the browser is idle.
export const prepareSearch = (row = 0) => {
  const prepare = (deadline) => {
    let next = row;
    while (next < data.ids.length && deadline.timeRemaining() > 2) for (const end = next + 100; next < end && next < data.ids.length; next++) joinTexts(next);
    if (next < data.ids.length) prepareSearch(next);
  };
  globalThis.requestIdleCallback?.(prepare);
};
export const subtractScores = (row) => {
  if (state.second < 0) return null;
  const [first, second] = [state.first, state.second].map((place) => answers[place][row].score);
  return first === null || second === null ? null : first - second;
};

// In the search, doc:NAME finds a page, or the document before the last _ of its name.
const DOCUMENT = /(?:^|\s)doc:(?:"([^"]*)"|(\S+))/gi;
export const formatDocument = (name) => (/[\s"]/.test(name) ? `doc:"${name}"` : `doc:${name}`);
const splitSearch = (text) => {
  const documents = [...text.matchAll(DOCUMENT)].map(([, quoted, plain]) => (quoted ?? plain).toLowerCase());
  return { documents, words: text.replace(DOCUMENT, " ").toLowerCase().trim() };
};
const isOfDocument = (row, name) => {
  const stem = pageStem(row).toLowerCase();
  return stem === name || (stem !== "" && documentOf(stem) === name);
};
export const countOfDocument = (name) => {
  let count = 0;
  for (let row = 0; row < data.ids.length; row++) if (isOfDocument(row, name.toLowerCase())) count++;
  return count;
};

const suspectRanks = new Map(data[SUSPECTED].map(({ id }, rank) => [id, rank]));
export const equals = (value, other) => JSON.stringify(value) === JSON.stringify(other);
const listTests = () => {
  const { documents, words } = splitSearch(state.search);
  const [first, second] = [answers[state.first], answers[state.second]];
  const { partial_credit: credit, confusions } = data.answers[state.first];
  const tests = [];
  const testRows = (rows) => {
    const found = new Set(rows);
    tests.push((row) => found.has(row));
  };
  if (state.outcomes.length) tests.push((row) => state.outcomes.includes(first[row].outcome));
  if (state.before.length && second) tests.push((row) => state.before.includes(second[row].outcome));
  if (state.change) {
    tests.push((row) => {
      const value = subtractScores(row);
      return value !== null && CHANGES[state.change](value);
    });
  }
  if (state.group) {
    const [field, name] = state.group;
    const place = data.groups[field].names.indexOf(name);
    tests.push((row) => data.groups[field].of[row].includes(place));
  }
  if (state.only) tests.push((row) => suspectRanks.has(data.ids[row]));
  if (state.credit) testRows(credit[state.credit].questions);
  if (state.confusion) testRows(confusions.find(({ predicted, accepted }) => equals([predicted, accepted], state.confusion))?.questions);
  if (state.marks.length) tests.push((row) => state.marks.some((name) => hasMark(row, name)));
  if (state.range) {
    const [low, high] = state.range;
    tests.push((row) => {
      const value = first[row].similarity; // before the threshold
      return value !== null && value >= low && (value < high || (value === 1 && high >= 1));
    });
  }
  for (const name of documents) tests.push((row) => isOfDocument(row, name));
  if (words) tests.push((row) => joinTexts(row).includes(words));
  return tests;
};

const collator = new Intl.Collator("en", { numeric: true });
export const sortNames = (texts) => [...texts].sort(collator.compare);
let idRanks;
const rankOfId = (row) => {
  if (!idRanks) {
    idRanks = new Uint32Array(data.ids.length);
    const places = data.ids.map((_, place) => place).sort((a, b) => collator.compare(data.ids[a], data.ids[b]));
    places.forEach((place, rank) => (idRanks[place] = rank));
  }
  return idRanks[row];
};
const SORT_KEYS = {
  id: rankOfId,
  question: (row) => data.questions[row].toLowerCase(),
  first: (row) => answers[state.first][row].score ?? -1,
  second: (row) => answers[state.second]?.[row].score ?? -1,
  difference: (row) => subtractScores(row) ?? 9,
  outcome: (row) => answers[state.first][row].outcome,
  [SUSPECTED]: (row) => suspectRanks.get(data.ids[row]) ?? suspectRanks.size,
};
const sortRows = (rows) => {
  const { direction } = state;
  const keyOf = SORT_KEYS[state.sort];
  const keys = new Array(data.ids.length);
  for (const row of rows) keys[row] = keyOf(row);
  return rows.sort((a, b) => (keys[a] < keys[b] ? -direction : keys[a] > keys[b] ? direction : a - b));
};

let lastKey;
let lastRows = [];
export const findRows = () => {
  const { first, second, marks, sort, direction, open } = state;
  // A question that gets another mark stays in the list of a mark while it is open.
  const mark = marks.length && (open < 0 ? countMarks() : open);
  const key = JSON.stringify([first, second, FILTERS.map((name) => state[name]), sort, direction, mark]);
  if (key === lastKey) return lastRows;
  const tests = listTests();
  const rows = [];
  for (let row = 0; row < data.ids.length; row++) if (tests.every((test) => test(row))) rows.push(row);
  [lastKey, lastRows] = [key, sortRows(rows)];
  return lastRows;
};

let counts = {};
// Count the questions that each filter of the pair would show.
export const countPair = () => {
  const pair = `${state.first} ${state.second}`;
  if (counts.pair === pair) return counts;
  const [first, second] = [answers[state.first], answers[state.second]];
  const table = data.outcomes.map(() => data.outcomes.map(() => 0)); // outcome before -> outcome after -> questions
  counts = { pair, outcomes: data.outcomes.map(() => 0), before: data.outcomes.map(() => 0), changes: {}, table };
  for (const { outcome } of first) if (outcome >= 0) counts.outcomes[outcome]++;
  if (!second) return counts;
  const values = [];
  for (let row = 0; row < data.ids.length; row++) {
    const [before, after] = [second[row].outcome, first[row].outcome];
    if (before >= 0) counts.before[before]++;
    if (before >= 0 && after >= 0) table[before][after]++;
    const value = subtractScores(row);
    if (value !== null) values.push(value);
  }
  for (const [name, test] of Object.entries(CHANGES)) counts.changes[name] = values.filter(test).length;
  return counts;
};
