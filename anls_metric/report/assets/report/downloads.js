// Downloads the listed questions as CSV. `references` is a JSON list.
import { make } from "./elements.js";
import { data, answers, labels, several, ofStrings, pageName } from "./data.js";
import { markOf } from "./marks.js";
import { state } from "./state.js";
import { findRows, subtractScores } from "./questions.js";

const toJson = (text) => (/^[[{]/.test(text) ? text : JSON.stringify(text));
const formatReferences = (texts) => {
  if (ofStrings) return JSON.stringify(texts);
  return texts.length > 1 ? `{"__tuple__": [${texts.map(toJson).join(", ")}]}` : toJson(texts[0]);
};
const listColumns = () => {
  const isPaired = several && state.second >= 0;
  const head = (name, column) => (several ? [name, column].filter(Boolean).join(" ") : column || "prediction");
  const own = answers.flatMap((rows, place) => [
    [head(labels[place], ""), (row) => rows[row].prediction],
    [head(labels[place], "score"), (row) => rows[row].score],
    [head(labels[place], "outcome"), (row) => rows[row].outcome],
  ]);
  return [
    ["id", (row) => data.ids[row]],
    ["question", (row) => data.questions[row]],
    ["references", (row) => formatReferences(data.references[row])],
    ...own,
    isPaired && [`${labels[state.first]} minus ${labels[state.second]}`, subtractScores],
    data.pages.some(Boolean) && ["document", pageName],
    ["mark", (row) => markOf(row).mark],
    ["mark note", (row) => markOf(row).note],
    ["signature", () => data.document.signature],
  ].filter(Boolean);
};
// Spreadsheets need the byte order mark for UTF-8, and take some texts for formulas.
const FORMULA = /^'* *[=+\-@\t\r\n＝＋－＠]/;
const isNumber = (text) => /^-?\d+(?:\.\d+)?$/.test(text);
const quote = (value) => {
  if (typeof value === "number") return String(value);
  const text = String(value ?? "");
  return `"${(FORMULA.test(text) && !isNumber(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
};
export const formatCsv = () => {
  const columns = listColumns();
  const rows = findRows().map((row) => columns.map(([, read]) => quote(read(row))));
  return `\ufeff${[columns.map(([head]) => quote(head)), ...rows].map((row) => `${row.join(",")}\r\n`).join("")}`;
};
export const download = (text, name, type) => {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
};
