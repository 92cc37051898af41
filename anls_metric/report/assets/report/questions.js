import { data, answers, pageName } from "./data.js";
import { hasMark, countMarks, listMarks, MARK_FILTERS } from "./marks.js";
import { state, CHANGES, FILTERS, listFilters, SUSPECTED, START_SORT } from "./state.js";

const haystacks = data.ids.map(() => undefined);
const listTexts = (row) => {
  const own = answers.flatMap((rows) => [rows[row].prediction ?? "", rows[row].raw ?? ""]);
  return [data.ids[row], data.questions[row], ...data.references[row], pageName(row), ...own];
};
const joinTexts = (row) => (haystacks[row] ??= listTexts(row).join("\n").toLowerCase());
export const subtractScores = (row) => {
  if (state.second < 0) return null;
  const first = answers[state.first][row].score;
  const second = answers[state.second][row].score;
  return first === null || second === null ? null : first - second;
};
// Whether a cause costs the two submissions different points on a question
const costOf = (place, row, cause) => {
  const { score, outcome, costs = { [outcome]: 1 - score } } = answers[place]?.[row] ?? {};
  return costs[cause] ?? 0;
};
const isLostBy = (row, cause) => costOf(state.first, row, cause) !== costOf(state.second, row, cause);

const suspectRanks = new Map(data[SUSPECTED].map((id, rank) => [id, rank]));
const equals = (value, other) => JSON.stringify(value) === JSON.stringify(other);
const isListed = (rows) => {
  const found = new Set(rows);
  return (row) => found.has(row);
};
// The name of a filter -> the test of a question, given its value.
const TESTS = {
  search: (text) => {
    const words = text.toLowerCase().split(/\s+/);
    return (row) => words.every((word) => joinTexts(row).includes(word));
  },
  outcome: (name) => (row) => answers[state.first][row].outcome === name,
  lost: (outcomes) => (row) => outcomes.some((outcome) => isLostBy(row, outcome)),
  change: (change) => (row) => {
    const value = subtractScores(row);
    return value !== null && CHANGES[change](value);
  },
  group: ([field, name]) => isListed(data.groups[field][name]),
  only: () => (row) => suspectRanks.has(data.ids[row]),
  confusion: (pair) => {
    const { confusions } = data.answers[state.first];
    return isListed(confusions.find(({ predicted, accepted }) => equals([predicted, accepted], pair))?.questions);
  },
  mark: (name) => (row) => hasMark(row, name),
};
const rows = data.ids.map((_, row) => row);
// The filters with chips -> their values that a question has
const CHIPS = {
  outcome: (row) => [answers[state.first][row].outcome],
  change: (row) => {
    const value = subtractScores(row);
    return value === null ? [] : Object.keys(CHANGES).filter((name) => CHANGES[name](value));
  },
  only: (row) => (suspectRanks.has(data.ids[row]) ? [SUSPECTED] : []),
  mark: (row) => (listMarks(row).length ? listMarks(row) : MARK_FILTERS.slice(-1)),
};

const SORT_KEYS = {
  question: (row) => data.questions[row].toLowerCase() || data.ids[row],
  references: (row) => (data.references[row][0] ?? "").toLowerCase(),
  first: (row) => answers[state.first][row].score ?? -1,
  second: (row) => answers[state.second]?.[row].score ?? -1,
  difference: (row) => subtractScores(row) || Infinity * state.direction, // ties come last
};
export const isBySuspicion = () => state.only && state.sort === START_SORT;
const sortRows = (found) => {
  if (isBySuspicion()) return found.sort((a, b) => suspectRanks.get(data.ids[a]) - suspectRanks.get(data.ids[b]));
  const keys = [];
  for (const row of found) keys[row] = SORT_KEYS[state.sort](row);
  const compare = (a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : 0);
  return found.sort((a, b) => state.direction * compare(a, b) || a - b);
};

// The questions, and the number behind each chip under the other filters
const filterRows = () => {
  const tests = listFilters().map((name) => [name, TESTS[name](state[name])]);
  const counts = Object.fromEntries(Object.keys(CHIPS).map((filter) => [filter, Object.create(null)]));
  const count = (filter, row) => {
    for (const name of CHIPS[filter](row)) counts[filter][name] = (counts[filter][name] ?? 0) + 1;
  };
  const found = rows.filter((row) => {
    const failed = tests.filter(([, test]) => !test(row));
    if (!failed.length) for (const filter in CHIPS) count(filter, row);
    else if (failed.length === 1 && failed[0][0] in CHIPS) count(failed[0][0], row);
    return !failed.length;
  });
  return { found: sortRows(found), counts };
};
let last = {};
const view = () => {
  const { first, second, mark, sort, direction, open } = state;
  // A question that gets another mark stays in the list of a mark while it is open.
  const marks = mark && open >= 0 ? open : countMarks();
  const key = JSON.stringify([first, second, FILTERS.map((name) => state[name]), sort, direction, marks]);
  if (key !== last.key) last = { key, ...filterRows() };
  return last;
};
export const findRows = () => view().found;
export const countChips = () => view().counts;
