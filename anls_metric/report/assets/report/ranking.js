// The score of one submission, or the ranking of several, each compared with the baseline.
import { make, tame, copyText, makeFilter, makeSelect, rove, formatCount, countNoun, formatScore, formatDifference, formatInterval, formatP } from "./elements.js";
import { data, submissions, names, findOutcome, isCompared, getPair, hasMany, SHARED, makeName } from "./data.js";
import { state, update, chooseFirst, chooseSecond, baselineOf, formatUrl, NO_FILTERS } from "./state.js";
import { chooseScale, drawInterval, drawStack, makeEnds } from "./charts.js";

const splitAnswers = ({ outcomes, questions, runs }) => {
  const total = runs ? Object.values(outcomes).reduce((sum, count) => sum + count, 0) : questions;
  const [correct, partial] = [outcomes.equal, outcomes["close enough"]];
  return [
    ["equal", correct, `o${findOutcome("equal")}`],
    ["partial", partial, `o${findOutcome("close enough")}`],
    ["zero", total - correct - partial, `o${findOutcome("other")}`],
  ];
};
const makeStackKey = () =>
  make("p", { class: "key" }, splitAnswers(submissions[0]).map(([name, , style]) => make("span", {}, make("i", { class: style }), name)));
const VERDICTS = { better: "good", worse: "zero" };

export const drawScore = () => {
  const [submission] = submissions;
  const { anls, interval } = submission;
  const scale = chooseScale([anls, ...(interval ?? [])]);
  const parts = splitAnswers(submission);
  const figures = [...parts.map(([name, size]) => [name, formatCount(size)]), ["exact match", formatScore(submission.exact_match)], ["contains an answer", formatScore(submission.contains)]];
  return [
    make(
      "div",
      { class: "number" },
      make("b", {}, formatScore(anls)),
      drawInterval(anls, interval, scale, 0),
      makeEnds(scale),
      make("p", { class: "said" }, interval ? `95% CI ${formatInterval(interval)}` : "No interval: it needs two clusters of questions."),
    ),
    make("div", { class: "shares" }, drawStack(parts, 20), makeStackKey(), make("dl", {}, figures.map(([name, figure]) => make("div", {}, make("dt", {}, name), make("dd", {}, figure))))),
    make("details", { class: "said" }, make("summary", { "data-key": "paper" }, "A table for a paper"), drawPaper()),
  ];
};

// Long lists are shown completely on request.
export const makeMore = (count, noun) =>
  make("button", { "data-key": "all", "aria-expanded": String(state.all), onclick: () => update({ all: !state.all }) }, state.all ? "Show fewer" : `Show all ${countNoun(count, noun)}`);

