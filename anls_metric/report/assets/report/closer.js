// The panels below the ranking, about the chosen pair of submissions. One panel is shown at a time.
import { make, makeFilter, makeSelect, rove, tame, formatConfusion, formatCount, countNoun, formatPlain, formatScore, formatDifference, formatInterval } from "./elements.js";
import { data, submissions, several, names, findOutcome, hasMany, makeName, FIELDS, ORDER } from "./data.js";
import { state, update, chooseFirst, chooseSuspected, formatUrl, NO_FILTERS, PARTIAL_CREDIT, RANKS, SUSPECTED } from "./state.js";
import { makeMore } from "./ranking.js";
import { chooseScale, drawStack, drawStrip, drawCurves, makeKey, drawDistribution } from "./charts.js";
import { download, formatSvg } from "./downloads.js";
import { countPair, equals } from "./questions.js";

const pairOf = () => [state.first, state.second].filter((place) => place >= 0);
const shownPlaces = () => (hasMany && !state.all ? pairOf().sort((a, b) => a - b) : [...names.keys()]);
const showQuestions = (changes) => update({ ...NO_FILTERS, open: -1, ...changes }, { focus: "questions" });
const moreSubmissions = () => (hasMany ? makeMore(names.length, "submission") : null);
const makeHead = (cells) => make("thead", {}, make("tr", {}, cells.map((cell) => (cell === null ? make("td") : cell instanceof Element ? cell : make("th", { scope: "col" }, cell)))));
const makeSwatch = (outcome) => make("i", { class: `o${outcome}` });

// What goes wrong

const countsOf = (place) => submissions[place].outcomes;
const isOnly = (places, outcome) => places.length === 1 && places[0] === outcome;
// A click on a count filters the questions by the outcome of that submission. It keeps the pair if possible.
const filterOutcome = (place, outcome) => {
  if (place === state.second) return { isPressed: isOnly(state.before, outcome), changes: { before: [outcome] } };
  const isPressed = place === state.first && isOnly(state.outcomes, outcome);
  return { isPressed, changes: { ...(place === state.first ? {} : chooseFirst(place)), outcomes: [outcome] } };
};
const makeCount = (place, outcome) => {
  const { name } = data.outcomes[outcome];
  const count = countsOf(place)[name];
  if (!count) return make("span", { class: "said" }, "0");
  const { isPressed, changes } = filterOutcome(place, outcome);
  const label = `${formatCount(count)} ${name}${several ? ` of ${names[place]}` : ""}: show these questions`;
  return makeFilter(`count ${place} ${outcome}`, label, isPressed, () => showQuestions(isPressed ? {} : changes), formatCount(count));
};
const drawOutcomeBar = (place, kinds) =>
  drawStack(
    kinds.map((outcome) => [data.outcomes[outcome].name, countsOf(place)[data.outcomes[outcome].name], `o${outcome}`, () => showQuestions(filterOutcome(place, outcome).changes)]),
    18,
  );
const drawOutcomes = () => {
  const kinds = ORDER.filter((outcome) => submissions.some(({ outcomes }) => outcomes[data.outcomes[outcome].name]));
  if (!several) {
    const rows = kinds.map((outcome) =>
      make("tr", {}, make("th", { scope: "row" }, makeSwatch(outcome), data.outcomes[outcome].name, make("small", {}, data.outcomes[outcome].meaning)), make("td", {}, makeCount(0, outcome))),
    );
    return [drawOutcomeBar(0, kinds), rove(make("table", { class: "counts" }, makeHead(["outcome", "answers"]), make("tbody", {}, rows)))];
  }
  const rows = shownPlaces().map((place) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, makeName(place)),
      make("td", { class: "chart" }, drawOutcomeBar(place, kinds)),
      kinds.map((outcome) => make("td", { "data-label": data.outcomes[outcome].name, class: `labelled o${outcome}` }, makeCount(place, outcome))),
    ),
  );
  const head = kinds.map((outcome) => make("th", { scope: "col", title: data.outcomes[outcome].meaning }, makeSwatch(outcome), data.outcomes[outcome].name));
  const meanings = make("details", {}, make("summary", { "data-key": "meanings" }, "What the outcomes mean"), make("dl", { class: "meanings" }, kinds.flatMap((outcome) => [make("dt", {}, makeSwatch(outcome), data.outcomes[outcome].name), make("dd", {}, data.outcomes[outcome].meaning)])));
  const table = make("table", { class: "stack outcomes" }, makeHead(["submission", make("td", { class: "chart" }), ...head]), make("tbody", {}, rows));
  return [rove(table), moreSubmissions(), meanings];
};

