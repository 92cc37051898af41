"""The page in gradio: its layout, events and launch."""

from __future__ import annotations

import ast
import io
import json
import os
import signal
import sys
import threading
import urllib.request
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(10**9))  # no table of all calls after each call
os.environ.setdefault("GRADIO_RUN_HISTORY", "False")  # older versions of gradio lack the argument of `launch`

import gradio as gr
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse

from anls_metric.core.scorer import SCORERS, Scorer
from anls_metric.core.strings.variants import signature
from anls_metric.messages import reword
from anls_metric.options import OPTIONS
from anls_metric.page import answers, limits, processes
from anls_metric.page.endpoints import ENDPOINTS, describe_error, run_small
from anls_metric.page.file_tab import MADE_UP, QUEUE, QUIET, add_file_tab, format_missing
from anls_metric.page.middleware import Guard
from anls_metric.page.table_tab import add_table_tab
from anls_metric.page.uploads import make_folder
from anls_metric.page.visitors import find_visitor
from anls_metric.report.scripts import DRAWING, join_modules, read_asset
from anls_metric.report.texts import escape

ASSETS = Path(__file__).parent / "assets"

SENTENCE = (
    "How close is a model's answer to a reference? 100 means equal, 0 too different. ANLS is the metric of DocVQA."
)

# Prediction, accepted answers, variant, threshold and case.
EXAMPLES = {
    "Coca Cola": ("CocaCola", "Coca Cola\nCoca Cola Company", "standard", 50, True),
    "TALKINGHEADS": ("TALKINGHEADS", "Talking Heads", "standard", 50, True),
    "Exactly 50%": ("ab", "abcd", "standard", 50, True),
    "Whitespace": (" The    Coca ", "Coca Cola", "rrc", 50, True),
    "Empty": ("", "Coca Cola", "standard", 50, True),
    "A list": ('["tea", "mlik"]', '["milk", "tea", "bread"]', "anls_star", 50, True),
}

_THEME = gr.themes.Base(
    primary_hue="sky",
    neutral_hue="stone",
    font=["system-ui", "-apple-system", "Segoe UI", "DejaVu Sans", "sans-serif"],
    font_mono=["ui-monospace", "DejaVu Sans Mono", "Menlo", "monospace"],
)

_SMALL: dict[str, Any] = {"concurrency_id": "answers", "concurrency_limit": limits.MAX_ANSWERS_AT_ONCE}


def _read_asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _make_head() -> str:
    """Make what the page has besides gradio: its script, and the colors, the style and the drawings of the report."""
    drawing = f"const STYLE = {json.dumps(read_asset('report.css'))};\n{join_modules([*DRAWING, ASSETS / 'answer.js'])}"
    return (
        f"<style>{read_asset('palette.css')}</style><script>{_read_asset('page.js')}</script>"
        f'<script type="module">{drawing}</script>'
    )


def _describe_use() -> str:
    """Describe what to report and how to use the metric in a program, with the names of this Space."""
    space = os.environ.get("SPACE_ID", "")  # Hugging Face sets it
    card = f" The [metric card](https://huggingface.co/spaces/{space}/blob/main/README.md) has more." if space else ""
    text = _read_asset("report.md").replace("SIGNATURE", signature())
    return text.replace("SPACE", space or "./anls.py").replace("CARD", card)


