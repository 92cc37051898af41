// The account of lost points of one submission, or the difference of two.
import { make, makeFilter, makeSelect, countNoun, formatCount, rove, tame } from "./elements.js";
import { data, names, several, submissions, cutFolder, FIELDS } from "./data.js";
import { formatScore, formatDifference } from "./formats.js";
import { state, update, showQuestions, choosePair } from "./state.js";

const SHOWN = 5; // parts of each kind, beside a row for all others
const MORE_DIGITS = 2;

const addUp = (parts, key) => parts.reduce((sum, part) => sum + part[key], 0);
const isAlone = () => state.second < 0;
const formatPoints = (points, digits) =>
  isAlone() ? formatScore(-points, digits) : formatDifference(points, digits);
const sizeOf = ({ points, isRest }) => (isRest ? 0 : Math.abs(points));
// Points add up as printed, since those that rounding down would change most are rounded up. Parts that are all too
// small get more digits.
const roundPoints = (rows) => {
  const largest = Math.max(...rows.map(sizeOf));
  let digits = data.digits;
  while (largest > 0 && 100 * largest < 10 ** -digits && digits < data.digits + MORE_DIGITS) digits += 1;
  const unit = 10 ** -(digits + 2);
  const whole = rows.map(({ points }) => Math.floor(points / unit));
  const cut = rows.map(({ points }, place) => points / unit - whole[place]);
  const places = [...cut.keys()].sort((one, other) => cut[other] - cut[one]);
  const missing = Math.round(cut.reduce((sum, each) => sum + each, 0));
  for (const place of places.slice(0, missing)) whole[place] += 1;
  return rows.map((row, place) => ({ ...row, points: whole[place] * unit, digits }));
};
const chooseRows = (parts, join, most = SHOWN) => {
  const sorted = [...parts].sort((one, other) => Math.abs(other.points) - Math.abs(one.points));
  const count = parts.length === most + 1 ? most + 1 : most;
  const [shown, rest] = [sorted.slice(0, count), sorted.slice(count)];
  return roundPoints(rest.length ? [...shown, { ...join(rest), isRest: true }] : shown);
};
const drawTable = (rows) => {
  const sizes = rows.map(sizeOf);
  const longest = Math.max(...sizes, Number.EPSILON);
  const drawRow = ({ key, label, points, digits, about, isPressed, act }, place) => {
    const size = sizes[place] / longest;
    const style = isAlone() ? "alone loss" : points < 0 ? "loss" : "gain";
    const bar = { class: `part ${style}`, style: { "--size": size } };
    return make(
      "tr",
      make("th", { scope: "row" }, act ? makeFilter(key, isPressed, act, label) : label),
      make("td.points", formatPoints(points, digits)),
      make("td.chart", size > 0 && make("span", bar, make("i"))),
      make("td.about", about),
    );
  };
  return rove(make("table.causes", make("tbody", rows.map(drawRow))));
};

