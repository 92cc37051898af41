// What can be copied: the tables, and the figure of the models for paper.
import { make, copyText, tame } from "./elements.js";
import { data } from "./data.js";
import { download } from "./downloads.js";
import { makeMark, ROW } from "./forest.js";

const CHART = 420;
const PAINT = ["fill", "stroke", "stroke-width", "font-size"];
const readText = (row, place) => row.querySelector(place)?.textContent ?? "";
const write = (text, x, y, style = {}) => makeMark("text", { x, y, ...style }, tame(text));
const END = { "text-anchor": "end" };
const SMALL = { "font-size": 11 };
const copy = (svg, x, y) => {
  const own = svg.cloneNode(true);
  for (const [name, value] of Object.entries({ x, y, width: CHART })) own.setAttribute(name, value);
  const shown = [...svg.querySelectorAll("*")].map((mark) => getComputedStyle(mark));
  own.querySelectorAll("*").forEach((mark, place) => {
    for (const name of PAINT) mark.setAttribute(name, shown[place][name]);
  });
  return own;
};
const readLegend = () => [...document.querySelectorAll(".key")].map((key) => key.textContent).join("   ");
const draw = () => {
  const rows = [...document.querySelectorAll(".forest tbody tr")];
  const names = rows.map((row) => readText(row, "th .name") || readText(row, "th"));
  const left = 20 + 7.5 * Math.max(...names.map(({ length }) => length));
  const [start, right] = [left + 60, left + 60 + CHART];
  const parts = rows.map((row, place) => {
    const y = 48 + ROW * place;
    const line = y + ROW / 2 + 4;
    return [
      write(names[place], 8, line),
      write(readText(row, ".anls b"), left + 44, line, END),
      copy(row.querySelector(".chart svg"), start, y),
      write(readText(row, ".difference"), right + 60, line, END),
    ];
  });
  const title = write(readText(document, ".forest .chart .title"), start, 16, SMALL);
  const axis = copy(document.querySelector(".forest .axis"), start, 26);
  const [width, height] = [right + 70, 80 + ROW * rows.length];
  const legend = write(readLegend(), 8, height - 10, SMALL);
  const font = { "font-family": "sans-serif", "font-size": 13 };
  const attributes = { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, ...font };
  return new XMLSerializer().serializeToString(makeMark("svg", attributes, title, axis, parts, legend));
};
const drawFigure = () => {
  const { style } = document.documentElement;
  style.colorScheme = "light";
  const figure = draw();
  style.colorScheme = "";
  return figure;
};
const TABLES = { markdown: "Markdown", latex: "LaTeX", csv: "CSV" };
export const listTables = (button) =>
  Object.entries(data.tables).map(([name, text]) =>
    make("button", { popovertarget: "copy-table", onclick: () => copyText(text, button) }, `Copy as ${TABLES[name]}`),
  );
const saveFigure = () => download(drawFigure(), "figure.svg", "image/svg+xml");
export const listFigures = (button) => [
  make("button", { popovertarget: "copy-figure", onclick: () => copyText(drawFigure(), button) }, "Copy as SVG"),
  make("button", { popovertarget: "copy-figure", onclick: saveFigure }, "Save as SVG"),
  make("p.said", "For a paper: ", make("code", "--plot figure.pdf")),
];
