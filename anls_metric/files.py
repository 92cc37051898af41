"""Scores files from Python: one submission, or several to compare."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.evaluation import Evaluation, fields_of, find_scorers
from anls_metric.analysis.scored import ScoredSet
from anls_metric.core.variants import OF_VALUES
from anls_metric.reading.extract import extractor
from anls_metric.reading.sources import AUTO, Reading
from anls_metric.reading.submissions import find_submissions
from anls_metric.report import tables, terminal, terminal_comparison
from anls_metric.report.document import build_document, list_extraction

if TYPE_CHECKING:
    import pandas

    from anls_metric.nested import Average, NoneKeys

Path = str | os.PathLike[str]


class FileScores:
    """The scores of files: what `score_file` and `compare_files` return.

    It prints as the command does, and a notebook shows it as a table.

    Attributes:
        scored_sets: the scored set of each submission, by its name.
        notes: how the files were read.
    """

    def __init__(self, scored_sets: Mapping[str, ScoredSet], document: dict[str, Any], notes: Sequence[str]) -> None:
        self.scored_sets = dict(scored_sets)
        self.notes = list(notes)
        self._document = document

    @property
    def anls(self) -> float:
        """The ANLS of the first submission."""
        return next(iter(self.scored_sets.values())).mean

    @property
    def signature(self) -> str:
        """Which ANLS it is, to report with the number."""
        return str(self._document["signature"])

    @property
    def hints(self) -> list[str]:
        """What looks wrong with the files; it does not change any number."""
        return list(self._document["hints"])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as one document: what ``anls --format json`` prints."""
        return self._document

    def to_markdown(self) -> str:
        """Format the table for Markdown."""
        return tables.as_markdown(self._document)

    def to_latex(self) -> str:
        """Format the table for a paper, with booktabs."""
        return tables.as_latex(self._document)

    def to_csv(self) -> str:
        """Format the figures as CSV, a line for each submission."""
        return tables.as_csv(self._document)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the figures as a data frame, a row for each submission.

        Raises:
            ImportError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas() needs pandas: pip install pandas", name=error.name) from None
        return pandas.DataFrame(tables.collect_figures(self._document))

    def __str__(self) -> str:
        if len(self.scored_sets) > 1:
            return terminal_comparison.as_text(self._document, self.scored_sets)
        (scored_set,) = self.scored_sets.values()
        return terminal.format_summary(scored_set, list_extraction(self._document))

    def __repr__(self) -> str:
        means = ", ".join(f"{name}: {scored_set.mean:.4f}" for name, scored_set in self.scored_sets.items())
        return f"<FileScores {means}; {self.signature}>"

    def _repr_html_(self) -> str:
        return tables.as_html(self._document)


def score_file(*files: Path, gold: Path | None = None, **options: Any) -> FileScores:
    """Score the answers of one submission.

    Args:
        files: one file with predictions and accepted answers; or a gold file and a file of answers; or, where `gold` is
            given, a file of answers. Any file that the command reads.
        gold: the file with the accepted answers.
        options: see `compare_files`.

    Returns:
        The scores: `.anls`, `.signature`, `.hints`, and `.to_dict()` for everything.

    Raises:
        ValueError: the files cannot be scored, or there are several submissions. The message says what to do.
        OSError: a file cannot be opened.

    Example:
        >>> scores = score_file("examples/gold_label.json", "examples/submission.json")
        >>> scores.anls
        0.6273148148148148
        >>> scores
        <FileScores submission: 0.6273; anls|standard|threshold:0.5|v2.0.0>
    """
    scores = compare_files(*files, gold=gold, **options)
    if len(scores.scored_sets) > 1:
        raise ValueError(f"there are several submissions ({', '.join(scores.scored_sets)}): compare_files takes them")
    return scores