// Before and after

const drawChanges = () => {
  const { table } = countPair();
  const isUsed = (outcome) => table[outcome].some(Boolean) || table.some((row) => row[outcome]);
  const kinds = ORDER.filter(isUsed);
  const [before, after] = [names[state.second], names[state.first]];
  const rows = kinds.filter((from) => table[from].some(Boolean)).map((from) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, makeSwatch(from), data.outcomes[from].name),
      kinds.map((to) => {
        const count = table[from][to];
        const [was, is] = [data.outcomes[from].name, data.outcomes[to].name];
        const isPressed = isOnly(state.before, from) && isOnly(state.outcomes, to);
        const act = () => showQuestions(isPressed ? {} : { before: [from], outcomes: [to] });
        const label = `${countNoun(count, "question")}: ${before} ${was}, ${after} ${is}`;
        return make("td", { class: from === to ? "same" : "", "data-label": is }, count ? makeFilter(`cell ${from} ${to}`, label, isPressed, act, formatCount(count)) : make("span", { class: "said" }, "0"));
      }),
    ),
  );
  const caption = make("caption", { class: "said" }, "A row is an outcome of ", make("bdi", {}, before), " (the baseline), a column an outcome of ", make("bdi", {}, after), ".");
  const head = kinds.map((to) => make("th", { scope: "col" }, makeSwatch(to), data.outcomes[to].name));
  const content = make("table", { class: "stack changes" }, caption, makeHead([make("th", { scope: "col" }, "before"), ...head]), make("tbody", {}, rows));
  return [rove(content)];
};

// Curves

const describeCurve = (place) => {
  const points = data.curves.thresholds[place].filter(([x]) => [0.25, 0.5, 0.75, 0.9].includes(x));
  return `${names[place]}: ${points.map(([x, y]) => `${y.toFixed(3)} at ${formatPlain(x)}`).join(", ")}`;
};
const makeFigure = (title, ...content) => {
  const save = make("button", { class: "filter", "data-key": `save ${title}`, "aria-label": `Save as SVG: ${title}` }, "Save as SVG");
  const figure = make("div", { class: "figure" }, make("h3", {}, title, " ", save), ...content);
  save.addEventListener("click", () => download(formatSvg(figure.querySelector("svg")), `${title}.svg`, "image/svg+xml"));
  return figure;
};
const drawThresholds = () => {
  const { thresholds, threshold, is_distance: isDistance } = data.curves;
  const places = [...names.keys()];
  const lines = places.map((place) => ({ place, points: thresholds[place] }));
  return makeFigure(
    `${data.label} over the threshold`,
    drawCurves(lines, threshold, places.map(describeCurve).join("; ")),
    make("p", { class: "said" }, `threshold${isDistance ? " of the distance" : ""}; dashed line: the threshold of these scores, ${formatPlain(threshold)}`),
    several && makeKey(places),
  );
};
const drawSimilarities = () => {
  const { similarities, minimum } = data.curves;
  const places = shownPlaces();
  const most = Math.max(1, ...places.flatMap((place) => similarities[place][0]));
  const figures = places.map((place) => {
    const [counts, equal] = similarities[place];
    const rest = counts.reduce((sum, count) => sum + count, 0);
    const caption = rest ? `${formatCount(equal)} equal, ${formatCount(rest)} others; the tallest bar is ${formatCount(Math.max(...counts))}` : "all equal";
    return make("figure", {}, make("figcaption", {}, several && makeName(place), make("span", { class: "said" }, caption)), rest > 0 && drawDistribution(counts, minimum, most, place, caption, (range) => showQuestions({ ...(place === state.first ? {} : chooseFirst(place)), range })));
  });
  return makeFigure(
    "Similarities, before the threshold",
    make("div", { class: several ? "spreads" : "spreads alone" }, figures),
    make("p", { class: "said" }, `Click a bar to see its questions. The bars go from 0 to 1, without equal answers; below ${formatPlain(minimum)} they are outlined, and the answers score 0`),
    moreSubmissions(),
  );
};
const drawRisks = () => {
  const lines = data.curves.risks.map((points, place) => ({ place, points })).filter(({ points }) => points.length);
  if (!lines.length) return null;
  const label = lines.map(({ place, points }) => `${names[place]}: risk ${points.at(-1)[1].toFixed(3)} of all answers`).join("; ");
  return makeFigure(
    "Risk and coverage",
    drawCurves(lines, 1, label),
    make("p", { class: "said" }, "The risk (1 - mean score), if only the most confident answers are accepted: over the share of accepted answers."),
    several && makeKey(lines.map(({ place }) => place)),
  );
};
const drawCurvePanel = () => [make("div", { class: "two" }, drawThresholds(), drawSimilarities(), drawRisks())];

