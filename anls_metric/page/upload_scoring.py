"""Scores and compares uploads, step by step. The page shows the steps; an endpoint returns the result."""

from __future__ import annotations

import base64
import gzip
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from anls_metric.analysis.evaluation import Evaluation, fields_of
from anls_metric.analysis.suspects import FEWEST
from anls_metric.core.variants import VARIANTS, Scorer, Variant
from anls_metric.page import limits
from anls_metric.page.advice import Advice, advise
from anls_metric.page.inventory import Inventory, find_submissions_of, label_files, take_inventory
from anls_metric.page.uploads import Budget, Upload, list_columns, open_all
from anls_metric.reading.errors import InputError
from anls_metric.reading.input_file import File
from anls_metric.reading.records import Records
from anls_metric.reading.remedies import Door
from anls_metric.reading.sources import Reading
from anls_metric.reading.submissions import Submission
from anls_metric.report.document import describe_evaluation

if TYPE_CHECKING:
    from anls_metric.report.images import Images


class Task(NamedTuple):
    """What to score.

    Attributes:
        files: files with predictions and accepted answers, or submissions; the gold file may be among them.
        gold: the file with the accepted answers; None to find it among the files.
        scorer: the scorer.
        reading: how to read the files.
        baseline: the submission to compare the others with; None for the first.
        worst: how many of the worst answers to return.
        by: fields to break the scores down by.
        cluster_by: the field that names the document of a question; None to detect it.
        metrics: names of other metrics, separated by commas.
        corrections: the file with corrections of the accepted answers.
        names: the names that the visitor gave to submissions, by the paths of their files.
        report: whether to make a report, as the page does. A broken file is then left out, unless it is the only one.
        images: the zip archive with the images for the report; None for images in the files.
        names: the names of submissions by the paths of their files, where a visitor gave some.
        report: whether a report is wanted as well, as on the page. A broken file among others is then left out.
        images: the zip archive with the images for the report; None for those that the files hold.
    """

    files: Sequence[Upload]
    gold: Upload | None = None
    scorer: Scorer = VARIANTS["standard"]
    reading: Reading = Reading()
    baseline: str | None = None
    worst: int = 0
    by: Sequence[str] = ()
    cluster_by: str | None = None
    metrics: str = ""
    corrections: Upload | None = None
    names: Mapping[str, str] | None = None
    report: bool = False
    images: Upload | None = None


class Files(NamedTuple):
    """The files before they are scored.

    Attributes:
        fields: the fields of their records, to choose from.
        labels: the label of each file by its path.
        inventory: which file is which; None if that is not known yet.
    """

    fields: list[str]
    labels: dict[str, str]
    inventory: Inventory | None = None


class RowCount(NamedTuple):
    """The number of rows of a submission that are scored so far."""

    done: int
    name: str


class Result(NamedTuple):
    """The scores.

    Attributes:
        document: the JSON document.
        notes: how the files were read.
        hints: the hints of the document, with their buttons.
        broken: the files that could not be scored, by name.
        files: the scored files, in the form of the command.
    """

    document: dict[str, Any]
    notes: list[str]
    hints: Sequence[Advice]
    broken: Mapping[str, Advice]
    files: Sequence[str]


class Pages(NamedTuple):
    """How many pages are in the report so far, in words."""

    words: str


class Report(NamedTuple):
    """The compressed report file. gradio sends the result of an event twice, and copies it a dozen times."""

    packed: str


Step = Files | RowCount | Result | Pages | Report


def score(task: Task, door: Door) -> Iterator[Step]:
    """Score uploads, step by step.

    Args:
        task: what to score.
        door: the door whose words to use in hints.

    Raises:
        ValueError: the files cannot be scored. OSError: a file is gone.
    """
    opened, broken = open_all(task.files, task.gold)
    if broken and not (opened and task.report):
        raise next(iter(broken.values()))
    if task.report:
        files = Files(list_columns(opened.values()), label_files(opened, opened))
        yield files
    reading, gold = task.reading, task.gold.path if task.gold else None
    inventory = take_inventory(opened, gold, reading, opened, task.names)
    inventory = inventory._replace(broken={**broken, **inventory.broken})
    if task.report:
        yield files._replace(inventory=inventory)
    first_error = next(iter(inventory.broken.values()), None)
    if first_error and not (inventory.answers and task.report):
        raise first_error
    try:
        yield from _score_inventory(task, door, opened, inventory)
    except InputError:
        if first_error:  # what lacks may be in the broken file
            raise first_error from None
        raise


