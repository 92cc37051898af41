"""The gradio tab for files, with uploads, names, options, problems and the report."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import gradio as gr

from anls_metric.core.extraction.extract import EXTRACTORS
from anls_metric.options import OPTIONS
from anls_metric.page import limits, processes, scoring
from anls_metric.page.answers import add_speech, fit_options, format_error, format_note, read_percent
from anls_metric.page.endpoints import describe_error
from anls_metric.page.uploads import drop_report, name_report, take_all
from anls_metric.page.visitors import find_visitor
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

_MADE_UP_FILES = [str(MADE_UP / name) for name in ("gold.json", "careful reader.json", "hasty reader.json")]
_FIELDS = ("by", "prediction", "references", "id", "gold_id", "submission", "cluster_by")
SETTINGS: Sequence[str] = (
    *("extract", "missing", "extra", "runs", "samples", *_FIELDS, "fields", "ignore_keys", "records"),
    *("references_separator", "normalize", "numbers", "none_keys", "filter", "baseline"),
)
"""The options with a control of this tab, beside those that all tabs share."""

_DEFAULT = ("default", "")
_COLUMNS = ("file", "role", "name", "read as")


def add_file_tab(common: Mapping[str, Any]) -> tuple[gr.File, gr.HTML]:
    """Add the tab for files.

    Args:
        common: the components for variant, threshold and case, which all tabs share, by the names of the options.

    Returns:
        The components that hold the files and the result.
    """
    with gr.Row(elem_id="line"):
        with gr.Accordion(_FILES, open=True, elem_id="chosen") as chosen:
            files = gr.File(label="Files, up to 50 MB each", file_count="multiple", height=150, elem_id="files")
            names = gr.Dataframe(
                label="Names (equal names: runs of one model)",
                headers=list(_COLUMNS),
                static_columns=[0, 1, 3],
                type="array",
                interactive=True,
                visible=False,
                buttons=[],
                elem_id="names",
            )
        with gr.Accordion("Options", open=False, elem_id="options"), gr.Row():
            settings = {**common, **{name: _make_setting(name) for name in SETTINGS}}
        add = gr.UploadButton("Add files", file_count="multiple", size="sm", min_width=90, scale=0, elem_id="add")
        example = gr.Button("Try example files", size="sm", min_width=150, scale=0, elem_id="try")
        own_tab = gr.Button(
            "Open in its own tab", size="sm", scale=0, visible=False, link_target="_blank", elem_id="own-tab"
        )
        save = gr.DownloadButton("Save", size="sm", scale=0, visible=False, elem_id="save")
    gold = gr.Radio([], label=OPTIONS["gold"].label, info=scoring.WHICH_GOLD, visible=False, elem_id="gold")
    with gr.Row(elem_id="working"):
        stage = gr.HTML(elem_id="stage")
        stop = gr.Button("Stop", size="sm", min_width=90, scale=0, visible=False, elem_id="stop")
    problems = gr.State([])
    _show_problems(problems, settings)
    result = gr.HTML(format_note(NOTHING), js_on_load="anls.setWith(trigger)", elem_id="result")
    # The names that the visitor gave by the paths of their files; what to score, and what is scored, or was scored
    # last: all that the visitor chose; the report, and its files.
    given, wanted, running, reported = gr.State({}), gr.State(), gr.State(), gr.State(("", []))
    choices = [settings[name] for name in ("baseline", *_FIELDS)]
    shown = [result, stage, stop, problems, chosen, names, gold, own_tab, save, reported, *choices]

    def show_stage(doing: str) -> dict[Any, Any]:
        """Show what is done now, and the button that stops it; "" for nothing."""
        said = format_note(f"{doing} …", 'class="said" role="status"') if doing else ""
        return {stage: said, stop: gr.Button(visible=bool(doing))}

    async def run(request: list[Any] | None, last: tuple[str, list[str]]) -> AsyncGenerator[dict[Any, Any], None]:
        """Score what the visitor wants. Yields the stages of the work and the changes to the components."""
        paths = request[0] if request else []
        content, told, report, visitor = scoring.Shown(), None, name_report(), find_visitor()
        try:
            with closing(_score(request, report, visitor.address)) as looks:
                for doing, found in looks:
                    if visitor.has_left():
                        return
                    # gradio looks at each stage whether the visitor is still there. What is yielded just after a stop
                    # is shown, so a stage is yielded once.
                    yield show_stage(doing) if doing != told else {stage: gr.skip()}
                    told = doing
                    if found:
                        content = scoring.Shown(**found)
                    else:
                        await asyncio.sleep(processes.PAUSE)
        except Exception as error:
            content = scoring.Shown([scoring.Advice(describe_error(error, "page"))])
        finally:
            if not content.has_report:  # it may be half written
                drop_report(report)
        report = report if content.has_report else ""
        drop_report(last[0])
        fold = {"open": not report} if paths != last[1] else {}
        fields = gr.Dropdown([_DEFAULT, *content.fields])
        of_submissions = gr.Dropdown([_DEFAULT, *dict.fromkeys(name for _, _, name, _ in content.files if name)])
        yield {
            result: _format(content, report) if paths else format_note(NOTHING),
            problems: content.problems,
            chosen: gr.Accordion(label=_name_files(content.files), **fold),
            names: gr.Dataframe(list(content.files), visible=bool(content.files)),
            gold: gr.Radio(
                content.golds,
                value=content.gold if content.gold in content.golds else None,
                visible=bool(content.golds),
            ),
            own_tab: gr.Button(link=_locate(report) or None, visible=bool(report)),
            save: gr.DownloadButton(value=report or None, visible=bool(report)),
            reported: (report, paths if report else []),
            **dict.fromkeys(choices, fields),
            settings["baseline"]: of_submissions,
            **show_stage(""),
        }

    def want(paths: Any, given: Any, gold: str | None, *values: Any) -> list[Any] | None:
        """Collect what to score, or return None if there is nothing to score."""
        options = dict(zip(settings, values))
        options["threshold"] = read_percent(options["threshold"])
        chosen = {name: value for name, value in options.items() if value not in ("", [], None)}
        return [list(map(str, paths)), gold or "", given, chosen] if paths else None

    # gradio may send several events for one change. What is wanted changes once, and ends the scoring before.
    inputs = [files, given, gold, *settings.values()]
    changes = [component.change for component in (files, given, *settings.values())]
    gr.on([*changes, gold.input], want, inputs, wanted, trigger_mode="always_last", **QUIET)
    scored = running.change(
        run,
        [running, reported],
        shown,
        trigger_mode="multiple",
        concurrency_id="visitors",
        concurrency_limit=limits.MAX_VISITORS,
        **QUIET,
    )
    wanted.change(lambda request: request, wanted, running, cancels=[scored], **QUIET)
    stop.click(
        lambda: {result: format_note(STOPPED), chosen: gr.Accordion(open=True), **show_stage("")},
        None,
        [result, stage, stop, chosen],
        cancels=[scored],
        **QUIET,
    )
    files.clear(None, None, None, js="anls.forgetReport", api_visibility="private")
    names.input(_read_names, [names, files], given, **QUIET)
    add.upload(lambda new, old: [*(old or []), *new], [add, files], files, **QUIET)
    example.click(lambda: _MADE_UP_FILES, None, files, **QUIET)

    def apply(event: gr.EventData) -> Any:
        """Set the options on the button of a hint in the report."""
        return {settings[name]: _read_value(name, event.options[name]) for name in settings if name in event.options}

    result.click(apply, None, list(settings.values()), **QUIET)
    return files, result


_FILES = "Files"


def _make_setting(name: str) -> Any:
    """Make the component of an option. The choices of fields come with the files, and are checked on use."""
    option = OPTIONS[name]
    options: dict[str, Any] = {"label": option.label, "elem_id": f"setting-{name}", "min_width": 260}
    if name == "extract":
        rules = [(f"{rule}: {each.meaning}", rule) for rule, each in EXTRACTORS.items()]
        return gr.Dropdown(rules, multiselect=True, allow_custom_value=True, **options)
    return gr.Dropdown([_DEFAULT, *option.choices], value="", allow_custom_value=True, **options)


def _read_value(option: str, value: str) -> Any:
    """Read the value of an option in a message: rules are a list on the page."""
    return value.split(",") if option == "extract" else value


def _read_names(rows: list[list[str]], paths: Any) -> dict[str, str]:
    """Read the names that the visitor gave, by the paths of the files."""
    return {str(path): row[2].strip() for path, row in zip(dict.fromkeys(paths or []), rows) if row[2].strip()}


def _score(request: list[Any] | None, report: str, visitor: str) -> Generator[tuple[str, Any], None, None]:
    """Score files as a visitor wants: yields stages, and then the fields of `Shown`.

    Raises:
        ValueError: a setting or a file cannot be used.
    """
    if request:
        files, gold, names, settings = request
        paths = take_all(files, "the drop area")
        options = fit_options(settings["variant"], settings)
        yield from processes.watch(scoring.show, paths, gold, names, options, report, visitor=visitor)


# What is shown


def _show_problems(problems: gr.State, settings: Mapping[str, Any]) -> None:
    """Show each problem, with a button that sets the option that helps."""

    def show(found: Sequence[Sequence[str]]) -> None:
        for text, option, value in found:
            gr.HTML(format_error(text), elem_classes="problem")
            if option in settings and len(value) <= 200:
                button = gr.Button(f"{OPTIONS[option].label}: {value}", size="sm", scale=0, elem_classes="apply")
                button.click(partial(_read_value, option, value), None, settings[option], **QUIET)

    gr.render(problems, show_progress="hidden")(show)


def _name_files(files: Sequence[Sequence[str]]) -> str:
    """Name the files in one line, with the role of the gold file."""
    names = [f"{file} (gold)" if role == scoring.GOLD else name or file for file, role, name, _ in files]
    return f"{_FILES}: {' · '.join(names)}" if names else _FILES


def format_missing(files: str) -> str:
    """Format what to drop first or, for a link to a report, which files to drop."""
    return format_note(f"This link shows a report of {files}: drop these files to see it." if files else NOTHING)


def _format(shown: scoring.Shown, report: str) -> str:
    """Format a report in a frame from which its script cannot reach the page. page.js gives the frame its URL."""
    names = escape(", ".join(row[0] for row in shown.files), 2_000)
    attributes = f'data-report="{_locate(report)}" data-files="{names}"'
    frame = f'<iframe title="The report" sandbox="allow-scripts allow-downloads" {attributes}></iframe>'
    return add_speech(frame if report else "", shown.said)


def _locate(report: str) -> str:
    """Make the URL of a report, relative to the page; "" for none."""
    return f"gradio_api/file={quote(os.path.abspath(report))}" if report else ""
