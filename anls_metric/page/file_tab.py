"""The gradio tab for files: uploads, settings, hints and the report."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import gradio as gr

from anls_metric.core.extraction.extract import EXTRACTORS
from anls_metric.options import OPTIONS
from anls_metric.page import limits, processes, scoring
from anls_metric.page.answers import add_speech, fit_options
from anls_metric.page.endpoints import describe_error
from anls_metric.page.uploads import is_small, take_all
from anls_metric.report.texts import escape

QUIET: Mapping[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
"""The options of an event that is not an endpoint, and shows no progress."""

QUEUE: Mapping[str, Any] = {"concurrency_id": "files", "concurrency_limit": limits.MAX_CALLS}
"""The options of an event that scores files."""

MADE_UP = Path(__file__).parent / "assets" / "made-up"
"""Made-up receipts, and the answers of two readers who make mistakes."""

NOTHING = (
    "Drop a gold file and one or more submissions, in any order, or files that contain both: logs of evaluation "
    "harnesses, or tables (JSON, JSON lines, CSV, Parquet, Excel). A zip of images shows the pages as well."
)

STOPPED = "Stopped. Change a file or a setting to score again."

_EMPTY = '<section class="anls"></section>'
_MADE_UP_FILES = [str(MADE_UP / name) for name in ("gold.json", "careful reader.json", "hasty reader.json")]
_FIELDS = ("by", "prediction", "references", "id", "gold_id", "submission", "cluster_by")
_SETTINGS = ("extract", "missing", "extra", "runs", *_FIELDS, "references_separator", "filter", "baseline")
_DEFAULT = ("default", "")


def add_file_tab(common: Mapping[str, Any]) -> None:
    """Add the tab for files.

    Args:
        common: the components for variant, threshold and case, which all tabs share, by the names of the options.
    """
    with gr.Column(elem_id="file-tab"):
        files = gr.File(label="Files, up to 50 MB each", file_count="multiple", height=150, elem_id="files")
        with gr.Row(elem_id="line"):
            names = gr.Textbox(label="Names (equal names: runs of one model)", visible=False, elem_id="names")
            example = gr.Button("Try example files", size="sm", min_width=150, scale=0, elem_id="try")
            with gr.Accordion("Options", open=False, elem_id="options"), gr.Row():
                settings = {**common, **{name: _make_setting(name) for name in _SETTINGS}}
        with gr.Row(elem_id="working"):
            stage = gr.HTML(elem_id="stage")
            stop = gr.Button("Stop", size="sm", min_width=90, scale=0, visible=False, elem_id="stop")
        gold = gr.Radio([], label=scoring.WHICH_GOLD, visible=False, elem_id="gold")
        result = gr.HTML(
            _format(scoring.Shown(read=[NOTHING]), ()),
            js_on_load="anls.applyWith(element, (change) => trigger('click', change))",
            elem_id="result",
        )
        # What the browser keeps: the names that the visitor gave, and the number of the last request, twice: a new
        # request first stops the scoring for the one before.
        given = gr.Textbox("", visible="hidden", elem_id="given")
        request = gr.Textbox("", visible="hidden", elem_id="request")
        running = gr.Textbox("", visible="hidden", elem_id="running")

    async def run(
        number: str, paths: Any, typed: str, chosen: str | None, *values: Any
    ) -> AsyncGenerator[list[Any], None]:
        """Score the files, and yield the stages and the changes of the components."""
        options = dict(zip(settings, values))
        is_new = number.endswith("new")
        if is_new:  # these are names for other files
            typed = options["baseline"] = ""
        shown, told = scoring.Shown(), ""
        try:
            async with aclosing(_score(paths, chosen or "", typed, options)) as work:
                async for doing, content in work:
                    shown = content or shown
                    if doing != told:
                        told = doing
                        yield [_EMPTY if is_new else gr.skip(), *_show_stage(told), *[gr.skip()] * (4 + len(_FIELDS))]
                    else:  # gradio looks whether the visitor is still there
                        yield [gr.skip()] * (7 + len(_FIELDS))
        except Exception as error:
            shown = scoring.Shown([scoring.Advice(describe_error(error))])
        yield [
            _format(shown, settings),
            *_show_stage(""),
            gr.Textbox(", ".join(shown.names), visible=bool(shown.names)),
            typed,
            gr.Radio(shown.golds, value=shown.gold if shown.gold in shown.golds else None, visible=bool(shown.golds)),
            gr.Dropdown([_DEFAULT, *shown.names], value=options["baseline"]),
            *[gr.Dropdown([_DEFAULT, *shown.fields]) for _ in _FIELDS],
        ]

    # gradio may send several events for one change, and the settings of a link with or after a file. The browser
    # requests scores only when files or settings have changed.
    inputs = [files, given, gold, *settings.values()]
    changes = [component.change for component in (files, given, *settings.values())]
    js = {"js": "anls.requestScores", "api_visibility": "private"}
    gr.on([*changes, gold.input], None, inputs, request, **js)
    scored = running.change(
        run,
        [running, *inputs],
        [result, stage, stop, names, given, gold, *[settings[name] for name in ("baseline", *_FIELDS)]],
        trigger_mode="multiple",
        concurrency_id="visitors",
        concurrency_limit=limits.MAX_VISITORS,
        **QUIET,
    )
    request.change(None, request, running, js="(number) => number", cancels=[scored], api_visibility="private")
    stopped = scoring.Shown(read=[STOPPED])
    stop.click(
        lambda: [_format(stopped, ()), *_show_stage("")],
        None,
        [result, stage, stop],
        js="anls.stop",
        cancels=[scored],
        **QUIET,
    )
    gr.on([names.submit, names.blur], None, names, given, js="anls.giveNames", api_visibility="private")

    def apply(event: gr.EventData) -> dict[Any, Any]:
        """Set an option to the value of a button."""
        return {settings[event.option]: event.value.split(",") if event.option == "extract" else event.value}

    result.click(apply, None, list(settings.values()), **QUIET)
    example.click(lambda: _MADE_UP_FILES, None, files, **QUIET)


def _make_setting(name: str) -> Any:
    """Make the component of an option. The choices of fields come with the files, and are checked on use."""
    option = OPTIONS[name]
    options: dict[str, Any] = {"label": option.label, "elem_id": f"setting-{name}", "min_width": 260}
    if name == "extract":
        rules = [(f"{rule}: {each.meaning}", rule) for rule, each in EXTRACTORS.items()]
        return gr.Dropdown(rules, multiselect=True, allow_custom_value=True, **options)
    return gr.Dropdown([_DEFAULT, *option.choices], value="", allow_custom_value=True, **options)


async def _score(
    files: Any, gold: str, names: str, settings: Mapping[str, Any]
) -> AsyncGenerator[tuple[str, scoring.Shown | None], None]:
    """Score the files with the settings of the page: yields stages, and then what to show.

    Raises:
        ValueError: a setting or a file cannot be used.
    """
    if not files:
        yield "", scoring.Shown(read=[NOTHING])
        return
    paths = take_all([str(path) for path in files], "the drop area")
    given = [name.strip() for name in names.split(",")]
    fitting = fit_options(settings["variant"], settings)
    options = {name: value for name, value in fitting.items() if value not in ("", [])}
    work = processes.watch(scoring.show, paths, gold, given, options, is_small=is_small(paths), most=limits.MAX_SHOWN)
    async with aclosing(work):
        async for stage, content in work:
            yield stage, content and scoring.Shown(**content)


# HTML


def _show_stage(stage: str) -> list[Any]:
    """Show what is done now, and the button that stops it; "" for nothing."""
    text = f'<p class="anls said" role="status">{escape(stage)} …</p>' if stage else ""
    return [text, gr.Button(visible=bool(stage))]


def _format(shown: scoring.Shown, settings: Collection[str]) -> str:
    """Format the result: problems and hints with their buttons, what was read, and the report in a frame."""
    parts = [_format_advice(advice, settings, 'class="message" role="alert"') for advice in shown.problems]
    parts += [_format_advice(advice, settings, 'class="hint"') for advice in shown.hints]
    parts += [f'<p class="said">{escape(line, 600)}</p>' for line in shown.read]
    names = escape(", ".join(shown.names), 10_000)
    section = f'<section class="anls" data-names="{names}">{"".join(parts)}</section>'
    return add_speech(section, shown.said) + (_frame(shown.report) if shown.report else "")


def _format_advice(advice: Sequence[str], settings: Collection[str], attributes: str) -> str:
    """Format a sentence with its button, if the page has the option."""
    text, option, value = advice
    button = ""
    if option in settings and len(value) <= 200:
        label = escape(f"{OPTIONS[option].label}: {value}", 120)
        button = (
            f'<button type="button" class="apply" data-option="{option}" data-value="{escape(value)}">{label}</button>'
        )
    return f"<p {attributes}>{escape(text, 1_000)} {button}</p>"


def _frame(packed: str) -> str:
    """Put a report into a frame, in which its script reaches nothing of the page. page.js unpacks it."""
    return (
        '<p class="links"><a class="own-tab" href="#" target="_blank" rel="noopener">Open the report in its own tab</a>'
        ' <a class="save" href="#" download="anls-report.html">Save the report</a></p>'
        f'<iframe title="The report" sandbox="allow-scripts allow-downloads" data-packed="{packed}"></iframe>'
    )
