// The open question: its page, the accepted answers, and the answer of each submission with its edits.
import { make, copyText, markHidden, makeBadge, tame } from "./elements.js";
import { data, answers, several, ofStrings, names, makeName, pageName, pageStem, documentOf, FRAMED } from "./data.js";
import { drawMark, drawAccept } from "./marks.js";
import { update, redraw, formatUrl, NO_FILTERS } from "./state.js";
import { formatDocument, countOfDocument } from "./questions.js";
import { drawEdits } from "./edits.js";
import { drawPage } from "./page.js";

// In a frame, links are relative to the page around it.
export const fullUrl = (changes) => (FRAMED ? document.baseURI : location.href).split("#")[0] + formatUrl(changes);

const makeTag = (text) => make("span", { class: "tag" }, text);
const listAccepted = (texts, closest, added = []) =>
  make(
    "ul",
    { class: "accepted", "aria-label": "Accepted answers" },
    make("li", { class: "label" }, "accepted"),
    texts.map((text, place) => make("li", { dir: "auto", class: closest.includes(place) ? "closest" : "" }, markHidden(text), added.includes(text) && makeTag("added by corrections"), closest.includes(place) && texts.length > 1 && makeTag("closest"))),
  );
const block = (text) =>
  make("pre", { class: "raw", dir: "auto", tabindex: text.length > 2000 ? 0 : undefined }, text === "" ? make("span", { class: "nothing" }, "empty") : markHidden(text));

// A list or a nested value: a tree with a score at each branch, and the edits of each leaf.
const listBranches = (children) =>
  make(
    "ul",
    { class: "tree" },
    children.map(([name, prediction, reference, score, sentence, inside, edits]) => {
      const head = [make("span", { class: "path", dir: "auto" }, markHidden(name.replace(/^\./, ""))), makeBadge(score, 2)];
      if (inside.length) return make("li", {}, head, listBranches(inside));
      if (prediction === reference) return make("li", {}, head, make("span", { class: "leaf", dir: "auto" }, markHidden(prediction ?? "")));
      const sides = [prediction && make("del", { dir: "auto" }, markHidden(prediction)), reference && make("ins", { dir: "auto" }, markHidden(reference))];
      const leaf = edits ? drawEdits(prediction, reference, edits) : make("span", { class: "leaf edits", dir: "auto" }, sides.filter(Boolean));
      return make("li", {}, head, leaf, make("span", { class: "said" }, sentence));
    }),
  );
// Submissions whose answers are equal share a box, so that many submissions fit on a screen.
const groupAnswers = (row) => {
  const groups = new Map();
  for (const place of names.keys()) {
    const key = JSON.stringify(data.answers[place].rows[row]);
    groups.set(key, [...(groups.get(key) ?? []), place]);
  }
  return [...groups.values()];
};
const drawAnswer = (places, row) => {
  const { prediction, score, outcome, sentence, closest, raw, references, edits, tree } = answers[places[0]][row];
  const texts = references ?? data.references[row];
  const name = data.outcomes[outcome]?.name ?? "not asked";
  const parts = [make("header", {}, several && places.map(makeName), makeBadge(score, 4), make("span", { class: "outcome" }, outcome >= 0 && make("i", { class: `o${outcome}` }), name))];
  if (references) parts.push(listAccepted(texts, [closest]));
  if (raw !== undefined) parts.push(make("p", { class: "label" }, "raw output"), block(raw), make("p", { class: "label" }, "extracted"));
  if (tree) parts.push(listBranches(tree[5]));
  else if (prediction !== null) {
    parts.push(block(prediction));
    if (edits !== undefined) {
      const from = texts.length > 1 && several ? make("p", { class: "label" }, "closest: ", make("bdi", {}, tame(texts[closest].slice(0, 120)))) : null;
      parts.push(from, drawEdits(prediction, texts[closest], edits));
    }
  }
  const canAccept = ofStrings && score < 1 && prediction?.trim();
  parts.push(make("p", { class: "said" }, sentence, canAccept && [" ", drawAccept(row, prediction.trim(), redraw)]));
  return make("article", { "aria-label": several ? places.map((place) => names[place]).join(", ") : "The answer" }, parts);
};

// The page of the question, and links to other questions about it.
const listPages = (row) => {
  const stem = pageStem(row);
  if (!stem) return null;
  const of = documentOf(stem);
  const show = (name, kind) => {
    const count = countOfDocument(name);
    return make("button", { class: "filter", onclick: () => update({ ...NO_FILTERS, search: formatDocument(name), open: -1 }, { focus: "questions" }) }, `all questions about this ${kind} (${count})`);
  };
  const isLarger = of && countOfDocument(of) > countOfDocument(stem);
  return make("p", { class: "of-page" }, "page ", make("code", {}, make("bdi", {}, tame(stem))), " ", show(stem, "page"), isLarger ? [" ", show(of, "document")] : null);
};
const drawPicture = (row, box) => {
  const found = data.images[row];
  const name = tame(pageName(row));
  if (found === undefined) return null;
  if (typeof found === "string") return make("p", { class: "note" }, `The page ${name ? `${name} ` : ""}is not in this report: ${found}.`);
  return drawPage(data.pictures[found], `The page of the question: ${name}`, box);
};
export const drawQuestion = (row, step) => {
  const closest = new Set(answers.map((rows) => rows[row]).filter(({ prediction, references }) => prediction !== null && !references).map((answer) => answer.closest));
  const copy = make("button", { "data-key": "copy question" }, "Copy link");
  copy.addEventListener("click", () => copyText(fullUrl({ open: row }), copy));
  const content = make(
    "div",
    {},
    make("h3", { dir: "auto" }, markHidden(data.questions[row] || `Question ${data.ids[row]}`)),
    listPages(row),
    listAccepted(data.references[row], ofStrings ? [...closest] : [], data.added[row]),
    drawMark(row, redraw), // above the answers, which can be long
    groupAnswers(row).map((places) => drawAnswer(places, row)),
    make("div", { class: "steps" }, make("button", { "data-key": "step back", onclick: () => step(-1) }, "Previous question"), make("button", { "data-key": "step on", onclick: () => step(1) }, "Next question"), copy),
  );
  const box = make("div", { class: "opened", role: "region", "aria-label": `Question ${tame(data.ids[row])}` }, content);
  const picture = drawPicture(row, box);
  if (picture) {
    if (picture.tagName === "DIV") box.classList.add("pictured");
    box.prepend(make("div", {}, picture));
  }
  return box;
};
