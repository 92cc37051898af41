// What the page does in the browser: the settings stand in its address, a link can be copied, a report is saved.
window.anls = {
    settled: false, // gradio selects the first tab before the link is read

    // Into the address without a new entry in the history. Hugging Face shows a Space in a frame, and takes its address
    // from a message.
    save(changes) {
        const address = new URL(window.location);
        for (const [name, value] of Object.entries(changes)) {
            if (value === null) address.searchParams.delete(name);
            else address.searchParams.set(name, value);
        }
        window.history.replaceState(null, "", address);
        if (window.parent !== window) {
            window.parent.postMessage({queryString: address.search.slice(1)}, "https://huggingface.co");
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

    // What stands in the address is what is shown, or nothing.
    forget(prediction, answers) {
        const given = new URL(window.location).searchParams;
        if (!given.has("prediction") && !given.has("answers")) return;
        if (given.get("prediction") === prediction && given.get("answers") === answers) return;
        anls.save({prediction: null, answers: null});
    },

    // A report comes packed, in a frame that is empty.
    async unpack(frame) {
        const packed = Uint8Array.from(atob(frame.dataset.packed), (sign) => sign.charCodeAt(0));
        frame.removeAttribute("data-packed");
        const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
        frame.srcdoc = await new Response(unpacked).text();
    },

    saveReport() {
        const frame = document.querySelector("#report iframe");
        if (frame) anls.download(frame.srcdoc, "anls-report.html", "text/html");
    },

    download(text, name, type) {
        if (!text) return;
        const link = document.createElement("a");
        link.href = URL.createObjectURL(new Blob([text], {type: type}));
        link.download = name;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    },
};

new MutationObserver(() => {
    for (const frame of document.querySelectorAll("#report iframe[data-packed]")) anls.unpack(frame);
}).observe(document.documentElement, {childList: true, subtree: true, attributeFilter: ["data-packed"]});

// gradio's button that adds files is a button in a button, under a name that nobody translated.
new MutationObserver(() => {
    for (const outer of document.querySelectorAll("#files button:has(button)")) {
        for (const [name, value] of Object.entries({role: "group", tabindex: "-1", title: "Add files"})) {
            if (outer.getAttribute(name) !== value) outer.setAttribute(name, value);
        }
        if (outer.ariaLabel !== "Add files") outer.ariaLabel = "Add files";
    }
}).observe(document.documentElement, {childList: true, subtree: true});
