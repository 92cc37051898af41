"""The page in gradio: layout, events and launch. It uses only gradio's public functions."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import tempfile
import threading
from contextlib import suppress
from functools import wraps
from pathlib import Path
from string import Template
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(10**9))  # no table of all calls after each call
os.environ.setdefault("GRADIO_RUN_HISTORY", "False")  # older versions of gradio lack the argument of `launch`

import gradio as gr
from starlette.middleware import Middleware

from anls_metric.core.variants import OF_RULES, OF_VALUES, VARIANTS, Scorer, signature
from anls_metric.metric import CITATION
from anls_metric.page import fork_server, limits, subprocesses, views
from anls_metric.page.calls import ENDPOINTS, CallError, Endpoint, call, list_parameters, type_in_json
from anls_metric.page.file_tab import MADE_UP, QUIET, add_file_tab
from anls_metric.page.inputs import get_scorer, get_shown_scorer, read_link
from anls_metric.page.mcp_tools import McpTools
from anls_metric.page.messages import describe_error
from anls_metric.page.middleware import Guard
from anls_metric.page.uploads import get_folder
from anls_metric.report import html_parts

ASSETS = Path(__file__).parent / "assets"

# Prediction, accepted answers, variant and threshold.
EXAMPLES = {
    "Coca Cola": ("CocaCola", "Coca Cola\nCoca Cola Company", "standard", 0.5),
    "TALKINGHEADS": ("TALKINGHEADS", "Talking Heads", "standard", 0.5),
    "Exactly 0.5": ("ab", "abcd", "standard", 0.5),
    "White space": (" The    Coca ", "Coca Cola", "rrc", 0.5),
    "Empty": ("", "Coca Cola", "standard", 0.5),
    "A list": ('["tea", "mlik"]', '["milk", "tea", "bread"]', "anls_star", 0.5),
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


def _read_asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _read_script() -> str:
    """Read the script of the page, with the limits that it keeps before it sends a file."""
    most = {"MOST_BYTES": limits.MOST_BYTES, "MOST_UPLOAD": limits.MOST_UPLOAD}
    return Template(_read_asset("page.js")).substitute(most)


# The page


def build() -> gr.Blocks:
    """Build the page."""
    # A folder with nothing but uploads, so that old files can be deleted; it is removed with the process.
    parent = os.environ.get("GRADIO_TEMP_DIR") or tempfile.gettempdir()
    os.makedirs(parent, exist_ok=True)
    uploads = tempfile.TemporaryDirectory(prefix="anls-", dir=parent)
    os.environ["GRADIO_TEMP_DIR"] = uploads.name
    gr.set_static_paths(paths=[MADE_UP])
    page = gr.Blocks(title="ANLS", analytics_enabled=False, fill_width=True)
    page.uploads = uploads
    with page:
        gr.Markdown(_INTRODUCTION, elem_id="introduction")
        with gr.Row(elem_id="settings"):
            variant = gr.Dropdown(
                [(f"{name}: {get_scorer(name).meaning}", name) for name in (*VARIANTS, *OF_VALUES, *OF_RULES)],
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
                texts, shown = _add_answer_tab(chosen)
            with gr.Tab("Files", id="file") as file_tab:
                add_file_tab(chosen)
            with gr.Tab("How it works", id="how") as how_tab, gr.Column(elem_id="how"):
                gr.Markdown(_read_asset("how.md"))
                gr.HTML(html_parts.format_variants())
                report = _read_asset("report.md").replace("SIGNATURE", signature())
                gr.Markdown(report.replace("CITATION", CITATION.strip()))
        for tab in (answer_tab, file_tab, how_tab):
            tab.select(None, js=f"() => anls.saveTab('{tab.id}')", api_visibility="private")

        def reset(name: str) -> tuple[Any, ...]:
            return _update_settings(get_scorer(name))[1:]

        # Not `input`, which also fires when the focus only passes through the field.
        variant.select(reset, variant, [threshold, ignore_case], **QUIET)
        gr.on([field.change for field in chosen], None, chosen, None, js="anls.saveSettings", api_visibility="private")
        loaded = page.load(_read_link, None, [*chosen, *texts, tabs, *shown], **QUIET)
        loaded.then(None, None, None, js="anls.settle", api_visibility="private")
        for endpoint in ENDPOINTS.values():
            _add_endpoint(endpoint)
    page.queue(default_concurrency_limit=limits.THREADS, max_size=4 * limits.THREADS)
    return page


def _list_settings(scorer: Scorer) -> tuple[str, float, bool]:
    """List the settings for a scorer. A scorer without the option shows case as ignored."""
    return scorer.name, scorer.threshold, getattr(scorer, "ignore_case", True)


def _update_settings(scorer: Scorer) -> tuple[str, float, Any]:
    """List the updates of the setting components."""
    name, threshold, ignore_case = _list_settings(scorer)
    return name, threshold, gr.Checkbox(ignore_case, interactive="ignore_case" in scorer.options)


def _read_link(request: gr.Request) -> tuple[Any, ...]:
    link = dict(request.query_params)
    try:
        scorer = read_link(link)
    except ValueError as error:
        gr.Warning(f"The settings of the link are not used: {html_parts.escape(error)}")
        scorer = get_scorer("standard")
    first = EXAMPLES["Coca Cola"]
    texts = [link.get(name, text)[: limits.MOST_CHARACTERS] for name, text in zip(("prediction", "answers"), first)]
    tab = link.get("tab") if link.get("tab") in ("answer", "file", "how") else "answer"
    return (*_update_settings(scorer), *texts, gr.Tabs(selected=tab), *_show_answer(*texts, *_list_settings(scorer)))


# One answer


def _add_answer_tab(chosen: list[Any]) -> tuple[list[Any], list[Any]]:
    """Add the tab for one answer. Returns its text fields, and the components that show the score."""
    longest = limits.MOST_CHARACTERS
    with gr.Column(elem_id="answer-tab"):
        with gr.Column(elem_id="typed", min_width=0):
            prediction = gr.Textbox(label="Prediction", lines=2, max_lines=6, max_length=longest, elem_id="prediction")
            answers = gr.Textbox(
                label="Accepted answers, one a line", lines=3, max_lines=10, max_length=longest, elem_id="answers"
            )
        with gr.Column(elem_id="examples", min_width=0):
            with gr.Row():
                examples = [gr.Button(name, size="sm", min_width=90) for name in EXAMPLES]
            copy = gr.Button("Copy a link to this answer", size="sm", variant="secondary")
        with gr.Column(elem_id="shown", min_width=0):
            answer = gr.HTML(elem_id="answer")
    others = gr.HTML(elem_id="variants")
    fields = [prediction, answers, *chosen]
    changed = [field.change for field in fields]
    gr.on(changed, _show_answer, fields, [answer, others], trigger_mode="always_last", **QUIET)
    for button in examples:
        button.click(lambda name=button.value: _get_example(name), None, fields, **QUIET)
    copied = gr.Textbox(visible=False)
    copy.click(None, fields, copied, js="anls.copyLink", api_visibility="private").then(
        lambda how: gr.Info(_COPIED[how]), copied, None, api_visibility="private"
    )
    gr.on([prediction.change, answers.change], None, fields[:2], None, js="anls.forget", api_visibility="private")
    return [prediction, answers], [answer, others]


def _get_example(name: str) -> tuple[Any, ...]:
    prediction, answers, variant, threshold = EXAMPLES[name]
    return prediction, answers, *_update_settings(get_scorer(variant, threshold))


def _show_answer(prediction: str, answers: str, *chosen: Any) -> tuple[str, str]:
    try:
        return subprocesses.call(views.show_answer, prediction, answers, get_shown_scorer(*chosen))
    except Exception as error:
        return html_parts.format_error(describe_error(error, "page")), ""


# For programs


def _add_endpoint(endpoint: Endpoint) -> None:
    """Add an endpoint, which gradio describes by its parameters. It shows the message of a `gr.Error`."""

    @wraps(endpoint)
    def answer(*arguments: Any) -> Any:
        try:
            return call(endpoint, *arguments)
        except CallError as error:
            raise gr.Error(str(error), print_exception=False) from None

    answer.__annotations__ = {parameter.name: type_in_json(parameter) for parameter in list_parameters(endpoint)}
    gr.api(answer, api_name=endpoint.__name__)


# Launch


_THEME = gr.themes.Base(
    primary_hue="sky",
    neutral_hue="stone",
    font=["system-ui", "-apple-system", "Segoe UI", "DejaVu Sans", "sans-serif"],
    font_mono=["ui-monospace", "DejaVu Sans Mono", "Menlo", "monospace"],
)

# Options of mallopt, by their numbers in glibc's malloc.h: the number of heaps, and the size from which memory is
# returned to the system.
_HEAPS = {-8: 2, -3: 128 * 1024, -1: 128 * 1024}


def _give_memory_back() -> None:
    """Let glibc return freed memory; by default each thread keeps its own heap. Does nothing on other systems."""
    with suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, value in _HEAPS.items():
            mallopt(parameter, value)


# The modules that the fork server imports before there is work.
_WARM = (
    "anls_metric.page.calls",
    "anls_metric.page.views",
    "anls_metric.analysis.comparison",
    "anls_metric.report.html",
    "anls_metric.nested",
)


def launch(page: gr.Blocks, **options: Any) -> None:
    """Serve the page, its endpoints, and the tools of the Model Context Protocol."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that uploads are deleted
    _give_memory_back()
    if fork_server.CAN_FORK:
        fork_server.SERVER.start(_WARM)
    middleware = [Middleware(Guard, uploads=get_folder(), public=str(MADE_UP)), Middleware(McpTools)]
    page.launch(
        theme=_THEME,
        css_paths=[ASSETS / "page.css", html_parts.STYLE],
        head=f"<script>{_read_script()}</script>",
        max_file_size=limits.MOST_BYTES,
        max_threads=limits.THREADS,
        state_session_capacity=limits.MOST_SESSIONS,
        app_kwargs={"middleware": middleware},
        mcp_server=False,  # `McpTools` answers in JSON
        footer_links=["api"],
        enable_monitoring=False,
        ssr_mode=False,
        **options,
    )
