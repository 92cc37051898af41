// Confusions: +x is x too many, −x is x left out, and x for y is x in the place of y.
import { make, makeFilter, formatCount, tame } from "./elements.js";
import { data, several, makeName } from "./data.js";
import { state, showQuestions } from "./state.js";

const VISIBLE = { " ": "space", "\n": "line break", "\t": "tab" };
const nameText = (text) => VISIBLE[text] ?? tame(text);
export const formatConfusion = ([predicted, accepted]) =>
  predicted === ""
    ? `−${nameText(accepted)}`
    : accepted === ""
      ? `+${nameText(predicted)}`
      : `${nameText(predicted)} for ${nameText(accepted)}`;
const listConfusions = (place) => {
  const { confusions } = data.answers[place];
  const buttons = confusions.map(({ predicted, accepted, count }, number) => {
    const pair = [predicted, accepted];
    const isPressed = place === state.first && JSON.stringify(state.confusion) === JSON.stringify(pair);
    const second = place === state.second ? state.first : state.second;
    const act = () => showQuestions({ first: place, second, confusion: isPressed ? null : pair });
    const content = [make("bdi", formatConfusion(pair)), ` ${formatCount(count)}`];
    return [number > 0 && " · ", makeFilter(`confusion ${place} ${number}`, isPressed, act, content)];
  });
  return make("p", several && [makeName(place), ": "], buttons.length ? buttons : "none");
};
export const HAS_CONFUSIONS = data.answers.some(({ confusions }) => confusions.length);
export const drawConfusions = () => {
  const places = state.second < 0 ? [state.first] : [state.second, state.first];
  const [more, less] = ["+x", "−x"].map((text) => make("code", text));
  const about = ["Where answers differ from the references: ", more, " is extra, ", less, " is missing."];
  return [make("p.said", about), places.map(listConfusions)];
};
