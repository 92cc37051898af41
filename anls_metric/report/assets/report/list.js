// The list of questions, its filters, and the open question.
import { make, makeFilter, makeSelect, markHidden, shorten, tame, formatConfusion, makeBadge, countNoun, formatCount } from "./elements.js";
import { data, answers, several, names, makeName, pageStem, ORDER } from "./data.js";
import { countMarks, listMarks } from "./marks.js";
import { state, update, chooseFirst, chooseSecond, chooseSuspected, makeUrls, isFiltered, NO_FILTERS, PARTIAL_CREDIT, SORTS } from "./state.js";
import { findRows, countPair, subtractScores, sortNames } from "./questions.js";
import { drawQuestion } from "./question.js";

export const PAGE = 50;
const MAX_NAMES = 500; // names of a field in the dropdown; the table of groups has all of them

// Filters

const toggle = (places, place) => (places.includes(place) ? places.filter((other) => other !== place) : [...places, place]);
const makeChip = (key, name, count, isPressed, act, style) =>
  makeFilter(key, `${name}: ${countNoun(count, "question")}`, isPressed, act, [style && make("i", { class: style }), name, make("b", {}, formatCount(count))].filter(Boolean), "chip");
const makeOutcomeChips = (key, counts) =>
  ORDER.filter((outcome) => counts[outcome]).map((outcome) =>
    makeChip(`${key} ${outcome}`, data.outcomes[outcome].name, counts[outcome], state[key].includes(outcome), () => update({ [key]: toggle(state[key], outcome) }), `o${outcome}`),
  );
const makeGroup = (id, label, chips) => (chips.length ? make("div", { id, class: "chips", role: "group", "aria-label": label }, chips) : null);
const makeActive = (key, label, changes) => makeFilter(`active ${key}`, `${label}: remove this filter`, true, () => update(changes), [label, make("b", { "aria-hidden": "true" }, "×")], "chip");
export const drawFilters = () => {
  const counts = countPair();
  const active = [];
  if (state.group) active.push(makeActive("group", tame(state.group.join(": ")), { group: null }));
  if (state.only) active.push(makeActive("only", "suspected label errors", chooseSuspected(false)));
  if (state.confusion) active.push(makeActive("confusion", formatConfusion(state.confusion), { confusion: null }));
  const changes = Object.entries(counts.changes).map(([name, number]) => makeChip(`change ${name}`, name, number, state.change === name, () => update({ change: state.change === name ? "" : name })));
  return [
    makeGroup("outcomes-of", `Outcomes of ${names[state.first]}`, makeOutcomeChips("outcomes", counts.outcomes)),
    state.before.length ? make("p", { class: "said" }, "outcomes of the baseline ", make("bdi", {}, names[state.second] ?? "")) : null,
    state.before.length ? makeGroup("before", "Outcomes of the baseline", makeOutcomeChips("before", counts.before)) : null,
    makeGroup("changes", "Differences", changes),
    makeGroup("credit", `Partial credit of ${names[state.first]}`, drawCreditChips()),
    makeGroup("active", "Other filters", active),
    makeGroup("marks", "Reviewed questions", drawMarkChips()),
  ];
};
const drawCreditChips = () =>
  Object.entries(data.answers[state.first].partial_credit).filter(([, { questions }]) => questions.length).map(([name, { questions }]) => makeChip(`credit ${name}`, PARTIAL_CREDIT[name], questions.length, state.credit === name, () => update({ credit: state.credit === name ? "" : name })));
const drawMarkChips = () =>
  Object.entries(countMarks()).filter(([name, count]) => count || state.marks.includes(name)).map(([name, count]) => makeChip(`mark filter ${name}`, name, count, state.marks.includes(name), () => update({ marks: toggle(state.marks, name) }), "marked"));
export const drawPicks = () => {
  const choices = names.map((name, place) => [place, name]);
  const fields = Object.keys(data.groups).filter((field) => data.groups[field].of.length && data.groups[field].names.length <= MAX_NAMES);
  const parts = [];
  if (several) {
    parts.push(
      make("label", { class: "pick" }, "answers of ", makeSelect("first", "answers of", choices, state.first, (value) => update(chooseFirst(Number(value))))),
      make("label", { class: "pick" }, "against ", makeSelect("second", "against", [[-1, "none"], ...choices], state.second, (value) => update(setSecond(Number(value))))),
    );
  }
  if (fields.length) {
    const select = make("select", { id: "group", "data-key": "group", "aria-label": "group", onchange: (event) => update({ group: event.target.value ? JSON.parse(event.target.value) : null }) }, make("option", { value: "" }, "all"));
    for (const field of fields) {
      const options = sortNames(data.groups[field].names).map((name) => make("option", { value: JSON.stringify([field, name]) }, tame(name)));
      select.append(make("optgroup", { label: tame(field) }, options));
    }
    select.value = state.group ? JSON.stringify(state.group) : "";
    parts.push(make("label", { class: "pick" }, "group ", select));
  }
  return parts;
};
const setSecond = (second) => {
  if (second >= 0) return chooseSecond(second);
  const isSorted = ["second", "difference"].includes(state.sort);
  return { second, change: "", before: [], ...(isSorted ? { sort: "first", direction: 1 } : {}) };
};
export const describeCount = () => {
  const [found, all] = [findRows().length, data.ids.length];
  const noun = all === 1 ? "question" : "questions";
  return isFiltered() ? `${formatCount(found)} of ${formatCount(all)} ${noun}` : `${formatCount(all)} ${noun}`;
};

