// The script of the page: it keeps the settings in the URL, copies links, fills the table with what is pasted,
// and shows reports.
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
    return { variant: variant, threshold: threshold / 100, case: ignoreCase ? "ignored" : "counts" };
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

  // gradio's table does not take what is pasted into it, so it goes to the text field beside it.
  paste(event) {
    const field = document.querySelector("#pasted textarea");
    const text = event.clipboardData.getData("text");
    if (!event.target.closest("#table") || !/\t|\n|predictions/.test(text)) return; // one cell, for gradio
    event.preventDefault();
    event.stopPropagation();
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  },

  // The buttons of hints in the report set an option of the page.
  setWith(trigger) {
    anls.set = (change) => trigger("click", change);
  },

  // The report is in a frame that cannot access the page and has no storage, so they have this protocol:
  // - The report posts {type: "anls-report-state", hash} when its view changes (filter, search, open question), with
  //   the hash that its own URL would have; {type: "anls-report-options", options} for the button of a hint;
  //   {type: "anls-report-marks", place, marks} when a mark changes, where place names the questions.
  // - The page names the frame: JSON with url, its own URL, for links; hash, the last hash; marks, JSON with the last
  //   marks by their places. So view and marks survive a changed setting. The URL of the page holds the hash.
  hash: /^#(q-|\?)/.test(window.location.hash) ? window.location.hash : "",
  marks: {},

  listen({ source, data }) {
    const frame = document.querySelector("#result iframe");
    if (!frame || source !== frame.contentWindow || typeof data !== "object" || !data) return;
    const { type, hash, options, place, marks } = data;
    if (type === "anls-report-state" && typeof hash === "string" && hash.length < 4000) {
      anls.hash = /^#./.test(hash) ? hash : "";
      anls.save({});
      if (document.activeElement === frame) frame.scrollIntoView({ block: "nearest" });
    } else if (type === "anls-report-options" && JSON.stringify(options ?? {}).length < 300) {
      anls.set({ options });
    } else if (type === "anls-report-marks" && `${place}${marks}`.length < 1e7) {
      anls.marks[place] = marks;
    }
  },

  showReport(place) {
    anls.save({ tab: "file", files: place.dataset.files });
    const frame = place.cloneNode(); // a frame takes its name when it becomes part of the page
    frame.name = JSON.stringify({ url: window.location.href, hash: anls.hash, marks: JSON.stringify(anls.marks) });
    frame.src = frame.dataset.report;
    frame.removeAttribute("data-report");
    place.replaceWith(frame);
    // In a small window, the result comes into sight, unless the visitor is choosing.
    const follow = () => {
      const isLow = frame.getBoundingClientRect().top > 200;
      if (isLow && !document.querySelector("#line").contains(document.activeElement)) frame.scrollIntoView();
    };
    setTimeout(follow, 300); // when the files are folded
  },

  // Other files have other questions, so the view starts again.
  forgetReport() {
    anls.hash = "";
    anls.save({ files: null });
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

window.addEventListener("paste", anls.paste, true);
new MutationObserver(() => {
  for (const frame of document.querySelectorAll("#result iframe[data-report]")) anls.showReport(frame);
  anls.say();
}).observe(document.documentElement, { childList: true, subtree: true, attributeFilter: ["data-report", "data-said"] });
