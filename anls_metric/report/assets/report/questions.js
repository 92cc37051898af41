// Filters and sorts the questions.
import { data, answers, pageName } from "./data.js";
import { hasMark, countMarks, MARK_FILTERS } from "./marks.js";
import { state, CHANGES, FILTERS, SUSPECTED } from "./state.js";

const haystacks = data.ids.map(() => undefined);
const joinTexts = (row) => {
  const own = answers.flatMap((rows) => [rows[row].prediction ?? "", rows[row].raw ?? ""]);
  const texts = [data.ids[row], data.questions[row], ...data.references[row], pageName(row), ...own];
  return (haystacks[row] ??= texts.join("\n").toLowerCase());
};
export const subtractScores = (row) => {
  if (state.second < 0) return null;
  const [first, second] = [state.first, state.second].map((place) => answers[place][row].score);
  return first === null || second === null ? null : first - second;
};
// The outcome of the answer that lost the question: of the pair, or of the only submission.
const findLost = (row) => {
  const first = answers[state.first][row];
  if (state.second < 0) return first.score !== null && first.score < 1 ? first.lowest : -1;
  const difference = subtractScores(row);
  return difference ? (difference < 0 ? first : answers[state.second][row]).lowest : -1;
};

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
  outcomes: (outcomes) => (row) => outcomes.includes(answers[state.first][row].outcome),
  lost: (outcomes) => (row) => outcomes.includes(findLost(row)),
  change: (change) => (row) => {
    const value = subtractScores(row);
    return value !== null && CHANGES[change](value);
  },
  group: ([field, name]) => {
    const place = data.groups[field].names.indexOf(name);
    return (row) => data.groups[field].of[row].includes(place);
  },
  only: () => (row) => suspectRanks.has(data.ids[row]),
  credit: (name) => isListed(data.answers[state.first].partial_credit[name]?.questions),
  confusion: (pair) => {
    const { confusions } = data.answers[state.first];
    return isListed(confusions.find(({ predicted, accepted }) => equals([predicted, accepted], pair))?.questions);
  },
  marks: (marks) => (row) => marks.some((name) => hasMark(row, name)),
};
const isEmpty = (value) => !value || value.length === 0;
const rows = data.ids.map((_, row) => row);
const filterRows = (without = "") => {
  const chosen = FILTERS.filter((name) => name !== without && !isEmpty(state[name]));
  const tests = chosen.map((name) => TESTS[name](state[name]));
  return rows.filter((row) => tests.every((test) => test(row)));
};

const SORT_KEYS = {
  question: (row) => data.questions[row].toLowerCase() || data.ids[row],
  references: (row) => (data.references[row][0] ?? "").toLowerCase(),
  first: (row) => answers[state.first][row].score ?? -1,
  second: (row) => answers[state.second]?.[row].score ?? -1,
  difference: (row) => subtractScores(row) ?? 9,
};
const sortRows = (found) => {
  if (state.only) return found.sort((a, b) => suspectRanks.get(data.ids[a]) - suspectRanks.get(data.ids[b]));
  const keys = new Map(found.map((row) => [row, SORT_KEYS[state.sort](row)]));
  const compare = (a, b) => (keys.get(a) < keys.get(b) ? -1 : keys.get(a) > keys.get(b) ? 1 : 0);
  return found.sort((a, b) => state.direction * compare(a, b) || a - b);
};

const memoize = (compute) => {
  let [last, result] = [undefined, undefined];
  return () => {
    const { first, second, marks, sort, direction, open } = state;
    // A question that gets another mark stays in the list of a mark while it is open.
    const mark = marks.length && open >= 0 ? open : countMarks();
    const key = JSON.stringify([first, second, FILTERS.map((name) => state[name]), sort, direction, mark]);
    if (key !== last) [last, result] = [key, compute()];
    return result;
  };
};
export const findRows = memoize(() => sortRows(filterRows()));
// The number of questions that a click on a chip gives
export const countChips = memoize(() => {
  const count = (filter, listNames) => {
    const counts = {};
    for (const row of filterRows(filter)) for (const name of listNames(row)) counts[name] = (counts[name] ?? 0) + 1;
    return counts;
  };
  const listChanges = (row) => {
    const value = subtractScores(row);
    return value === null ? [] : Object.keys(CHANGES).filter((name) => CHANGES[name](value));
  };
  return {
    outcomes: count("outcomes", (row) => [answers[state.first][row].outcome]),
    change: state.second < 0 ? {} : count("change", listChanges),
    only: count("only", (row) => (suspectRanks.has(data.ids[row]) ? [SUSPECTED] : [])),
    marks: count("marks", (row) => MARK_FILTERS.filter((name) => hasMark(row, name))),
  };
});