// The table

const sortBy = (key) => update({ sort: key, direction: state.sort === key ? -state.direction : 1 });
const drawHead = () => {
  const titles = { id: "id", question: "question", first: names[state.first], second: names[state.second], difference: "difference", outcome: "outcome" };
  const keys = SORTS.filter((key) => state.second >= 0 || !["second", "difference"].includes(key));
  const cells = keys.map((key) => {
    const sorted = state.sort !== key ? "none" : state.direction > 0 ? "ascending" : "descending";
    const style = ["first", "second"].includes(key) ? "answer" : key;
    return make("th", { scope: "col", class: `of-${style}`, "aria-sort": sorted }, make("button", { "data-key": `sort ${key}`, onclick: () => sortBy(key) }, make("bdi", {}, titles[key])));
  });
  return make("tr", {}, cells);
};
const makeAnswerCell = (place, row) => {
  const { prediction, score } = answers[place][row];
  const text = prediction === null ? make("span", { class: "nothing" }, score === null ? "not asked" : "no answer") : prediction === "" ? make("span", { class: "nothing" }, "empty") : shorten(prediction);
  return make("td", {}, make("div", { class: "answer" }, makeName(place), makeBadge(score, 2), text));
};
const drawRow = (row, urlOf) => {
  const isOpen = row === state.open;
  const act = () => update({ open: isOpen ? -1 : row }, { focus: row });
  const link = make("a", { href: urlOf(row), "aria-expanded": String(isOpen), "data-key": `question ${row}`, "data-row": row, dir: "auto" }, markHidden(data.ids[row] || " "));
  const stem = pageStem(row);
  const isShown = stem && stem !== data.ids[row];
  const cells = [make("th", { scope: "row" }, link, isShown ? make("small", { class: "stem" }, make("bdi", {}, tame(stem))) : null), make("td", {}, shorten(data.questions[row])), makeAnswerCell(state.first, row)];
  if (state.second >= 0) {
    const value = subtractScores(row);
    cells.push(makeAnswerCell(state.second, row), make("td", { class: value ? "of-difference" : "of-difference nil" }, value === null ? "-" : `${value > 0 ? "+" : ""}${value.toFixed(2)}`));
  }
  const { outcome } = answers[state.first][row];
  const marks = listMarks(row);
  cells.push(make("td", { class: "outcome" }, outcome >= 0 && make("i", { class: `o${outcome}` }), data.outcomes[outcome]?.name ?? "not asked", marks.length > 0 && make("small", { class: "mark" }, marks.join(", "))));
  const line = make("tr", { class: isOpen ? "row open" : "row" }, cells);
  line.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (String(getSelection()) && !event.target.closest("a")) return;
    event.preventDefault();
    act();
  });
  return isOpen ? [line, make("tr", { class: "detail" }, make("td", { colspan: cells.length }, drawQuestion(row, stepBy)))] : [line];
};
const MAX_PRINTED = 1000; // questions in a print
// A print has the open question, or all filtered questions.
export const drawList = (isPaper = false) => {
  const urlOf = makeUrls();
  const all = findRows();
  const rows = !isPaper ? all.slice(state.page * PAGE, (state.page + 1) * PAGE) : state.open >= 0 ? [state.open] : all.slice(0, MAX_PRINTED);
  return [make("caption", { class: "hidden" }, "Questions"), make("thead", {}, drawHead()), make("tbody", {}, rows.flatMap((row) => drawRow(row, urlOf)))];
};
export const countPages = () => Math.max(1, Math.ceil(findRows().length / PAGE));

// The open question is in the list, on the visible page.
export const keepOpenInList = (changes) => {
  if ("open" in changes && state.open >= 0) {
    if (!findRows().includes(state.open)) Object.assign(state, NO_FILTERS);
    state.page = Math.floor(findRows().indexOf(state.open) / PAGE);
  } else if (state.open >= 0) {
    const place = findRows().indexOf(state.open);
    if (place < 0) state.open = -1;
    else if (!("page" in changes)) state.page = Math.floor(place / PAGE);
    else if (Math.floor(place / PAGE) !== state.page) state.open = -1;
  }
  state.page = Math.min(Math.max(state.page, 0), countPages() - 1);
};
export const stepBy = (by) => {
  const rows = findRows();
  const place = rows.indexOf(state.open);
  const next = place < 0 ? (by > 0 ? state.page * PAGE : -1) : place + by;
  if (next >= 0 && next < rows.length) update({ open: rows[next] }, { isNew: false, focus: rows[next] });
};
