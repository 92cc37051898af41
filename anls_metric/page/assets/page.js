// The web app in the browser: the link, the settings, one answer, files, and the frame of the report.
import { make, copyText, replaceContent } from "../../report/assets/report/elements.js";
import { formatAnswer } from "../../report/assets/report/formats.js";
import { drawAnswer, drawMore } from "./answer.js";

const find = (id) => document.getElementById(id);
const readData = (id) => JSON.parse(find(id).textContent);
const settings = find("settings");
const SCORERS_BY_NAME = Object.fromEntries(readData("scorers").map((scorer) => [scorer.name, scorer]));
const SAMPLES = readData("samples");

// Call a function of the server, and pass what it yields to `tell`. Returns the last of it. An aborted signal ends the
// work, because nobody listens any more.
const ask = async (name, value, { signal, tell = () => {} } = {}) => {
  const place = `gradio_api/call/${name}`;
  const headers = { "Content-Type": "application/json" };
  const sent = await fetch(place, { method: "POST", headers, body: JSON.stringify({ data: value }) });
  if (!sent.ok) throw new Error((await sent.json()).detail);
  const { event_id: id } = await sent.json();
  const reader = (await fetch(`${place}/${id}`)).body.pipeThrough(new TextDecoderStream()).getReader();
  const leave = () => reader.cancel();
  signal?.addEventListener("abort", leave);
  if (signal?.aborted) leave();
  let [text, last] = ["", null];
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const events = (text + piece.value).split("\n\n");
    text = events.pop();
    for (const event of events) {
      const [, kind, data] = /^event: (\w+)\ndata: (.*)$/s.exec(event);
      if (kind === "error") throw new Error(JSON.parse(data)?.error ?? "the server did not answer: try again");
      if (kind !== "heartbeat") tell((last = JSON.parse(data)[0]));
    }
  }
  return last;
};

// Screen readers announce new content after it has been stable for a moment.
let saying;
const announce = (text) => {
  clearTimeout(saying);
  saying = setTimeout(() => (find("voice").textContent = text), 500);
};
const makeAlert = (text, ...buttons) => make("div.alert", { role: "alert" }, make("p", text), buttons);
// A message that stays until the visitor has read it
const warn = (text) => {
  const close = () => alert.remove();
  const alert = makeAlert(text, make("button", { "aria-label": "Close", onclick: close }, "×"));
  find("alerts").append(alert);
};

// The link: settings, and what the visitor asked to be in it. Hugging Face shows a Space in a frame, and takes its URL
// from a message.
let viewHash = /^#(q-|\?)/.test(location.hash) ? location.hash : "";
const saveLink = (changes) => {
  const address = new URL(location);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) address.searchParams.delete(name);
    else address.searchParams.set(name, value);
  }
  address.hash = viewHash;
  history.replaceState(null, "", address);
  if (parent !== window) {
    parent.postMessage({ queryString: address.search.slice(1), hash: address.hash }, "https://huggingface.co");
  }
  return address;
};
const SHARED = ["variant", "threshold", "ignore_case"];
const roundShare = (share) => Math.round(1e6 * share) / 1e6;
const CASES = { ignored: true, counts: false };
const listOthers = () => [...settings.elements].filter(({ name }) => name && !SHARED.includes(name));
const nameInLink = (name) => (name === "prediction" ? "prediction_field" : name); // "prediction" is a typed answer
// The settings of a link that exist, and the others as they are written in it
const readLink = (link) => {
  const [found, ignored] = [{}, []];
  const take = (name, key, value, isRight) => {
    if (!link.has(name)) return;
    if (isRight) found[key] = value;
    else ignored.push(`${name}=${link.get(name)}`);
  };
  const [variant, threshold] = [link.get("variant"), Number(link.get("threshold"))];
  take("variant", "variant", variant, Object.hasOwn(SCORERS_BY_NAME, variant ?? ""));
  const isShare = link.get("threshold") !== "" && threshold >= 0 && threshold <= 1;
  take("threshold", "threshold", threshold, isShare);
  take("case", "ignore_case", CASES[link.get("case")], link.get("case") in CASES);
  for (const { name, options } of listOthers()) {
    const value = link.get(nameInLink(name)) ?? "";
    const isKnown = options ? [...options].some((option) => option.value === value) : value.length <= 200;
    take(nameInLink(name), name, value, isKnown);
  }
  return { found, ignored };
};