def compare_files(
    *files: Path | Iterable[Path] | Mapping[str, Path],
    gold: Path | None = None,
    variant: str = "standard",
    threshold: float | None = None,
    ignore_case: bool | None = None,
    none_keys: NoneKeys | None = None,
    average: Average | None = None,
    by: str | Sequence[str] = (),
    by_key: bool = False,
    worst: int = 0,
    regressions: int = 0,
    baseline: str | None = None,
    cluster_by: str | None = None,
    layout: str = AUTO,
    id_field: str | None = None,
    gold_id_field: str | None = None,
    prediction_field: str | None = None,
    references_field: str | None = None,
    submission_field: str | None = None,
    references_separator: str | None = None,
    extract: str | None = None,
    repeat: str | None = None,
    missing: str = "error",
    extra: str = "error",
) -> FileScores:
    """Score several submissions to the same questions, and compare them question by question.

    Args:
        files: a gold file and then submissions; or, where `gold` is given, submissions; or files with predictions and
            accepted answers. An item can be a list of paths, or a dictionary of paths by the names of the submissions.
        gold: the file with the accepted answers.
        variant: the variant of ANLS. Several names separated by commas, or "all", give the mean under each; the first
            one gives the scores. "anls_star" and "anlsl" score lists and nested values.
        threshold, ignore_case: see `get_variant`.
        none_keys, average: options of "anls_star": see `nested.get_value_variant`.
        by: fields of the records to break the scores down by.
        by_key: for lists and nested values: whether to collect the score of each key.
        worst: how many of the worst answers to return for each submission.
        regressions: how many questions to return that a submission lost against the baseline, and how many that it won.
        baseline: the name of the submission with which the others are compared; None takes the first.
        cluster_by: the field that says which questions belong together, "none" for no clusters; None detects it.
        layout, id_field, gold_id_field, prediction_field, references_field, submission_field, references_separator,
            repeat, missing, extra: see `reading.sources.Reading`.
        extract: the rules that extract the answers from raw model output, like "think,final".

    Returns:
        The scores with the comparison: `.to_dict()`, `.to_markdown()`, `.to_latex()`, `.to_pandas()`.

    Raises:
        ValueError: the files cannot be scored. The message says what to do.
        OSError: a file cannot be opened.

    Example:
        >>> answers = "examples/submission.json"
        >>> scores = compare_files("examples/gold_label.json", {"base": answers, "tuned": answers})
        >>> scores.to_dict()["comparisons"][0]["verdict"]
        'too few questions'
    """
    reading = Reading(
        layout=layout,
        id_field=id_field,
        gold_id_field=gold_id_field,
        prediction_field=prediction_field,
        references_field=references_field,
        submission_field=submission_field,
        references_separator=references_separator,
        extract=None if extract is None else extractor(extract, values=variant in OF_VALUES),
        filter=repeat,
        missing=missing,
        extra=extra,
        values=variant in OF_VALUES,
    )
    by = [by] if isinstance(by, str) else list(by)
    scorers = find_scorers(variant, threshold, ignore_case, none_keys, average)
    submissions = find_submissions(
        _list_paths(files), None if gold is None else os.fspath(gold), (), reading, fields_of(by, cluster_by)
    )
    evaluation = Evaluation(
        submissions,
        scorers,
        by=by,
        by_key=by_key,
        worst=worst,
        cluster_by=cluster_by,
        baseline=baseline,
        keep=regressions > 0,
    ).finish()
    hints = list(map(str, evaluation.hints))
    content = build_document(evaluation.entries, evaluation.compared, hints, regressions)
    return FileScores(evaluation.scored_sets, content, evaluation.notes)


def _list_paths(files: Iterable[Path | Iterable[Path] | Mapping[str, Path]]) -> list[str]:
    """List the files as the command names them."""
    paths: list[str] = []
    for file in files:
        if isinstance(file, (str, os.PathLike)):
            paths.append(os.fspath(file))
        elif isinstance(file, Mapping):
            paths += [f"{name}={os.fspath(path)}" for name, path in file.items()]
        else:
            paths += [os.fspath(path) for path in file]
    return paths
