// The list of questions, its filters, and the open question.
import { make, makeFilter, shorten, tame, formatCount, countNoun } from "./elements.js";
import { data, answers, several, names, makeName, pageStem, describeOutcome, OUTCOMES, FRAMED } from "./data.js";
import { makeBadge, formatDifference } from "./formats.js";
import { countMarks, listMarks, MARK_FILTERS } from "./marks.js";
import { state, update, formatUrl, listFilters, NO_FILTERS, CHANGES, SORTS, SUSPECTED } from "./state.js";
import { findRows, countChips, subtractScores, isBySuspicion } from "./questions.js";
import { formatConfusion } from "./confusions.js";
import { drawQuestion } from "./question.js";
import { listWrong } from "./edits.js";

const PAGE = 50;

const NAMES = { different: "scores differ", same: "same score" };
const makeChips = (filter, options) => {
  const counts = countChips()[filter];
  return options.map((name) => {
    const isPressed = state[filter] === name;
    const act = () => update({ [filter]: isPressed ? "" : name });
    const content = [NAMES[name] ?? name.replaceAll("_", " "), " ", make("b", formatCount(counts[name] ?? 0))];
    return (counts[name] || isPressed) && makeFilter(`${filter} ${name}`, isPressed, act, content, "chip");
  });
};
const makeActive = (key, label, changes) => {
  const content = [label, make("b", { "aria-hidden": "true" }, " ×")];
  return makeFilter(`active ${key}`, true, () => update(changes), content, "chip");
};
const listActive = () => {
  const lost = state.lost.join(", ");
  return [
    lost && makeActive("lost", `lost to: ${lost}`, { lost: [] }),
    state.group && makeActive("group", tame(state.group.join(": ")), { group: null }),
    state.confusion && makeActive("confusion", formatConfusion(state.confusion), { confusion: null }),
  ];
};
export const drawFilters = () => {
  const makeRow = (id, label, ...chips) =>
    chips.flat().some(Boolean) &&
    make("div.chips", { id, role: "group", "aria-label": label }, make("span.said", `${label}:`), chips);
  const changes = makeChips("change", Object.keys(CHANGES));
  const between = state.second < 0 ? "Questions" : `${names[state.first]} against ${names[state.second]}`;
  const filtered = data.outcomes.filter(({ name }) => [state.outcome, ...state.lost].includes(name));
  const marks = state.mark || Object.keys(countMarks()).length ? MARK_FILTERS : [];
  return [
    makeRow("changes", between, changes, makeChips("only", [SUSPECTED])),
    makeRow("outcomes-of", `Answers of ${names[state.first]}`, makeChips("outcome", OUTCOMES)),
    makeRow("marks", "Marked questions", makeChips("mark", marks)),
    makeRow("active", "Other filters", listActive()),
    filtered.map(({ name, meaning }) => make("p.said", `${name}: ${meaning}`)),
  ];
};
export const describeCount = () => {
  const all = countNoun(data.ids.length, "question");
  return listFilters().length ? `${formatCount(findRows().length)} of ${all}` : all;
};

