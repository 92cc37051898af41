// The whole report: its parts, the state that each depends on, and what keys do.
import { make, copyText, tame, replaceContent, formatCount } from "./elements.js";
import { data, submissions, names, several, findAcceptable, FRAMED } from "./data.js";
import { formatMarks, importMarks, countMarks, describePlace, followMarks, markOf, toggleMark } from "./marks.js";
import { drawEffect } from "./effects.js";
import { state, update, redraw, begin, FILTERS, NO_FILTERS, listFilters } from "./state.js";
import { listTables, listFigures } from "./copies.js";
import { drawForest, SEARCHED } from "./forest.js";
import { drawCauses, drawGroups } from "./parts.js";
import { drawMap } from "./map.js";
import { drawConfusions, HAS_CONFUSIONS } from "./confusions.js";
import { drawFilters, drawList, describeCount, keepOpenInList, countPages, stepBy } from "./list.js";
import { fullUrl } from "./question.js";
import { formatCsv, download } from "./downloads.js";

const $ = (id) => document.getElementById(id);
const findAll = (selector) => document.querySelectorAll(selector);
const say = (id, text) => {
  $(id).textContent = text;
  $(id).hidden = !text;
};

const sayInSight = (text) => {
  say("said", text);
  $("said").scrollIntoView({ block: "nearest" });
};
const HOW_TO_SCORE = 'add --corrections marks.json to the command, or corrections="marks.json" in Python.';
const exportMarks = () => {
  if (!Object.keys(countMarks()).length) return sayInSight("No question has a mark: open one and mark it.");
  download(formatMarks(), "marks.json", "application/json");
  sayInSight(`Score again with your marks: ${HOW_TO_SCORE}`);
};
const readMarks = async ({ target }) => {
  if (!target.files.length) return;
  const said = importMarks(await target.files[0].text());
  target.value = "";
  redraw();
  sayInSight(said);
};
const build = () => {
  $("copy-table").append(...listTables($("copy")));
  $("copy-figure").append(...listFigures($("figure")));
  $("notes").append(...data.notes.map((note) => make("p.note", note)));
  for (const button of findAll("#hints button")) {
    button.hidden = !FRAMED;
    const options = JSON.parse(button.dataset.options);
    button.onclick = () => parent.postMessage({ type: "anls-report-options", options }, "*");
  }
  $("figure").hidden = !several;
  $("models").hidden = submissions.length < SEARCHED;
  $("details").open = false; // it is open where no script runs
  for (const link of findAll("[data-open]")) {
    link.onclick = (event) => {
      event.preventDefault();
      update({ open: Number(link.dataset.open) });
    };
  }
  for (const image of findAll("[data-picture]")) image.src = data.pictures[image.dataset.picture];
  for (const part of findAll(".scripted")) part.hidden = false;
  $("confusions").hidden = !HAS_CONFUSIONS;
};
const listenToControls = () => {
  const [quote, why] = findAll(".claim button");
  quote.onclick = () => copyText(document.querySelector(".claim q").textContent, quote);
  why.onclick = () => {
    $("details").open = true;
    goTo("details", "details-title");
  };
  $("copy-view").onclick = () => copyText(fullUrl({}), $("copy-view"));
  $("csv").onclick = () => download(formatCsv(), "questions.csv", "text/csv");
  for (const button of findAll(".export")) button.onclick = exportMarks;
  for (const button of findAll(".import")) button.onclick = () => $("import-file").click();
  $("import-file").onchange = readMarks;
  $("confusions").ontoggle = ({ target }) => update({ look: target.open ? "confusions" : "" });
  $("clear").onclick = () => update({ ...NO_FILTERS, open: state.open }, { focus: state.open });
  $("back").onclick = () => turn(-1);
  $("on").onclick = () => turn(1);
  for (const type of ["input", "search"]) {
    $("search").addEventListener(type, followSearch);
    $("models").addEventListener(type, () => update({ models: $("models").value }, { isTyped: true }));
  }
  document.onkeydown = handleKey;
  document.querySelector(".skip").onclick = (event) => {
    event.preventDefault(); // the URL keeps the view
    goTo("questions");
  };
  followPage();
  window.onbeforeprint = () => print(true);
  window.onafterprint = () => print(false);
};

