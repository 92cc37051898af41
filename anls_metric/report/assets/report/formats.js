// Formats scores and differences in percent, with true minus signs and without a negative zero.
import { make } from "./elements.js";

let usual = 1;
export const setDigits = (count) => (usual = count);
const sign = (text) => text.replace(/^-(?=[0.]*$)/, "").replace("-", "−");
export const formatScore = (score, digits = usual) =>
  score === null || score === undefined ? "–" : sign((100 * score).toFixed(digits));
export const formatDifference = (value, digits = usual) => {
  const text = formatScore(value, digits);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
};
export const formatInterval = (interval, format = formatScore) =>
  interval ? `${format(interval[0])} to ${format(interval[1])}` : "no interval";
export const formatAnswer = (score) => {
  const step = 10 ** -(usual + 2);
  const isBetween = score > 0 && score < 1; // only 1 is 100, and only 0 is 0
  return formatScore(isBetween ? Math.min(Math.max(score, step), 1 - step) : score);
};
export const makeBadge = (score) => {
  const style = score === 1 ? "good" : score === 0 ? "zero" : "partial";
  return make("span", { class: `score ${style}` }, formatAnswer(score));
};
