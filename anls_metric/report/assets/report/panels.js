// Three panels, one open at a time: groups, variants, and confusions.
import { make, makeTable, makeFilter, makeSelect, replaceContent, rove } from "./elements.js";
import { tame, formatCount, countNoun } from "./elements.js";
import { data, several, ofStrings, FIELDS, makeName, submissions } from "./data.js";
import { formatScore, formatDifference, formatInterval } from "./formats.js";
import { state, update, NO_FILTERS } from "./state.js";

const shownPlaces = () => (state.second < 0 ? [state.first] : [state.second, state.first]);
const nameScores = () => [...shownPlaces().map(makeName), ...(state.second < 0 ? [] : ["difference"])];
const showQuestions = (changes) => update({ ...NO_FILTERS, ...changes, open: -1 }, { focus: "questions" });

// The counts of the leaves of a key, which only groups by key have -> how they are written
const ofCount = (number) => formatCount(number ?? 0);
const COUNTS = { right: ofCount, close: ofCount, wrong: ofCount, missed: ofCount, invented: ofCount, f1: formatScore };

// Groups, those that cost most points first

const drawGroups = () => {
  const { field, first, second } = state;
  const names = [...new Set(submissions.flatMap(({ groups }) => Object.keys(groups[field])))];
  const find = (place, name) => submissions[place].groups[field][name];
  const groups = names.map((name, row) => {
    const count = Math.max(...submissions.map((_, place) => find(place, name)?.questions ?? 0));
    const [own, other] = [find(first, name)?.anls, second < 0 ? 1 : find(second, name)?.anls];
    const difference = (own ?? null) === null || (other ?? null) === null ? null : own - other;
    const costs = shownPlaces().map((place) => find(place, name)?.cost);
    const lost = costs.length > 1 ? costs[0] - costs[1] : -costs[0];
    const points = Number.isNaN(lost) ? (difference * count) / submissions[first].questions : lost;
    return { name, row, count, difference, points };
  });
  groups.sort((one, other) => one.points - other.points);
  const makeHead = ({ name, row }) => {
    const isPressed = String(state.group) === String([field, name]);
    const act = () => showQuestions({ group: isPressed ? null : [field, name] });
    const label = make("bdi", tame(name));
    return data.groups[field][name] ? makeFilter(`group ${row}`, isPressed, act, label) : label;
  };
  const makeMean = (place, name) => {
    const { anls, interval } = find(place, name) ?? {};
    return make("span", { title: interval ? `95% CI ${formatInterval(interval)}` : undefined }, formatScore(anls));
  };
  const counted = Object.keys(COUNTS).filter((count) => count in (find(first, names[0]) ?? {}));
  const showCount = (name, count) => {
    const numbers = shownPlaces().map((place) => COUNTS[count](find(place, name)[count]));
    return numbers.some((text) => text !== numbers[0]) ? numbers.join(" → ") : numbers[0];
  };
  const rows = groups.map((group) => {
    const means = [
      ...counted.map((count) => showCount(group.name, count)),
      ...shownPlaces().map((place) => makeMean(place, group.name)),
    ];
    const difference = second < 0 ? [] : [formatDifference(group.difference)];
    return [makeHead(group), formatCount(group.count), ...means, ...difference, formatDifference(group.points)];
  });
  const counts = counted.map((count) => count.replace("f", "F"));
  const heads = [tame(field), "questions", ...counts, ...nameScores(), "points"];
  const options = FIELDS.map((name) => [name, name]);
  const select = makeSelect("field", "field of the groups", options, field, (name) => update({ field: name }));
  const pick = FIELDS.length > 1 && make("label.pick", "by ", select);
  return [pick, rove(make("div.scroll", makeTable(heads, rows)))];
};

// Variants. Those with equal scores share a row.

const drawVariants = () => {
  const own = submissions.map(({ name }) => data.variants[name]);
  const groups = new Map();
  for (const name of Object.keys(own[0])) {
    const key = JSON.stringify(own.map((means) => means[name]));
    groups.set(key, [...(groups.get(key) ?? []), name]);
  }
  const [, chosen] = data.document.signature.split("|");
  const makeHead = ([name, ...others]) => [
    make(name === chosen || others.includes(chosen) ? "b" : "span", {}, name),
    others.length > 0 &&
      make(
        "details",
        make("summary", `and ${countNoun(others.length, "variant")} with equal scores`),
        others.join(", "),
      ),
    make("small", data.meanings[name]),
  ];
  const rows = [...groups.values()].map((found) => {
    const means = shownPlaces().map((place) => own[place][found[0]]);
    const difference = state.second < 0 ? [] : [formatDifference(means[1] - means[0])];
    return [makeHead(found), ...means.map(formatScore), ...difference];
  });
  const about = "Each variant uses the threshold and case of its program.";
  return [make("p.said", about), makeTable(["variant", ...nameScores()], rows)];
};