// Settings

// The settings for one answer: the variant, and what differs from its own threshold and case
const readVariant = () => {
  const variant = settings.variant.value;
  const own = SCORERS_BY_NAME[variant];
  const chosen = { threshold: roundShare(settings.threshold.value / 100), ignore_case: settings.ignore_case.checked };
  const changes = Object.entries(chosen).filter(([name, value]) => own.options.includes(name) && own[name] !== value);
  return { variant, ...Object.fromEntries(changes) };
};
const readSettings = () => {
  const values = readVariant();
  for (const { name, value } of listOthers()) {
    if (value.trim()) values[name] = value.trim();
  }
  return values;
};
// Set controls by the names of the options. A variant brings its own threshold and case.
const applySettings = (values) => {
  const { options, threshold, ignore_case } = SCORERS_BY_NAME[values.variant] ?? {};
  if (options) {
    for (const name of ["threshold", "ignore_case"]) settings.elements[name].disabled = !options.includes(name);
  }
  for (const [name, value] of Object.entries({ ...(options && { threshold, ignore_case }), ...values })) {
    const control = settings.elements[name];
    if (name === "threshold") control.value = Math.round(1e6 * value) / 1e4;
    else if (name === "ignore_case") control.checked = value;
    else if (control) control.value = value;
  }
};
const showSettings = () => {
  const { variant, threshold, ignore_case: ignoreCase } = settings;
  const about = [variant.value, !threshold.disabled && `${threshold.value}%`, !ignoreCase.checked && "case matters"];
  const text = `Variant: ${about.filter(Boolean).join(", ")} ▾`;
  for (const button of document.querySelectorAll(".chosen")) button.textContent = text;
};
const followSettings = () => {
  const { variant, threshold, ignore_case: ignoreCase } = settings;
  const share = roundShare(threshold.value / 100);
  const others = listOthers().map(({ name, value }) => [nameInLink(name), value.trim() || null]);
  const own = { variant: variant.value, threshold: share, case: ignoreCase.checked ? "ignored" : "counts" };
  saveLink({ ...own, ...Object.fromEntries(others) });
  showSettings();
  showAnswer();
  scoreFiles();
};

// One answer

const readTexts = () => ({ prediction: find("prediction").value, answers: find("answers").value });
const findSample = ({ prediction, answers }) =>
  SAMPLES.find((sample) => sample.prediction === prediction && sample.answers === answers);
let asked = 0;
let shownAnswer = {};
const showAnswer = async () => {
  const number = (asked += 1);
  const texts = readTexts();
  const found = await ask("show_answer", [texts.prediction, texts.answers, readVariant()]).catch((error) => ({
    error: error.message,
  }));
  if (number !== asked) return; // there is a newer one
  shownAnswer = found;
  const { score, sentence, signature, error } = found;
  const isScored = score !== undefined;
  const note = error ? makeAlert(error) : make("p.said", "Enter a reference to see the score.");
  replaceContent(find("answer"), isScored ? drawAnswer(found, findSample(texts)?.lesson) : note);
  const opened = [...find("more").querySelectorAll("details[open]")].map(({ id }) => id);
  replaceContent(find("more"), isScored ? drawMore(found, SCORERS_BY_NAME) : "");
  for (const id of opened) find(id)?.setAttribute("open", "");
  find("signature").textContent = signature ?? "";
  find("copy-python").disabled = !isScored;
  if (isScored) announce(`Score ${formatAnswer(score)}. ${sentence}`);
};
const followTexts = () => {
  const given = new URL(location).searchParams; // it has the answer on the page, or none
  if (given.has("prediction") || given.has("answers")) saveLink({ prediction: null, answers: null });
  showAnswer();
};
const setTexts = ({ prediction, answers }) => {
  [find("prediction").value, find("answers").value] = [prediction, answers];
};
const copyLink = () => {
  if (new URLSearchParams(readTexts()).toString().length > 6000) return warn("These strings are too long for a link.");
  copyText(saveLink(readTexts()).href, find("copy-link"));
};
const makeSample = (sample) => {
  const act = () => {
    setTexts(sample);
    applySettings({ variant: sample.variant });
    saveLink({ prediction: null, answers: null });
    followSettings();
  };
  return make("button", { onclick: act }, sample.label);
};

