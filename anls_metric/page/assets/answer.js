// Draws answers and variants in the web app with the functions and the style of the report. Python writes what to draw
// as JSON into an attribute of an empty element, and STYLE in front of this script.
import { make, makeTable, markHidden, formatCount, replaceContent } from "../../report/assets/report/elements.js";
import { formatScore, makeBadge } from "../../report/assets/report/formats.js";
import { drawPrediction } from "../../report/assets/report/edits.js";

const style = new CSSStyleSheet();
style.replaceSync(STYLE);

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
    formatScore(similarity),
  ]);
  const heads = ["accepted answer", "distance", "length", `similarity (minimum ${formatScore(minimum)})`];
  return [make("h3", "Every accepted answer"), makeNumbers(heads, rows)];
};
const drawAnswer = ({ score, label, sentence, signature, prediction, drawn, ...answer }) => {
  const badge = makeBadge(score);
  badge.part = "score";
  return [
    make("div.line", badge, make("span.said", label)),
    make("p.why", { part: "why" }, sentence),
    make("p", make("code", signature)),
    make("h3", "From the prediction to the closest accepted answer"),
    make("div", { part: "prediction" }, drawPrediction(prediction, answer.closest, drawn)),
    drawn.edits && drawLegend(),
    answer.references && drawReferences(answer),
  ];
};
// Those that disagree, and behind a fold those that agree.
const drawVariants = ({ score, variants }) => {
  const makeRow = ({ name, meaning, ...values }) => [
    [make("b", name), make("small", meaning)],
    formatScore(values.similarity),
    formatScore(values.score),
  ];
  const [differ, agree] = [false, true].map((agrees) => {
    const own = variants.filter((variant) => (variant.score === score) === agrees);
    return own.length > 0 && makeNumbers(["variant", "similarity", "score"], own.map(makeRow));
  });
  const same = variants.filter((variant) => variant.score === score).length;
  const shown = formatScore(score);
  const count = `${variants.length - same} of ${variants.length} variants give another score than ${shown}.`;
  return [
    make("h3", "The same answer under every variant"),
    make("p.said", `${count} Each uses the threshold and case of its program.`),
    differ,
    make("details", make("summary", `${same} variants give ${shown}`), agree),
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
