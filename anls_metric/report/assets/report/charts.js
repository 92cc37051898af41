// Draws numbers as SVG. Positions are percentages, so that a chart fits any width.
import { make, draw, formatCount, formatPlain, formatScore, formatInterval } from "./elements.js";
import { names, COLORS } from "./data.js";

// The ends of an axis: multiples of 0.1, at least 0.2 apart.
export const chooseScale = (values) => {
  const high = Math.ceil(Math.max(...values) * 10 - 1e-9);
  const low = Math.max(0, Math.min(Math.floor(Math.min(...values) * 10 + 1e-9), high - 2));
  return { low: low / 10, high: Math.max(high, low + 2) / 10 };
};
const locate = (value, { low, high }) => `${(3 + (94 * (Math.min(Math.max(value, low), high) - low)) / (high - low)).toFixed(2)}%`;

export const drawInterval = (value, interval, scale, place) =>
  draw(
    "svg",
    { class: `whiskers s${place % COLORS}`, height: 24, width: "100%", role: "img", "aria-label": `${formatScore(value)}, 95% CI ${formatInterval(interval)}` },
    draw("line", { class: "axis", x1: "3%", x2: "97%", y1: 12, y2: 12 }),
    interval && draw("line", { class: "reach", x1: locate(interval[0], scale), x2: locate(interval[1], scale), y1: 12, y2: 12 }),
    draw("circle", { cx: locate(value, scale), cy: 12, r: 5 }),
  );
export const makeEnds = ({ low, high }) => make("span", { class: "ends" }, make("span", {}, formatPlain(low)), make("span", {}, formatPlain(high)));

// A bar with parts [name, size, style, act]. A click on a part with an act filters.
export const drawStack = (parts, height = 14) => {
  const total = parts.reduce((sum, [, size]) => sum + size, 0) || 1;
  let before = 0;
  const shapes = parts.map(([name, size, style, act]) => {
    const left = before;
    before += size;
    return size && draw(
      "rect",
      { class: style + (act ? " act" : ""), x: `${((100 * left) / total).toFixed(3)}%`, width: `${((100 * size) / total).toFixed(3)}%`, height, ...(act && { onclick: act }) },
      draw("title", {}, `${name}: ${formatCount(size)} of ${formatCount(total)} (${((100 * size) / total).toFixed(1)}%)`),
    );
  });
  const label = parts.filter(([, size]) => size).map(([name, size]) => `${name} ${formatCount(size)}`).join(", ");
  return draw("svg", { class: "stacked", height, width: "100%", role: "img", "aria-label": label }, shapes.filter(Boolean));
};

// A dot for each submission on one axis. Screen readers skip it, because the numbers are beside it.
export const drawStrip = (values, scale, large) => {
  const dots = values.map((value, place) => value !== null && draw("circle", { class: `s${place % COLORS}`, cx: locate(value, scale), cy: 9, r: large.includes(place) ? 5 : 3 }, draw("title", {}, `${names[place]}: ${formatScore(value)}`)));
  return draw("svg", { class: "strip", height: 18, width: "100%", "aria-hidden": "true" }, draw("line", { class: "grid", x1: "3%", x2: "97%", y1: 9, y2: 9 }), dots.filter(Boolean).reverse());
};

const TICKS = [0, 0.25, 0.5, 0.75, 1];
const [LEFT, TOP, WIDE, HIGH] = [8, 4, 90, 84]; // the area of the curves, in percent of the drawing
const locateX = (value) => `${(LEFT + WIDE * value).toFixed(2)}%`;
const locateY = (value) => `${(TOP + HIGH * (1 - value)).toFixed(2)}%`;
const dashOf = (place) => `d${Math.floor(place / COLORS) % 4}`;

// Curves {place, points} over an axis from 0 to 1, with a vertical line at `mark`.
export const drawCurves = (lines, mark, label) => {
  const scale = chooseScale(lines.flatMap(({ points }) => points.map(([, y]) => y)));
  const { low, high } = scale;
  const grid = TICKS.flatMap((tick) => [
    draw("line", { class: "grid", x1: locateX(0), x2: locateX(1), y1: locateY(tick), y2: locateY(tick) }),
    draw("text", { x: `${LEFT - 1}%`, y: locateY(tick), dy: ".35em", "text-anchor": "end" }, formatPlain(low + tick * (high - low))),
    draw("text", { x: locateX(tick), y: `${TOP + HIGH + 7}%`, "text-anchor": "middle" }, formatPlain(tick)),
  ]);
  const paths = lines.map(({ place, points }) => {
    const path = points.map(([x, y]) => `${formatPlain(100 * x)} ${((100 * (high - y)) / (high - low)).toFixed(2)}`).join("L");
    return draw("path", { class: `s${place % COLORS} ${dashOf(place)}`, d: `M${path}` }, draw("title", {}, names[place]));
  });
  return draw(
    "svg",
    { class: "curves", height: 280, width: "100%", role: "img", "aria-label": label },
    grid,
    draw("line", { class: "mark", x1: locateX(mark), x2: locateX(mark), y1: `${TOP}%`, y2: `${TOP + HIGH}%` }),
    draw("svg", { x: `${LEFT}%`, y: `${TOP}%`, width: `${WIDE}%`, height: `${HIGH}%`, viewBox: "0 0 100 100", preserveAspectRatio: "none", overflow: "visible" }, paths.reverse()),
  );
};
// The names of the curves, each with its stroke.
export const makeKey = (places) =>
  make(
    "ul",
    { class: "names" },
    places.map((place) => make("li", {}, draw("svg", { class: "curves", width: 28, height: 10, "aria-hidden": "true" }, draw("path", { class: `s${place % COLORS} ${dashOf(place)}`, d: "M0 5L28 5" })), make("bdi", {}, names[place]))),
  );

// A histogram from 0 to 1. A click on a bin filters its questions. Bins below `minimum` are outlines. `most` has full height.
export const drawDistribution = (counts, minimum, most, place, label, act) => {
  const width = 100 / counts.length;
  const bars = counts.map((count, number) => {
    const [from, to] = [number / counts.length, (number + 1) / counts.length];
    const style = (number + 0.5) / counts.length < minimum ? "under" : "over";
    const height = (76 * count) / most;
    return count && draw("rect", { class: `${style} act`, onclick: () => act([from, to]), x: `${(number * width + 0.4).toFixed(2)}%`, width: `${(width - 0.8).toFixed(2)}%`, y: `${(80 - height).toFixed(2)}%`, height: `${height.toFixed(2)}%` }, draw("title", {}, `${from.toFixed(2)} to ${to.toFixed(2)}: ${formatCount(count)}`));
  });
  return draw(
    "svg",
    { class: `distribution s${place % COLORS}`, height: 110, width: "100%", role: "img", "aria-label": label },
    bars.filter(Boolean),
    draw("line", { class: "grid", x1: 0, x2: "100%", y1: "80%", y2: "80%" }),
    draw("line", { class: "mark", x1: `${100 * minimum}%`, x2: `${100 * minimum}%`, y1: 0, y2: "80%" }),
    [0, 0.5, 1].map((tick) => draw("text", { x: `${100 * tick}%`, y: "97%", "text-anchor": ["start", "middle", "end"][2 * tick] }, formatPlain(tick))),
  );
};