const reverse = ({ points, losses, wins, ...rest }) => ({ ...rest, points: -points, losses: wins, wins: losses });
export const listCauses = () => {
  const { first, second } = state;
  const own = data.contributions[second < 0 ? first : `${first} ${second}`];
  const parts = own ?? data.contributions[`${second} ${first}`].map(reverse);
  return parts.map((part) => ({ ...part, outcomes: [part.outcome] }));
};
const joinCauses = (parts) => ({
  outcomes: parts.flatMap(({ outcomes }) => outcomes),
  ...Object.fromEntries(["points", "losses", "wins"].map((key) => [key, addUp(parts, key)])),
});
// What to do about a cause, and for a step the score after it
const advise = (cause) => {
  const { remedy, anls } = submissions[state.first].lost.rows.find((row) => row.cause === cause);
  return [`: ${remedy}`, anls !== null && ` → ${formatScore(anls)}`];
};
const describeCause = ({ outcomes, points, digits, losses, wins, document, shared, isRest }) => {
  const isPressed = String(state.lost) === String(outcomes);
  const counts = isAlone()
    ? countNoun(losses, "question")
    : [losses && countNoun(losses, "loss", "losses"), wins && countNoun(wins, "win")].filter(Boolean).join(", ");
  const common = document && `, ${shared} in ${tame(cutFolder(document))}`;
  return {
    key: `lost ${outcomes}`,
    label: isRest ? "all others" : outcomes[0],
    points,
    digits,
    isRest,
    about: [counts, common, isAlone() && !isRest && advise(outcomes[0])],
    isPressed,
    act: () => showQuestions({ lost: isPressed ? [] : outcomes }),
  };
};
const makePicks = (total) => {
  const choices = names.map((name, place) => [place, name]);
  const choose = (key) => (value) =>
    update({ ...choosePair({ [key]: Number(value) }), ...(Number(value) < 0 ? { change: "", lost: [] } : {}) });
  return [
    several && [
      makeSelect("first", "model", choices, state.first, choose("first")),
      makeSelect("second", "minus", [[-1, "nothing"], ...choices], state.second, choose("second")),
    ],
    make("span.total", isAlone() ? `${total} of 100 points` : `${total} points`),
  ];
};
const drawCredit = () => {
  const credit = Object.entries(submissions[state.first].lost.credit_for_wrong);
  const parts = credit.map(([cause, value]) => `${formatScore(value)} ${cause}`).join(", ");
  return parts && make("p.said", `Credit for wrong answers in the score of ${names[state.first]}: ${parts}`);
};
export const drawCauses = () => {
  const causes = chooseRows(listCauses(), joinCauses);
  const total = formatPoints(addUp(causes, "points"), causes[0]?.digits);
  return [
    make("h2", { id: "causes-title", tabindex: -1 }, "Lost points by cause"),
    make("p.said.picks", makePicks(total)),
    causes.length ? drawTable(causes.map(describeCause)) : make("p.said", "Every question has the same score."),
    drawCredit(),
  ];
};

// Groups. Of the keys of nested values, only the outermost ones add up.

const listGroups = () => {
  const { field, first, second } = state;
  const find = (place, name) => submissions[place].groups[field][name] ?? {};
  const all = Object.keys(submissions[first].groups[field]);
  const isInside = (name) => "cost" in find(first, name) && all.some((other) => name.startsWith(`${other}.`));
  return all
    .filter((name) => !isInside(name))
    .map((name) => {
      const [own, other] = [find(first, name), second < 0 ? { anls: 1, cost: 0 } : find(second, name)];
      const scores = [other.anls, own.anls].filter((score) => score !== null && score !== undefined);
      const difference = scores.length > 1 ? own.anls - other.anls : 0;
      const share = own.questions / submissions[first].questions;
      const points = "cost" in own ? other.cost - own.cost : difference * share;
      return { name, questions: own.questions, scores, points };
    });
};
const joinGroups = (parts) => ({ points: addUp(parts, "points"), questions: addUp(parts, "questions"), others: parts });
const DOCUMENT = data.document.clusters?.field;
const nameGroup = (name) => tame(state.field === DOCUMENT ? cutFolder(name) : name);
const describeGroup = ({ name, questions, scores, points, digits, others }, place) => {
  const group = [state.field, name];
  const isPressed = String(state.group) === String(group);
  const shown = isAlone() ? scores?.slice(1) : scores;
  const scale = shown?.map((score) => formatScore(score)).join(" → ");
  const count = others ? "" : `${scale}, ${countNoun(questions, "question")}`;
  return {
    key: `group ${place}`,
    label: make("bdi", others ? `${formatCount(others.length)} others` : nameGroup(name)),
    points,
    digits,
    isRest: others,
    about: count,
    isPressed,
    act: others
      ? () => update({ whole: !state.whole })
      : data.groups[state.field][name] && (() => showQuestions({ group: isPressed ? null : group })),
  };
};
export const drawGroups = () => {
  if (!FIELDS.length) return [];
  const rows = chooseRows(listGroups(), joinGroups, state.whole ? Infinity : SHOWN).map(describeGroup);
  const options = FIELDS.map((name) => [name, name === DOCUMENT ? `document (${name})` : name]);
  const select = makeSelect("field", "by", options, state.field, (field) => update({ field }));
  const less = state.whole && makeFilter("whole", true, () => update({ whole: "" }), "fewer");
  const title = make("h2", { id: "groups-title" }, "Lost points by group");
  return [title, make("p.said.picks", select, less), make("div.scroll", drawTable(rows))];
};