// Tables that compare the pair by rows: groups and variants

const subtractMeans = (table, row) => {
  const { means, counts } = table;
  const [first, second] = [means[state.first][row], means[state.second]?.[row]];
  if (first === null || second === null || second === undefined) return null;
  const difference = table.differences?.[`${state.second} ${state.first}`]?.[row];
  if (difference) return { value: difference[0], interval: difference[1] };
  const other = table.differences?.[`${state.first} ${state.second}`]?.[row];
  if (other) return { value: -other[0], interval: other[1] && [-other[1][1], -other[1][0]] };
  return counts && counts.length > 1 && counts[state.first][row] !== counts[state.second][row] ? null : { value: first - second, interval: null };
};
const makeMean = (table, place, row) => {
  const mean = table.means[place][row];
  const interval = table.intervals?.[place]?.[row];
  return make("td", { "data-label": names[place] }, formatScore(mean), interval && make("small", {}, formatInterval(interval)));
};
const makeDifference = (difference) =>
  make("td", { "data-label": "difference" }, difference ? formatDifference(difference.value) : "-", difference?.interval && make("small", {}, formatInterval(difference.interval, formatDifference)));
const drawComparisonRows = (table, rows, makeHeads) => {
  const scale = chooseScale(table.means.flat().filter((mean) => mean !== null));
  return rows.map((row) =>
    make(
      "tr",
      { class: table.names[row] === table.chosen ? "chosen" : "" },
      makeHeads(row),
      several && make("td", { class: "chart" }, drawStrip(table.means.map((means) => means[row]), scale, pairOf())),
      pairOf().map((place) => makeMean(table, place, row)),
      state.second >= 0 && makeDifference(subtractMeans(table, row)),
    ),
  );
};

