// The top of the report: the verdict, a row for each submission, and the details.
import { make, tame, copyText, formatCount, countNoun, rove } from "./elements.js";
import { data, submissions, names, several, BASELINE, getPair, findHint, makeName } from "./data.js";
import { formatScore, formatDifference, formatInterval, formatHalf, signText } from "./formats.js";
import { state, update, formatUrl, NO_FILTERS } from "./state.js";

// Options, as the command and Python write them
const OPTIONS = /(--[a-z-]+(?: (?!with|or|and)[\w,:.-]*\w)?|\b[a-z_]+=(?:"[^"]*")?)/;
const listHints = (hints) => {
  const mark = (part, place) => (place % 2 ? make("code", part) : tame(part));
  const items = hints.map(({ text }) => make("li", text.split(OPTIONS).map(mark)));
  return items.length > 0 && make("ul", items);
};
export const drawHints = () => {
  const { hints } = data.document;
  const raw = submissions.map((_, place) => findHint(place)).filter(Boolean);
  const own = several && raw.length > 0 ? hints.filter((hint) => hint.submission) : raw;
  const others = listHints(hints.filter((hint) => !own.includes(hint)));
  const title = `${countNoun(raw.length, "model writes", "models write")} text around the answers. `;
  const details = make("details", make("summary", "Hints for each model"), listHints(own));
  const legend = "Hatched: the score after extraction.";
  const ranks = " Ranks can change after it.";
  const about = several ? [make("b", title), legend, ranks, details] : [listHints(own), legend];
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
  const count = clusters ? ` on ${countNoun(clusters.count, "cluster")} (${clusters.field})` : "";
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
const describePair = (place) => {
  const pair = getPair(place, BASELINE);
  const hint = findHint(place);
  const link = (change, ...nouns) => linkChange(place, change, hint ? change : countNoun(pair[change], ...nouns));
  const links = pair && [link("losses", "loss", "losses"), " · ", link("wins", "win")];
  if (hint) return [`→ ${formatScore(hint.anls)} extracted`, pair && " · ", links];
  if (!pair) return place === BASELINE && make("span.said", "baseline");
  const difference = make(
    "b",
    { title: `95% CI ${formatInterval(pair.interval, formatDifference)}` },
    formatDifference(pair.difference),
  );
  return [difference, " ", links, " ", !["better", "worse"].includes(pair.verdict) && make("small", pair.verdict)];
};
const MANY = 12; // more submissions are shown on request
export const drawRanking = () => {
  const isCompared = several || findHint(0); // with the baseline, or with its score after extraction
  const shown = submissions.slice(0, state.look === "all" ? undefined : MANY);
  const rows = shown.map((submission, place) => {
    const interval = `95% CI ${formatInterval(submission.interval)}`;
    const score = make(
      "td.anls",
      { tabindex: submission.interval ? 0 : undefined, title: interval, "data-interval": interval },
      make("b", formatScore(submission.anls)),
      make("small", formatHalf(submission.interval)),
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
  const ends = make("span.ends", make("span", "0"), make("span", "100"));
  const about = several ? ["against ", make("bdi", names[BASELINE])] : "after extraction";
  const head = make(
    "tr",
    several && make("th", { scope: "col" }, make("span.hidden", "rank")),
    make("th", { scope: "col" }, "model"),
    make("th", { scope: "col", class: "anls" }, data.label),
    make("td.chart", ends),
    isCompared && make("th", { scope: "col" }, about),
  );
  const hidden = submissions.length - shown.length;
  return [
    rove(make("table.ranked", make("thead", head), make("tbody", rows))),
    hidden > 0 &&
      make(
        "button",
        { "data-key": "all", onclick: () => update({ look: "all" }) },
        `Show ${formatCount(hidden)} more models`,
      ),
  ];
};

// What the command prints: intervals, p-values, metrics, and what was read
export const drawDetails = () => make("pre.scroll", { tabindex: 0 }, signText(tame(data.details)));
