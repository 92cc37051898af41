"""The gradio tab for files: uploads, settings, scores and report."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from anls_metric.analysis.metrics import METRICS
from anls_metric.page import limits, subprocesses, views
from anls_metric.page.advice import ACTIONS, Advice, advise
from anls_metric.page.inputs import get_scorer, get_shown_scorer, make_reading
from anls_metric.page.inventory import LONGEST_NAME, Inventory
from anls_metric.page.messages import format_command, format_remedy
from anls_metric.page.summary import format_error, format_result
from anls_metric.page.upload_scoring import Files, Pages, Result, RowCount, Task, score
from anls_metric.page.uploads import Upload, are_large, clean_name, get_folder, take
from anls_metric.reading import remedies
from anls_metric.reading.errors import InputError
from anls_metric.reading.extract import EXTRACTORS
from anls_metric.reading.image_files import ARCHIVE
from anls_metric.reading.input_file import list_some
from anls_metric.reading.remedies import WHICH_FIELD
from anls_metric.report import html_parts

MADE_UP = Path(__file__).parent / "assets" / "made-up"
"""Made-up receipts, and the answers of two readers who make mistakes."""

QUIET: Mapping[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
"""The options of an event that is not an endpoint, and shows no progress."""

_MADE_UP_FILES = [MADE_UP / name for name in ("gold.json", "careful reader.json", "hasty reader.json")]
_KINDS = [".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".pq", ".arrow", ".xlsx", ".eval", ".gz"]
_PAUSE = 0.5  # seconds between two words about the report that is on its way
_CASES = {True: "ignored", False: "counts"}

# The settings that name a field of the files, and their labels.
_FIELDS = {
    "prediction_field": "Field of predictions",
    "references_field": "Field of accepted answers",
    "id_field": "Field of ids",
    "gold_id_field": "Field of ids in the gold file",
    "submission_field": "Field of models",
    "confidence_field": "Field of confidences",
    "judge_field": "Field of a judge's verdicts",
}
_LISTS = ("by", "cluster_by", *_FIELDS)  # settings whose choices are the fields of the files
# Settings that start the scoring on every change. Other settings start it only if a visitor changes them, because their
# choices also change with the files.
_AT_CHANGE = (
    *("variant", "threshold", "ignore_case", "unanswered_score_0", "extract", "ignore_extra", "metrics"),
    *("corrections", "run", "references_separator", "runs"),
)
_OF_READING = (*_FIELDS, "references_separator", "runs", "run")
_FOUND = ("detected", "")
_RUNS = [_FOUND, ("they are runs of one model", "question"), ("they are an error", "error")]


class _Tab:
    """The components of the tab. `settings` holds those that change the scores, by the names of the arguments."""

    def __init__(self) -> None:
        self.settings: dict[str, Any] = {}
        with gr.Column(elem_id="file-tab"):
            with gr.Column(elem_id="dropped", min_width=0):
                self.files = gr.File(
                    label="Gold file, submissions or logs, images (zip)",
                    file_count="multiple",
                    file_types=[*_KINDS, ARCHIVE],
                    height=190,
                    elem_id="files",
                )
                self.refusal = gr.HTML(
                    js_on_load="anls.refuseWith((dropped) => trigger('click', dropped))", elem_id="refusal"
                )
                self.example = gr.Button("Try made-up files", size="sm")
            with gr.Column(elem_id="scores", min_width=0):
                self.summary = gr.HTML(
                    html_parts.format_hint(views.NOTHING),
                    js_on_load="anls.applyWith(element, (change) => trigger('click', change))",
                    elem_id="summary",
                )
                with gr.Row(elem_id="of-report"):
                    self.own_tab = gr.HTML(views.OWN_TAB, elem_id="own-tab", visible=False)
                    self.save = gr.Button("Save the report", size="sm", visible=False, elem_id="save")
            with gr.Column(elem_id="options", min_width=0):
                self._add_settings()
            self.report = gr.HTML(elem_id="report")
            # State that the browser keeps: the file and the label of each box, the names, that a button was used, and
            # the number of the last request for scores.
            self.places = gr.Textbox("[]", visible="hidden", elem_id="places")
            self.names = gr.Textbox("{}", visible="hidden", elem_id="given-names")
            self.again = gr.Textbox("", visible="hidden", elem_id="again")
            self.request = gr.Textbox("", visible="hidden", elem_id="request")

    def _add_settings(self) -> None:
        add = self.settings.__setitem__
        add("unanswered_score_0", gr.Checkbox(False, label=remedies.UNANSWERED, elem_id="unanswered"))
        label = f"{remedies.EXTRACTION}, in this order"
        rules = [(f"{name}: {rule.meaning}", name) for name, rule in EXTRACTORS.items()]
        add("extract", _pick_several(rules, label, "extract", allow_custom_value=True))
        add("by", _pick_several([], "Break down by", "by", allow_custom_value=True))
        with gr.Accordion(remedies.FILES_AND_NAMES, open=False, elem_id="names") as self.names_part:
            add("gold", _pick_field("Gold file", "gold"))
            add("baseline", _pick_field("Compare with", "baseline", ("the first", "")))
            gr.Markdown("Names of the submissions. Files with one name are runs of one model.")
            self.boxes = [
                gr.Textbox(visible=False, max_length=LONGEST_NAME, elem_classes="name-of-file")
                for _ in range(limits.MOST_SUBMISSIONS)
            ]
        with gr.Accordion("More options", open=False, elem_id="more"):
            add("ignore_extra", gr.Checkbox(False, label=remedies.OTHER_ANSWERS, elem_id="extra"))
            metrics = [(f"{name}: {metric.meaning}", name) for name, metric in METRICS.items()]
            add("metrics", _pick_several(metrics, "Other metrics", "metrics"))
            add("cluster_by", _pick_field("Field of documents, whose questions belong together", "cluster-by"))
            add("runs", gr.Dropdown(_RUNS, value="", label="Several answers to one question", elem_id="runs"))
            add("run", gr.Textbox(label=f"{remedies.ONE_RUN}, such as an epoch", max_length=100, elem_id="run"))
            corrections = "Corrections of the accepted answers (JSON or CSV)"
            add("corrections", gr.File(label=corrections, file_types=_KINDS, height=110, elem_id="corrections"))
        with gr.Accordion(WHICH_FIELD, open=False, elem_id="fields") as self.fields_part:
            for name, label in _FIELDS.items():
                add(name, _pick_field(label, name.replace("_", "-")))
            separator = gr.Textbox(label=remedies.SEPARATOR, max_length=20, elem_id="references-separator")
            add("references_separator", separator)

    def list_outputs(self) -> list[Any]:
        """List the components that scoring changes."""
        shown = [self.summary, self.report, self.save, self.own_tab, self.fields_part, self.names_part, self.places]
        return [*shown, *self.boxes, *(self.settings[name] for name in (*_LISTS, "gold", "baseline"))]


def _pick_several(choices: Sequence[Any], label: str, name: str, **options: Any) -> gr.Dropdown:
    return gr.Dropdown(choices, multiselect=True, label=label, elem_id=name, **options)


def _pick_field(label: str, name: str, nothing: tuple[str, str] = _FOUND) -> gr.Dropdown:
    """Make a dropdown whose choices come with the files. Values are checked on use, since choices may be gone."""
    return gr.Dropdown([nothing], value="", label=label, allow_custom_value=True, elem_id=name)


def add_file_tab(common: Sequence[Any]) -> None:
    """Add the tab for files.

    Args:
        common: the components for variant, threshold and case, which all tabs share.
    """
    tab = _Tab()
    settings = {"variant": common[0], "threshold": common[1], "ignore_case": common[2], **tab.settings}
    at_change = [settings[name] for name in _AT_CHANGE]
    at_input = [field for field in tab.settings.values() if field not in at_change]

    def run(
        paths: list[str] | None,
        names: str,
        places: str,
        *values: Any,
        progress: Any = gr.Progress(),  # noqa: B008, gradio finds it there
    ) -> Iterator[dict[Any, Any]]:
        yield from _run(tab, paths or [], names, places, dict(zip(settings, values)), progress)

    # Gradio may send several events for one change, and two at a time if files are dropped while it sets the settings
    # of a link. The browser requests scores once, with one event, so that the page shows the result of the last change.
    gr.on(
        [
            *(field.change for field in (tab.files, tab.names, tab.again, *at_change)),
            *(field.input for field in at_input),
        ],
        None,
        [tab.files, tab.names, *settings.values()],
        tab.request,
        js="anls.requestScores",
        api_visibility="private",
    )
    tab.request.change(
        run,
        [tab.files, tab.names, tab.places, *settings.values()],
        tab.list_outputs(),
        show_progress_on=tab.summary,
        trigger_mode="always_last",
        api_visibility="private",
    )

    def apply(event: gr.EventData, again: str) -> dict[Any, Any]:
        name, value = _read_change(event)
        if not name:
            return {}
        return {settings[name]: value, **({} if name in _AT_CHANGE else {tab.again: f"{again[-20:]}+"})}

    def refuse(event: gr.EventData, paths: list[str] | None, *values: Any) -> str:
        return _refuse(event, paths or [], dict(zip(settings, values)))

    tab.summary.click(apply, tab.again, [tab.again, *settings.values()], **QUIET)
    tab.refusal.click(refuse, [tab.files, *settings.values()], tab.refusal, **QUIET)
    tab.example.click(lambda: list(map(str, _MADE_UP_FILES)), None, tab.files, **QUIET)
    tab.save.click(None, None, None, js="anls.saveReport", api_visibility="private")
    tab.files.change(None, tab.files, None, js="anls.forgetReport", api_visibility="private")
    gr.on(
        [event for box in tab.boxes for event in (box.submit, box.blur)],
        None,
        [tab.places, *tab.boxes],
        tab.names,
        js="anls.collectNames",
        api_visibility="private",
    )


def _read_change(event: gr.EventData) -> tuple[str, Any]:
    """Read which setting a button changes. A browser may send anything, so only rows of `ACTIONS` count."""
    setting, value = str(getattr(event, "setting", "")), str(getattr(event, "value", ""))[:1000]
    for action in ACTIONS.values():
        if action.setting == setting and action.value in (value, "{value}"):
            known = {"true": True} if action.value == "true" else {}
            return setting, value.split(",") if setting == "extract" else known.get(value, value)
    return "", None


# Scoring


def _run(
    tab: _Tab, paths: Sequence[str], names: str, places: str, settings: dict[str, Any], progress: Any
) -> Iterator[dict[Any, Any]]:
    """Show the scores first, then the report."""
    nothing = {tab.report: "", tab.save: gr.Button(visible=False), tab.own_tab: gr.HTML(visible=False)}
    if not paths:
        yield {tab.summary: html_parts.format_hint(views.NOTHING), **nothing}
        return
    files: list[str] = []
    values: dict[str, Any] = {}
    has_scores, last_shown = False, 0.0
    # Sent twice, because gradio may lose an update of an accordion or of choices if another update follows soon.
    sent_twice: dict[Any, Any] = {tab.names_part: gr.Accordion(open=True)} if _repeat_a_name(paths) else {}
    try:
        values, task = _make_task(paths, names, settings)
        options: dict[str, Any] = {"is_large": are_large(values), "remedy": lambda: format_remedy(values, files)}
        for step in subprocesses.run(score, task, "page", **options):
            if isinstance(step, RowCount):
                progress((step.done, None), desc=f"Scoring {step.name}", unit="questions")
            elif isinstance(step, Files):
                files = step.inventory.list_files() if step.inventory else files
                yield {**_offer_choices(tab, step, settings), **_offer_names(tab, step.inventory, names, places)}
            elif isinstance(step, Result):
                submissions = [entry["name"] for entry in step.document["submissions"]]
                if values["baseline"] not in submissions:
                    values["baseline"] = ""
                if getattr(values["images"], "name", None) in step.broken:
                    values["images"] = None
                choices = [("the first", ""), *submissions]
                offered = gr.Dropdown(choices, value=values["baseline"])
                shown = format_result(step, format_command(values, step.files))
                yield {tab.summary: shown, tab.settings["baseline"]: offered, **nothing, **sent_twice}
                sent_twice[tab.settings["baseline"]] = gr.Dropdown(choices=choices)
                has_scores = True
            elif isinstance(step, Pages):
                if time.monotonic() - last_shown > _PAUSE:
                    last_shown = time.monotonic()
                    yield {tab.own_tab: gr.HTML(views.show_pages(step), visible=True)}
            else:
                shown = views.frame_report(step)
                buttons = {tab.save: gr.Button(visible=True), tab.own_tab: gr.HTML(views.OWN_TAB, visible=True)}
                yield {tab.report: shown, **buttons, **sent_twice}
    except Exception as error:
        if has_scores:  # they stay
            yield {**nothing, tab.own_tab: gr.HTML(format_error(advise(error)), visible=True)}
            return
        command = format_command(values, files) if files else ""
        yield {tab.summary: format_error(advise(error), command), **nothing, **_open_part(tab, error)}


def _make_task(paths: Sequence[str], names: str, settings: Mapping[str, Any]) -> tuple[dict[str, Any], Task]:
    """Make the arguments for the equivalent command, and the task.

    Raises:
        ValueError: a file or a setting is wrong. OSError: a file is gone.
    """
    variant, threshold, ignore_case = (settings[name] for name in ("variant", "threshold", "ignore_case"))
    scorer, default = get_shown_scorer(variant, threshold, ignore_case), get_scorer(variant)
    uploads, images = _split_files([_take_upload(path) for path in paths])
    corrections, gold = settings["corrections"], settings["gold"]
    values: dict[str, Any] = {
        **{name: value or "" for name, value in settings.items() if name not in ("ignore_case", "gold")},
        "files": uploads,
        "images": images,
        "variant": scorer.name,
        "threshold": None if scorer.threshold == default.threshold else threshold,
        "case": "" if scorer in (default, get_scorer(variant, threshold)) else _CASES[ignore_case],
        "extract": ",".join(settings["extract"] or ()),
        "metrics": ",".join(settings["metrics"] or ()),
        "corrections": _take_upload(corrections) if corrections else None,
    }
    reading = make_reading(
        scorer,
        values["unanswered_score_0"],
        values["extract"],
        values["ignore_extra"],
        **{name: values[name] for name in _OF_READING},
    )
    task = Task(
        uploads,
        Upload(gold) if gold in paths else None,
        scorer,
        reading,
        baseline=values["baseline"] or None,
        by=values["by"] or (),
        cluster_by=values["cluster_by"] or None,
        metrics=values["metrics"],
        corrections=values["corrections"],
        names=_read_names(names),
        report=True,
        images=images,
    )
    return values, task


def _split_files(uploads: Sequence[Upload]) -> tuple[list[Upload], Upload | None]:
    """Split files into those to score and the archive of images, None for none.

    Raises:
        ValueError: there are several archives, or nothing to score.
    """
    files = [upload for upload in uploads if not _is_archive(upload.name)]
    archives = [upload for upload in uploads if upload not in files]
    if archives and not files:
        problem = "a zip file is for the images of pages"
        raise ValueError(f"{archives[0].name}: {problem}: drop the gold file and the submissions, too")
    if len(archives) > 1:
        names = list_some(archive.name for archive in archives)
        raise ValueError(f"the images are in {len(archives)} zip files ({names}): put them into one")
    return files, next(iter(archives), None)


def _is_archive(name: str) -> bool:
    return name.lower().endswith(ARCHIVE)


def _read_names(names: str) -> dict[str, str]:
    """Read the names of submissions by the paths of their files, which the browser keeps."""
    try:
        names_by_path = json.loads(names)
    except (ValueError, RecursionError):
        return {}
    return {path: str(name) for path, name in names_by_path.items()} if isinstance(names_by_path, dict) else {}


def _take_upload(path: str) -> Upload:
    """Return an upload of the visitor, or one of the made-up files."""
    return Upload(path) if Path(path) in _MADE_UP_FILES else take(path, get_folder(), "the file")


def _offer_choices(tab: _Tab, files: Files, settings: Mapping[str, Any]) -> dict[Any, Any]:
    """Offer the fields of files, and the files that may be the gold file."""
    positions = [("none: match by position", "none")]
    changes: dict[Any, Any] = {
        tab.settings[name]: gr.Dropdown([_FOUND, *(positions if name == "id_field" else []), *files.fields])
        for name in (*_FIELDS, "cluster_by")
    }
    changes[tab.settings["by"]] = gr.Dropdown(files.fields)
    golds = [(label, path) for path, label in files.labels.items()]
    gold = settings["gold"] if settings["gold"] in files.labels else ""
    changes[tab.settings["gold"]] = gr.Dropdown([_FOUND, *golds], value=gold)
    return changes


def _offer_names(tab: _Tab, inventory: Inventory | None, names: str, places: str) -> dict[Any, Any]:
    """Offer to edit the names of the submissions.

    Args:
        tab: the tab.
        inventory: the files, if there are submissions.
        names: the names that the visitor gave: see `_read_names`.
        places: the files of the boxes, as the browser has them. If the files are the same, only names that the server
            changed are sent, because the visitor may be writing in another box.
    """
    if inventory is None:
        return {}
    new_places, given = json.dumps(list(inventory.labels.items())), _read_names(names)
    if new_places == places:
        boxes = zip(tab.boxes, inventory.names.items())
        return {box: gr.Textbox(name) for box, (path, name) in boxes if given.get(path, name) != name}
    changes: dict[Any, Any] = {
        box: gr.Textbox(name, visible=True, label=f"{number}. {Path(path).name}", placeholder=inventory.labels[path])
        for number, (box, (path, name)) in enumerate(zip(tab.boxes, inventory.names.items()), 1)
    }
    changes |= dict.fromkeys(tab.boxes[len(changes) :], gr.Textbox(visible=False))
    changes[tab.places] = new_places
    return changes


def _repeat_a_name(paths: Sequence[str]) -> bool:
    return len({Path(path).name for path in paths}) < len(paths)


def _open_part(tab: _Tab, error: Exception) -> dict[Any, Any]:
    """Open the part of the page in which a choice fixes an error."""
    if not isinstance(error, InputError):
        return {}
    if error.remedy == remedies.GOLD_FILE:
        return {tab.names_part: gr.Accordion(open=True)}
    return {tab.fields_part: gr.Accordion(open=True)} if WHICH_FIELD in error.format_for("page") else {}


# Files that are too large for the browser to send


def _refuse(event: gr.EventData, paths: Sequence[str], settings: Mapping[str, Any]) -> str:
    """Say which files are too large, and show the command that scores them with the other files."""
    sent = getattr(event, "files", None)
    dropped = [clean_name(str(name)) for name in sent[: limits.MOST_FILES_AT_ONCE]] if isinstance(sent, list) else []
    refused = getattr(event, "refused", None)
    if not dropped or not isinstance(refused, list) or not refused:
        return ""
    large = ", ".join(clean_name(str(name)) for name in refused[: limits.MOST_SUBMISSIONS])
    here = [Path(path).name for path in paths[: limits.MOST_SUBMISSIONS]]
    names = sorted(dict.fromkeys([*here, *dropped]), key=lambda name: "gold" not in name.lower())
    files = [name for name in names if not _is_archive(name)]
    try:
        values, _ = _make_task((), "{}", settings)
    except (ValueError, OSError):
        values = {}
    values["images"] = next(filter(_is_archive, names), None)
    most = f"is larger than {limits.MOST_BYTES >> 20} MB, or all files are larger than {limits.MOST_UPLOAD >> 20} MB"
    text = f"Not sent: {large}. A file {most}. The command below has no such limits."
    return format_error(Advice(text), format_command(values, files))