export const countPages = () => Math.max(1, Math.ceil(findRows().length / PAGE));
// The list turns to the page of an open question, or drops a filter that hides it.
export const keepOpenInList = (changes) => {
  if (!("open" in changes) || state.open < 0) {
    state.page = Math.min(state.page, countPages() - 1);
    return;
  }
  if (!findRows().includes(state.open)) Object.assign(state, NO_FILTERS);
  state.page = Math.floor(findRows().indexOf(state.open) / PAGE);
};
const listSorts = () => SORTS.slice(0, state.second < 0 ? 3 : undefined);
const nameHead = (sort) => {
  if (sort === "references") return "references";
  if (!["first", "second"].includes(sort)) return sort;
  return several ? makeName(state[sort]) : "answer";
};
const drawHead = () => {
  const cells = listSorts().map((sort) => {
    const isSorted = state.sort === sort && !isBySuspicion();
    const act = () => update({ sort, direction: isSorted ? -state.direction : 1 });
    const direction = isSorted ? (state.direction < 0 ? "descending" : "ascending") : "none";
    const button = make("button", { "data-key": `sort ${sort}`, onclick: act }, nameHead(sort));
    return make(`th.of-${sort}`, { scope: "col", "aria-sort": direction }, button);
  });
  return make("thead", make("tr", cells));
};
// The values of a nested answer that are not right, as in "date: 4 May for 5 May"
const drawWrong = (tree) => {
  const parts = listWrong(tree).map(({ path, prediction, reference }) => {
    const given = prediction === null ? "nothing" : prediction;
    return `${path}: ${given}${reference === null ? "" : ` for ${reference}`}`;
  });
  return shorten(parts.join(", "));
};
const makeAnswer = (place, row, isOpen) => {
  const { prediction, score, outcome, tree } = answers[place][row];
  if (isOpen) return make("td", makeBadge(score)); // the panel below has the answer
  const text = prediction === null ? (outcome ? "no answer" : "not asked") : prediction === "" ? "empty" : "";
  const content = text ? make("span.nothing", text) : tree ? drawWrong(tree) : shorten(prediction);
  const who = several && make("span.who", names[place]);
  const why = score < 1 && !text && make("small", describeOutcome(place, row));
  return make("td", make("div.answer", makeBadge(score), who, make("div", content, why)));
};
const drawQuestionRow = (row, isOpen) => {
  const stem = pageStem(row);
  const marks = listMarks(row).map((name) => make("span.tag", name));
  const about = make("small", make("bdi", tame(data.ids[row])), stem && [" · ", make("bdi", tame(stem))], marks);
  const target = { href: formatUrl({ open: isOpen ? -1 : row }), "data-row": row, "data-key": `row ${row}` };
  const text = shorten(data.questions[row] || data.ids[row]);
  const isPaired = state.second >= 0;
  return make(
    isOpen ? "tr.row.open" : "tr.row",
    { onclick: (event) => openRow(event, row) },
    make("td.of-question", make("a", { ...target, "aria-expanded": String(isOpen) }, text), about),
    make("td.of-references", !isOpen && shorten(data.references[row].join(" | "))),
    makeAnswer(state.first, row, isOpen),
    isPaired && makeAnswer(state.second, row, isOpen),
    isPaired && make("td.of-difference", formatDifference(subtractScores(row))),
  );
};
// A clicked row stays under the pointer.
const openRow = (event, row) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || getSelection().toString()) return;
  if (event.target.closest("button, input, summary")) return;
  event.preventDefault();
  const { top } = event.currentTarget.getBoundingClientRect();
  update({ open: state.open === row ? -1 : row });
  const line = document.querySelector(`#list [data-row="${row}"]`)?.closest("tr");
  line?.querySelector("a").focus({ preventScroll: true });
  if (!line) return;
  scroll(line.getBoundingClientRect().top - top);
  if (state.open === row) showPanel(line);
};
const scroll = (by) =>
  FRAMED ? parent.postMessage({ type: "anls-report-scroll", by }, "*") : scrollBy({ top: by, behavior: "instant" });
// Scroll by the smallest step that shows the panel under a row, or what fits of it.
const showPanel = (line) => {
  const hidden = line.nextSibling.getBoundingClientRect().bottom - innerHeight;
  const room = line.getBoundingClientRect().top - line.closest("table").tHead.getBoundingClientRect().height;
  if (hidden > 0) scroll(Math.min(hidden, room));
};
export const stepBy = (by) => {
  const rows = findRows();
  const next = state.open < 0 ? state.page * PAGE : rows.indexOf(state.open) + by;
  if (rows[next] !== undefined) update({ open: rows[next] }, { focus: rows[next] });
};
// Draw a page of the list; in print, its beginning.
export const drawList = (printed = 0) => {
  const start = printed ? 0 : state.page * PAGE;
  const shown = findRows().slice(start, start + (printed || PAGE));
  const rows = shown.flatMap((row) => {
    if (row !== state.open) return [drawQuestionRow(row, false)];
    const detail = make("tr.detail", make("td", { colspan: listSorts().length }, drawQuestion(row, stepBy)));
    return [drawQuestionRow(row, true), detail];
  });
  const nothing = make("tr", make("td.nothing", { colspan: listSorts().length }, "No question matches these filters."));
  return [drawHead(), make("tbody", rows.length ? rows : nothing)];
};
