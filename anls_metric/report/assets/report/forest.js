// The first table: a row for each submission, with its difference from the baseline.
import { make, makeSelect, countNoun, rove, tame } from "./elements.js";
import { data, submissions, names, several, crowded, BASELINE, pairOf, findHint, makeName, cutFolder } from "./data.js";
import { formatScore, formatDifference, formatInterval } from "./formats.js";
import { state, update, showQuestions, formatUrl, NO_FILTERS } from "./state.js";

export const SEARCHED = 12; // so many models have a search
export const ROW = crowded ? 46 : 36;
const WIDTH = 5; // the axis is at most so many times as wide as the median interval
const isCertain = ({ verdict }) => ["better", "worse"].includes(verdict);
const best = data.document.best;
const TIED = best?.no_significant_difference.length ? [best.name, ...best.no_significant_difference] : [];
const PLACES = [...names.keys()];
const PAIRS = PLACES.map(pairOf).filter(Boolean);

// Marks. Places are in percent, so that marks keep their form on any width.

export const makeMark = (tag, attributes, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat(Infinity).filter(Boolean));
  return element;
};
const median = (numbers) => numbers.sort((one, other) => one - other)[Math.floor(numbers.length / 2)];
// The interval that decides is at least as wide as the plain one.
const reach = ({ deciding_interval: ends, interval, difference }) => ends ?? interval ?? [difference, difference];
const findExtracted = (place) => findHint(place)?.anls - submissions[BASELINE]?.anls;
// The ends of the axis. What needs a much longer axis gets an arrow.
const findAxis = () => {
  const reaches = PAIRS.map(reach);
  const far = reaches.map((ends) => Math.max(...ends.map(Math.abs)));
  const limit = Math.max(WIDTH * median(reaches.map(([low, high]) => high - low)), Math.min(...far));
  const extracted = PLACES.map(findExtracted).filter((value) => Math.abs(value) <= limit);
  const shown = [0, ...reaches.filter((_, place) => far[place] <= limit).flat(), ...extracted];
  const [low, high] = [Math.min(...shown), Math.max(...shown)];
  const margin = 0.06 * (high - low) || 0.01;
  return [low - margin, high + margin];
};
const AXIS = several ? findAxis() : [0, 1];
const LOW = AXIS[0];
const HIGH = AXIS[1];
const locate = (value) => `${((100 * (value - LOW)) / (HIGH - LOW)).toFixed(2)}%`;
const listTicks = () => {
  const rough = (HIGH - LOW) / (crowded ? 3 : 6);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= rough);
  const first = Math.ceil(LOW / step);
  return Array.from({ length: Math.floor(HIGH / step) - first + 1 }, (_, place) => (first + place) * step);
};
const TICKS = several ? listTicks() : [];
const drawGrid = () =>
  TICKS.map((value) => {
    const x = locate(value);
    return makeMark("line", { class: Math.abs(value) < 1e-9 ? "zero" : "grid", x1: x, x2: x, y1: 0, y2: "100%" });
  });
const putAt = (value, mark) => makeMark("svg", { x: locate(value), y: "50%", overflow: "visible" }, mark);
const listRuns = (place) => submissions[place]?.run_scores ?? [];
const drawMarks = (place, pair) => {
  const extracted = place >= 0 ? findExtracted(place) : undefined;
  const isSeen = (value) => value >= LOW && value <= HIGH;
  const drawPair = () => {
    const style = !isCertain(pair) ? "open" : pair.difference < 0 ? "worse" : "better";
    if (isSeen(pair.difference)) {
      const drawLine = (ends, name) => {
        const [x1, x2] = ends.map((end) => locate(Math.min(Math.max(end, LOW), HIGH)));
        return makeMark("line", { class: `reach ${name} ${style}`, x1, x2, y1: "50%", y2: "50%" });
      };
      const isAdjusted = pair.deciding_interval && String(pair.deciding_interval) !== String(pair.interval);
      return [
        drawLine(reach(pair), "decides"),
        isAdjusted && drawLine(pair.interval, "alone"),
        putAt(pair.difference, makeMark("circle", { class: `dot ${style}`, r: 5 })),
      ];
    }
    const isLeft = pair.difference < LOW;
    const arrow = isLeft ? "M1 0 10-5V5Z" : "M-1 0-10-5V5Z";
    return putAt(isLeft ? LOW : HIGH, makeMark("path", { class: `dot ${style}`, d: arrow }));
  };
  const drawRun = (score, number) => {
    const title = makeMark("title", {}, `run ${number + 1}: ${formatScore(score)}`);
    return putAt(score - submissions[BASELINE].anls, makeMark("circle", { class: "run", r: 3, cy: 11 }, title));
  };
  return [
    listRuns(place).map(drawRun),
    place === BASELINE && putAt(0, makeMark("circle", { class: "dot own", r: 5 })),
    pair && drawPair(),
    isSeen(extracted) && putAt(extracted, makeMark("path", { class: "extracted", d: "M0-6 6 0 0 6-6 0Z" })),
  ];
};
const drawChart = (place, pair) => {
  const certainty = pair && `${isCertain(pair) ? "" : "not "}significant`;
  const runs = listRuns(place).map((score) => formatScore(score)).join(", ");
  const own = pair ? `95% CI ${formatInterval(pair.interval, formatDifference)}, ${certainty}` : "baseline";
  const label = runs ? `${own}, runs ${runs}` : own;
  const attributes = { role: "img", "aria-label": label, width: "100%", height: ROW };
  return makeMark("svg", attributes, drawGrid(), drawMarks(place, pair));
};
const drawAxis = () => {
  const format = (value) => formatDifference(value).replace(/\.0+$/, "");
  const texts = TICKS.map((value) =>
    makeMark("text", { x: locate(value), y: 14, "text-anchor": "middle" }, format(value)),
  );
  return makeMark("svg", { class: "axis", width: "100%", height: 18 }, texts);
};

