"""The page in gradio: its layout, what happens when, and its launch. What it shows and answers is made beside it."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(10**9))  # no table of all calls after each call

import gradio as gr
from starlette.middleware import Middleware

import anls
from anls import VARIANTS, get_variant
from anls_metric.page import api, limits, visit
from anls_metric.page.blocks import Page, endpoint
from anls_metric.page.errors import ON_THE_PAGE, told
from anls_metric.page.guard import Guard
from anls_metric.page.uploads import Upload, folder, take
from anls_metric.page.visit import DOWNLOADS, ZEROS, Asked, Visit
from anls_metric.reading.layouts import ANSWER_FIELD, PREDICTION_FIELDS, REFERENCES_FIELDS, guess
from anls_metric.report import pieces

ASSETS = Path(__file__).parent / "assets"
MADE_UP = ASSETS / "made-up"

# Prediction, accepted answers, variant and threshold.
EXAMPLES = {
    "Coca Cola": ("CocaCola", "Coca Cola\nCoca Cola Company", "standard", 0.5),
    "TALKINGHEADS": ("TALKINGHEADS", "Talking Heads", "standard", 0.5),
    "Exactly 0.5": ("ab", "abcd", "standard", 0.5),
    "White space": (" The    Coca ", "Coca Cola", "rrc", 0.5),
    "Empty": ("", "Coca Cola", "standard", 0.5),
}

_INTRODUCTION = """\
# ANLS

