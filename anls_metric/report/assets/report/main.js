// The whole report: its parts, the state that each part depends on, and the actions of keys and links.
import { make, copyText, tame, replaceContent, copySigns, countNoun, formatCount } from "./elements.js";
import { data, submissions, names, several, ofStrings, FRAMED } from "./data.js";
import { formatMarks, importMarks, countMarks, describePlace, followMarks, markOf } from "./marks.js";
import { state, update, redraw, begin, chooseSuspected, FILTERS, NO_FILTERS, isFiltered } from "./state.js";
import { drawRanking, drawScore } from "./ranking.js";
import { drawCloser, drawAllPanels } from "./closer.js";
import { drawFilters, drawPicks, drawList, describeCount, keepOpenInList, countPages, stepBy } from "./list.js";
import { prepareSearch } from "./questions.js";
import { fullUrl } from "./question.js";
import { formatCsv, formatSheet, download } from "./downloads.js";

const $ = (id) => document.getElementById(id);

// Static parts

const OPTIONS = /(--[a-z-]+(?: (?!with|or|and)[\w,:.-]*\w)?|\b[a-z_]+=(?:"[^"]*")?)/; // as the command and Python write them
const FEW_HINTS = 3;
const makeHints = (hints) => {
  const items = hints.map(({ text }) => make("li", {}, text.split(OPTIONS).map((part, place) => (place % 2 ? make("code", {}, part) : tame(part)))));
  const rest = items.slice(FEW_HINTS);
  const more = rest.length && make("details", {}, make("summary", {}, `${rest.length} more`), make("ul", {}, rest));
  return make("section", { class: "hints", "aria-label": "What to know first" }, make("b", {}, "Look here"), make("ul", {}, items.slice(0, FEW_HINTS)), more);
};
const makeSection = (id, title, style, content) =>
  make("section", { class: `card ${style}`, "aria-labelledby": id }, make("h2", { id, tabindex: -1 }, title), content);
const makeContents = (places) => make("nav", { class: "contents", "aria-label": "Contents" }, places.map(([id, title]) => make("a", { href: `#${id}` }, title)));
// The filter by similarity, before the threshold. Its boxes are not drawn again, so that Tab moves between them.
const followRange = () => {
  const [low, high] = ["low", "high"].map((id) => Math.min(Math.max(Number($(id).value) || 0, 0), 1));
  update({ range: low <= 0 && high >= 1 ? null : [Math.min(low, high), Math.max(low, high)] });
};
const makeRange = () => {
  const [low, high] = [["low", "lowest similarity"], ["high", "highest similarity"]].map(([id, label]) => make("input", { id, type: "number", min: 0, max: 1, step: 0.05, "aria-label": label, onchange: followRange }));
  return make("p", { class: "range said" }, "similarity from ", low, " to ", high);
};
const makeTools = () => {
  const search = make("input", { id: "search", type: "search", "data-key": "search", placeholder: "Search question, answer, id, doc:page", "aria-label": "Search question, answer, id, doc:page", autocomplete: "off", spellcheck: "false" });
  const copy = make("button", { "data-key": "copy view" }, "Copy link to this view");
  copy.addEventListener("click", () => copyText(fullUrl({}), copy));
  return [
    make("div", { class: "line" }, search, make("span", { id: "picks" })),
    make("div", { id: "filters" }),
    ofStrings && makeRange(),
    make("p", { id: "unknown", class: "note", role: "alert", hidden: true }),
    make(
      "div",
      { class: "line" },
      make("p", { id: "count", role: "status", tabindex: -1 }),
      make("button", { id: "clear", onclick: () => update(NO_FILTERS, { focus: state.open }) }, "Clear filters"),
      copy,
      make("button", { id: "csv", onclick: () => download(formatCsv(), "questions.csv", "text/csv") }, "Download CSV"),
      make("button", { onclick: () => download(formatSheet(), "questions for spreadsheets.csv", "text/csv") }, "CSV for spreadsheets"),
    ),
    make(
      "div",
      { class: "line" },
      make("p", { id: "marks-place", class: "said" }),
      make("button", { id: "export", onclick: () => download(formatMarks(), "marks.json", "application/json") }, "Export marks"),
      make("button", { id: "import", onclick: () => $("import-file").click() }, "Import marks"),
      make("input", { id: "import-file", type: "file", accept: ".json,application/json", hidden: true, "aria-label": "file of marks", onchange: readMarks }),
    ),
    make("p", { id: "imported", class: "note", "aria-live": "polite", hidden: true }),
    make("table", { id: "list" }),
    make(
      "nav",
      { class: "pages", "aria-label": "Pages of questions" },
      make("button", { id: "back", onclick: () => turn(-1) }, "Previous"),
      make("span", { id: "page" }),
      make("button", { id: "on", onclick: () => turn(1) }, "Next"),
    ),
    make("p", { class: "said keys" }, ...[["/", " searches, "], ["Enter", " leaves a text box of a mark, "], ["j", " and "], ["k", " or the arrows open the next and the previous question, "], ["Esc", " closes it."]].flatMap(([key, text]) => [make("kbd", {}, key), text])),
  ];
};
const readMarks = async ({ target }) => {
  if (!target.files.length) return;
  const sentences = importMarks(await target.files[0].text());
  target.value = "";
  $("imported").textContent = sentences.join(" ");
  $("imported").hidden = false;
  redraw();
};
const build = () => {
  const { clusters } = data.document;
  const about = `${countNoun(data.document.questions, "question")}${data.source && ` of ${data.source}`}${clusters ? ` · ${countNoun(clusters.count, "cluster")} by ${clusters.field}` : ""}`;
  const places = [["which", several ? "Which is better" : data.label], ["closer", "A closer look"], ["questions", "Questions"]];
  $("report").append(
    make("a", { class: "skip", href: "#questions" }, "Skip to the questions"),
    make(
      "header",
      {},
      make("p", { class: "kicker" }, `${data.label} report`),
      make("div", { class: "title" }, make("h1", {}, make("bdi", {}, tame(data.title))), make("p", { class: "of" }, tame(about)), make("p", { class: "signature" }, make("code", {}, data.document.signature))),
      makeContents(places),
    ),
    make(
      "main",
      {},
      data.document.hints.length ? makeHints(data.document.hints) : "",
      data.extraction.map((sentence) => make("p", { class: "note" }, tame(sentence))),
      makeSection("which", places[0][1], several ? "" : "hero", make("div", { id: "ranking" })),
      makeSection("closer", "A closer look", "", make("div", { id: "panels" })),
      makeSection("questions", "Questions", "questions", [...data.notes.map((note) => make("p", { class: "note" }, tame(note))), ...makeTools()]),
    ),
    make(
      "footer",
      {},
      make("ul", { class: "read", "aria-label": "What was read" }, submissions.map(({ read }, place) => make("li", {}, several && [make("bdi", {}, names[place]), ": "], tame(read)))),
      make("p", {}, `Made by anls-metric ${data.version}. This file loads nothing from the network.`),
    ),
  );
};

// Parts that depend on the state. A part is drawn again when a value that it depends on changes.

const partKeys = new Map();
const drawPart = (id, values, drawIt) => {
  const key = JSON.stringify(values);
  if (partKeys.get(id) === key) return;
  partKeys.set(id, key);
  replaceContent($(id), drawIt());
};
const drawEverything = (changes = {}, focus = undefined) => {
  keepOpenInList(changes);
  const { first, second, range, look, field, rank, all, sort, direction, search, page, open, group } = state;
  const filters = FILTERS.filter((name) => name !== "search").map((name) => state[name]);
  if ($("search").value !== search) $("search").value = search;
  if (ofStrings) [$("low").value, $("high").value] = range ?? [0, 1];
  drawPart("ranking", [first, second, all], several ? drawRanking : drawScore);
  drawPart("panels", [first, second, filters, look, field, rank, all], drawCloser);
  drawPart("picks", [first, second, group], drawPicks);
  const counts = countMarks();
  drawPart("filters", [first, second, filters, counts], drawFilters);
  $("list").classList.toggle("several-answers", second >= 0);
  drawPart("list", [first, second, search, filters, sort, direction, page, open, counts, open < 0 ? "" : markOf(open)], () => drawList());
  $("marks-place").textContent = describePlace();
  $("count").textContent = describeCount();
  $("unknown").textContent = tame(state.unknown);
  $("unknown").hidden = !state.unknown;
  $("clear").hidden = !isFiltered();
  $("page").textContent = `page ${formatCount(page + 1)} of ${formatCount(countPages())}`;
  $("back").disabled = page === 0;
  $("on").disabled = page === countPages() - 1;
  if (focus === "questions") goTo("questions", "count");
  else if (typeof focus === "number") focusQuestion(focus);
  else if ("open" in changes && open >= 0) focusQuestion(open);
  else if (state.unknown) $("unknown").scrollIntoView({ block: "center" });
};
const goTo = (place, focused = place) => {
  $(place).scrollIntoView({ block: "start" });
  $(focused).focus({ preventScroll: true });
};
const focusQuestion = (row) => {
  const link = $("list").querySelector(`[data-row="${row}"]`);
  if (!link) return $("count").focus({ preventScroll: true }); // the question has left the list
  link.focus({ preventScroll: true });
  const line = link.closest("tr");
  line.scrollIntoView({ block: "nearest" });
  if (row === state.open && line.nextSibling.getBoundingClientRect().bottom > innerHeight) line.scrollIntoView({ block: "start" });
};
const turn = (by) => {
  update({ page: state.page + by });
  $("list").scrollIntoView({ block: "start" });
};

// Events

const followSearch = () => {
  if ($("search").value !== state.search) update({ search: $("search").value }, { isTyped: true });
};
const handleKey = (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
  if (event.target.matches(".marks input") && ["Enter", "Escape"].includes(event.key)) {
    event.preventDefault();
    redraw(state.open);
    return;
  }
  if (event.target === $("search") && event.key === "Escape") {
    event.preventDefault(); // the browser would clear the box without an event
    if (state.search) update({ search: "" });
    else event.target.blur();
    return;
  }
  if (event.target.closest("input, select, textarea, summary")) return;
  const inList = $("list").contains(event.target);
  const by = { j: 1, k: -1, ...(inList ? { ArrowDown: 1, ArrowUp: -1 } : {}) }[event.key];
  if (by) stepBy(by);
  else if (event.key === "/") $("search").focus();
  else if (event.key === "Escape" && state.open >= 0) update({ open: -1 }, { focus: state.open });
  else return;
  event.preventDefault();
};
// A link to a place on the page keeps the state in the URL.
const followLink = (event) => {
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return;
  const place = link.getAttribute("href").slice(1);
  if (link.dataset.open) update({ ...NO_FILTERS, ...chooseSuspected(true), open: Number(link.dataset.open) });
  else if (["which", "closer", "questions"].includes(place)) goTo(place);
  else return;
  event.preventDefault();
};
// A print has all panels, and questions if a filter or an open question selects some.
const print = (isPaper) => {
  const hasView = state.open >= 0 || isFiltered();
  document.body.classList.toggle("has-view", isPaper && hasView);
  partKeys.delete("panels");
  partKeys.delete("list");
  if (!isPaper) return drawEverything();
  replaceContent($("panels"), drawAllPanels());
  if (hasView) replaceContent($("list"), drawList(true));
};

build();
$("search").addEventListener("input", followSearch);
$("search").addEventListener("search", followSearch);
document.addEventListener("keydown", handleKey);
document.addEventListener("click", followLink);
document.addEventListener("copy", copySigns);
matchMedia("print").addEventListener("change", ({ matches }) => print(matches));
begin(drawEverything);
prepareSearch();
followMarks(redraw);
// The page makes the frame as high as the report.
const postHeight = () => parent.postMessage({ type: "anls-report-height", height: document.body.getBoundingClientRect().bottom + scrollY }, "*");
if (FRAMED) new ResizeObserver(postHeight).observe(document.body);