const FEW = 20; // the number of groups that are shown at first
const countOf = (table, row) => Math.max(...table.counts.map((counts) => counts[row]));
const RANK_KEYS = {
  name: (table) => (row) => row,
  questions: (table) => (row) => countOf(table, row),
  mean: (table) => (row) => table.means[state.first][row] ?? -1,
  difference: (table) => (row) => subtractMeans(table, row)?.value ?? 9,
};
const rankGroups = (table) => {
  const [, sign, rank] = /^(-?)(.*)$/.exec(state.rank);
  const keyOf = RANK_KEYS[rank](table);
  const keys = table.names.map((_, row) => keyOf(row));
  return [...keys.keys()].sort((a, b) => (sign ? keys[b] - keys[a] : keys[a] - keys[b]) || a - b);
};
const makeRankHead = (rank, ...label) => {
  const isDown = state.rank === `-${rank}`;
  const direction = isDown ? "descending" : state.rank === rank ? "ascending" : "none";
  const button = make("button", { "data-key": `rank ${rank}`, onclick: () => update({ rank: direction === "ascending" ? `-${rank}` : rank }) }, ...label);
  return make("th", { scope: "col", "aria-sort": direction, class: "sorted" }, button);
};
const drawGroups = () => {
  const table = data.groups[state.field];
  const groups = rankGroups(table);
  const rows = state.all ? groups : groups.slice(0, FEW);
  const makeHeads = (row) => {
    const name = table.names[row];
    const isPressed = equals(state.group, [state.field, name]);
    const act = () => showQuestions({ group: isPressed ? null : [state.field, name] });
    const content = table.of.length ? makeFilter(`group ${row}`, `${name}: show its questions`, isPressed, act, make("bdi", {}, name)) : make("bdi", {}, name);
    return [make("th", { scope: "row" }, content), make("td", { "data-label": "questions" }, formatCount(countOf(table, row)))];
  };
  const head = [
    makeRankHead("name", tame(state.field)),
    makeRankHead("questions", "questions"),
    several && make("td", { class: "chart" }),
    makeRankHead("mean", several ? makeName(state.first) : data.label),
    state.second >= 0 && make("th", { scope: "col" }, makeName(state.second)),
    state.second >= 0 && makeRankHead("difference", "difference"),
  ];
  const fields = FIELDS.length > 1 && make("label", { class: "pick" }, "by ", makeSelect("field", "field of the groups", FIELDS.map((field) => [field, field]), state.field, (field) => update({ field, rank: RANKS[0], all: false })));
  const content = make("table", { class: "stack numbers" }, makeHead(head.filter(Boolean)), make("tbody", {}, drawComparisonRows(table, rows, makeHeads)));
  return [fields, rove(content), groups.length > FEW ? makeMore(groups.length, "group") : null];
};
const drawVariants = () => {
  const table = data.variants;
  if (!table.names.length) return [make("p", { class: "said" }, "There are too many answers for this table: run ", make("code", {}, "anls --variant all"), " with your files.")];
  const makeHeads = (row) => make("th", { scope: "row" }, table.names[row], make("small", {}, table.meanings[row]));
  const head = ["variant", several && make("td", { class: "chart" }), ...(several ? pairOf().map((place) => make("th", { scope: "col" }, makeName(place))) : [data.label]), state.second >= 0 && "difference"];
  const places = several ? pairOf() : [0];
  const spread = places.map((place) => `${several ? `${names[place]}: ` : ""}from ${formatScore(Math.min(...table.means[place]))} to ${formatScore(Math.max(...table.means[place]))}`);
  return [
    make("p", { class: "said" }, `Each variant has its own threshold and case, as in its program. ${tame(spread.join("; "))}.`),
    make("table", { class: "stack numbers" }, makeHead(head.filter(Boolean)), make("tbody", {}, drawComparisonRows(table, [...table.names.keys()], makeHeads))),
  ];
};

// Behind the number

// The outcomes that partial credit is about.
const CREDITED = ["same value", "formatting", "another number"];
const listCredited = (place) => {
  const found = CREDITED.filter((name) => countsOf(place)[name]);
  const counts = found.map((name) => [`${name}: `, makeCount(place, findOutcome(name)), " "]);
  return found.length > 0 && make("p", { class: "behind" }, counts.flat());
};
// A figure with the questions that count in it.
const makeFigureFilter = (key, place, text, rows, name, value) => {
  const isPressed = place === state.first && equals(state[name], value);
  const act = () => showQuestions(isPressed ? {} : { ...(place === state.first ? {} : chooseFirst(place)), [name]: value });
  const label = `${text}${several ? ` of ${names[place]}` : ""}: show ${countNoun(rows.length, "question")}`;
  return rows.length ? makeFilter(key, label, isPressed, act, text) : text;
};
const listFigures = (title, items) => items.length > 0 && make("p", { class: "behind" }, items.flatMap((item, number) => [number ? " · " : `${title}: `, item]));
const creditOf = (place) => Object.entries(data.answers[place].partial_credit).filter(([, { value }]) => value);
const listCredit = (place) =>
  listFigures(
    "partial credit",
    creditOf(place).map(([name, { value, questions }]) => makeFigureFilter(`credit ${place} ${name}`, place, `${PARTIAL_CREDIT[name]} ${formatScore(value)} (${formatCount(questions.length)})`, questions, "credit", name)),
  );
const confusionsOf = (place) => data.answers[place].confusions;
const listConfusions = (place) =>
  listFigures(
    "confused",
    confusionsOf(place).map(({ predicted, accepted, count, questions }, number) => {
      const pair = [predicted, accepted];
      return makeFigureFilter(`confusion ${place} ${number}`, place, `${formatConfusion(pair)} (${formatCount(count)})`, questions, "confusion", pair);
    }),
  );
