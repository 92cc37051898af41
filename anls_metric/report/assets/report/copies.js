// What can be copied: tables and the figure.
import { make, copyText } from "./elements.js";
import { data } from "./data.js";
import { drawFigure } from "./figure.js";
import { download } from "./downloads.js";

// Tables to copy. They have the same baseline and the same digits as the report.
const TABLES = { markdown: "Markdown", latex: "LaTeX", csv: "CSV" };
export const listTables = (button) =>
  Object.entries(data.tables).map(([name, text]) =>
    make("button", { popovertarget: "copy-table", onclick: () => copyText(text, button) }, `Copy as ${TABLES[name]}`),
  );
// The figure of the models, as a file of its own
const saveFigure = () => download(drawFigure(), "figure.svg", "image/svg+xml");
export const listFigures = (button) => [
  make("button", { popovertarget: "copy-figure", onclick: () => copyText(drawFigure(), button) }, "Copy as SVG"),
  make("button", { popovertarget: "copy-figure", onclick: saveFigure }, "Save as SVG"),
];