Average Normalized Levenshtein Similarity, the metric of document VQA: see a score, and see why.
"""

_COPIED = {
    "copied": "The link is in the address bar and on the clipboard. It holds the prediction and the answers.",
    "shown": "The link is in the address bar: copy it there. It holds the prediction and the answers.",
    "long": "These texts are too long for a link.",
}

_PLACES = {
    "gold": "Gold file, or one table with both",
    "submission": "Submission",
    "second": "Second submission, to compare",
}
_KINDS = [".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".pq"]
_TYPES = {"CSV": "text/csv", "JSON": "application/json"}

# Of an event that no program calls, and that shows nothing while it runs.
_QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


# The page


def build() -> Page:
    """The page, as gradio Blocks."""
    # A folder of its own, of which nothing else is, so that it can be tidied up; it goes with the process.
    parent = os.environ.get("GRADIO_TEMP_DIR") or tempfile.gettempdir()
    os.makedirs(parent, exist_ok=True)
    uploads = tempfile.TemporaryDirectory(prefix="anls-", dir=parent)
    os.environ["GRADIO_TEMP_DIR"] = uploads.name
    gr.set_static_paths(paths=[MADE_UP])
    page = Page(title="ANLS", analytics_enabled=False, delete_cache=(600, limits.KEPT_SECONDS))
    page.uploads = uploads
    with page:
        gr.Markdown(_INTRODUCTION)
        with gr.Row(elem_id="settings"):
            variant = gr.Dropdown(
                [(f"{name}: {row.meaning}", name) for name, row in VARIANTS.items()],
                value="standard",
                label="Variant",
                scale=4,
                min_width=300,
                elem_id="variant",
            )
            threshold = gr.Slider(0, 1, 0.5, step=0.01, label="Threshold", scale=3, min_width=240, elem_id="threshold")
            ignore_case = gr.Checkbox(True, label="Ignore case", scale=1, min_width=130, elem_id="ignore-case")
        chosen = [variant, threshold, ignore_case]
        with gr.Tabs() as tabs:
            with gr.Tab("One answer", id="answer") as answer_tab:
                texts, shown = _answer_tab(chosen)
            with gr.Tab("A file", id="file") as file_tab:
                _file_tab(chosen)
            with gr.Tab("How it works", id="how") as how_tab:
                gr.Markdown(_asset("how.md"))
                gr.HTML(pieces.variants())
                report = _asset("report.md").replace("SIGNATURE", anls.signature())
                gr.Markdown(report.replace("CITATION", anls._CITATION.strip()))
        for tab in (answer_tab, file_tab, how_tab):
            tab.select(None, js=f"() => anls.saveTab('{tab.id}')", api_visibility="private")

        def own(name: str) -> tuple[float, bool]:
            return VARIANTS[name].threshold, VARIANTS[name].ignore_case

        # Not `input`, which comes as well when one only passes through the field.
        variant.select(own, variant, [threshold, ignore_case], **_QUIET)
        gr.on([one.change for one in chosen], None, chosen, None, js="anls.saveSettings", api_visibility="private")
        loaded = page.load(_from_link, None, [*chosen, *texts, tabs, *shown], **_QUIET)
        loaded.then(None, None, None, js="anls.settle", api_visibility="private")
        _endpoints()
    page.queue(default_concurrency_limit=_THREADS, max_size=4 * _THREADS)
    return page


def _from_link(request: gr.Request) -> tuple[Any, ...]:
    link = dict(request.query_params)
    try:
        found = api.settings_of_link(link)
    except ValueError as error:
        gr.Warning(f"The settings of the link are not used: {pieces.text(error)}")
        found = get_variant()
    first = EXAMPLES["Coca Cola"]
    given = [link.get(name, text)[: limits.MOST_CHARACTERS] for name, text in zip(("prediction", "answers"), first)]
    tab = link.get("tab") if link.get("tab") in ("answer", "file", "how") else "answer"
    values = (found.name, found.threshold, found.ignore_case)
    return (*values, *given, gr.Tabs(selected=tab), *_shown_answer(*given, *values))


# One answer


def _answer_tab(chosen: list[Any]) -> tuple[list[Any], list[Any]]:
    """The tab of one answer: its text fields, and where the score is shown."""
    longest = limits.MOST_CHARACTERS
    with gr.Row(equal_height=False):
        with gr.Column(scale=2, min_width=280):
            prediction = gr.Textbox(label="Prediction", lines=2, max_lines=6, max_length=longest, elem_id="prediction")
            answers = gr.Textbox(
                label="Accepted answers, one a line", lines=3, max_lines=10, max_length=longest, elem_id="answers"
            )
            with gr.Row():
                examples = [gr.Button(name, size="sm", min_width=90) for name in EXAMPLES]
            copy = gr.Button("Copy a link to this answer", size="sm", variant="secondary")
        with gr.Column(scale=3, min_width=300):
            answer = gr.HTML(elem_id="answer")
    others = gr.HTML(elem_id="variants")
    fields = [prediction, answers, *chosen]
    changed = [one.change for one in fields]
    gr.on(changed, _shown_answer, fields, [answer, others], trigger_mode="always_last", **_QUIET)
    for button in examples:
        text, accepted_answers, name, threshold = EXAMPLES[button.value]
        values = (text, accepted_answers, name, threshold, VARIANTS[name].ignore_case)
        button.click(lambda values=values: values, None, fields, **_QUIET)
    copied = gr.Textbox(visible=False)
    copy.click(None, fields, copied, js="anls.copyLink", api_visibility="private").then(
        lambda how: gr.Info(_COPIED[how]), copied, None, api_visibility="private"
    )
    gr.on([prediction.change, answers.change], None, fields[:2], None, js="anls.forget", api_visibility="private")
    return [prediction, answers], [answer, others]


def _shown_answer(prediction: str, answers: str, *chosen: Any) -> tuple[str, str]:
    try:
        return visit.one_answer(prediction, answers, api.settings(*chosen))
    except Exception as error:
        return pieces.message(told(error, ON_THE_PAGE)), ""


# Files


def _file_tab(chosen: list[Any]) -> None:
    """The tab of a file."""
    with gr.Row():
        files = [
            gr.File(label=label, file_types=_KINDS, height=160, min_width=240, elem_id=name)
            for name, label in _PLACES.items()
        ]
    # Choices may change while a choice is on its way: a column that is not there is refused by the reading.
    with gr.Row(visible=False) as columns_row:
        columns = [
            gr.Dropdown([], label=label, min_width=200, allow_custom_value=True)
            for label in ("Column of predictions", "Column of accepted answers", "Second column of predictions")
        ]
    with gr.Row():
        unanswered = gr.Checkbox(False, label="Unanswered questions score 0", scale=2, elem_id="unanswered")
        example = gr.Button("Try made-up files", size="sm", scale=1, min_width=160)
    state = gr.State(Visit(), time_to_live=limits.KEPT_SECONDS)
    summary = gr.HTML(pieces.hint(visit.NOTHING), elem_id="summary")
    with gr.Column(visible=False) as results:
        histogram = gr.HTML(elem_id="histogram")
        with gr.Row():
            downloads = [gr.Button(f"Download {name}", size="sm") for name in DOWNLOADS]
        comparison = gr.HTML(elem_id="comparison")
        gr.HTML('<section class="anls"><h3>The worst answers</h3></section>')
        with gr.Row():
            words = gr.Textbox("", label="With the words", elem_id="words", min_width=200)
            reasons = [("any reason, or none", ""), *ZEROS]
            zero = gr.Dropdown(reasons, value="", label="That score 0 because", min_width=200, elem_id="zero")
        worst = gr.HTML(elem_id="worst")
        with gr.Column(visible=False) as by_group:
            gr.HTML('<section class="anls"><h3>By group</h3></section>')
            field = gr.Dropdown([], label="Field of the gold file", elem_id="field", allow_custom_value=True)
            groups = gr.HTML(elem_id="groups")
        gr.HTML('<section class="anls"><h3>The score under every variant</h3></section>')
        every_variant = gr.HTML(elem_id="every-variant")
        downloaded = gr.Textbox(visible=False)
        number = gr.Number(0, visible=False)
    parts = {part.elem_id: part for part in (summary, histogram, comparison, worst, groups)}

    def run(
        number: int,
        visitor: Visit,
        variant: str,
        threshold: float,
        ignore_case: bool,
        *asked: Any,
        progress: Any = gr.Progress(),  # noqa: B008, gradio finds it there
    ) -> dict[Any, Any]:
        def tell(count: int, doing: str) -> None:
            progress((count, None), desc=doing, unit="questions")

        asked_for = Asked._make([*visitor.uploads, *asked])
        said = visitor.score(asked_for, api.settings(variant, threshold, ignore_case), tell, number)
        if said is None:  # what was asked for since is on its way
            return {summary: gr.skip()}
        return {
            state: visitor,
            results: gr.Column(visible=len(said) > 1),
            by_group: gr.Column(visible=bool(visitor.fields)),
            field: gr.Dropdown(visitor.fields, value=visitor.field),
            **{parts[name]: shown for name, shown in said.items()},
        }

    def score_after(event: Any) -> None:
        """Score when that has happened."""
        scored = event(
            fn=run,
            inputs=[number, state, *chosen, *columns, unanswered],
            outputs=[state, results, by_group, field, *parts.values()],
            js="anls.numbered",
            show_progress_on=summary,
            trigger_mode="always_last",
            api_visibility="private",
        )
        scored.then(Visit.every_variant, state, every_variant, **_QUIET)

    picked = [columns_row, *columns]
    for place, (file, name) in enumerate(zip(files, _PLACES.values())):
        for event in (file.upload, file.clear):
            score_after(event(partial(_dropped, place, name), [state, file], picked, **_QUIET).then)
    score_after(example.click(_made_up_files, state, [*files, *picked], **_QUIET).then)
    score_after(partial(gr.on, [part.input for part in [*columns, unanswered]]))
    score_after(partial(gr.on, [setting.change for setting in chosen]))
    filters = [words.change, zero.change]
    gr.on(filters, Visit.worst, [state, words, zero], worst, trigger_mode="always_last", **_QUIET)
    field.input(Visit.groups, [state, field], groups, **_QUIET)
    for button, kind in zip(downloads, DOWNLOADS):
        js = f"text => anls.download(text, 'anls-scores.{kind.lower()}', '{_TYPES[kind]}')"
        written = button.click(partial(_downloaded, kind), state, downloaded, **_QUIET)
        written.then(None, downloaded, None, js=js, **_QUIET).then(lambda: "", None, downloaded, **_QUIET)


def _dropped(place: int, name: str, visitor: Visit, path: str | None) -> list[Any]:
    """A file was dropped at a place, or taken away from it: what is to be picked in it."""
    visitor.uploads[place] = take(path, folder(), name) if path else None
    return _picks(visitor)


def _downloaded(kind: str, visitor: Visit) -> str:
    return visitor.download(kind)


def _picks(visitor: Visit) -> list[Any]:
    """The row of columns, shown where there is one table alone, and what is picked in it."""
    columns = visitor.columns()
    prediction = guess(columns, (*PREDICTION_FIELDS, ANSWER_FIELD, "model"))
    others = [column for column in columns if column != prediction]
    references = guess(others, (*REFERENCES_FIELDS, ANSWER_FIELD, "accepted"))
    return [
        gr.Row(visible=bool(columns)),
        gr.Dropdown(columns, value=prediction),
        gr.Dropdown(columns, value=references),
        gr.Dropdown(["", *columns], value=""),
    ]


def _made_up_files(visitor: Visit) -> list[Any]:
    """Made-up receipts and the answers of two readers that slip, as if they had been dropped."""
    paths = [str(MADE_UP / name) for name in ("gold.json", "careful reader.json", "hasty reader.json")]
    visitor.uploads[:] = map(Upload, paths)
    return [*paths, *_picks(visitor)]


# For programs


def _endpoints() -> None:
    """All that programs may ask for."""
    of_texts: list[Callable[..., Any]] = [
        api.explain_answer,
        api.compare_variants,
        api.score_answers,
        api.list_variants,
    ]
    for function in of_texts:
        gr.api(endpoint(function), api_name=function.__name__)
    with gr.Row(visible=False):
        options = [gr.Textbox("standard"), gr.Number(None), gr.Textbox("")]
        columns = [gr.Textbox("prediction"), gr.Textbox("references")]
        of_files: list[tuple[Callable[..., Any], list[str], list[Any], list[Any]]] = [
            (api.score_files, ["gold", "submission"], [], [gr.Checkbox(False)]),
            (api.score_table, ["table"], columns, []),
        ]
        for function, files, before, after in of_files:
            inputs = [*(gr.File() for _ in files), *before, *options, *after]
            gr.Button().click(endpoint(function, files), inputs, gr.JSON(), api_name=function.__name__)


# Launch


_THEME = gr.themes.Base(
    primary_hue="sky",
    neutral_hue="stone",
    font=["system-ui", "-apple-system", "Segoe UI", "DejaVu Sans", "sans-serif"],
    font_mono=["ui-monospace", "DejaVu Sans Mono", "Menlo", "monospace"],
)

# More than wait at the turnstile, so that small work finds one free.
_THREADS = 2 * limits.MOST_WAITING

_VISITORS = 1_000  # whose fields the server remembers


def launch(page: Page, **options: Any) -> None:
    """Serve the page, and its functions as tools of the Model Context Protocol where `mcp` is installed."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that what was uploaded is deleted
    with_tools = importlib.util.find_spec("mcp") is not None
    if with_tools:
        from anls_metric.page import tools

        tools.install(folder())
    page.launch(
        theme=_THEME,
        css_paths=[ASSETS / "page.css", pieces.STYLE],
        head=f"<script>{_asset('page.js')}</script>",
        max_file_size=limits.MOST_BYTES,
        max_threads=_THREADS,
        state_session_capacity=_VISITORS,
        app_kwargs={"middleware": [Middleware(Guard, uploads=folder(), public=str(MADE_UP))]},
        mcp_server=with_tools,
        footer_links=["api"],
        enable_monitoring=False,
        run_history=False,
        ssr_mode=False,
        **options,
    )
