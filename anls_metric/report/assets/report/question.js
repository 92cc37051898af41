// The open question: its page, references, answers with their edits, and mark.
import { make, copyText, markHidden, tame } from "./elements.js";
import { data, answers, labels, several, ofStrings, names, makeName, pageName, pageStem } from "./data.js";
import { describeOutcome, findAcceptable, cutFolder } from "./data.js";
import { makeBadge, formatAnswer } from "./formats.js";
import { drawMark, drawAccept } from "./marks.js";
import { state, redraw, showQuestions, formatUrl, SUSPECTED } from "./state.js";
import { drawText, drawPrediction } from "./edits.js";

// In a frame, links lead to the page around it. Of a file, only the name is for others.
const findUrl = () => document.documentElement.dataset.url ?? location.href;
const nameUrl = (url) => (url.startsWith("file:") ? decodeURIComponent(cutFolder(url)) : url);
export const fullUrl = (changes) => nameUrl(findUrl().split("#")[0]) + formatUrl(changes);

// The models in the order of the list: the two that it shows first
const orderPlaces = () => [...new Set([state.first, state.second, ...names.keys()])].filter((place) => place >= 0);
const writeQuestion = (row) => {
  const write = (place) => {
    const { prediction, score } = answers[place][row];
    return `${labels[place]} (${formatAnswer(score)}): ${prediction || "no answer"}`;
  };
  const texts = [data.questions[row], `references: ${data.references[row].join(" | ")}`, ...orderPlaces().map(write)];
  return [...texts, fullUrl({ open: row })].filter(Boolean).join("\n");
};

const listAccepted = (texts, closest, added = []) => {
  const items = texts.map((text, place) => {
    const isClosest = texts.length > 1 && closest.includes(place);
    const tags = [added.includes(text) && "added by corrections", isClosest && "closest"].filter(Boolean);
    const content = [markHidden(text), tags.map((tag) => make("span.tag", tag))];
    return make("li", { dir: "auto", class: isClosest ? "closest" : "" }, content);
  });
  return make("ul.accepted", { "aria-label": "References" }, make("li.label", "references"), items);
};
// Submissions whose answers are equal share a row.
const groupAnswers = (row) => {
  const groups = new Map();
  for (const place of orderPlaces()) {
    const key = JSON.stringify(answers[place][row]);
    groups.set(key, [...(groups.get(key) ?? []), place]);
  }
  return [...groups.values()];
};
const drawAnswer = (places, row) => {
  const answer = answers[places[0]][row];
  const { prediction, score, outcome, closest, raw, references } = answer;
  const texts = references ?? data.references[row];
  const output = raw !== undefined && make("details.raw", make("summary", "raw output"), drawText(raw));
  const given =
    prediction === null
      ? make("span.nothing", outcome ? "no answer" : "not asked")
      : drawPrediction(prediction, texts[closest], answer);
  const text = ofStrings && score < 1 && prediction?.trim();
  return make(
    "tr",
    several && make("th", { scope: "row" }, places.map(makeName)),
    make("td", makeBadge(score)),
    make("td", make("div.given", references && listAccepted(texts, [closest]), output, given)),
    make("td.said", describeOutcome(places[0], row), text && [" ", drawAccept(row, text, redraw)]),
  );
};

// Links to the questions of a page and, of several, its document
const listPages = (row) => {
  const stem = pageStem(row);
  if (!stem) return null;
  const link = (name, search) => make("button.filter", { onclick: () => showQuestions({ search }) }, name);
  const of = /^(.*)_/.exec(stem)?.[1];
  const isPart = of && data.pages.some((name) => !`${name}`.includes(of));
  return make("span.said", "all questions about ", link(stem, pageName(row)), isPart && [" or ", link(of, `${of}_`)]);
};
// A click on the page enlarges it.
const enlarge = (image) => {
  const large = make("img", { src: image.src, alt: image.alt });
  const close = make("button", { onclick: () => dialog.close() }, "Close");
  const attributes = { "aria-label": image.alt, onclose: () => dialog.remove() };
  const dialog = make("dialog.sheet", attributes, close, make("div.scroll", large));
  dialog.style.setProperty("--top", `${image.getBoundingClientRect().top + scrollY}px`);
  document.body.append(dialog);
  dialog.showModal();
};
const drawPicture = (row) => {
  const found = data.images[row];
  const name = tame(pageName(row));
  if (found === undefined) return null;
  if (typeof found === "string")
    return make("p.note", `The page ${name ? `${name} ` : ""}is not in this report: ${found}.`);
  const image = make("img", { src: data.pictures[found], alt: `The page of the question: ${name}` });
  const attributes = { "aria-label": "Enlarge the page", "data-key": "page", onclick: () => enlarge(image) };
  return make("button.picture", attributes, image);
};
export const drawQuestion = (row, step) => {
  const own = answers.map((rows) => rows[row]);
  const shared = own.filter(({ prediction, references }) => prediction !== null && !references);
  const closest = ofStrings ? [...new Set(shared.map((answer) => answer.closest))] : [];
  const copy = make("button", { "data-key": "copy question" }, "Copy");
  copy.addEventListener("click", () => copyText(writeQuestion(row), copy));
  const steps = [
    make("button", { "data-key": "step back", onclick: () => step(-1) }, "Previous question"),
    make("button", { "data-key": "step on", onclick: () => step(1) }, "Next question"),
    copy,
  ];
  const accepted = listAccepted(data.references[row], closest, data.added[row]);
  const reason = data.suspicions[data[SUSPECTED].indexOf(data.ids[row])];
  const rows = groupAnswers(row).map((places) => drawAnswer(places, row));
  const content = make(
    "div",
    make("div.line", ofStrings && accepted, listPages(row), make("span.tools.top", steps)),
    reason && make("p.said", make("b", "Suspected label error: "), reason, "."),
    make("table.answers", make("tbody", rows)),
    !ofStrings && make("details.said", make("summary", "references"), accepted),
    drawMark(row, findAcceptable(orderPlaces(), row), redraw),
  );
  const picture = drawPicture(row);
  const style = picture?.tagName === "BUTTON" ? "opened pictured" : "opened";
  const attributes = { class: style, role: "region", "aria-label": `Question ${tame(data.ids[row])}` };
  return make("div", attributes, picture && make("div", picture), content);
};