const link = (changes, key, content) => {
  const act = (event) => {
    if (event.ctrlKey) return;
    event.preventDefault();
    showQuestions(changes);
  };
  const href = formatUrl({ ...NO_FILTERS, open: -1, page: 0, ...changes });
  return make("a", { href, "data-key": key, onclick: act }, content);
};
const linkChange = (place, change, ...nouns) => {
  const text = crowded ? change : countNoun(pairOf(place)[change], ...nouns);
  return link({ first: place, second: BASELINE, change }, `${change} ${place}`, text);
};
const drawNotes = (place, pair) => {
  const hint = findHint(place);
  const parts = [
    pair && [linkChange(place, "losses", "loss", "losses"), " · ", linkChange(place, "wins", "win")],
    place === BASELINE && make("span.said", "baseline"),
    hint && make("span.after", `◇ ${formatScore(hint.anls)} extracted`),
  ];
  return parts.filter(Boolean).flatMap((part) => [" ", part]);
};
const drawModel = (style, head, { anls, interval, asked }, [chart, difference], notes) =>
  make(
    style,
    make("th", { scope: "row" }, head),
    make("td.anls", make("b", anls)),
    make("td.interval", interval),
    data.asked.map(({ heading }, place) => make("td.asked", place in asked && make("span.who", heading), asked[place])),
    several && [make("td.chart", chart), make("td.difference", difference)],
    make("td.against", notes),
  );
const drawSubmission = (place) => {
  const submission = submissions[place];
  const pair = pairOf(place);
  return drawModel(
    "tr",
    [makeName(place), TIED.includes(submission.name) && make("span.tied", { title: data.of_tied }, " ≈")],
    {
      anls: formatScore(submission.anls),
      interval: submission.interval && formatInterval(submission.interval),
      asked: data.asked.map(({ cells }) => cells[place]),
    },
    [drawChart(place, pair), pair && make("b", formatDifference(pair.difference))],
    drawNotes(place, pair),
  );
};
// What is left without the document that decides; of many models, for that of the claims
const drawWithout = (place) => {
  const left = (!crowded || submissions[place].name === data.about) && pairOf(place)?.one_document;
  if (!left) return null;
  const stem = tame(cutFolder(left.document));
  const search = { first: place, second: BASELINE, search: stem };
  const notes = link(search, "without", `its ${countNoun(left.questions, "question")}`);
  const verdict = left.p_value < 0.05 && isCertain(pairOf(place)) && "better";
  const chart = [drawChart(-1, { ...left, verdict }), formatDifference(left.difference)];
  return drawModel("tr.without", `without ${stem}`, { asked: [] }, chart, notes);
};
const listPlaces = () => {
  const order = data.order.map((name) => submissions.findIndex((each) => each.name === name));
  const words = state.models.toLowerCase().split(/\s+/);
  const isFound = (place) => words.every((word) => submissions[place].name.toLowerCase().includes(word));
  return (state.order ? order : PLACES).filter(isFound);
};
const drawModelHead = () => {
  const orders = [["", "by score"], ["files", "in the order of the files"]];
  const select = makeSelect("order", "sorted", orders, state.order, (order) => update({ order }));
  const chart = ["difference from ", make("bdi", names[BASELINE]), " in points, 95% CI"];
  const asked = data.asked.map(({ heading, meaning }) => make("th.asked", { scope: "col", title: meaning }, heading));
  return make(
    "tr",
    make("th", { scope: "col" }, submissions.length > 2 ? select : "model"),
    make("th.anls", { scope: "col" }, data.label),
    make("th.interval", { scope: "col" }, "95% CI"),
    asked,
    several && make("th.chart", { scope: "col" }, make("span.title", chart), drawAxis()),
    several && make("th.difference", { scope: "col" }, make("span.hidden", "difference")),
    make("th", { scope: "col" }, make("span.hidden", "notes")),
  );
};
const LEGEND = {
  ".tied": `≈ ${data.of_tied}`,
  ".dot.open": "○ not significant",
  ".dot:is(.better, .worse)": "● significant",
  ".alone": "thick: 95% CI alone; thin: as wide as the verdict asks for",
  ".run": "· a run",
  ".extracted": "◇ after the extraction that a hint proposes",
  "path.dot": "◄ outside of the axis",
};
const isSaid = !several && !data.asked.length && !findHint(0); // the heading says all of it
export const drawForest = () => {
  if (isSaid) return [];
  const rows = listPlaces().flatMap((place) => [drawSubmission(place), drawWithout(place)]);
  const table = make("table.forest", make("thead", drawModelHead()), make("tbody", rows));
  const meanings = Object.keys(LEGEND).filter((mark) => table.querySelector(mark));
  return [rove(table), make("p.said", meanings.map((mark) => make("span.key", LEGEND[mark])))];
};