const makeCell = (label, style, ...content) => make("td", { "data-label": label, class: style }, ...content);
const linkChange = (place, baseline, change, count) => {
  const changes = { ...NO_FILTERS, first: place, second: baseline, change, open: -1, page: 0 };
  return make(
    "a",
    {
      href: formatUrl(changes),
      "data-key": `${change} ${place}`,
      "aria-label": `${formatCount(count)} ${change}: show the questions where ${names[place]} scores ${change === "wins" ? "higher" : "lower"} than ${names[baseline]}`,
      onclick: (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        update(changes, { focus: "questions" });
      },
    },
    `${formatCount(count)} ${change}`,
  );
};
const makeComparison = (place, baseline) => {
  const pair = getPair(baseline, place);
  if (place === baseline) return [make("td", { class: "alone", colspan: 3 }, make("span", { class: "said" }, "the baseline"))];
  if (!pair) return [make("td", { class: "alone", colspan: 3 }, make("span", { class: "said" }, "not compared"))];
  return [
    makeCell("difference", "difference-cell", formatDifference(pair.difference), make("small", {}, formatInterval(pair.interval, formatDifference))),
    makeCell("p", "minor", formatP(pair.p_value_adjusted), pair.mde !== null && make("small", { title: "minimum detectable effect at 80% power, of these two on these questions" }, `MDE ${formatScore(pair.mde)}`)),
    makeCell(
      "verdict",
      "verdict-cell",
      make("span", { class: `verdict ${VERDICTS[pair.verdict] ?? "plain"}`, title: pair.note || undefined }, pair.verdict, pair.note ? " *" : ""),
      make("small", {}, linkChange(place, baseline, "wins", pair.wins), ", ", linkChange(place, baseline, "losses", pair.losses)),
    ),
  ];
};
const makeRow = (submission, place, scale, baseline) => {
  const isShown = place === state.first;
  const name = makeFilter(`submission ${place}`, `${names[place]}: show its answers`, isShown, () => update(chooseFirst(place)), makeName(place), "choose");
  return make(
    "tr",
    { class: isShown ? "chosen" : "" },
    make("td", { class: "rank" }, String(place + 1)),
    make("th", { scope: "row" }, name),
    makeCell(data.label, "score-cell", make("b", { class: "anls" }, formatScore(submission.anls)), make("small", {}, formatInterval(submission.interval))),
    make("td", { class: "chart", "data-label": "95% CI" }, drawInterval(submission.anls, submission.interval, scale, place)),
    make("td", { class: "chart", "data-label": "equal, partial, zero" }, drawStack(splitAnswers(submission))),
    makeCell("exact match", "minor", formatScore(submission.exact_match)),
    makeCell("contains", "minor", formatScore(submission.contains)),
    ...(isCompared ? makeComparison(place, baseline) : []),
  );
};
const listFinePrint = () => {
  if (!isCompared) return ["They were not compared."];
  const { clusters, all_pairs: areAll } = data.document;
  const count = areAll ? (names.length * (names.length - 1)) / 2 : names.length - 1;
  const by = clusters ? `by ${clusters.field} (${formatCount(clusters.count)} clusters)` : "question by question";
  const adjustment = count > 1 ? ` p is adjusted for ${count} comparisons (Holm); a CI is of its comparison alone.` : "";
  const notes = Object.values(data.pairs).flatMap(Object.values).filter(({ note }) => note).map(({ note }) => `* ${note}.`);
  return [`Paired randomization test, ${by}.${adjustment}`, "A 95% CI of a score or a difference contains the true value in 95 of 100 such sets of questions. The MDE is the minimum detectable effect: a true difference of this size would be significant in 80% of such sets.", ...new Set(notes)];
};
const PAPER = { latex: "LaTeX", markdown: "Markdown", csv: "CSV" };
// The table that the command prints for a paper, to copy.
const drawPaper = () => {
  const buttons = Object.entries(PAPER).map(([name, title]) => {
    const button = make("button", { "data-key": `paper ${name}` }, `Copy as ${title}`);
    button.addEventListener("click", () => copyText(data.paper[name], button));
    return [button, " "];
  });
  const against = isCompared ? [" The table compares with ", make("bdi", {}, tame(data.document.baseline)), "."] : [];
  return make("p", { class: "paper" }, buttons.flat(), against);
};
export const drawRanking = () => {
  const baseline = baselineOf();
  const scale = chooseScale(submissions.flatMap(({ anls, interval }) => interval ?? [anls]));
  const head = [
    make("td"),
    ...["submission", data.label].map((name) => make("th", { scope: "col" }, name)),
    make("th", { scope: "col" }, "95% CI", makeEnds(scale)),
    ...["equal · partial · zero", "exact match", "contains"].map((name) => make("th", { scope: "col" }, name)),
    ...(isCompared ? [make("th", { scope: "col" }, "against ", make("bdi", {}, names[baseline])), make("th", { scope: "col" }, "p"), make("th", { scope: "col" }, "verdict")] : []),
  ];
  const table = make(
    "table",
    { class: `stack ranked${hasMany ? " many" : ""}${state.all ? " all" : ""}` },
    make("caption", { class: "hidden" }, "Submissions, the best first"),
    make("thead", {}, make("tr", {}, head)),
    make("tbody", {}, submissions.map((submission, place) => makeRow(submission, place, scale, baseline))),
  );
  const choices = names.map((name, place) => [place, name]);
  const select = isCompared && make("label", { class: "pick" }, "baseline ", makeSelect("baseline", "baseline", choices, baseline, (value) => update(chooseSecond(Number(value)))));
  const affixes = SHARED.join("…").replace(/^…$/, "");
  return [
    make("div", { class: "line" }, affixes && make("p", { class: "said shared" }, "All names are ", make("code", {}, affixes)), select),
    rove(make("div", {}, table, hasMany && make("p", { class: "more-rows" }, makeMore(names.length, "submission")))),
    makeStackKey(),
    make("details", { class: "said" }, make("summary", { "data-key": "compared" }, "How they were compared, and a table for a paper"), listFinePrint().map((sentence) => make("p", {}, sentence)), drawPaper()),
  ];
};
