// Downloads the filtered questions as CSV. `references` is a JSON list, and no text is changed.
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
const isPaired = () => several && state.second >= 0;
const listRows = () => {
  const hasPages = data.pages.some(Boolean);
  const columns = (name) => [name ?? "prediction", ...["score", "outcome", ...(ofStrings ? ["similarity"] : [])].map((column) => (name === undefined ? column : `${name} ${column}`))];
  const heads = several ? labels.map((name) => columns(name)) : [columns()];
  const difference = isPaired() ? [`${labels[state.first]} minus ${labels[state.second]}`] : [];
  const rows = [["id", "question", "references", ...heads.flat(), ...difference, ...(hasPages ? ["document"] : []), "mark", "mark note", "signature"]];
  for (const row of findRows()) {
    const each = answers.map((rows) => [rows[row].prediction, rows[row].score, data.outcomes[rows[row].outcome]?.name, ...(ofStrings ? [rows[row].similarity] : [])]);
    const { mark, note } = markOf(row);
    rows.push([data.ids[row], data.questions[row], formatReferences(data.references[row]), ...each.flat(), ...(isPaired() ? [subtractScores(row)] : []), ...(hasPages ? [pageName(row)] : []), mark, note, data.document.signature]);
  }
  return rows;
};
const quote = (value) => (typeof value === "number" ? String(value) : `"${String(value ?? "").replaceAll('"', '""')}"`);
const joinCells = (rows) => rows.map((row) => row.map(quote).join(",")).join("\r\n") + "\r\n";
export const formatCsv = () => joinCells(listRows());
// With the byte order mark that spreadsheets need for UTF-8, and without texts that they would take for formulas.
const FORMULA = /^ *[=+\-@\t\r\n＝＋－＠]/;
const defuse = (value) => (typeof value === "string" && FORMULA.test(value) && !/^-?\d+(?:\.\d+)?$/.test(value) ? `'${value}` : value);
export const formatSheet = () => `\ufeff${joinCells(listRows().map((row) => row.map(defuse)))}`;

// A chart as a separate SVG file, with the colors of the report.
const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "vector-effect"];
export const formatSvg = (svg) => {
  const { width, height } = svg.getBoundingClientRect();
  const copy = svg.cloneNode(true);
  const copies = [copy, ...copy.querySelectorAll("*")];
  [svg, ...svg.querySelectorAll("*")].forEach((part, place) => {
    const style = getComputedStyle(part);
    for (const name of STYLES) copies[place].setAttribute(name, style.getPropertyValue(name));
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  return new XMLSerializer().serializeToString(copy);
};
export const download = (text, name, type) => {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
};
