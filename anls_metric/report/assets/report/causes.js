// Where the points go: the difference of two submissions, or the loss of one, by the outcome of the losing answer.
import { make, makeFilter, makeSelect, countNoun, rove } from "./elements.js";
import { data, names, several, findOutcome } from "./data.js";
import { formatDifference } from "./formats.js";
import { state, update, PARTIAL_CREDIT, choosePair, NO_FILTERS } from "./state.js";

const SHOWN = 5; // outcomes, beside a row for all others
const readPart = ({ outcome, ...part }) => ({ outcomes: [findOutcome(outcome)], ...part });
const reverse = ({ points, losses, wins, ...rest }) => ({ ...rest, points: -points, losses: wins, wins: losses });
// The contributions to the score of the first minus that of the second
const listParts = () => {
  const { first, second } = state;
  const own = data.contributions[second < 0 ? first : `${first} ${second}`];
  return own ? own.map(readPart) : data.contributions[`${second} ${first}`].map(readPart).map(reverse);
};
const join = (one, other) => ({
  outcomes: [...one.outcomes, ...other.outcomes],
  points: one.points + other.points,
  losses: one.losses + other.losses,
  wins: one.wins + other.wins,
});
const chooseRows = () => {
  const parts = listParts().sort((one, other) => Math.abs(other.points) - Math.abs(one.points));
  const shown = parts.slice(0, parts.length === SHOWN + 1 ? SHOWN + 1 : SHOWN);
  const rest = parts.slice(shown.length);
  shown.sort((one, other) => one.points - other.points);
  return rest.length ? [...shown, rest.reduce(join)] : shown;
};
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
const drawRow = ({ outcomes, points, losses, wins, document, shared }, longest) => {
  const { name, meaning } = outcomes.length > 1 ? { name: "all others" } : data.outcomes[outcomes[0]];
  const isPressed = String(state.lost) === String(outcomes);
  const act = () => update({ ...NO_FILTERS, lost: isPressed ? [] : outcomes, open: -1 }, { focus: "questions" });
  const counts =
    state.second < 0
      ? countNoun(losses, "question")
      : [losses && countNoun(losses, "loss", "losses"), wins && countNoun(wins, "win")].filter(Boolean).join(", ");
  const them = losses && wins ? `the ${losses < wins ? "wins" : "losses"}` : "them";
  const common = document ? `${shared} of ${them} in one document (${document})` : "";
  const style = { "--size": Math.abs(points) / longest };
  return make(
    "tr",
    make("th", { scope: "row", title: meaning }, makeFilter(`lost ${outcomes}`, isPressed, act, name)),
    make("td.points", formatDifference(points)),
    make("td.chart", make("span", { class: `part ${points < 0 ? "loss" : "gain"}`, style }, make("i"))),
    make("td", counts),
    make("td.said", make("bdi", common)),
  );
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
// Partial credit is about strings: what was lost to the format, and what wrong numbers got.
const drawCredit = () => {
  const credit = Object.entries(data.answers[state.first].partial_credit);
  const shown = credit.filter(([, { questions }]) => questions.length);
  const buttons = shown.map(([name, { value }], place) => {
    const isPressed = state.credit === name;
    const act = () => update({ ...NO_FILTERS, credit: isPressed ? "" : name }, { focus: "questions" });
    const text = `${PARTIAL_CREDIT[name]} ${formatDifference(name === "format_loss" ? -value : value)}`;
    return [place > 0 && ", ", makeFilter(`credit ${name}`, isPressed, act, text)];
  });
  return buttons.length > 0 && make("p.said", `Partial credit of ${names[state.first]}: `, buttons);
};
export const drawCauses = () => {
  const rows = roundPoints(chooseRows());
  const total = rows.reduce((sum, { points }) => sum + points, 0);
  const longest = Math.max(...rows.map(({ points }) => Math.abs(points)), Number.EPSILON);
  const difference = formatDifference(total);
  const between = /[1-9]/.test(difference) ? `Where the ${difference} points come from` : "Where the models differ";
  const title = state.second < 0 ? `Where ${names[state.first]} loses points` : between;
  const body = rows.map((row) => drawRow(row, longest));
  const heading = make("h2", { id: "causes-title", tabindex: -1 }, title);
  return [
    make("div.line", heading, make("span.said", several ? makePicks() : "by outcome")),
    rows.length
      ? rove(make("table.causes", make("tbody", body)))
      : make("p.said", "Every question has the same score."),
    drawCredit(),
  ];
};
