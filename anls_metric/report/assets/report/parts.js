// Where the points come from: the difference of two submissions, or the loss of one, by cause and by group.
import { make, makeFilter, makeSelect, countNoun, formatCount, rove, tame } from "./elements.js";
import { data, names, several, crowded, submissions, cutFolder, FIELDS } from "./data.js";
import { formatScore, formatDifference } from "./formats.js";
import { state, update, showQuestions, choosePair } from "./state.js";

const SHOWN = 5; // parts of each kind, beside a row for all others

// The points as they are printed add up to their total as it is printed.
const roundPoints = (rows) => {
  const unit = 10 ** -(data.digits + 2);
  const exact = rows.map(({ points }) => points / unit);
  const whole = exact.map(Math.floor);
  const [total, sum] = [exact, whole].map((numbers) => numbers.reduce((one, other) => one + other, 0));
  const rest = Math.round(total) - sum;
  const places = [...exact.keys()].sort((one, other) => exact[other] - whole[other] - exact[one] + whole[one]);
  for (const place of places.slice(0, rest)) whole[place] += 1;
  return rows.map((row, place) => ({ ...row, points: whole[place] * unit }));
};
// The largest parts, and one row for all others
const chooseRows = (parts, join, most = SHOWN) => {
  const sorted = [...parts].sort((one, other) => Math.abs(other.points) - Math.abs(one.points));
  const count = parts.length === most + 1 ? most + 1 : most;
  const [shown, rest] = [sorted.slice(0, count), sorted.slice(count)];
  return roundPoints(rest.length ? [...shown, join(rest)] : shown);
};
const addUp = (parts, key) => parts.reduce((sum, part) => sum + part[key], 0);
const drawTable = (rows) => {
  const sizes = rows.map(({ points, isRest }) => (isRest ? 0 : Math.abs(points)));
  const longest = Math.max(...sizes, Number.EPSILON);
  const drawRow = ({ key, label, points, about, isPressed, act }, place) => {
    const size = sizes[place] / longest;
    const bar = { class: `part ${points < 0 ? "loss" : "gain"}`, style: { "--size": size } };
    return make(
      "tr",
      make("th", { scope: "row" }, act ? makeFilter(key, isPressed, act, label) : label),
      make("td.points", formatDifference(points)),
      make("td.chart", size > 0 && make("span", bar, make("i"))),
      make("td.about", about),
    );
  };
  return rove(make("table.causes", make("tbody", rows.map(drawRow))));
};

// Causes

const reverse = ({ points, losses, wins, ...rest }) => ({ ...rest, points: -points, losses: wins, wins: losses });
// The contributions to the score of the first minus that of the second
const listCauses = () => {
  const { first, second } = state;
  const own = data.contributions[second < 0 ? first : `${first} ${second}`];
  const parts = own ?? data.contributions[`${second} ${first}`].map(reverse);
  return parts.map((part) => ({ ...part, outcomes: [part.outcome] }));
};
const joinCauses = (parts) => ({
  outcomes: parts.flatMap(({ outcomes }) => outcomes),
  ...Object.fromEntries(["points", "losses", "wins"].map((key) => [key, addUp(parts, key)])),
});
const findRow = (place, cause) => submissions[place].lost.rows.find((row) => row.cause === cause);
const describeCause = ({ outcomes, points, losses, wins, document, shared }) => {
  const isPressed = String(state.lost) === String(outcomes);
  const counts =
    state.second < 0
      ? countNoun(losses, "question")
      : [losses && countNoun(losses, "loss", "losses"), wins && countNoun(wins, "win")].filter(Boolean).join(", ");
  const common = document && `, ${shared} in ${tame(cutFolder(document))}`;
  const advice = state.second < 0 && outcomes.length === 1 && `: ${findRow(state.first, outcomes[0]).remedy}`;
  return {
    key: `lost ${outcomes}`,
    label: outcomes.length > 1 ? "all others" : outcomes[0],
    points,
    isRest: outcomes.length > 1,
    about: crowded ? "" : [counts, common, advice],
    isPressed,
    act: () => showQuestions({ lost: isPressed ? [] : outcomes }),
  };
};
const makePicks = () => {
  const choices = names.map((name, place) => [place, name]);
  const choose = (key) => (value) =>
    update({ ...choosePair({ [key]: Number(value) }), ...(Number(value) < 0 ? { change: "", lost: [] } : {}) });
  return (
    several && [
      makeSelect("first", "model", choices, state.first, choose("first")),
      " minus ",
      makeSelect("second", "minus", [[-1, "nothing"], ...choices], state.second, choose("second")),
    ]
  );
};
const drawCredit = () => {
  const credit = Object.entries(submissions[state.first].lost.credit_for_wrong);
  const parts = credit.map(([cause, value]) => `${cause} ${formatScore(value)}`).join(", ");
  return parts && make("p.said", `Credit for wrong answers in the score of ${names[state.first]}: ${parts}`);
};
const drawCauses = () => {
  const causes = chooseRows(listCauses(), joinCauses);
  const difference = formatDifference(addUp(causes, "points"));
  const between = /[1-9]/.test(difference) ? `Where the ${difference} points come from` : "Where the models differ";
  const title = state.second < 0 ? `Where ${names[state.first]} loses points` : between;
  return [
    make("div.line", make("h2", { id: "causes-title", tabindex: -1 }, title), make("span.said", makePicks())),
    causes.length
      ? drawTable(causes.map(describeCause))
      : make("p.said", "Every question has the same score."),
    drawCredit(),
  ];
};

// Groups. Of the keys of nested values, only the outermost ones add up; the others are in the details.

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
const describeGroup = ({ name, questions, scores, points, others }, place) => {
  const group = [state.field, name];
  const isPressed = String(state.group) === String(group);
  const shown = state.second < 0 ? scores?.slice(1) : scores;
  const count = others ? "" : [shown.map(formatScore).join(" → "), `, ${countNoun(questions, "question")}`];
  return {
    key: `group ${place}`,
    label: make("bdi", others ? `${formatCount(others.length)} others` : nameGroup(name)),
    points,
    isRest: others,
    about: crowded ? "" : count,
    isPressed,
    act: others
      ? () => update({ whole: !state.whole })
      : data.groups[state.field][name] && (() => showQuestions({ group: isPressed ? null : group })),
  };
};
const drawGroups = () => {
  const rows = chooseRows(listGroups(), joinGroups, state.whole ? Infinity : SHOWN).map(describeGroup);
  const options = FIELDS.map((name) => [name, name === DOCUMENT ? `document (${name})` : name]);
  const select = makeSelect("field", "field of the groups", options, state.field, (field) => update({ field }));
  const less = state.whole && makeFilter("whole", true, () => update({ whole: "" }), "fewer");
  return make("div", make("div.line", make("h2", "By "), select, less), make("div.scroll", drawTable(rows)));
};
export const drawParts = () => [make("div", drawCauses()), FIELDS.length > 0 && drawGroups()];
