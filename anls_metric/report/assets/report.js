"use strict";
// Show, filter, sort and search the questions of the report. Scores come from Python; only edits are computed here.
// Texts of users become text nodes, never markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { ids, questions, references, answers, submissions, outcomes, groups } = data;
  const several = submissions.length > 1;
  const PAGE = 50;
  const LONGEST_BRIEF = 240;
  const LONGEST_EDITED = 20000; // characters of both texts together
  const MOST_EDITED = 4000 ** 2; // characters that differ of one text times those of the other
  const FRAMED = location.protocol === "about:"; // in a frame, an address would lead to the page around the frame
  const FIELDS = Object.keys(groups);
  const BASELINE = !several ? -1 : data.baseline < 0 ? 1 : data.baseline;
  const $ = (id) => document.getElementById(id);

  const state = {
    first: BASELINE === 0 ? 1 : 0, // a difference is the score of the first minus the score of the baseline
    second: BASELINE,
    outcomes: new Set(),
    change: "",
    group: "", // [field, name] as JSON
    sort: "first",
    direction: 1,
    page: 0,
    open: -1,
    rows: [],
  };

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  };

  // Texts

  // Invisible characters and characters that change the direction of the text: they are shown by their names.
  const HIDDEN =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
  const NAMES = { "\r": "CR", "\0": "NUL" };
  const markHidden = (text) => {
    const parts = [];
    let last = 0;
    for (const match of text.matchAll(HIDDEN)) {
      if (match.index > last) parts.push(text.slice(last, match.index));
      const code = match[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
      parts.push(make("span", { class: "sign" }, NAMES[match[0]] ?? `U+${code}`));
      last = match.index + match[0].length;
    }
    if (last < text.length) parts.push(text.slice(last));
    return parts;
  };
  const tame = (text) => text.replace(HIDDEN, "·"); // where no element can stand
  const shorten = (text) =>
    make("span", { class: "brief", dir: "auto" }, ...markHidden(text.length > LONGEST_BRIEF ? `${text.slice(0, LONGEST_BRIEF)}…` : text));
  const formatCount = (number) => number.toLocaleString("en");
  const makeBadge = (score, digits) => {
    const style = score === 1 ? "good" : score === 0 ? "zero" : "partial";
    const step = 10 ** -digits;
    const apart = score > 0 && score < 1 ? Math.min(Math.max(score, step), 1 - step) : score; // only 1 looks like 1
    return make("span", { class: `score ${style}` }, score === null ? "-" : apart.toFixed(digits));
  };
  const makeName = (place) => make("span", { class: `name s${place % 8}` }, make("i", { class: "dot" }), make("bdi", {}, submissions[place]));

  // Which questions

  const haystacks = ids.map(() => undefined);
  const joinTexts = (row) =>
    (haystacks[row] ??= [ids[row], questions[row], ...references[row], ...answers.flatMap((answer) => [answer.predictions[row] ?? "", answer.written[row] ?? ""])]
      .join("\n")
      .toLowerCase());
  const subtractScores = (row) => {
    if (state.second < 0) return null;
    const [first, second] = [answers[state.first].scores[row], answers[state.second].scores[row]];
    return first === null || second === null ? null : first - second;
  };
  const CHANGES = {
    better: (value) => value > 0,
    worse: (value) => value < 0,
    different: (value) => value !== 0,
    same: (value) => value === 0,
  };
  const find = () => {
    const words = $("search").value.toLowerCase().trim();
    const [field, name] = state.group ? JSON.parse(state.group) : [];
    const place = field === undefined ? -1 : groups[field].names.indexOf(name);
    const outcomesOfFirst = answers[state.first].outcomes;
    state.rows = [];
    for (let row = 0; row < ids.length; row++) {
      if (state.outcomes.size && !state.outcomes.has(outcomesOfFirst[row])) continue;
      if (state.change) {
        const value = subtractScores(row);
        if (value === null || !CHANGES[state.change](value)) continue;
      }
      if (field !== undefined && !groups[field].of[row].includes(place)) continue;
      if (words && !joinTexts(row).includes(words)) continue;
      state.rows.push(row);
    }
    sort();
  };
  const collator = new Intl.Collator("en", { numeric: true });
  let idRanks;
  const rankOfId = (row) => {
    if (!idRanks) {
      idRanks = new Uint32Array(ids.length);
      ids.map((_, place) => place).sort((a, b) => collator.compare(ids[a], ids[b])).forEach((place, rank) => (idRanks[place] = rank));
    }
    return idRanks[row];
  };
  const KEYS = {
    id: rankOfId,
    question: (row) => questions[row].toLowerCase(),
    first: (row) => answers[state.first].scores[row] ?? -1,
    second: (row) => answers[state.second].scores[row] ?? -1,
    difference: (row) => subtractScores(row) ?? 9,
    outcome: (row) => answers[state.first].outcomes[row],
  };
  const sort = () => {
    const keys = new Map(state.rows.map((row) => [row, KEYS[state.sort](row)]));
    state.rows.sort((a, b) => {
      const [left, right] = [keys.get(a), keys.get(b)];
      return left < right ? -state.direction : left > right ? state.direction : a - b;
    });
  };

  // The table

  const listColumns = () => {
    const cells = [["id", "id", "id"], ["question", "question", "question"], ["first", submissions[state.first], "answer"]];
    if (state.second >= 0) cells.push(["second", submissions[state.second], "answer"], ["difference", "difference", "difference"]);
    cells.push(["outcome", "outcome", "outcome"]);
    return cells;
  };
  const showHead = () => {
    const cells = listColumns().map(([key, name, style]) => {
      const sorted = state.sort !== key ? "none" : state.direction > 0 ? "ascending" : "descending";
      const button = make("button", { "data-key": key, onclick: () => sortBy(key) }, make("bdi", {}, name));
      return make("th", { scope: "col", class: `of-${style}`, "aria-sort": sorted }, button);
    });
    $("list").tHead.replaceChildren(make("tr", {}, ...cells));
  };
  const sortBy = (key) => {
    state.direction = state.sort === key ? -state.direction : 1;
    state.sort = key;
    sort();
    state.page = 0;
    show();
    $("list").querySelector(`[data-key="${key}"]`).focus();
  };
  const addressOf = (row) => `#q-${encodeURIComponent(ids[row].toWellFormed?.() ?? ids[row])}`;
  const makeAnswerCell = (place, row) => {
    const prediction = answers[place].predictions[row];
    const text = prediction === null ? make("span", { class: "nothing" }, "no answer") : prediction === "" ? make("span", { class: "nothing" }, "empty") : shorten(prediction);
    return make("td", {}, make("div", { class: "answer" }, makeName(place), makeBadge(answers[place].scores[row], 2), text));
  };
  const showRow = (row) => {
    const open = row === state.open;
    const link = make("a", { href: addressOf(row), "aria-expanded": String(open), "data-row": row, dir: "auto" }, ...markHidden(ids[row] || " "));
    const cells = [make("td", {}, link), make("td", {}, shorten(questions[row])), makeAnswerCell(state.first, row)];
    if (state.second >= 0) {
      const value = subtractScores(row);
      cells.push(makeAnswerCell(state.second, row), make("td", { class: value ? "" : "nil" }, value === null ? "-" : `${value > 0 ? "+" : ""}${value.toFixed(2)}`));
    }
    cells.push(make("td", { class: "outcome" }, outcomes[answers[state.first].outcomes[row]]?.name ?? "not asked"));
    const shownRow = make("tr", { class: open ? "row open" : "row" }, ...cells);
    shownRow.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (String(getSelection()) && !event.target.closest("a")) return;
      event.preventDefault();
      openRow(row === state.open ? -1 : row, row);
    });
    return open ? [shownRow, make("tr", { class: "detail" }, make("td", { colspan: cells.length }, makeDetail(row)))] : [shownRow];
  };
  const show = () => {
    const pages = Math.max(1, Math.ceil(state.rows.length / PAGE));
    state.page = Math.min(Math.max(state.page, 0), pages - 1);
    showHead();
    const rows = state.rows.slice(state.page * PAGE, (state.page + 1) * PAGE);
    $("list").classList.toggle("several-answers", state.second >= 0);
    $("list").tBodies[0].replaceChildren(...rows.flatMap(showRow));
    const filtered = state.outcomes.size || state.change || state.group || $("search").value;
    $("count").textContent = filtered ? `${formatCount(state.rows.length)} of ${formatCount(ids.length)} questions` : `${formatCount(ids.length)} questions`;
    $("clear").hidden = !filtered;
    $("page").textContent = `page ${formatCount(state.page + 1)} of ${formatCount(pages)}`;
    $("back").disabled = state.page === 0;
    $("on").disabled = state.page === pages - 1;
    showChips();
  };
  const makeChip = (name, number, pressed, act, style) => {
    const button = make("button", { "aria-pressed": String(pressed), onclick: act }, name, make("b", {}, formatCount(number)));
    if (style) button.prepend(make("i", { class: style }));
    return button;
  };
  const keepFocus = (place, change) => {
    const index = [...place.children].indexOf(document.activeElement);
    change();
    if (index >= 0) place.children[index]?.focus();
  };
  let counted = {}; // for the pair that is shown
  const countPair = () => {
    const pair = `${state.first} ${state.second}`;
    if (counted.pair === pair) return counted;
    counted = { pair, outcomes: outcomes.map(() => 0), changes: {} };
    for (const outcome of answers[state.first].outcomes) if (outcome >= 0) counted.outcomes[outcome]++;
    if (state.second < 0) return counted;
    const values = ids.map((_, row) => subtractScores(row)).filter((value) => value !== null);
    for (const [name, holds] of Object.entries(CHANGES)) counted.changes[name] = values.filter(holds).length;
    return counted;
  };
  const showChips = () => {
    const counts = countPair();
    keepFocus($("outcomes-of"), () => {
      $("outcomes-of").setAttribute("aria-label", `Outcomes of ${submissions[state.first]}`);
      $("outcomes-of").replaceChildren(
        ...outcomes.flatMap(({ name }, place) =>
          counts.outcomes[place]
            ? [makeChip(name, counts.outcomes[place], state.outcomes.has(place), () => refine(() => state.outcomes.delete(place) || state.outcomes.add(place)), `o${place}`)]
            : [],
        ),
      );
    });
    keepFocus($("changes"), () => {
      $("changes").replaceChildren(
        ...Object.entries(counts.changes).map(([name, number]) =>
          makeChip(name, number, state.change === name, () => refine(() => (state.change = state.change === name ? "" : name))),
        ),
      );
    });
  };
  const refine = (change = () => {}) => {
    change();
    state.page = 0;
    find();
    if (!state.rows.includes(state.open)) state.open = -1;
    show();
  };
  const clear = () => {
    state.outcomes.clear();
    state.change = state.group = "";
    $("search").value = $("group").value = "";
    refine();
  };

  // One question, opened

  const remember = (hash) => {
    if (!FRAMED) history.replaceState(null, "", hash || location.pathname + location.search);
  };
  const openRow = (row, focused = row) => {
    state.open = row;
    if (row >= 0) {
      if (!state.rows.includes(row)) clear();
      state.page = Math.floor(state.rows.indexOf(row) / PAGE);
    }
    remember(row >= 0 ? addressOf(row) : "");
    show();
    const link = $("list").querySelector(`[data-row="${focused}"]`);
    link?.focus({ preventScroll: true });
    link?.closest("tr").scrollIntoView({ block: "nearest" });
    if (row >= 0) {
      const box = link.closest("tr").nextSibling.getBoundingClientRect();
      if (box.bottom > innerHeight) link.closest("tr").scrollIntoView({ block: "start" });
    }
  };
  const step = (by) => {
    const place = state.rows.indexOf(state.open);
    const next = place < 0 ? (by > 0 ? state.page * PAGE : -1) : place + by;
    if (next >= 0 && next < state.rows.length) openRow(state.rows[next]);
  };
  const follow = () => {
    if (!location.hash.startsWith("#q-")) return;
    try {
      const row = ids.indexOf(decodeURIComponent(location.hash.slice(3)));
      if (row >= 0 && row !== state.open) openRow(row);
    } catch {
      // no address of ours
    }
  };
  const makeDetail = (row) => {
    const own = references[row];
    const parts = [make("h3", { dir: "auto" }, ...markHidden(questions[row] || `Question ${ids[row]}`)), listAccepted(own, -1)];
    for (let place = 0; place < submissions.length; place++) parts.push(makePanel(place, row, own));
    parts.push(
      make("div", { class: "steps" }, make("button", { onclick: () => step(-1) }, "Previous question"), make("button", { onclick: () => step(1) }, "Next question"), ...(FRAMED ? [] : [make("a", { href: addressOf(row) }, "Link to this question")])),
    );
    const box = make("div", { class: "opened", role: "region", "aria-label": `Question ${tame(ids[row])}` }, make("div", {}, ...parts));
    const picture = data.pictures[data.images[row]];
    if (picture) {
      box.classList.add("pictured");
      const image = make("img", { src: picture, alt: `The page of the question: ${tame(data.image_names[row])}` });
      const button = make("button", { class: "picture", "aria-label": "Enlarge the page", onclick: () => box.classList.toggle("large") }, image);
      box.prepend(make("div", {}, button));
    }
    return box;
  };
  const listAccepted = (texts, closest) =>
    make(
      "ul",
      { class: "accepted", "aria-label": "Accepted answers" },
      make("li", { class: "label" }, "accepted"),
      ...texts.map((text, place) => make("li", { dir: "auto", class: place === closest ? "closest" : "" }, ...markHidden(text))),
    );
  const makePanel = (place, row, own) => {
    const of = answers[place];
    const prediction = of.predictions[row];
    const outcome = outcomes[of.outcomes[row]];
    const head = make("header", {}, ...(several ? [makeName(place)] : []), makeBadge(of.scores[row], 4), make("span", { class: "outcome" }, outcome?.name ?? "not asked"));
    const texts = of.references[row] ?? own;
    const parts = [head];
    if (of.references[row]) parts.push(listAccepted(texts, of.closest[row]));
    const block = (text) =>
      make("pre", { class: "written", dir: "auto", tabindex: text.length > 2000 ? 0 : undefined }, ...(text === "" ? [make("span", { class: "nothing" }, "empty")] : markHidden(text)));
    const tree = of.trees[row];
    if (of.written[row] !== undefined) parts.push(make("p", { class: "label" }, "as written"), block(of.written[row]), make("p", { class: "label" }, "taken out of it"));
    if (tree) parts.push(listBranches(tree[5]));
    else if (prediction !== null) {
      parts.push(block(prediction));
      const closest = texts[of.closest[row]];
      if (prediction !== "" && prediction !== closest) parts.push(markEdits(prediction, closest));
    }
    parts.push(make("p", { class: "said" }, data.sentences[of.sentences[row]]));
    return make("article", { "aria-label": several ? submissions[place] : "The answer" }, ...parts);
  };

  // A list or a nested value: a tree with a score at each branch, and the edits of each leaf.
  const listBranches = (children) =>
    make(
      "ul",
      { class: "tree" },
      ...children.map(([name, prediction, reference, score, sentence, inside]) => {
        const head = [make("span", { class: "path", dir: "auto" }, ...markHidden(name.replace(/^\./, ""))), makeBadge(score, 2)];
        if (inside.length) return make("li", {}, ...head, listBranches(inside));
        if (prediction === reference) return make("li", {}, ...head, make("span", { class: "leaf", dir: "auto" }, ...markHidden(prediction ?? "")));
        const leaf = prediction && reference ? markEdits(prediction, reference) : make("span", { class: "leaf", dir: "auto" }, ...(prediction ? [make("del", {}, ...markHidden(prediction))] : []), ...(reference ? [make("ins", {}, ...markHidden(reference))] : []));
        return make("li", {}, ...head, leaf, make("span", { class: "said" }, sentence));
      }),
    );

  // Edits from the prediction to the closest accepted answer, in the raw texts. Differences that the variant ignores (case,
  // blanks that it squeezes) cost nothing and get a weaker mark.

  const isBlank = (sign) => /^(?:[^\S\ufeff]|[\x1c-\x1f\x85])$/.test(sign);
  const splitSigns = (text) => {
    const characters = Array.from(text);
    const blank = characters.map(isBlank);
    let begin = 0;
    let end = characters.length;
    if (data.whitespace !== "keep") {
      while (begin < end && blank[begin]) begin++;
      while (end > begin && blank[end - 1]) end--;
    }
    return characters.map((sign, place) => ({
      sign,
      plain: data.whitespace === "squeeze" && blank[place] ? " " : data.ignore_case ? sign.toLowerCase() : sign,
      free: place < begin || place >= end || (data.whitespace === "squeeze" && blank[place] && place > 0 && blank[place - 1]),
    }));
  };
  const align = (left, right) => {
    const steps = [];
    const tail = [];
    let begin = 0;
    let [endLeft, endRight] = [left.length, right.length];
    const alike = (a, b) => a.plain === b.plain && a.free === b.free;
    while (begin < endLeft && begin < endRight && alike(left[begin], right[begin])) {
      steps.push([left[begin], right[begin]]);
      begin++;
    }
    while (endLeft > begin && endRight > begin && alike(left[endLeft - 1], right[endRight - 1])) tail.push([left[--endLeft], right[--endRight]]);
    const [rows, width] = [endLeft - begin, endRight - begin + 1];
    if (rows * width > MOST_EDITED) return null;
    const way = new Uint8Array((rows + 1) * width); // 0 both, 1 delete, 2 insert
    let before = new Uint32Array(width);
    let now = new Uint32Array(width);
    for (let j = 1; j < width; j++) {
      before[j] = before[j - 1] + (right[begin + j - 1].free ? 0 : 1);
      way[j] = 2;
    }
    for (let i = 1; i <= rows; i++) {
      const sign = left[begin + i - 1];
      const gone = sign.free ? 0 : 1;
      now[0] = before[0] + gone;
      way[i * width] = 1;
      for (let j = 1; j < width; j++) {
        const other = right[begin + j - 1];
        const both = before[j - 1] + (sign.free || other.free ? 2 : sign.plain === other.plain ? 0 : 1);
        const deleted = before[j] + gone;
        const inserted = now[j - 1] + (other.free ? 0 : 1);
        const least = Math.min(both, deleted, inserted);
        now[j] = least;
        way[i * width + j] = least === both ? 0 : least === deleted ? 1 : 2;
      }
      [before, now] = [now, before];
    }
    const middle = [];
    for (let i = rows, j = width - 1; i > 0 || j > 0; ) {
      const how = way[i * width + j];
      middle.push([how === 2 ? null : left[begin + i - 1], how === 1 ? null : right[begin + j - 1]]);
      if (how !== 2) i--;
      if (how !== 1) j--;
    }
    return steps.concat(middle.reverse(), tail.reverse());
  };
  const VISIBLE = { " ": "␣", "\n": "↵\n", "\t": "⇥", "\u00a0": "⍽" };
  const markEdits = (prediction, closest) => {
    const long = prediction.length + closest.length > LONGEST_EDITED;
    const steps = long ? null : align(splitSigns(prediction), splitSigns(closest));
    if (!steps) {
      const sentence = `${formatCount(prediction.length)} characters against ${formatCount(closest.length)}: too long to show what differs.`;
      return make("p", { class: "said" }, sentence);
    }
    const runs = []; // [kind, deleted, inserted]
    for (const [left, right] of steps) {
      const same = left && right && left.plain === right.plain;
      const kind = same ? (left.sign === right.sign ? "same" : "free") : (left ?? right).free ? "free" : "edit";
      const last = runs.at(-1);
      const run = last?.[0] === kind ? last : [kind, "", ""];
      if (run !== last) runs.push(run);
      run[1] += left?.sign ?? "";
      run[2] += right?.sign ?? "";
    }
    // The mark of a difference shows blanks between words; blanks alone get a visible sign.
    const markBlanks = (text) => markHidden(/^\s+$/.test(text) ? text.replace(/[ \n\t\u00a0]/g, (sign) => VISIBLE[sign]) : text);
    const parts = runs.flatMap(([kind, gone, come]) => {
      if (kind === "same") return markHidden(gone);
      const style = kind === "free" ? { class: "free", title: "not counted by this variant" } : {};
      return [...(gone ? [make("del", style, ...markBlanks(gone))] : []), ...(come ? [make("ins", style, ...markBlanks(come))] : [])];
    });
    const shownEdits = make("div", { class: "edits", dir: "auto" }, ...parts);
    shownEdits.dataset.edits = String(steps.filter(([left, right]) => !(left ?? right).free && (!left || !right || left.plain !== right.plain)).length);
    return shownEdits;
  };

  // The shown questions as CSV: `references` is a list in JSON, and no text is changed.

  const formatReferences = (texts) => {
    if (data.of_texts) return JSON.stringify(texts);
    return texts.length > 1 ? `{"__tuple__": [${texts.map(toJson).join(", ")}]}` : toJson(texts[0]);
  };
  const toJson = (text) => (/^[[{]/.test(text) ? text : JSON.stringify(text));
  const makeCsv = () => {
    const quoted = (value) => (typeof value === "number" ? String(value) : `"${String(value ?? "").replaceAll('"', '""')}"`);
    const names = several ? submissions.map((name) => [name, `${name} score`, `${name} outcome`]) : [["prediction", "score", "outcome"]];
    const rows = [["id", "question", "references", ...names.flat(), "signature"]];
    for (const row of state.rows) {
      const each = answers.map((answer) => [answer.predictions[row], answer.scores[row], outcomes[answer.outcomes[row]]?.name]);
      rows.push([ids[row], questions[row], formatReferences(references[row]), ...each.flat(), data.signature]);
    }
    return rows.map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
  };
  const download = () => {
    const url = URL.createObjectURL(new Blob([makeCsv()], { type: "text/csv" }));
    make("a", { href: url, download: "questions.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };

  // Events

  const pick = (select, names, value, change) => {
    select.replaceChildren(...names.map(([key, name]) => make("option", { value: key }, tame(name))));
    select.value = value;
    select.addEventListener("change", () => refine(() => change(select.value)));
  };
  const begin = () => {
    for (const label of document.querySelectorAll(".several")) label.hidden = !several;
    const names = submissions.map((name, place) => [place, name]);
    pick($("first"), names, state.first, (value) => setPair(Number(value), state.second));
    pick($("second"), [[-1, "nobody"], ...names], state.second, (value) => setPair(state.first, Number(value)));
    $("groups").hidden = !FIELDS.length;
    $("group").append(
      make("option", { value: "" }, "all"),
      ...FIELDS.map((field) => make("optgroup", { label: tame(field) }, ...[...groups[field].names].sort(collator.compare).map((name) => make("option", { value: JSON.stringify([field, name]) }, tame(name))))),
    );
    $("group").addEventListener("change", () => refine(() => (state.group = $("group").value)));
    $("search").addEventListener("input", () => refine());
    $("clear").addEventListener("click", clear);
    $("csv").addEventListener("click", download);
    $("back").addEventListener("click", () => turn(-1));
    $("on").addEventListener("click", () => turn(1));
    document.querySelector(".tools").hidden = false;
    $("waiting").hidden = true;
    addEventListener("hashchange", follow);
    document.addEventListener("keydown", handleKey);
    document.querySelector("main").addEventListener("click", filterFromAbove);
    find();
    show();
    follow();
  };
  const setPair = (first, second) => {
    if (first !== state.first) state.outcomes.clear();
    [state.first, state.second] = [first, first === second ? -1 : second];
    if (state.second < 0) {
      state.change = "";
      if (state.sort === "second" || state.sort === "difference") state.sort = "first";
    }
    $("first").value = state.first;
    $("second").value = state.second;
  };
  const turn = (by) => {
    state.page += by;
    show();
    $("list").scrollIntoView({ block: "start" });
  };
  // A count or a group above is a filter of the questions below.
  const filterFromAbove = ({ target }) => {
    const button = target.closest(".filter");
    if (!button) return;
    const { submission, outcome, field, group } = button.dataset;
    clear();
    refine(() => {
      if (field !== undefined) $("group").value = state.group = JSON.stringify([FIELDS[field], groups[FIELDS[field]].names[group]]);
      else {
        setPair(Number(submission), state.second);
        state.outcomes.add(Number(outcome));
      }
    });
    $("questions").scrollIntoView({ block: "start" });
    $("count").tabIndex = -1;
    $("count").focus({ preventScroll: true });
  };
  const handleKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, summary")) {
      if (event.key === "Escape" && event.target === $("search")) event.target.blur();
      return;
    }
    const inList = $("list").contains(event.target);
    const by = { j: 1, k: -1, ...(inList ? { ArrowDown: 1, ArrowUp: -1 } : {}) }[event.key];
    if (by) step(by);
    else if (event.key === "/") $("search").focus();
    else if (event.key === "Escape" && state.open >= 0) openRow(-1, state.open);
    else return;
    event.preventDefault();
  };
  begin();
})();