def build() -> gr.Blocks:
    """Build the page."""
    # A folder with nothing but uploads, which is removed with the process.
    uploads = make_folder()
    os.environ["GRADIO_TEMP_DIR"] = uploads.name
    page = gr.Blocks(title="ANLS", analytics_enabled=False, fill_width=True, delete_cache=(60, limits.KEPT_SECONDS))
    page.uploads = uploads
    with page:
        with gr.Row(elem_id="top"):
            gr.Markdown("# ANLS", elem_id="title")
            gr.Markdown(SENTENCE, elem_id="introduction")
            settings = _add_settings()
        with gr.Tabs() as tabs:
            with gr.Tab("One answer", id="answer") as answer_tab:
                texts = _add_answer_tab(settings)
            with gr.Tab("Paste a table", id="table") as table_tab:
                pasted = add_table_tab()
            with gr.Tab("Files", id="file") as file_tab:
                files, result = add_file_tab(settings)
            with gr.Tab("How it works", id="how") as how_tab, gr.Column(elem_id="how"):
                gr.Markdown(_read_asset("how.md"))
                gr.Markdown(_describe_use())
        pasted(files, tabs)
        for tab in (answer_tab, table_tab, file_tab, how_tab):
            tab.select(None, js=f"() => anls.saveTab('{tab.id}')", api_visibility="private")
        loaded = page.load(_read_link, None, [*settings.values(), *texts, tabs, result], **QUIET)
        loaded.then(None, None, None, js="anls.settle", api_visibility="private")
        for endpoint in ENDPOINTS:
            queue = QUEUE if endpoint.__name__ in ("score_files", "score_logs") else _SMALL
            gr.api(_guard(endpoint), api_name=endpoint.__name__, **queue)
    page.queue(default_concurrency_limit=limits.MAX_ANSWERS_AT_ONCE, max_size=limits.MAX_QUEUE)
    return page