// Files

let files = []; // {path, name, given}: the path on the server, the name of the file, and the name the visitor gave
let gold = ""; // the name of the gold file, if the visitor chose it
let report = ""; // the path of the last report
let work = new AbortController();

const showWork = (stage, { isRunning = true, isStopped = false } = {}) => {
  find("working").hidden = !stage;
  find("stage").textContent = stage;
  find("stop").hidden = !isRunning;
  find("again").hidden = !isStopped;
};
const showStart = () => {
  find("many").hidden = files.length === 0 && find("working").hidden;
  for (const part of document.querySelectorAll(".start")) part.hidden = !find("many").hidden;
};
const begin = () => {
  work.abort();
  work = new AbortController();
  replaceContent(find("problems"));
  return work.signal;
};
const NOTHING = { problems: [], files: [], fields: [], golds: [], gold: "", said: "", report: "" };
const scoreFiles = async () => {
  const signal = begin();
  showWork("");
  if (!files.length) return showResult(NOTHING);
  showStart();
  const names = Object.fromEntries(files.filter(({ given }) => given).map(({ path, given }) => [path, given]));
  const request = { paths: files.map(({ path }) => path), gold, names, settings: readSettings(), last: report };
  const tell = ({ stage }) => {
    if (stage && !signal.aborted) showWork(`${stage} …`);
  };
  const found = await ask("show_files", [request], { signal, tell }).catch((error) => ({
    ...NOTHING,
    problems: [[error.message, {}]],
  }));
  if (signal.aborted) return;
  showWork("");
  showResult(found ?? NOTHING);
};
const stopWork = () => {
  work.abort();
  find("result").replaceChildren();
  showWork(files.length ? "Stopped." : "", { isRunning: false, isStopped: true });
  showStart();
};
const takeFiles = async (list) => {
  const signal = begin();
  const wanted = [...list];
  for (const [place, file] of wanted.entries()) {
    if (file.size > MAX_FILE) {
      const [size, most] = [file.size, MAX_FILE].map((bytes) => `${Math.round(bytes / 1e5) / 10} MB`);
      warn(`${file.name} has ${size}, and the limit is ${most}: score it with anls on your computer.`);
      continue;
    }
    showWork(`uploading ${place + 1} of ${wanted.length} …`);
    showStart();
    const form = new FormData();
    form.append("files", file);
    try {
      const sent = await fetch("gradio_api/upload", { method: "POST", body: form, signal });
      const answer = await sent.json();
      if (sent.ok) addFile(answer[0], file.name);
      else warn(`${file.name}: ${answer.detail}`);
    } catch {
      if (signal.aborted) return;
      warn(`${file.name}: the upload was interrupted: send the file again`);
    }
  }
  scoreFiles();
};
const addFile = (path, name) => {
  if (!files.some((file) => file.path === path)) files.push({ path, name, given: "" });
};
const takeRows = async (text) => {
  try {
    addFile(await ask("keep_rows", [text]), "pasted rows.csv");
  } catch (error) {
    return warn(error.message);
  }
  find("pasted").reset();
  scoreFiles();
};
const openExample = async () => {
  const paths = await ask("keep_example", []);
  for (const path of paths) addFile(path, path.replace(/^.*\//, ""));
  scoreFiles();
};
const removeFiles = (isKept) => {
  files = files.filter(isKept);
  gold = "";
  if (!files.length) {
    viewHash = "";
    saveLink({ files: null, tab: null });
    applySettings({ baseline: "" });
  }
  scoreFiles();
};

const makeFile = (file, [, role = "", name = ""] = []) => {
  const remove = () => removeFiles((other) => other !== file);
  const rename = ({ target }) => {
    file.given = target.value.trim();
    scoreFiles();
  };
  const label = `Name of ${file.name}; give the runs of one model the same name`;
  const field = { value: name, "aria-label": label, title: label, size: Math.max(name.length, 3), onchange: rename };
  const about = role === "submission" ? make("input", field) : make("span", file.name, role && make("small", role));
  return make("li", about, make("button", { "aria-label": `Remove ${file.name}`, onclick: remove }, "×"));
};
const makeGold = (name, chosen) => {
  const choose = () => {
    gold = name;
    scoreFiles();
  };
  const radio = make("input", { type: "radio", name: "gold", value: name, checked: name === chosen, onchange: choose });
  return make("label.check", radio, name);
};
const makeRemedy = ([option, value]) => {
  if (option === "files") return make("button.go", { onclick: () => find("chooser").click() }, "Add files");
  const label = settings.elements[option]?.labels[0].firstChild.textContent;
  const act = () => {
    applySettings({ [option]: value });
    followSettings();
  };
  return label && value.length <= 200 && make("button.go", { onclick: act }, `${label}: ${value}`);
};
const makeProblem = ([text, options]) => makeAlert(text, Object.entries(options).map(makeRemedy));
const listProposals = (id, values) => replaceContent(find(id), [...values].map((value) => make("option", { value })));
const showResult = (found) => {
  report = found.report;
  const isAsked = found.golds.length > 0 && !found.gold; // no file has a role yet
  replaceContent(find("files"), files.map((file, place) => makeFile(file, isAsked ? [] : found.files[place])));
  find("gold").hidden = !found.golds.length || (!isAsked && !gold);
  const golds = found.golds.map((name) => makeGold(name, found.gold));
  find("gold").replaceChildren(find("gold").firstElementChild, ...golds);
  replaceContent(find("problems"), found.problems.map(makeProblem));
  listProposals("fields", found.fields);
  listProposals("submissions", new Set(found.files.map((row) => row[2]).filter(Boolean)));
  const url = report && `gradio_api/file=${encodeURI(report)}`;
  for (const id of ["own-tab", "save"]) find(id).href = url;
  document.querySelector(".links").hidden = !report;
  showStart();
  showReport(url, found.problems.length > 0);
  announce([found.said, ...found.problems.map(([text]) => text)].join(" "));
};

// The report is in a frame that cannot access the page and has no storage, so they have this protocol:
// - The report posts {type: "anls-report-state", hash} when its view changes (filter, search, open question), with the
//   hash that its own URL would have; {type: "anls-report-options", options} for the button of a hint;
//   {type: "anls-report-marks", place, marks} when a mark changes, where place names the questions;
//   {type: "anls-report-size", height} when its height changes; {type: "anls-report-scroll", by} to keep a row still.
// - The page names the frame: JSON with url, its own URL, for links; hash, the last hash; marks, JSON with the last
//   marks by their places. So view and marks survive a changed setting. The URL of the page holds the hash.
// - The page posts {type: "anls-page-seen", top}: how much of the frame is above the window.
const allMarks = {};
const findFrame = () => document.querySelector("#result iframe");
const showReport = (url, hasProblems) => {
  if (!url) return find("result").replaceChildren();
  saveLink({ files: files.map(({ name }) => name).join(", ") });
  const name = JSON.stringify({ url: location.href, hash: viewHash, marks: JSON.stringify(allMarks) });
  const sandbox = "allow-scripts allow-downloads";
  const frame = make("iframe", { title: "The report", sandbox, name, src: url });
  find("result").replaceChildren(frame);
  const isLow = frame.getBoundingClientRect().top > 200; // in a small window
  const shown = hasProblems ? find("problems") : frame;
  if (isLow && !find("line").contains(document.activeElement)) shown.scrollIntoView();
};
const listenToReport = ({ source, data }) => {
  const frame = findFrame();
  if (!frame || source !== frame.contentWindow || typeof data !== "object" || !data) return;
  const { type, hash, options, place, marks, height, by } = data;
  if (type === "anls-report-state" && typeof hash === "string" && hash.length < 4000) {
    viewHash = /^#./.test(hash) ? hash : "";
    saveLink({});
  } else if (type === "anls-report-options" && JSON.stringify(options ?? {}).length < 300) {
    applySettings(options);
    followSettings();
  } else if (type === "anls-report-marks" && `${place}${marks}`.length < 1e7) {
    allMarks[place] = marks;
  } else if (type === "anls-report-size" && height > 0 && height < 1e6) {
    frame.style.height = `${Math.ceil(height)}px`;
    tellSeen();
  } else if (type === "anls-report-scroll" && Number.isFinite(by)) {
    scrollBy({ top: by, behavior: "instant" });
  }
};
const tellSeen = () => {
  const frame = findFrame();
  frame?.contentWindow.postMessage({ type: "anls-page-seen", top: -frame.getBoundingClientRect().top }, "*");
};

// What is dropped or pasted anywhere. A field keeps what is no table.

const ROWS = /\t.*\n.*\t|^\s*predictions\s*=/s;
const followPaste = (event) => {
  const text = event.clipboardData.getData("text");
  const isInField = event.target.closest("input, textarea");
  if (event.clipboardData.files.length) takeFiles(event.clipboardData.files);
  else if (text.trim() && (ROWS.test(text) || (!isInField && /[\t\n]/.test(text)))) takeRows(text);
  else return;
  event.preventDefault();
};
const followDrag = (event) => {
  if (![...event.dataTransfer.types].includes("Files")) return;
  event.preventDefault();
  document.body.classList.toggle("dropping", event.type === "dragover");
  if (event.type === "drop") takeFiles(event.dataTransfer.files);
};
const togglePaste = () => {
  find("pasted").hidden = !find("pasted").hidden;
  find("paste").setAttribute("aria-expanded", String(!find("pasted").hidden));
  if (!find("pasted").hidden) find("rows").focus();
};

const listenToPage = () => {
  for (const id of ["prediction", "answers"]) find(id).oninput = followTexts;
  settings.onsubmit = (event) => event.preventDefault();
  settings.onchange = ({ target }) => {
    if (target.name === "variant") applySettings({ variant: target.value });
    followSettings();
  };
  for (const button of document.querySelectorAll(".choose")) button.onclick = () => find("chooser").click();
  find("chooser").onchange = ({ target }) => {
    takeFiles(target.files);
    target.value = "";
  };
  find("copy-link").onclick = copyLink;
  find("copy-python").onclick = () => copyText(shownAnswer.python, find("copy-python"));
  find("paste").onclick = togglePaste;
  find("pasted").onsubmit = (event) => {
    event.preventDefault();
    takeRows(find("rows").value);
  };
  find("open-example").onclick = openExample;
  find("clear").onclick = () => removeFiles(() => false);
  find("stop").onclick = stopWork;
  find("again").onclick = scoreFiles;
  addEventListener("message", listenToReport);
  addEventListener("scroll", tellSeen, { passive: true });
  addEventListener("paste", followPaste);
  for (const type of ["dragover", "dragleave", "drop"]) addEventListener(type, followDrag);
};
const start = () => {
  const link = new URL(location).searchParams;
  const { found, ignored } = readLink(link);
  document.documentElement.style.colorScheme = { light: "light", dark: "dark" }[link.get("__theme")] ?? "";
  const describe = ({ name, meaning }) => make("option", { value: name }, `${name}: ${meaning}`);
  settings.variant.append(...Object.values(SCORERS_BY_NAME).map(describe));
  applySettings({ variant: "standard", ...found });
  const given = { prediction: link.get("prediction") ?? "", answers: link.get("answers") };
  setTexts(link.has("answers") ? given : SAMPLES[0]);
  replaceContent(find("examples"), SAMPLES.map(makeSample));
  if (ignored.length) warn(`The link's settings were ignored: ${ignored.join(", ")}`);
  const wanted = link.get("files");
  if (wanted) find("drop-note").textContent = `This link shows a report of ${wanted}: drop these files to see it.`;
  if (wanted || ["file", "table"].includes(link.get("tab"))) find("doors").scrollIntoView();
  listenToPage();
  showSettings();
  showAnswer();
};
start();
