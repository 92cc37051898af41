// The top of the report: the verdict, a row for each submission, and the details.
import { make, tame, copyText, countNoun, rove } from "./elements.js";
import { data, submissions, names, several, FRAMED, BASELINE, getPair, findHint, makeName } from "./data.js";
import { formatScore, formatDifference, formatInterval, signText } from "./formats.js";
import { update, formatUrl, NO_FILTERS } from "./state.js";

// Options, as the command and Python write them
const OPTIONS = /(--[a-z-]+(?: (?!with|or|and)[\w,:.-]*\w)?|\b[a-z_]+=(?:"[^"]*")?)/;
// In the web app, a button sets the option of a hint.
const makeAction = ([option, value, label]) => {
  const act = () => parent.postMessage({ type: "anls-report-option", option, value }, "*");
  return make("button", { onclick: act }, label);
};
const listHints = (hints) => {
  const mark = (part, place) => (place % 2 ? make("code", part) : tame(part));
  const items = hints.map(({ text, action }) =>
    make("li", text.split(OPTIONS).map(mark), " ", FRAMED && action && makeAction(action)),
  );
  return items.length > 0 && make("ul", items);
};
export const drawHints = () => {
  const { hints } = data.document;
  const raw = submissions.map((_, place) => findHint(place)).filter(Boolean);
  const own = several && raw.length > 0 ? hints.filter((hint) => hint.submission) : raw;
  const others = listHints(hints.filter((hint) => !own.includes(hint)));
  const legend = "Hatched: the score after extraction.";
  const title = make("b", "Some models add text around their answers. ");
  const summary = make(
    "summary",
    title,
    legend,
    " Extraction may change the ranks. ",
    make("u", "Hints for each model"),
  );
  const about = several ? make("details", summary, listHints(own)) : [listHints(own), legend];
  return (
    hints.length > 0 && make("section.hints", { "aria-label": "What to know first" }, raw.length > 0 && about, others)
  );
};

// Tables to copy. They have the same baseline and the same digits as the report.
const TABLES = { markdown: "Markdown", latex: "LaTeX", csv: "CSV" };
export const listTables = (button) =>
  Object.entries(data.tables).map(([name, text]) =>
    make("button", { popovertarget: "copy-table", onclick: () => copyText(text, button) }, `Copy as ${TABLES[name]}`),
  );
export const describeSet = () => {
  const { questions, clusters, signature } = data.document;
  const [, variant, ...parts] = signature.split("|");
  const settings = parts
    .filter((part) => !/^(questions|gold|v\d)/.test(part))
    .map((part) => `, ${part.replace(":", " ")}`);
  const how = clusters && [clusters.field, clusters.rule].filter(Boolean).join(", ");
  const count = clusters ? ` on ${countNoun(clusters.count, "document")} (${how})` : "";
  const texts = [countNoun(questions, "question") + count, `${data.label} ${variant}${settings.join("")}`];
  return [data.source && make("b", tame(data.source)), texts.map((text) => make("span", tame(text)))];
};

// The ranking

const makeBar = ({ anls, interval }, hint) => {
  const [low, high] = interval ?? [anls, anls];
  const style = {
    "--score": anls,
    "--low": Math.max(0, low),
    "--high": Math.min(1, high),
    "--after": Math.max(anls, hint?.anls ?? 0),
  };
  return make("span.bar", { style, "aria-hidden": "true" }, make("i.after"), make("i.score-bar"), make("i.reach"));
};
const linkChange = (place, change, text) => {
  const changes = { ...NO_FILTERS, first: place, second: BASELINE, change, open: -1, page: 0 };
  const act = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    update(changes, { focus: "questions" });
  };
  return make("a", { href: formatUrl(changes), "data-key": `${change} ${place}`, onclick: act }, text);
};
const MANY = 6; // intervals of more models are drawn, and in the details
const FEW = 3; // raw output of more models has no counts
const describePair = (place) => {
  const pair = getPair(place, BASELINE);
  const hint = findHint(place);
  const extracted = hint && [" → ", formatScore(hint.anls), several && " extracted"];
  if (!pair) return [several && make("span.said", "baseline"), extracted];
  const isBrief = hint && submissions.length > FEW;
  const link = (change, ...nouns) => linkChange(place, change, isBrief ? change : countNoun(pair[change], ...nouns));
  const title = `95% CI ${formatInterval(pair.interval, formatDifference)}`;
  return [
    make("b", { title }, formatDifference(pair.difference)),
    " ",
    link("losses", "loss", "losses"),
    " · ",
    link("wins", "win"),
    extracted,
    !["better", "worse"].includes(pair.verdict) && [" ", make("small", pair.verdict)],
  ];
};
export const drawRanking = () => {
  const isCompared = several || findHint(0); // with the baseline, or with its score after extraction
  const rows = submissions.map((submission, place) => {
    const { interval } = submission;
    const shown = `95% CI ${formatInterval(interval)}`;
    const score = make(
      "td.anls",
      { tabindex: interval ? 0 : undefined, title: shown, "data-interval": shown },
      make("b", formatScore(submission.anls)),
      make("small", interval && submissions.length <= MANY && interval.map(formatScore).join("–")),
    );
    const rank = several && make("td.rank", data.ranks[submission.name]);
    return make(
      "tr",
      rank,
      make("th", { scope: "row" }, makeName(place)),
      score,
      make("td.chart", makeBar(submission, findHint(place))),
      isCompared && make("td.against", describePair(place)),
    );
  });
  const about = several ? ["against ", make("bdi", names[BASELINE])] : "after extraction";
  const head = make(
    "tr",
    several && make("th", { scope: "col" }, make("span.hidden", "rank")),
    make("th", { scope: "col" }, "model"),
    make("th", { scope: "col", class: "anls" }, data.label),
    make("td.chart"),
    isCompared && make("th", { scope: "col" }, about),
  );
  return rove(make("table.ranked", make("thead", head), make("tbody", rows)));
};

// What the command prints: intervals, p-values, metrics, and what was read
export const drawDetails = () => make("pre.scroll", { tabindex: 0 }, signText(tame(data.details)));
