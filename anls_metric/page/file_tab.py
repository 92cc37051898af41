"""The gradio tab for files: uploads, settings, hints and the report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from anls_metric.options import OPTIONS
from anls_metric.page import limits, scoring
from anls_metric.page.answers import add_speech, get_scorer
from anls_metric.page.endpoints import describe_error, run_files
from anls_metric.page.uploads import MADE_UP, take, take_all
from anls_metric.reading.extract import EXTRACTORS
from anls_metric.report import html_parts
from anls_metric.report.html_parts import escape

QUIET: Mapping[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
"""The options of an event that is not an endpoint, and shows no progress."""

NOTHING = (
    "Drop a gold file and one or more submissions, in any order, or files that hold both: logs of evaluation "
    "harnesses, or tables (JSON, JSON lines, CSV, Parquet, Excel). A zip of images shows the pages as well."
)
WHICH_GOLD = "Which of these is the gold file, the one with the accepted answers?"

_MADE_UP_FILES = [str(MADE_UP / name) for name in ("gold.json", "careful reader.json", "hasty reader.json")]
_FIELDS = ("by", "prediction", "references", "id", "gold_id", "submission", "cluster_by")
_SETTINGS = ("extract", "missing", "extra", "runs", *_FIELDS, "references_separator", "filter", "baseline")
_LISTS = ("extract", "by")
_OF_SCORER = ("threshold", "ignore_case")
_DEFAULT = ("default", "")


class _Tab:
    """The components of the tab. `settings` holds those of options, by their names."""

    def __init__(self, common: Mapping[str, Any]) -> None:
        with gr.Column(elem_id="file-tab"):
            self.files = gr.File(label="Files, up to 50 MB each", file_count="multiple", height=150, elem_id="files")
            with gr.Row(elem_id="line"):
                self.names = gr.Textbox(label="Names (equal names: runs of one model)", visible=False, elem_id="names")
                self.example = gr.Button("Try made-up files", size="sm", min_width=150, scale=0)
                with gr.Accordion("Options", open=False, elem_id="options"), gr.Row():
                    self.settings = {**common, **{name: _make_setting(name) for name in _SETTINGS}}
            self.gold = gr.Radio([], label=WHICH_GOLD, visible=False, elem_id="gold")
            self.result = gr.HTML(
                html_parts.format_hint(NOTHING),
                js_on_load="anls.applyWith(element, (change) => trigger('click', change))",
                elem_id="result",
            )
            # What the browser keeps: the names that the visitor gave, and the number of the last request.
            self.given = gr.Textbox("", visible="hidden", elem_id="given")
            self.request = gr.Textbox("", visible="hidden", elem_id="request")

    @property
    def inputs(self) -> list[Any]:
        """What scores depend on."""
        return [self.files, self.given, self.gold, *self.settings.values()]

    @property
    def outputs(self) -> list[Any]:
        """What scoring changes."""
        choices = [self.settings[name] for name in (*_FIELDS, "baseline")]
        return [self.result, self.names, self.given, self.example, self.gold, *choices]


def _make_setting(name: str) -> Any:
    """Make the component of an option. The choices of fields come with the files, and are checked on use."""
    option = OPTIONS[name]
    options: dict[str, Any] = {"label": option.label, "elem_id": f"setting-{name}", "min_width": 260}
    if name in _LISTS:
        rules = [(f"{rule}: {each.meaning}", rule) for rule, each in EXTRACTORS.items()] if name == "extract" else []
        return gr.Dropdown(rules, multiselect=True, allow_custom_value=True, **options)
    if option.choices or name in (*_FIELDS, "baseline"):
        return gr.Dropdown([_DEFAULT, *option.choices], value="", allow_custom_value=not option.choices, **options)
    return gr.Textbox(max_length=100, **options)


def add_file_tab(common: Mapping[str, Any]) -> None:
    """Add the tab for files.

    Args:
        common: the components for variant, threshold and case, which all tabs share, by the names of the options.
    """
    tab = _Tab(common)

    def run(request: str, *values: Any, progress: Any = gr.Progress()) -> dict[Any, Any]:  # noqa: B008, gradio finds it
        return _run(tab, request.endswith("new"), *values, progress=progress)

    # gradio may send several events for one change, and the settings of a link with or after a file. The browser
    # requests scores only when files or settings have changed.
    events = [component.change for component in (tab.files, tab.given, *tab.settings.values())]
    js = {"js": "anls.requestScores", "api_visibility": "private"}
    gr.on([*events, tab.gold.input], None, tab.inputs, tab.request, **js)
    tab.request.change(
        run,
        [tab.request, *tab.inputs],
        tab.outputs,
        show_progress_on=tab.result,
        trigger_mode="always_last",
        api_visibility="private",
        concurrency_id="files",
        concurrency_limit=limits.MAX_FILES_AT_ONCE,
    )
    gr.on([tab.names.submit, tab.names.blur], None, tab.names, tab.given, js="anls.giveNames", api_visibility="private")

    def apply(event: gr.EventData) -> dict[Any, Any]:
        """Set an option to the value of a button. A browser may send anything."""
        name, value = str(getattr(event, "option", "")), str(getattr(event, "value", ""))[:1_000]
        return {tab.settings[name]: value.split(",") if name in _LISTS else value} if name in tab.settings else {}

    tab.result.click(apply, None, list(tab.settings.values()), **QUIET)
    tab.example.click(lambda: _MADE_UP_FILES, None, tab.files, **QUIET)


def _run(
    tab: _Tab, is_new: bool, files: Any, given: str, gold: str | None, *values: Any, progress: Any
) -> dict[Any, Any]:
    """Score the files, and return the changes of the components."""
    if not files:
        hidden = {tab.names: gr.Textbox("", visible=False), tab.gold: gr.Radio(choices=[], visible=False)}
        return {
            tab.result: html_parts.format_hint(NOTHING),
            tab.given: "",
            tab.example: gr.Button(visible=True),
            **hidden,
        }
    names = [] if is_new else [name.strip() for name in given.split(",")]
    try:
        shown = _score(files, names, "" if is_new else gold or "", dict(zip(tab.settings, values)), progress)
    except Exception as error:
        shown = scoring.Shown([scoring.Advice(describe_error(error))])
    settings = tab.settings
    choices = {settings[name]: gr.Dropdown([_DEFAULT, *shown.fields]) for name in _FIELDS if name not in _LISTS}
    golds = [(path.rpartition("/")[2], path) for path in shown.golds]
    return {
        tab.result: _format(shown, tab.settings),
        tab.names: gr.Textbox(", ".join(shown.names), visible=bool(shown.names)),
        tab.given: "" if is_new else given,
        tab.example: gr.Button(visible=False),
        tab.gold: gr.Radio(golds, value=shown.gold or None, visible=bool(golds)),
        **choices,
        settings["by"]: gr.Dropdown(shown.fields),
        settings["baseline"]: gr.Dropdown([_DEFAULT, *shown.names], **({"value": ""} if is_new else {})),
    }


def _score(files: Any, names: Sequence[str], gold: str, settings: dict[str, Any], progress: Any) -> scoring.Shown:
    """Score the files with the settings of the page. ValueError: a setting or a file cannot be used."""
    paths = take_all([str(path) for path in files], "the drop area")
    known = get_scorer(settings["variant"]).options
    options = {
        name: value
        for name, value in settings.items()
        if value not in (None, "", []) and (name in known or name not in _OF_SCORER)
    }
    gold = take(gold, "the gold file") if gold else ""

    def show(count: int) -> None:
        progress((count, None), desc="Scored, and making the report", unit="answers")

    progress(None, desc="Reading")
    return scoring.Shown(**run_files(scoring.show, paths, paths, gold, list(names), options, show=show))


# HTML


def _format(shown: scoring.Shown, settings: Mapping[str, Any]) -> str:
    """Format the result: problems and hints with their buttons, what was read, and the report in a frame."""
    problems = "".join(_format_advice(each, settings, "message", ' role="alert"') for each in shown.problems)
    hints = "".join(_format_advice(each, settings, "hint") for each in shown.hints)
    read = "".join(f'<p class="said">{escape(line, 600)}</p>' for line in shown.read)
    asks = html_parts.format_hint(f"{WHICH_GOLD} Choose it above.") if shown.golds and not shown.report else ""
    names = escape(json.dumps(", ".join(shown.names)), 10_000)
    parts = [f'<section class="anls" data-names="{names}">{problems}{hints}{read}</section>', asks]
    return add_speech("".join(parts), shown.said) + (_frame(shown.report) if shown.report else "")


def _format_advice(advice: scoring.Advice, settings: Mapping[str, Any], style: str, attributes: str = "") -> str:
    """Format a sentence with its button, if the page has the option. The value of the button is JSON."""
    text, option, value = advice
    button = ""
    if option in settings and len(value) <= 200:
        label, data = escape(f"{OPTIONS[option].label}: {value}", 120), escape(json.dumps(value), 2_000)
        button = f'<button type="button" class="apply" data-option="{option}" data-value="{data}">{label}</button>'
    return f'<p class="{style}"{attributes}>{escape(text, 1_000)} {button}</p>'


def _frame(packed: str) -> str:
    """Put a report into a frame, in which its script reaches nothing of the page. page.js unpacks it."""
    return (
        '<p class="links"><a class="own-tab" href="#" target="_blank" rel="noopener">Open the report in its own tab</a>'
        ' <a class="save" href="#" download="anls-report.html">Save the report</a></p>'
        f'<iframe title="The report" sandbox="allow-scripts allow-downloads" data-packed="{packed}"></iframe>'
    )
