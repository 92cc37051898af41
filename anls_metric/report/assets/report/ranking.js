// The score of one submission, or the ranking of several, each compared with the baseline.
import { make, copyText, makeFilter, makeSelect, rove, formatCount, countNoun, formatScore, formatDifference, formatInterval, formatP } from "./elements.js";
import { data, names, hasMany, SHARED, makeName } from "./data.js";
import { state, update, chooseFirst, chooseSecond, baselineOf, formatAddress, NO_FILTERS } from "./state.js";
import { chooseScale, drawInterval, drawStack, makeEnds } from "./charts.js";

const submissions = data.document.submissions;
const outcomePlace = (name) => data.outcomes.findIndex((outcome) => outcome.name === name);
const splitAnswers = ({ outcomes, questions, runs }) => {
  const total = runs ? Object.values(outcomes).reduce((sum, count) => sum + count, 0) : questions;
  const [right, partial] = [outcomes.equal, outcomes["close enough"]];
  return [
    ["equal", right, `o${outcomePlace("equal")}`],
    ["partial", partial, `o${outcomePlace("close enough")}`],
    ["zero", total - right - partial, `o${outcomePlace("other")}`],
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
      make("p", { class: "said" }, interval ? `95 % interval ${formatInterval(interval)}` : "No interval: it needs two clusters of questions."),
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
      href: formatAddress(changes),
      "data-key": `${change} ${place}`,
      "aria-label": `${formatCount(count)} ${change}: show the questions where ${names[place]} is ${change} than ${names[baseline]}`,
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
  const pair = data.pairs[baseline]?.[place];
  if (place === baseline) return [make("td", { class: "alone", colspan: 3 }, make("span", { class: "said" }, "the baseline"))];
  if (!pair) return [make("td", { class: "alone", colspan: 3 }, make("span", { class: "said" }, "not compared"))];
  return [
    makeCell("difference", "difference-cell", formatDifference(pair.difference), make("small", {}, formatInterval(pair.interval, formatDifference))),
    makeCell("p", "minor", formatP(pair.p), pair.least !== null && make("small", { title: "the smallest difference that these questions can detect between these two" }, `detects ${formatScore(pair.least)}`)),
    makeCell(
      "verdict",
      "verdict-cell",
      make("span", { class: `verdict ${VERDICTS[pair.verdict] ?? "plain"}`, title: pair.note || undefined }, pair.verdict, pair.note ? " *" : ""),
      make("small", {}, linkChange(place, baseline, "better", pair.better), ", ", linkChange(place, baseline, "worse", pair.worse)),
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
    make("td", { class: "chart", "data-label": "95 % interval" }, drawInterval(submission.anls, submission.interval, scale, place)),
    make("td", { class: "chart", "data-label": "equal, partial, zero" }, drawStack(splitAnswers(submission))),
    makeCell("exact", "minor", formatScore(submission.exact_match)),
    makeCell("contains", "minor", formatScore(submission.contains)),
    ...(data.pairs.length ? makeComparison(place, baseline) : []),
  );
};
const listFinePrint = () => {
  if (!data.pairs.length) return ["They were not compared."];
  const { clusters, all_pairs: areAll } = data.document;
  const count = areAll ? (names.length * (names.length - 1)) / 2 : names.length - 1;
  const by = clusters ? `by ${clusters.field} (${formatCount(clusters.count)} clusters)` : "question by question";
  const adjustment = count > 1 ? ` p is adjusted for ${count} comparisons (Holm); an interval is of its comparison alone.` : "";
  const notes = data.pairs.flat().filter((pair) => pair?.note).map(({ note }) => `* ${note}.`);
  return [`Paired ${by}, signs flipped.${adjustment}`, "An interval of a score and of a difference holds the true value in 95 of 100 such sets of questions; “detects” is the smallest difference that these questions can detect between the two.", ...new Set(notes)];
};
const PAPER = { latex: "LaTeX", markdown: "Markdown", csv: "CSV" };
// The table that the command prints for a paper, to copy.
const drawPaper = () => {
  const buttons = Object.entries(PAPER).map(([name, title]) => {
    const button = make("button", { "data-key": `paper ${name}` }, `Copy as ${title}`);
    button.addEventListener("click", () => copyText(data.paper[name], button));
    return [button, " "];
  });
  const against = data.pairs.length ? [" The table compares with ", make("bdi", {}, names[data.baseline]), "."] : [];
  return make("p", { class: "paper" }, buttons.flat(), against);
};
export const drawRanking = () => {
  const baseline = baselineOf();
  const scale = chooseScale(submissions.flatMap(({ anls, interval }) => interval ?? [anls]));
  const head = [
    make("td"),
    ...["submission", data.label].map((name) => make("th", { scope: "col" }, name)),
    make("th", { scope: "col" }, "95 % interval", makeEnds(scale)),
    ...["equal · partial · zero", "exact", "contains"].map((name) => make("th", { scope: "col" }, name)),
    ...(data.pairs.length ? [make("th", { scope: "col" }, "against ", make("bdi", {}, names[baseline])), make("th", { scope: "col" }, "p"), make("th", { scope: "col" }, "verdict")] : []),
  ];
  const table = make(
    "table",
    { class: `stack ranked${hasMany ? " many" : ""}${state.all ? " all" : ""}` },
    make("caption", { class: "hidden" }, "Submissions, the best first"),
    make("thead", {}, make("tr", {}, head)),
    make("tbody", {}, submissions.map((submission, place) => makeRow(submission, place, scale, baseline))),
  );
  const choices = names.map((name, place) => [place, name]);
  const select = data.pairs.length && make("label", { class: "pick" }, "baseline ", makeSelect("baseline", "baseline", choices, baseline, (value) => update(chooseSecond(Number(value)))));
  const affixes = SHARED.join("…").replace(/^…$/, "");
  return [
    make("div", { class: "line" }, affixes && make("p", { class: "said shared" }, "All names are ", make("code", {}, affixes)), select),
    rove(make("div", {}, table, hasMany && make("p", { class: "more-rows" }, makeMore(names.length, "submission")))),
    makeStackKey(),
    make("details", { class: "said" }, make("summary", { "data-key": "compared" }, "How they were compared, and a table for a paper"), listFinePrint().map((sentence) => make("p", {}, sentence)), drawPaper()),
  ];
};