// In the web app, the frame is as high as the report, and the page scrolls it.
const followPage = () => {
  if (!FRAMED) return;
  const tell = () => parent.postMessage({ type: "anls-report-size", height: document.body.offsetHeight }, "*");
  new ResizeObserver(tell).observe(document.body);
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || data?.type !== "anls-page-seen") return;
    document.body.style.setProperty("--seen", `${Math.max(data.top, 0)}px`);
  });
};

// Parts that are drawn again when what they show changes

const partKeys = new Map();
const drawPart = (id, values, drawIt) => {
  const key = JSON.stringify(values);
  if (partKeys.get(id) === key) return;
  partKeys.set(id, key);
  replaceContent($(id), drawIt());
};
const drawEverything = (changes = {}, focus = undefined) => {
  keepOpenInList(changes);
  const { first, second, look, field, lost, group, confusion, sort, direction, page, open } = state;
  const filters = FILTERS.map((name) => state[name]);
  const marks = countMarks();
  if ($("search").value !== state.search) $("search").value = state.search;
  if ($("models").value !== state.models) $("models").value = state.models;
  drawPart("forest", [state.models, state.order], drawForest);
  drawPart("causes", [first, second, lost], drawCauses);
  drawPart("groups", [first, second, field, group, state.whole], drawGroups);
  drawPart("map", [first, second], drawMap);
  drawPart("confusion-list", [first, second, confusion], drawConfusions);
  $("confusions").open = look !== "";
  drawPart("filters", [first, second, filters, marks, state.mark && open], drawFilters);
  drawPart("list", [first, second, filters, sort, direction, page, open, marks, markOf(open)], drawList);
  $("mark-line").hidden = !Object.keys(marks).length;
  drawPart("effect", formatMarks(), drawEffect);
  $("marks-place").textContent = describePlace();
  $("count").textContent = describeCount();
  say("unknown", tame(state.unknown));
  $("clear").hidden = !listFilters().length;
  $("pages").hidden = countPages() === 1;
  $("page").textContent = `page ${formatCount(page + 1)} of ${formatCount(countPages())}`;
  $("back").disabled = page === 0;
  $("on").disabled = page === countPages() - 1;
  if (focus === "questions") goTo("questions", "count");
  else if (typeof focus === "number") focusQuestion(focus);
  else if (changes.open >= 0 && !$("list").contains(document.activeElement)) focusQuestion(open);
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
  if (row === state.open) line.nextSibling.scrollIntoView({ block: "nearest" });
  line.scrollIntoView({ block: "nearest" });
};
const turn = (by) => {
  update({ page: state.page + by });
  $("list").scrollIntoView({ block: "start" });
};

const followSearch = () => {
  if ($("search").value !== state.search) update({ search: $("search").value }, { isTyped: true });
};
const leaveSearch = () => (state.search ? update({ search: "" }) : $("search").blur());
const markOpen = (number) => {
  toggleMark(state.open, number, findAcceptable([state.first, state.second, ...names.keys()], state.open));
  redraw();
};
const listKeys = (target) => ({
  j: () => stepBy(1),
  k: () => stepBy(-1),
  "/": () => $("search").focus(),
  ...($("list").contains(target) && { ArrowDown: () => stepBy(1), ArrowUp: () => stepBy(-1) }),
  ...(state.open >= 0 && {
    Escape: () => update({ open: -1 }, { focus: state.open }),
    ...Object.fromEntries([1, 2, 3, 4].map((number) => [number, () => markOpen(number)])),
  }),
});
const handleKey = (event) => {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
  if (target.closest("dialog, [popover]")) return;
  let act;
  if (target.matches(".marks input")) act = ["Enter", "Escape"].includes(key) && (() => redraw(state.open));
  else if (target === $("search"))
    act = key === "Escape" && leaveSearch; // the browser would clear the box without an event
  else if (!target.closest("input, select, textarea")) act = listKeys(target)[key];
  if (!act) return;
  event.preventDefault();
  act();
};
// A print has the filtered list or, without a filter, its beginning.
const PRINTED = 20;
const print = (isPaper) => {
  $("details").open = isPaper;
  if (isPaper) return replaceContent($("list"), drawList(listFilters().length ? Infinity : PRINTED));
  partKeys.clear();
  drawEverything();
};

build();
listenToControls();
begin(drawEverything);
followMarks(redraw);