// Confusions: +x is x too many, −x is x left out, and x for y is x in the place of y.

const VISIBLE = { " ": "space", "\n": "line break", "\t": "tab" };
const nameText = (text) => VISIBLE[text] ?? tame(text);
export const formatConfusion = ([predicted, accepted]) =>
  predicted === ""
    ? `−${nameText(accepted)}`
    : accepted === ""
      ? `+${nameText(predicted)}`
      : `${nameText(predicted)} for ${nameText(accepted)}`;
const drawConfusions = (place) => {
  const { confusions } = data.answers[place];
  const buttons = confusions.map(({ predicted, accepted, count }, number) => {
    const pair = [predicted, accepted];
    const text = formatConfusion(pair);
    const isPressed = place === state.first && JSON.stringify(state.confusion) === JSON.stringify(pair);
    const act = () =>
      showQuestions({
        first: place,
        second: place === state.second ? state.first : state.second,
        confusion: isPressed ? null : pair,
      });
    return [
      makeFilter(`confusion ${place} ${number}`, isPressed, act, [make("bdi", text), ` ${formatCount(count)}`]),
      number < confusions.length - 1 && " · ",
    ];
  });
  return make("p", several && [makeName(place), ": "], buttons.length ? buttons : "none");
};
const drawHistogram = (place) => {
  const counts = data.similarities.counts[place];
  const most = Math.max(...counts, 1);
  const bars = counts.map((count, number) => {
    const ends = [number, number + 1].map((edge) => edge / counts.length);
    const title = `${formatCount(count)} with a similarity from ${formatInterval(ends)}`;
    const tag = (ends[0] + ends[1]) / 2 < data.similarities.minimum ? "i.under" : "i";
    return make(tag, { title, style: { "--size": count / most } });
  });
  const about =
    "similarity to the closest accepted answer, from 0 to 100; outlined: below the threshold; without equal answers";
  const caption = make("figcaption", several && makeName(place), make("span.said", ` ${about}`));
  return make("figure.histogram", caption, make("div.bins", { role: "img", "aria-label": about }, bars));
};
const drawConfusionPanel = () => {
  const [more, less] = ["+x", "−x"].map((text) => make("code", text));
  const about = ["Where answers differ from accepted ones: ", more, " is extra, ", less, " is missing."];
  return [make("p.said", about), shownPlaces().map(drawConfusions), shownPlaces().map(drawHistogram)];
};

// The name of a panel in the URL -> its title, whether there is anything to show, and the function that draws it
const PANELS = {
  groups: { title: "Groups", exists: () => FIELDS.length > 0, draw: drawGroups },
  variants: { title: "Variants", exists: () => ofStrings && Object.keys(data.variants).length > 0, draw: drawVariants },
  confusions: {
    title: "Confusions",
    exists: () => ofStrings && data.answers.some(({ confusions }) => confusions.length),
    draw: drawConfusionPanel,
  },
};
const listed = () => Object.keys(PANELS).filter((name) => PANELS[name].exists());
// The browser closes the other panels, which have the same name. In print, they have no name.
const followPanels = ({ target }) => {
  if (!target.name) return;
  const look = listed().find((name) => document.getElementById(`panel-${name}`).open) ?? "";
  if (look !== state.look) update({ look });
};
export const makePanels = () =>
  listed().map((name) =>
    make(
      "details",
      { id: `panel-${name}`, ontoggle: followPanels },
      make("summary", PANELS[name].title),
      make("div.panel"),
    ),
  );
export const drawPanels = (isWhole = false) => {
  for (const name of listed()) {
    const panel = document.getElementById(`panel-${name}`);
    panel.name = isWhole ? "" : "panel";
    panel.open = isWhole || state.look === name;
    if (panel.open) replaceContent(panel.lastChild, PANELS[name].draw());
  }
};