def _score_inventory(
    task: Task,
    door: Door,
    opened: Mapping[str, Records],
    inventory: Inventory,
) -> Iterator[Step]:
    images, unread = _open_images(task, door, opened, inventory) if task.report else (None, {})
    submissions = find_submissions_of(inventory, task.reading, opened, fields_of(task.by, task.cluster_by))
    evaluation = Evaluation(
        submissions,
        [task.scorer],
        by=task.by,
        cluster_by=task.cluster_by,
        worst=task.worst,
        baseline=_find_baseline(task, inventory),
        keep=task.report,
        similarities=task.report,
        confusions=task.report and isinstance(task.scorer, Variant),
        **_find_options(task),
        skip_broken=task.report and len(submissions) > 1,
    )
    counts: Counter[str] = Counter()
    for submission, scored in evaluation.run(Budget().read_batches):
        counts[submission.name] += len(scored)
        yield RowCount(counts[submission.name], submission.name)
    suspects = task.report and len(evaluation.entries) >= FEWEST
    yield Result(
        describe_evaluation(evaluation, [hint.format_for(door) for hint in evaluation.hints], with_suspects=suspects),
        [*evaluation.notes, *inventory.notes],
        [advise(hint, door) for hint in evaluation.hints],
        {
            **{Upload(path).name: advise(error, door) for path, error in inventory.broken.items()},
            **{name: advise(error, door) for name, error in evaluation.broken.items()},
            **unread,
        },
        inventory.list_files(without=evaluation.broken),
    )
    if images:
        yield from _make_report(evaluation, submissions, images)


def _open_images(
    task: Task, door: Door, opened: Mapping[str, Records], inventory: Inventory
) -> tuple[Images, dict[str, Advice]]:
    """Open the images for the report: those of the archive, or those that the files hold. Say what is wrong with it."""
    from anls_metric.reading.image_files import open_zip
    from anls_metric.report.images import Images

    options: dict[str, Any] = {
        "most_bytes": limits.MOST_OF_IMAGES,
        "until": time.monotonic() + limits.IMAGE_SECONDS,
    }
    unread: dict[str, Advice] = {}
    if task.images:
        file = File(task.images.path, most_bytes=limits.MOST_UNPACKED)
        file.name = task.images.name
        try:
            return Images(files=open_zip(file), **options), {}
        except (InputError, OSError) as error:
            unread[file.name] = advise(error, door)
    paths = [*([inventory.gold] if inventory.gold else []), *inventory.answers]
    return Images(tables=[opened[path] for path in paths], **options), unread


def _find_baseline(task: Task, inventory: Inventory) -> str | None:
    """Find the baseline of a task. On the page files and names change, so the chosen baseline may be gone."""
    names = inventory.names.values()
    if task.report and len(inventory.answers) > 1 and (task.baseline or "").partition("/")[0] not in names:
        return None
    return task.baseline


def _find_options(task: Task) -> dict[str, Any]:
    """Collect the metrics and corrections of a task, which few visitors use."""
    options: dict[str, Any] = {}
    if task.metrics:
        from anls_metric.analysis.metrics import find_metrics

        options["metrics"] = find_metrics(task.metrics)
    if task.corrections:
        from anls_metric.reading.corrections import read_corrections

        options["corrections"] = read_corrections(task.corrections.path, lambda path: Upload(path).records())
    return options


def _make_report(evaluation: Evaluation, submissions: Sequence[Submission], images: Images) -> Iterator[Pages | Report]:
    """Make the report in a thread, and tell how many pages are in it so far."""
    from anls_metric.report.html import as_html

    sources = {submission.questions_name for submission in submissions if submission.name not in evaluation.broken}
    states: SimpleQueue[str | None] = SimpleQueue()
    images.show_progress, images.has_ids = states.put, evaluation.has_ids
    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(
            as_html,
            evaluation.entries,
            evaluation.compared,
            [hint.format_for("page") for hint in evaluation.hints],
            sources.pop() if len(sources) == 1 else "",
            images,
            most_bytes=limits.MOST_SHOWN,
            most_by_variant=limits.MOST_BY_VARIANT,
        )
        made.add_done_callback(lambda _: states.put(None))
        yield from map(Pages, filter(None, iter(states.get, None)))
        page = made.result()
    yield Report(base64.b64encode(gzip.compress(page.encode(), compresslevel=1)).decode())
