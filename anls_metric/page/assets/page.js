// The script of the page: it keeps the settings in the URL, copies links, and saves reports.
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
        address.hash = anls.reportHash;
        window.history.replaceState(null, "", address);
        if (window.parent !== window) {
            const parts = {queryString: address.search.slice(1), hash: address.hash};
            window.parent.postMessage(parts, "https://huggingface.co");
        }
        return address;
    },

    settings(variant, threshold, ignoreCase) {
        return {variant: variant, threshold: threshold, case: ignoreCase ? "ignored" : "counts"};
    },

    saveSettings(...chosen) {
        anls.save(anls.settings(...chosen));
    },

    saveTab(tab) {
        if (anls.settled) anls.save({tab: tab});
    },

    settle() {
        anls.settled = true;
    },

    async copyLink(prediction, answers, ...chosen) {
        const texts = {prediction: prediction, answers: answers};
        if (new URLSearchParams(texts).toString().length > 6000) return "long";
        const address = anls.save({...anls.settings(...chosen), ...texts});
        try {
            await navigator.clipboard.writeText(address.href);
            return "copied";
        } catch (error) {
            return "shown";
        }
    },

    // The URL has the answer on the page, or no answer.
    forget(prediction, answers) {
        const given = new URL(window.location).searchParams;
        if (!given.has("prediction") && !given.has("answers")) return;
        if (given.get("prediction") === prediction && given.get("answers") === answers) return;
        anls.save({prediction: null, answers: null});
    },

    // The report is in a frame that cannot access the page, so page and report have this protocol:
    // - Whenever its state changes (filter, search, open question), the report posts {type: "anls-report-state",
    //   hash: "#q-7?..."} to its parent, with the hash that its own URL would have.
    // - The page writes the last hash into the report as the attribute data-hash of its <html>, and the report starts
    //   with it. So the view survives a changed setting. The URL of the page holds the hash, too.
    report: null, // the report without data-hash
    reportHash: /^#(q-|\?)/.test(window.location.hash) ? window.location.hash : "",

    // The server sends a compressed report beside an empty frame.
    async unpack(frame) {
        const bytes = Uint8Array.from(atob(frame.dataset.packed), (sign) => sign.charCodeAt(0));
        frame.removeAttribute("data-packed");
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
        const report = await new Response(stream).text();
        if (!frame.isConnected) return; // a newer report took its place
        anls.report = report;
        frame.srcdoc = anls.placeReport();
        anls.linkReport();
    },

    // The report with the attribute for the last view.
    placeReport() {
        if (!anls.reportHash) return anls.report;
        return anls.report.replace("<html", '<html data-hash="' + anls.escape(anls.reportHash) + '"');
    },

    // A page with only the report, also in a frame, so that the content of files cannot access anything.
    linkReport() {
        const link = document.querySelector("#own-tab a");
        if (!link || anls.report === null) return;
        if (link.href.startsWith("blob:")) URL.revokeObjectURL(link.href);
        const page = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>ANLS report</title>' +
            '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">' +
            "<style>html, body, iframe { display: block; width: 100%; height: 100%; margin: 0; border: 0; }</style>" +
            '<iframe title="The report" sandbox="allow-scripts allow-downloads" srcdoc="' +
            anls.escape(anls.placeReport()) + '"></iframe>';
        link.href = URL.createObjectURL(new Blob([page], {type: "text/html"}));
    },

    escape(text) {
        const signs = {"&": "&amp;", '"': "&quot;", "<": "&lt;"};
        return text.replace(/[&"<]/g, (sign) => signs[sign]);
    },

    keepReport(event) {
        const frame = document.querySelector("#report iframe");
        const {type, hash} = event.data || {};
        if (!frame || event.source !== frame.contentWindow || type !== "anls-report-state") return;
        if (typeof hash === "string" && hash.length < 4000) anls.setReportHash(hash);
    },

    setReportHash(hash) {
        anls.reportHash = /^#./.test(hash) ? hash : "";
        anls.save({});
    },

    // Other files have other questions, so the view starts again.
    forgetReport(files) {
        if (anls.report !== null && !(files && files.length)) {
            anls.report = null;
            anls.setReportHash("");
        }
    },

    saveReport() {
        if (anls.report !== null) anls.download(anls.report, "anls-report.html", "text/html");
    },

    download(text, name, type) {
        if (!text) return;
        const link = document.createElement("a");
        link.href = URL.createObjectURL(new Blob([text], {type: type}));
        link.download = name;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    },

    // The buttons beside hints. Each one sets a setting to a value.
    applyWith(element, change) {
        element.addEventListener("click", (event) => {
            const {setting, value} = event.target.closest("button.apply")?.dataset ?? {};
            if (setting) change({setting: setting, value: JSON.parse(value)});
        });
    },

    async copyCommand(button) {
        const code = button.parentElement.querySelector("code");
        try {
            await navigator.clipboard.writeText(code.textContent);
            button.textContent = "Copied";
            setTimeout(() => { button.textContent = "Copy the command"; }, 2000);
        } catch (error) {
            window.getSelection().selectAllChildren(code);
        }
    },

    names: "{}", // the last result of collectNames

    // The names of submissions that differ from the default names, by the paths of their files.
    collectNames(places, ...boxes) {
        const given = JSON.parse(places).map(([path, label], place) => [path, label, (boxes[place] ?? "").trim()]);
        const names = given.filter(([, label, name]) => name && name !== label).map(([path, , name]) => [path, name]);
        const collected = JSON.stringify(Object.fromEntries(names));
        if (collected === anls.names) return undefined; // gradio may apply an old event after a new one
        anls.names = collected;
        return collected;
    },

    request: {inputs: "", number: 0}, // the last request for scores

    // Number the request if files, names or settings have changed since the last one. A new number starts the scoring.
    requestScores(...inputs) {
        const text = JSON.stringify(inputs);
        if (text === anls.request.inputs) return undefined;
        anls.request = {inputs: text, number: anls.request.number + 1};
        return String(anls.request.number);
    },

    // Files over a limit are not sent; gradio gets the other files.
    refuse: null,

    refuseWith(refuse) {
        anls.refuse = refuse;
    },

    checkFiles(event) {
        const area = event.target.closest?.("#files, #corrections");
        const transfer = event.type === "drop" ? event.dataTransfer : event.target;
        if (!area || !transfer?.files?.length || event.isChecked) return;
        const files = [...transfer.files];
        const rest = new DataTransfer();
        const refusals = [];
        let size = 0;
        for (const file of files) {
            if (file.size > $MOST_BYTES || size + file.size > $MOST_UPLOAD) {
                refusals.push(file.name + " (" + Math.ceil(file.size / 2 ** 20) + " MB)");
            } else {
                size += file.size;
                rest.items.add(file);
            }
        }
        if (refusals.length || document.querySelector("#refusal .anls")) {
            anls.refuse?.({files: files.map((file) => file.name), refused: refusals});
        }
        if (!refusals.length) return;
        event.stopImmediatePropagation();
        event.preventDefault();
        const target = event.target;
        if (event.type === "change") target.files = rest.files;
        else if (!rest.files.length) target.dispatchEvent(new DragEvent("dragleave", {bubbles: true}));
        if (!rest.files.length) return;
        const again = event.type === "drop"
            ? new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: rest})
            : new Event("change", {bubbles: true});
        again.isChecked = true;
        target.dispatchEvent(again);
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
        anls.saying = setTimeout(() => { anls.voice.textContent = said; }, 500);
    },
};

anls.voice = document.createElement("div");
anls.voice.id = "voice";
anls.voice.setAttribute("role", "status");
for (const type of ["change", "drop"]) document.addEventListener(type, anls.checkFiles, true);
window.addEventListener("message", anls.keepReport);
document.addEventListener("click", (event) => {
    const button = event.target.closest?.(".command button.copy");
    if (button) anls.copyCommand(button);
});

new MutationObserver(() => {
    for (const frame of document.querySelectorAll("#report iframe[data-packed]")) anls.unpack(frame);
    if (document.querySelector('#own-tab a[href="#"]')) anls.linkReport();
    anls.say();
}).observe(document.documentElement, {childList: true, subtree: true, attributeFilter: ["data-packed", "data-said"]});

// gradio's button for adding files is a button inside a button, with an untranslated name.
new MutationObserver(() => {
    for (const outer of document.querySelectorAll("#files button:has(button)")) {
        for (const [name, value] of Object.entries({role: "group", tabindex: "-1", title: "Add files"})) {
            if (outer.getAttribute(name) !== value) outer.setAttribute(name, value);
        }
        if (outer.ariaLabel !== "Add files") outer.ariaLabel = "Add files";
    }
}).observe(document.documentElement, {childList: true, subtree: true});
