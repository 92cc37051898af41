// The marks of a reviewer about questions. They can be exported as a file for --corrections.
import { make, makeFilter, countNoun } from "./elements.js";
import { data, FRAMED } from "./data.js";

// What changes the scores, and what only sorts questions; their places are their keys
const ACTIONS = ["leave out", "accept this answer"];
const LABELS = ["model wrong", "unclear"];
const SIGNATURE = data.document.signature;
const PLACE = `anls-marks:${/gold:\w+/.exec(SIGNATURE)?.[0] ?? SIGNATURE}`; // identifies the questions by their hash
const IN_PRIVATE = "This browser cannot store marks, perhaps in a private window: export them before you close it.";
const ON_PAGE = "Marks are kept while this page is open: export them to keep them.";
const IN_BROWSER = "Marks are stored in this browser only: export them to share them.";

const EMPTY = { mark: "", accept: [], exclude: false, note: "" };
const isEmptyMark = ({ mark, accept, exclude, note }) => !mark && !accept.length && !exclude && !note;
const rowOf = new Map(data.ids.map((id, row) => [id, row]));

// The id of a question -> its mark
let marks = new Map();
let isKept = true;
const asTexts = (value) => [value ?? ""].flat().map(String).filter(Boolean);
const readMark = ({ mark, accept, exclude, note }) => ({
  mark: LABELS.includes(mark) ? mark : "",
  accept: asTexts(accept),
  exclude: Boolean(exclude),
  note: String(note ?? ""),
});
const load = () => {
  try {
    const kept = FRAMED
      ? JSON.parse(document.documentElement.dataset.marks ?? "{}")[PLACE]
      : localStorage.getItem(PLACE);
    marks = new Map(JSON.parse(kept ?? "[]").map(([id, mark]) => [id, readMark(mark)]));
  } catch {
    isKept = false;
  }
};
load();
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
const TESTS_OF_MARKS = {
  "left out": ({ exclude }) => exclude,
  "accepts more": ({ accept }) => accept.length > 0,
  ...Object.fromEntries(LABELS.map((name) => [name, ({ mark }) => mark === name])),
  "not marked": isEmptyMark, // the last
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
export const listMarked = () => [...marks].filter(([id]) => rowOf.has(id)).map(([id, mark]) => [rowOf.get(id), mark]);
const setMark = (row, changes) => {
  const mark = { ...markOf(row), ...changes };
  if (isEmptyMark(mark)) marks.delete(data.ids[row]);
  else marks.set(data.ids[row], mark);
  keep();
};

const record = (id, { mark, accept, exclude, note }) => {
  return { questionId: id, mark, ...(accept.length && { accept }), ...(exclude && { exclude }), ...(note && { note }) };
};
export const formatMarks = () => {
  const written = [...marks].filter(([id, mark]) => rowOf.has(id) && !isEmptyMark(mark));
  const records = written.map(([id, mark]) => record(id, mark));
  return `${JSON.stringify(records, null, 2)}\n`;
};
// Read a file of marks or corrections. Returns what happened, for the reader.
export const importMarks = (text) => {
  let records;
  try {
    records = JSON.parse(text);
  } catch {
    records = null;
  }
  if (!Array.isArray(records) || records.some((each) => each?.questionId === undefined)) {
    return "This isn't a file of marks: choose one that “Export marks” wrote, or a list of corrections.";
  }
  const counts = { imported: 0, own: 0, unknown: 0 };
  for (const each of records) {
    const id = String(each.questionId);
    if (!rowOf.has(id)) counts.unknown++;
    else if (!marks.has(id)) {
      marks.set(id, readMark(each));
      counts.imported++;
    } else counts.own++;
  }
  keep();
  const sentences = [
    `${countNoun(counts.imported, "mark")} imported.`,
    counts.own && `Your own mark stays on ${countNoun(counts.own, "question")}.`,
    counts.unknown && `${countNoun(counts.unknown, "mark")} skipped: no such question.`,
  ];
  return sentences.filter(Boolean).join(" ");
};

// The controls for an open question. `redraw` updates the rest of the report.

// Accept an answer, or no longer. A question that is left out accepts nothing.
const accept = (row, text) => {
  const others = markOf(row).accept.filter((each) => each !== text); // the reader may have typed in the box
  const isAccepted = others.length < markOf(row).accept.length;
  setMark(row, { accept: isAccepted ? others : [...others, text], exclude: false });
};
export const drawAccept = (row, text, redraw) => {
  const act = () => {
    accept(row, text);
    redraw();
  };
  return makeFilter(`accept ${text}`, markOf(row).accept.includes(text), act, "accept this answer");
};
// Set or remove the mark with this key. The second accepts an answer, if there is one.
export const toggleMark = (row, key, text) => {
  const { exclude, mark } = markOf(row);
  const name = LABELS[key - 1 - ACTIONS.length];
  if (name) setMark(row, { mark: mark === name ? "" : name });
  else if (key === 1) setMark(row, { exclude: !exclude, accept: [] });
  else if (text) accept(row, text);
};
const makeBox = (label, placeholder, value, act) => {
  const common = { "data-key": `mark ${label}`, "aria-label": label, title: label, dir: "auto", autocomplete: "off" };
  const box = make("input", { ...common, placeholder, oninput: () => act(box.value) });
  box.value = value;
  return box;
};
export const drawMark = (row, text, redraw) => {
  const own = markOf(row);
  const isSet = { [ACTIONS[0]]: own.exclude, [ACTIONS[1]]: own.accept.includes(text), [own.mark]: true };
  const buttons = [...ACTIONS, ...LABELS].map((name, number) => {
    const act = () => {
      toggleMark(row, number + 1, text);
      redraw();
    };
    const content = [make("kbd", number + 1), ` ${name}`];
    return (number !== 1 || text) && makeFilter(`mark ${name}`, isSet[name] === true, act, content, "chip");
  });
  const accepted = own.accept.join(" | ");
  const split = (texts) =>
    texts
      .split(" | ")
      .map((each) => each.trim())
      .filter(Boolean);
  const accept = makeBox("Accept", "also accept", accepted, (texts) => setMark(row, { accept: split(texts) }));
  const note = makeBox("Note", "note", own.note, (words) => setMark(row, { note: words }));
  const line = make("div.line", make("span.chips", buttons), accept, note);
  return make("div.marks", { role: "group", "aria-label": "Mark" }, line);
};
