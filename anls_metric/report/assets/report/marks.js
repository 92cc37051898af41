// The marks of a reviewer about questions. They stay in this browser, and can be exported as a file for --corrections.
import { make, makeFilter, tame, countNoun } from "./elements.js";
import { data, FRAMED } from "./data.js";

export const MARKS = ["annotation wrong", "metric too strict", "model wrong", "unclear"];
const PLACE = `anls-marks:${/gold:\w+/.exec(data.document.signature)?.[0] ?? data.document.signature}`; // identifies the questions by their hash
const IN_PRIVATE = "This browser cannot store marks, perhaps because the window is private: export them before you close it.";
const ON_PAGE = "Marks are kept while this page is open: export them to keep or share them.";
const IN_BROWSER = "Marks are stored in this browser only, and survive a reload: export them to share them.";

const EMPTY = { mark: "", accept: [], exclude: false, note: "" };
const isEmpty = ({ mark, accept, exclude, note }) => !mark && !accept.length && !exclude && !note;
const sameMark = (one, other) => ["mark", "accept", "exclude", "note"].every((key) => JSON.stringify(one[key]) === JSON.stringify(other[key]));
const rowOf = new Map(data.ids.map((id, row) => [id, row]));

// The id of a question -> its mark. `others` holds differing marks of other reviewers.
let marks = new Map();
let isKept = true;
const asTexts = (value) => (Array.isArray(value) ? value : value === undefined || value === null || value === "" ? [] : [value]).map(String);
const readMark = ({ mark, accept, exclude, note, others }) => ({
  mark: MARKS.includes(mark) ? mark : "",
  accept: asTexts(accept),
  exclude: ["true", "1", "yes"].includes(String(exclude ?? "").toLowerCase()),
  note: String(note ?? ""),
  ...(Array.isArray(others) && others.length && { others: others.map(readMark) }),
});
const load = () => {
  try {
    const kept = JSON.parse((FRAMED ? JSON.parse(document.documentElement.dataset.marks ?? "{}")[PLACE] : localStorage.getItem(PLACE)) ?? "[]");
    marks = new Map(kept.map(([id, mark]) => [id, readMark(mark)]));
  } catch {
    isKept = false;
  }
};
load();
// Another window of this report changed the marks.
export const followMarks = (redraw) =>
  addEventListener("storage", ({ key }) => {
    if (key !== PLACE) return;
    load();
    redraw();
  });
const keep = () => {
  const kept = JSON.stringify([...marks]);
  if (FRAMED) return parent.postMessage({ type: "anls-report-marks", place: PLACE, marks: kept }, "*");
  try {
    localStorage.setItem(PLACE, kept);
    isKept = true;
  } catch {
    isKept = false;
  }
};
export const describePlace = () => (FRAMED ? ON_PAGE : isKept ? IN_BROWSER : IN_PRIVATE);

export const markOf = (row) => marks.get(data.ids[row]) ?? EMPTY;
// The filters of questions by their marks. A file of corrections accepts answers and excludes questions without a mark.
const TESTS_OF_MARKS = {
  ...Object.fromEntries(MARKS.map((name) => [name, ({ mark }) => mark === name])),
  "accepts more": ({ accept }) => accept.length > 0,
  excluded: ({ exclude }) => exclude,
  conflict: ({ others }) => Boolean(others),
  "not marked": isEmpty,
};
export const MARK_FILTERS = Object.keys(TESTS_OF_MARKS);
export const hasMark = (row, name) => TESTS_OF_MARKS[name](markOf(row));
export const listMarks = (row) => (marks.has(data.ids[row]) ? MARK_FILTERS.filter((name) => hasMark(row, name)) : []);
export const countMarks = () => {
  const own = [...marks].filter(([id]) => rowOf.has(id)).map(([, mark]) => mark);
  if (!own.length) return {};
  const counts = Object.fromEntries(MARK_FILTERS.map((name) => [name, own.filter(TESTS_OF_MARKS[name]).length]));
  counts["not marked"] += data.ids.length - own.length;
  return counts;
};
const setMark = (row, changes) => {
  const mark = { ...markOf(row), ...changes };
  if (!mark.others?.length) delete mark.others;
  if (isEmpty(mark) && !mark.others) marks.delete(data.ids[row]);
  else marks.set(data.ids[row], mark);
  keep();
};

// The file

