"""Score and compare uploads, step by step: the page shows the steps, an endpoint answers with the result."""

from __future__ import annotations

import base64
import gzip
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.evaluation import Evaluation, fields_of
from anls_metric.analysis.suspects import FEWEST
from anls_metric.core.variants import VARIANTS, Scorer, Variant
from anls_metric.page import limits
from anls_metric.page.advice import Advice, advise
from anls_metric.page.inventory import Inventory, find_submissions_of, label_files, take_inventory
from anls_metric.page.uploads import Budget, Upload, list_columns, open_all
from anls_metric.reading.errors import InputError
from anls_metric.reading.records import Records
from anls_metric.reading.remedies import Door
from anls_metric.reading.sources import Reading
from anls_metric.reading.submissions import Submission
from anls_metric.report.document import describe_evaluation


class Task(NamedTuple):
    """What to score.

    Attributes:
        files: files that hold both sides each, or submissions; the gold file may be among them.
        gold: the file with the accepted answers; None to find it among the files.
        scorer: which ANLS, or which score of lists and nested values.
        reading: how the files are to be read.
        baseline: the submission that the others are compared with, None for the first.
        worst: how many of the worst answers are wanted.
        by: fields to break the scores down by.
        cluster_by: the field that says which questions belong together, None to find it.
        metrics: names of other metrics, separated by commas.
        corrections: the file with corrections of the accepted answers.
        names: the names of submissions by the paths of their files, where a visitor gave some.
        report: whether a report is wanted as well, as on the page. A broken file among others is then left out.
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


class Files(NamedTuple):
    """What is known of the files before they are scored.

    Attributes:
        fields: the fields of their records, to pick from.
        labels: the label of each file by its path.
        inventory: what they are; None where that is not known yet.
    """

    fields: list[str]
    labels: dict[str, str]
    inventory: Inventory | None = None


class Progress(NamedTuple):
    """How many rows of a submission are scored."""

    done: int
    name: str


class Result(NamedTuple):
    """The scores.

    Attributes:
        document: the JSON document.
        notes: how the files were read.
        hints: the hints of the document, with what a button would change.
        broken: the files that could not be scored, by name.
        files: the files that were scored, as the command names them.
    """

    document: dict[str, Any]
    notes: list[str]
    hints: Sequence[Advice]
    broken: Mapping[str, Advice]
    files: Sequence[str]


class Report(NamedTuple):
    """The report as a file, packed: gradio sends what an event returns twice, and copies it a dozen times."""

    packed: str


Step = Files | Progress | Result | Report


def score(task: Task, door: Door) -> Iterator[Step]:
    """Score uploads, step by step.

    Args:
        task: which ones, and how.
        door: in whose words hints are.

    Raises:
        ValueError: they cannot be scored, and why. OSError: a file is gone.
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
        yield Progress(counts[submission.name], submission.name)
    suspects = task.report and len(evaluation.entries) >= FEWEST
    yield Result(
        describe_evaluation(evaluation, [hint.format_for(door) for hint in evaluation.hints], with_suspects=suspects),
        [*evaluation.notes, *inventory.notes],
        [advise(hint, door) for hint in evaluation.hints],
        {
            **{Upload(path).name: advise(error, door) for path, error in inventory.broken.items()},
            **{name: advise(error, door) for name, error in evaluation.broken.items()},
        },
        inventory.list_files(without=evaluation.broken),
    )
    if task.report:
        yield _make_report(evaluation, submissions)


def _find_baseline(task: Task, inventory: Inventory) -> str | None:
    """The baseline of a task. On a page, the files and names of a visitor change, and what was chosen may be gone."""
    names = inventory.names.values()
    if task.report and len(inventory.answers) > 1 and (task.baseline or "").partition("/")[0] not in names:
        return None
    return task.baseline


def _find_options(task: Task) -> dict[str, Any]:
    """Find the metrics and corrections of a task, which few visitors want."""
    options: dict[str, Any] = {}
    if task.metrics:
        from anls_metric.analysis.metrics import find_metrics

        options["metrics"] = find_metrics(task.metrics)
    if task.corrections:
        from anls_metric.reading.corrections import read_corrections

        options["corrections"] = read_corrections(task.corrections.path, lambda path: Upload(path).records())
    return options


def _make_report(evaluation: Evaluation, submissions: Sequence[Submission]) -> Report:
    from anls_metric.report.html import as_html

    sources = {submission.questions_name for submission in submissions if submission.name not in evaluation.broken}
    page = as_html(
        evaluation.entries,
        evaluation.compared,
        [hint.format_for("page") for hint in evaluation.hints],
        sources.pop() if len(sources) == 1 else "",
        most_bytes=limits.MOST_SHOWN,
        most_by_variant=limits.MOST_BY_VARIANT,
    )
    return Report(base64.b64encode(gzip.compress(page.encode(), compresslevel=1)).decode())
