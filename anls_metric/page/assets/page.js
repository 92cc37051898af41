// The script of the page: it keeps the settings in the URL, copies links, requests scores and shows reports.
window.anls = {
  settled: false, // gradio selects the first tab before the link is read

  // Write the URL without a new entry in the history. Hugging Face shows a Space in a frame, and takes its URL from a
  // message.
  save(changes) {
    const address = new URL(window.location);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) address.searchParams.delete(name);
      else address.searchParams.set(name, value);
    }
    address.hash = anls.hash;
    window.history.replaceState(null, "", address);
    if (window.parent !== window) {
      const parts = { queryString: address.search.slice(1), hash: address.hash };
      window.parent.postMessage(parts, "https://huggingface.co");
    }
    return address;
  },

  settings(variant, threshold, ignoreCase) {
    return { variant: variant, threshold: threshold, case: ignoreCase ? "ignored" : "counts" };
  },

  saveSettings(...chosen) {
    anls.save(anls.settings(...chosen));
  },

  saveTab(tab) {
    if (anls.settled) anls.save({ tab: tab });
  },

  settle() {
    anls.settled = true;
  },

  // Returns what the page says about it.
  async copyLink(prediction, answers, ...chosen) {
    const say = (text) => `<p data-said="${text}">${text}</p>`;
    const texts = { prediction: prediction, answers: answers };
    if (new URLSearchParams(texts).toString().length > 6000) return say("These strings are too long for a link.");
    const address = anls.save({ ...anls.settings(...chosen), ...texts });
    const content = "It contains the prediction and the references.";
    try {
      await navigator.clipboard.writeText(address.href);
      return say(`The link is in the address bar and on the clipboard. ${content}`);
    } catch (error) {
      return say(`The link is in the address bar: copy it there. ${content}`);
    }
  },

  // The URL has the answer on the page, or no answer. Returns nothing to say about a link.
  forget(prediction, answers) {
    const given = new URL(window.location).searchParams;
    const isOther = given.get("prediction") !== prediction || given.get("answers") !== answers;
    if (isOther && (given.has("prediction") || given.has("answers"))) anls.save({ prediction: null, answers: null });
    return "";
  },

  // Number the request if files, names or settings have changed since the last one. A new number starts the scoring.
  request: { key: "", files: "[]", number: 0 },

  requestScores(files, given, ...settings) {
    const paths = JSON.stringify((files ?? []).map((file) => file.path));
    const isNew = paths !== anls.request.files;
    if (paths === "[]" && !isNew) return undefined; // a setting of the link, before there are files
    // "nothing" has many forms
    const values = settings.map((value) => (value === null || value.length === 0 ? "" : value));
    const key = JSON.stringify([paths, isNew ? "" : given, ...values]);
    if (key === anls.request.key) return undefined;
    if (isNew && anls.report !== null && paths === "[]") anls.forgetReport();
    anls.request = { key: key, files: paths, number: anls.request.number + 1 };
    return anls.request.number + (isNew ? " new" : "");
  },

  // The same files and settings can be scored again.
  stop() {
    anls.request.key = "";
    return [];
  },

  // The names that the visitor gave, if they are not those that the server showed.
  giveNames(names) {
    const shown = document.querySelector("#result [data-names]")?.dataset.names;
    return shown === undefined || names === shown ? undefined : names;
  },

  // The buttons of hints and errors. Each one sets an option to a value.
  applyWith(element, change) {
    element.addEventListener("click", (event) => {
      const { option, value } = event.target.closest("button.apply")?.dataset ?? {};
      if (option) change({ option: option, value: value });
    });
  },

  // The report is in a frame that cannot access the page and has no storage, so they have this protocol:
  // - The report posts {type: "anls-report-state", hash} when its view changes (filter, search, open question), with
  //   the hash that its own URL would have; {type: "anls-report-height", height} when its content grows or shrinks;
  //   {type: "anls-report-marks", place, marks} when a mark changes, where place names the questions.
  // - The page writes into the <html> of the report: data-framed; data-url, its own URL, for links; data-hash, the
  //   last hash; data-marks, JSON with the last marks by their places. So view and marks survive a changed setting.
  //   The URL of the page holds the hash.
  report: null,
  hash: /^#(q-|\?)/.test(window.location.hash) ? window.location.hash : "",
  marks: {},

  listen({ source, data }) {
    const frame = document.querySelector("#result iframe");
    if (!frame || source !== frame.contentWindow || typeof data !== "object" || !data) return;
    const { type, hash, height, place, marks } = data;
    if (type === "anls-report-state" && typeof hash === "string" && hash.length < 4000) {
      anls.hash = /^#./.test(hash) ? hash : "";
      anls.save({});
    } else if (type === "anls-report-height" && height > 0 && height < 1e6) {
      frame.style.height = `${Math.ceil(height) + 2}px`;
    } else if (type === "anls-report-marks" && `${place}${marks}`.length < 1e7) {
      anls.marks[place] = marks;
    }
  },

  // The server sends a compressed report beside an empty frame.
  async unpack(frame) {
    const bytes = Uint8Array.from(atob(frame.dataset.packed), (sign) => sign.charCodeAt(0));
    frame.removeAttribute("data-packed");
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const report = await new Response(stream).text();
    if (!frame.isConnected) return; // a newer report took its place
    anls.report = report;
    anls.save({ tab: "file" });
    frame.srcdoc = anls.placeReport();
    anls.linkReport();
  },

  placeReport() {
    const url = window.location.href;
    const marks = JSON.stringify(anls.marks);
    const attributes = { framed: "", url: url, ...(anls.hash && { hash: anls.hash }), marks: marks };
    const written = Object.entries(attributes).map(([name, value]) => ` data-${name}="${anls.escape(value)}"`);
    return anls.report.replace("<html", () => "<html" + written.join(""));
  },

  // A file with the report, and a page with only the report in a frame, so that files can access nothing.
  linkReport() {
    const page =
      '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>ANLS report</title>' +
      '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">' +
      "<style>html, body, iframe { display: block; width: 100%; height: 100%; margin: 0; border: 0; }</style>" +
      '<iframe title="The report" sandbox="allow-scripts allow-downloads" srcdoc="' +
      anls.escape(anls.placeReport().replace(" data-framed", "")) +
      '"></iframe>';
    for (const [style, text] of [
      ["own-tab", page],
      ["save", anls.report],
    ]) {
      const link = document.querySelector(`#result a.${style}`);
      if (!link) return;
      if (link.href.startsWith("blob:")) URL.revokeObjectURL(link.href);
      link.href = URL.createObjectURL(new Blob([text], { type: "text/html" }));
    }
  },

  escape(text) {
    const signs = { "&": "&amp;", '"': "&quot;", "<": "&lt;" };
    return text.replace(/[&"<]/g, (sign) => signs[sign]);
  },

  // Other files have other questions, so the view starts again.
  forgetReport() {
    anls.report = null;
    anls.hash = "";
    anls.save({});
  },

  // Screen readers announce new content after it has been stable for a moment.
  said: "",

  say() {
    const parts = [...document.querySelectorAll("[data-said]")].filter((part) => part.checkVisibility());
    const said = parts.map((part) => part.dataset.said).join(" ");
    if (!anls.voice.isConnected) document.body.append(anls.voice); // gradio recreates the body
    if (!anls.settled || said === anls.said) return;
    anls.said = said;
    clearTimeout(anls.saying);
    anls.saying = setTimeout(() => {
      anls.voice.textContent = said;
    }, 500);
  },
};

anls.voice = document.createElement("div");
anls.voice.id = "voice";
anls.voice.setAttribute("role", "status");
window.addEventListener("message", anls.listen);

new MutationObserver(() => {
  for (const frame of document.querySelectorAll("#result iframe[data-packed]")) anls.unpack(frame);
  anls.say();
  // gradio's button for adding files is a button inside a button, with an untranslated name.
  for (const outer of document.querySelectorAll("#files button:has(button)")) {
    const attributes = { role: "group", tabindex: "-1", title: "Add files", "aria-label": "Add files" };
    for (const [name, value] of Object.entries(attributes)) {
      if (outer.getAttribute(name) !== value) outer.setAttribute(name, value);
    }
  }
}).observe(document.documentElement, { childList: true, subtree: true, attributeFilter: ["data-packed", "data-said"] });