const hasBehind = (place) => [data.beside[place], creditOf(place), confusionsOf(place)].some(({ length }) => length);
const listBeside = (place) => data.beside[place].length > 0 && make("ul", { class: "said" }, data.beside[place].map((line) => make("li", {}, tame(line.filter(Boolean).join(" ")))));
const drawBehind = () => [
  ...shownPlaces().filter(hasBehind).flatMap((place) => [several && make("h3", {}, makeName(place)), listBeside(place), listCredit(place), listCredited(place), listConfusions(place)]),
  moreSubmissions(),
];
const brief = (text) => tame(text.length > 120 ? `${text.slice(0, 120)}…` : text);
const suspected = data[SUSPECTED];
const drawSuspected = () => {
  const isPressed = state.only === SUSPECTED;
  const button = makeFilter("suspected", `${countNoun(suspected.length, "suspected label error")}: show them`, isPressed, () => showQuestions(chooseSuspected(!isPressed)), "Show these questions", "");
  const rows = new Map(data.ids.map((id, row) => [id, row]));
  const shown = state.all ? suspected : suspected.slice(0, FEW);
  const items = shown.map(({ id, answer, submissions: count }) => {
    const row = rows.get(id);
    const link = row === undefined ? make("b", {}, tame(id)) : make("a", { href: formatUrl({ ...NO_FILTERS, ...chooseSuspected(true), open: row }), "data-open": row }, tame(id));
    const question = row !== undefined && make("div", { class: "said" }, make("bdi", {}, brief(data.questions[row])), " · accepted: ", make("bdi", {}, brief(data.references[row].join(" | "))));
    return make("li", {}, link, `: ${count} submissions say `, make("bdi", {}, tame(answer)), question);
  });
  const intro = "Most submissions agree on an answer that is not accepted.";
  return [make("p", { class: "said" }, intro), make("p", {}, button), rove(make("ul", {}, items)), suspected.length > FEW ? makeMore(suspected.length, "suspected label error") : null];
};

// The panels: name in the URL -> title, whether there is anything to show, and the function that draws it.
const PANELS = {
  outcomes: { title: "What goes wrong", exists: () => true, draw: drawOutcomes },
  changes: { title: "Before and after", exists: () => state.second >= 0, draw: drawChanges },
  groups: { title: "Groups", exists: () => FIELDS.length > 0, draw: drawGroups },
  curves: { title: "Curves", exists: () => data.curves !== null, draw: drawCurvePanel },
  variants: { title: "Every variant", exists: () => data.variants !== null, draw: drawVariants },
  behind: { title: "Behind the number", exists: () => [...names.keys()].some(hasBehind), draw: drawBehind },
  [SUSPECTED]: { title: "Suspected label errors", exists: () => suspected.length > 0, draw: drawSuspected },
};
const listPanels = () => Object.keys(PANELS).filter((name) => PANELS[name].exists());
const shownPanel = () => (listPanels().includes(state.look) ? state.look : "outcomes");
const makePanel = (name) =>
  make("div", { id: `panel-${name}`, class: "panel", role: "tabpanel", "aria-labelledby": `tab-${name}`, tabindex: -1 }, PANELS[name].draw().filter(Boolean));
export const drawCloser = () => {
  const tabs = listPanels().map((name) =>
    make(
      "button",
      { id: `tab-${name}`, role: "tab", "data-key": `tab ${name}`, "aria-selected": String(name === shownPanel()), "aria-controls": name === shownPanel() ? `panel-${name}` : undefined, onclick: () => update({ look: name, all: false }) },
      PANELS[name].title,
    ),
  );
  const list = rove(make("div", { class: "tabs", role: "tablist", "aria-label": "A closer look" }, tabs));
  for (const tab of tabs) tab.tabIndex = tab.getAttribute("aria-selected") === "true" ? 0 : -1;
  return [list, makePanel(shownPanel())];
};
// A print shows all panels, one after the other.
export const drawAllPanels = () => listPanels().map((name) => make("div", { class: "panel" }, make("h3", {}, PANELS[name].title), PANELS[name].draw().filter(Boolean)));