def _guard(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """Let an endpoint return valid JSON, end with its client, and hide unexpected errors."""

    @wraps(endpoint)
    def answer(*arguments: Any) -> Any:
        processes.VISITOR.set(find_visitor())
        try:
            return json.loads(json.dumps(endpoint(*arguments), ensure_ascii=False).encode("utf-8", "replace"))
        except Exception as error:
            message = describe_error(error)
        raise gr.Error(message, print_exception=False)  # outside of `except`, whose error keeps the data in memory

    return answer


def _add_settings() -> dict[str, Any]:
    """Add the settings of all tabs, folded: variant, threshold and case, by the names of the options."""
    with gr.Accordion(_name_settings("standard", 50, True), open=False, elem_id="settings") as fold, gr.Row():
        scorers = SCORERS.values()
        variant = gr.Dropdown(
            [(f"{scorer.name}: {answers.describe(scorer)}", scorer.name) for scorer in scorers],
            value="standard",
            label=OPTIONS["variant"].label,
            scale=4,
            min_width=300,
            elem_id="variant",
        )
        label = OPTIONS["threshold"].label
        threshold = gr.Slider(0, 100, 50, step=1, label=label, scale=3, min_width=240, elem_id="threshold")
        label = OPTIONS["ignore_case"].label
        ignore_case = gr.Checkbox(True, label=label, scale=1, min_width=130, elem_id="ignore-case")
    chosen = [variant, threshold, ignore_case]
    # Not `input`, which also fires when the focus only passes through the field.
    variant.select(lambda name: _update_settings(answers.get_scorer(name))[1:], variant, chosen[1:], **QUIET)
    changes = [field.change for field in chosen]
    gr.on(changes, lambda *values: gr.Accordion(label=_name_settings(*values)), chosen, fold, **QUIET)
    gr.on(changes, None, chosen, None, js="anls.saveSettings", api_visibility="private")
    return {"variant": variant, "threshold": threshold, "ignore_case": ignore_case}


def _name_settings(variant: str, threshold: float, ignore_case: bool) -> str:
    """Name the settings in a few words, where they are folded."""
    return f"{variant}, {threshold:g}%" + ("" if ignore_case else ", case matters")


def _update_settings(scorer: Scorer) -> tuple[str, float, Any]:
    """List the updates of the settings for a scorer. A scorer without the option shows case as ignored."""
    case = gr.Checkbox(getattr(scorer, "ignore_case", True), interactive="ignore_case" in scorer.options)
    return scorer.name, round(100 * scorer.threshold, 4), case


_WARNING_SECONDS = 12  # long enough to be read; it covers the buttons beside the settings


def _read_link(request: gr.Request) -> tuple[Any, ...]:
    """Read the URL of the page: settings, the answer and the tab."""
    link = dict(request.query_params)
    try:
        scorer = read_settings(link)
    except ValueError as error:
        text = escape(reword(str(error), "page"))
        gr.Warning(f"The settings of the link are not used: {text}", duration=_WARNING_SECONDS)
        scorer = answers.get_scorer("standard")
    texts = [link.get(name, text) for name, text in zip(("prediction", "answers"), EXAMPLES["Coca Cola"])]
    note = format_missing(link.get("files", ""))
    return (*_update_settings(scorer), *texts, gr.Tabs(selected=link.get("tab", "answer")), note)


def read_settings(link: Mapping[str, str]) -> Scorer:
    """Read the settings from the URL of the page.

    Example:
        >>> read_settings({"variant": "rrc", "threshold": "0.8", "case": "counts"}).threshold
        0.8

    Raises:
        ValueError: a setting does not exist.
    """
    name, case = link.get("variant", "standard"), link.get("case")
    settings = {"threshold": link.get("threshold"), "ignore_case": case and case == "ignored"}
    return answers.get_scorer(name, **answers.fit_options(name, settings))


# One answer


def _add_answer_tab(settings: Mapping[str, Any]) -> list[Any]:
    """Add the tab for one answer. Returns its text fields."""
    longest = limits.MAX_CHARACTERS
    with gr.Column(elem_id="answer-tab"):
        with gr.Column(elem_id="typed", min_width=0):
            prediction = gr.Textbox(label="Prediction", lines=2, max_lines=6, max_length=longest, elem_id="prediction")
            accepted = gr.Textbox(
                label="References (accepted answers), one per line",
                lines=3,
                max_lines=10,
                max_length=longest,
                elem_id="answers",
            )
        with gr.Column(elem_id="shown", min_width=0):
            answer = gr.HTML(elem_id="answer")
        texts = [prediction, accepted]
        fields = [*texts, *settings.values()]
        with gr.Column(elem_id="examples", min_width=0):
            samples = list(map(list, EXAMPLES.values()))
            labels = list(EXAMPLES)
            examples = gr.Dataset(
                components=fields, samples=samples, sample_labels=labels, type="index", label="Examples"
            )
            copy = gr.Button("Copy a link to this answer", size="sm", variant="secondary")
            copied = gr.HTML(elem_id="copied")
    examples.click(samples.__getitem__, examples, fields, **QUIET)  # gr.Examples asks a route that passes the queue
    others = gr.HTML(elem_id="variants")
    changed = [field.change for field in fields]
    gr.on(changed, _show_answer, fields, [answer, others], trigger_mode="always_last", **QUIET, **_SMALL)
    copy.click(None, fields, copied, js="anls.copyLink", api_visibility="private")
    gr.on([text.change for text in texts], None, texts, copied, js="anls.forget", api_visibility="private")
    return texts


def _show_answer(prediction: str, accepted: str, variant: str, threshold: float, ignore_case: bool) -> tuple[str, str]:
    """Show one answer: in the server, or in a process if it is a list or a nested value."""
    processes.VISITOR.set(find_visitor())
    try:
        settings = {"threshold": answers.read_percent(threshold), "ignore_case": ignore_case}
        return run_small(answers.show, str(prediction), str(accepted), str(variant), settings)
    except Exception as error:
        return answers.format_error(describe_error(error, "page")), ""


# Launch


_LONGEST_START = 600  # seconds
_PRIVATE = "127.0.0.1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16"


def launch(page: gr.Blocks, **options: Any) -> None:
    """Serve the page, its endpoints, and the tools of the Model Context Protocol."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that uploads are deleted
        signal.signal(signal.SIGINT, signal.default_int_handler)  # the command leaves it to the system
    processes.start()
    sys.stderr = _Log(sys.stderr)
    if os.environ.get("SPACE_ID"):  # behind proxies of Hugging Face, which name the visitor's address
        os.environ.setdefault("FORWARDED_ALLOW_IPS", _PRIVATE)
    _, url, _ = page.launch(
        theme=_THEME,
        css_paths=ASSETS / "page.css",
        head=_make_head(),
        allowed_paths=[str(MADE_UP)],
        max_file_size=limits.MAX_FILE,
        max_threads=limits.MAX_ANSWERS_AT_ONCE + limits.MAX_CALLS + 32,
        state_session_capacity=limits.MAX_SESSIONS,
        app_kwargs={
            "middleware": [Middleware(Guard, is_local=_is_local(options))],
            "exception_handlers": {TypeError: _refuse_arguments},
        },
        mcp_server=True,
        footer_links=["api"],
        enable_monitoring=False,
        ssr_mode=False,
        show_error=True,
        quiet=True,  # it would advertise public links
        prevent_thread_lock=True,
        _frontend=False,  # else it ends if its own first page takes 3 s, as on a busy machine
        **options,
    )
    _return_json(page.mcp_server_obj.mcp_server)
    for path in ("", "/gradio_api/info"):  # so that the first visitor does not wait; gradio keeps the second
        urllib.request.urlopen(f"{url.rstrip('/')}{path}", timeout=_LONGEST_START).close()
    print(f"The web app runs at {url.rstrip('/')}", flush=True)
    page.block_thread()


def _return_json(server: Any) -> None:
    """Let tools return structured content and its JSON as text: gradio's text is what Python prints."""
    from mcp.types import CallToolRequest, ServerResult, TextContent

    call = server.request_handlers[CallToolRequest]

    async def answer(request: CallToolRequest) -> ServerResult:
        result = (await call(request)).root
        if not result.isError and len(result.content[0].text) > limits.MAX_TOOL_RESULT:
            words = _LONG_RESULT.format(most=limits.MAX_TOOL_RESULT // 1_000)
            result.isError, result.content = True, [TextContent(type="text", text=words)]
        elif not result.isError:
            value = ast.literal_eval(result.content[0].text)
            result.content = [TextContent(type="text", text=json.dumps(value, ensure_ascii=False))]
            result.structuredContent = value if isinstance(value, dict) else {"result": value}
        return ServerResult(result)

    server.request_handlers[CallToolRequest] = answer


_LONG_RESULT = (
    "the result is longer than the {most} kB that a tool returns: leave out worst, or call the endpoint of the same "
    "name with curl, which writes up to 1 MB to a file"
)


async def _refuse_arguments(request: Request, error: Exception) -> JSONResponse:
    """Answer a call by name whose arguments are missing or unknown, which gradio raises as an internal error."""
    text, asked, refused = str(error), "required argument: ", "Parameter `"
    if asked in text:
        problem = f"the argument {text.rpartition(asked)[2]!r} is missing"
    elif text.startswith(refused):
        problem = f"there is no argument {text.removeprefix(refused).partition('`')[0][:60]!r}"
    else:
        raise error
    return JSONResponse({"detail": f"{problem}: /gradio_api/info lists the arguments of each endpoint"}, 422)


class _Log(io.TextIOWrapper):
    """Standard error with a limit: gradio prints each wrong request, of which a visitor can send any number."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream.buffer, stream.encoding, stream.errors, line_buffering=True)
        self._left = limits.MAX_LOG

    def write(self, text: str) -> int:
        """Write a text, unless the log is full."""
        is_last = 0 < self._left <= len(text)
        self._left -= len(text)
        if is_last:
            super().write("the log of errors is full: restart the web app to see more\n")
        return super().write(text) if self._left > 0 else len(text)


def _is_local(options: Mapping[str, Any]) -> bool:
    """Whether the page is for this computer alone, as gradio serves it unless it is given an address."""
    address = options.get("server_name") or os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1")
    return address in ("127.0.0.1", "localhost")
