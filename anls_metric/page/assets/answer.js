// Draws answers and variants in the web app with the functions and the style of the report. Python writes what to draw
// as JSON into an attribute of an empty element, and STYLE in front of this script.
import { make, markHidden, replaceContent } from "../../report/assets/report/elements.js";
import { formatCount, countNoun } from "../../report/assets/report/elements.js";
import { formatScore, formatAnswer, makeBadge } from "../../report/assets/report/formats.js";
import { drawPrediction } from "../../report/assets/report/edits.js";

const style = new CSSStyleSheet();
style.replaceSync(`${STYLE} th[scope="col"] { overflow-wrap: normal; }`);

// A table of numbers: the first cell of a row is its name.
const makeTable = (heads, rows) => {
  const head = heads.map((text) => make("th", { scope: "col" }, text));
  const makeRow = ([name, ...cells]) => [make("th", { scope: "row" }, name), cells.map((cell) => make("td", cell))];
  const body = rows.map((row) => make("tr", makeRow(row)));
  return make("table.numbers", make("thead", make("tr", head)), make("tbody", body));
};
const makeNumbers = (heads, rows) => {
  const attributes = { tabindex: 0, role: "region", "aria-label": heads[0] };
  return make("div.scroll", attributes, makeTable(heads, rows));
};
const LEGEND = { del: " extra, ", ins: " missing, ", "span.free": " not counted" };
const drawLegend = () =>
  make(
    "p.said",
    Object.entries(LEGEND).map(([tag, meaning]) => [make("span.edits", make(tag, "a")), meaning]),
  );
const drawReferences = ({ references, closest, minimum }) => {
  const rows = references.map(({ reference, distance, length, similarity }) => [
    [make("q", { dir: "auto" }, markHidden(reference)), reference === closest && make("span.tag", "closest")],
    ...[distance, length].map(formatCount),
    formatAnswer(similarity),
  ]);
  const heads = ["reference", "distance", "length", `similarity (minimum ${formatScore(minimum)})`];
  return make("section", make("h2", "Every reference"), makeNumbers(heads, rows));
};
const drawAnswer = ({ score, label, sentence, signature, prediction, drawn, ...answer }) => {
  const badge = makeBadge(score);
  badge.part = "score";
  return [
    make("div.line", badge, make("span.said", label)),
    make("p.why", { part: "why" }, sentence),
    make("p", make("code", signature)),
    make(
      "section",
      make("h2", "From the prediction to the closest reference"),
      make("div", { part: "prediction" }, drawPrediction(prediction, answer.closest, { ...drawn, score })),
      drawn.edits && drawLegend(),
    ),
    answer.references && drawReferences(answer),
  ];
};
const listVariants = (variants) => {
  const rows = variants.map(({ name, meaning, similarity, score }) => [
    [make("b", name), make("small", meaning)],
    formatAnswer(similarity),
    formatAnswer(score),
  ]);
  return rows.length > 0 && makeNumbers(["variant", "similarity", "score"], rows);
};
// The variants that give another score, and behind a fold those that give the same.
const drawVariants = ({ score, variants }) => {
  const same = variants.filter((variant) => variant.score === score);
  const others = variants.filter((variant) => variant.score !== score);
  const verb = others.length === 1 ? "gives" : "give";
  const count = `${others.length} of ${variants.length} variants ${verb} a score other than ${formatAnswer(score)}.`;
  const title = `${countNoun(same.length, "variant gives", "variants give")} ${formatAnswer(score)}`;
  return [
    make("h2", "The same answer under every variant"),
    make("p.said", `${count} Each uses the threshold and case of its program.`),
    listVariants(others),
    make("details", make("summary", title), listVariants(same)),
  ];
};

// The attribute that holds what to draw -> the function that draws it
const DRAWERS = { "data-answer": drawAnswer, "data-variants": drawVariants };
const drawAll = () => {
  for (const [attribute, draw] of Object.entries(DRAWERS)) {
    for (const place of document.querySelectorAll(`[${attribute}]`)) {
      const content = JSON.parse(place.getAttribute(attribute));
      place.removeAttribute(attribute);
      const root = place.shadowRoot ?? place.attachShadow({ mode: "open" });
      root.adoptedStyleSheets = [style];
      replaceContent(root, draw(content));
    }
  }
};
new MutationObserver(drawAll).observe(document.documentElement, { childList: true, subtree: true });