const record = (id, { mark, accept, exclude, note }) => ({ questionId: id, mark, ...(accept.length && { accept }), ...(exclude && { exclude }), ...(note && { note }) });
export const formatMarks = () => {
  const written = [...marks].filter(([id, mark]) => rowOf.has(id) && !isEmpty(mark));
  return `${JSON.stringify(written.map(([id, mark]) => record(id, mark)), null, 2)}\n`;
};
// Read a file of marks or corrections. Returns sentences for the reader.
export const importMarks = (text) => {
  let records;
  try {
    records = JSON.parse(text);
  } catch {
    records = null;
  }
  if (!Array.isArray(records) || records.some((each) => each?.questionId === undefined)) {
    return ["This isn't a file of marks: choose a JSON file that “Export marks” wrote, or a list of corrections."];
  }
  const counts = { imported: 0, conflicts: 0, unknown: 0 };
  for (const each of records) {
    const id = String(each.questionId);
    const row = rowOf.get(id);
    const mark = readMark(each);
    const own = row === undefined ? EMPTY : markOf(row);
    if (row === undefined) counts.unknown++;
    else if (sameMark(own, mark) || own.others?.some((other) => sameMark(other, mark))) continue;
    else if (isEmpty(own)) {
      marks.set(id, { ...mark, ...(own.others && { others: own.others }) });
      counts.imported++;
    } else {
      marks.set(id, { ...own, others: [...(own.others ?? []), mark] });
      counts.conflicts++;
    }
  }
  keep();
  return [
    `${countNoun(counts.imported, "mark")} imported.`,
    counts.conflicts && `${countNoun(counts.conflicts, "conflict")} with your marks: resolve them in the questions.`,
    counts.unknown && `${countNoun(counts.unknown, "mark")} of questions that are not in this report.`,
  ].filter(Boolean);
};

// The controls for an open question. `redraw` updates the rest of the page.

const describe = ({ mark, accept, exclude, note }) => [mark, accept.length && `accept ${accept.join(" | ")}`, exclude && "exclude the question", note].filter(Boolean).join("; ");
const drawConflict = (row, other, redraw) => {
  const others = markOf(row).others.filter((each) => each !== other);
  const settle = (changes) => {
    setMark(row, { ...changes, others });
    redraw(row); // the pressed button is gone
  };
  return make(
    "p",
    { class: "note conflict" },
    "Another reviewer: ",
    make("bdi", {}, tame(describe(other))),
    " ",
    make("button", { "data-key": "take mark", onclick: () => settle(other) }, "Take this mark"),
    " ",
    make("button", { "data-key": "keep mark", onclick: () => settle({}) }, "Keep mine"),
  );
};
// Accepts an answer of a submission, which nobody has to type then.
export const drawAccept = (row, text, redraw) => {
  const isAccepted = markOf(row).accept.includes(text);
  const act = () => {
    const others = markOf(row).accept.filter((each) => each !== text); // the reader may have typed in the box
    setMark(row, { accept: isAccepted ? others : [...others, text] });
    redraw();
  };
  return makeFilter(`accept ${text}`, "Accept this answer", isAccepted, act, "Accept this answer");
};
export const drawMark = (row, redraw) => {
  const own = markOf(row);
  const change = (changes, focus) => {
    setMark(row, changes);
    redraw(focus);
  };
  const buttons = MARKS.map((name) => makeFilter(`mark ${name}`, name, own.mark === name, () => change({ mark: own.mark === name ? "" : name }), name, "chip"));
  const accept = make("input", { type: "text", "data-key": "mark accept", "aria-label": "Accept", placeholder: "the answer that should be accepted", dir: "auto", autocomplete: "off" });
  accept.value = own.accept.length > 1 ? own.accept.join(" | ") : (own.accept[0] ?? "");
  // Several answers are separated by |. A single answer is not split.
  accept.addEventListener("input", () => setMark(row, { accept: accept.value.split(" | ").map((text) => text.trim()).filter(Boolean) }));
  const note = make("input", { type: "text", "data-key": "mark note", "aria-label": "Note", dir: "auto", autocomplete: "off" });
  note.value = own.note;
  note.addEventListener("input", () => setMark(row, { note: note.value }));
  return make(
    "div",
    { class: "marks", role: "group", "aria-label": "Mark" },
    make("div", { class: "chips" }, buttons),
    make("div", { class: "line" }, make("label", { class: "pick" }, "Accept", accept), make("label", { class: "pick" }, "Note", note)),
    own.exclude && make("p", { class: "note conflict" }, "The corrections exclude this question. ", make("button", { "data-key": "keep question", onclick: () => change({ exclude: false }, row) }, "Keep the question")),
    (own.others ?? []).map((other) => drawConflict(row, other, redraw)),
  );
};
