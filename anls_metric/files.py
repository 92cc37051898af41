"""Files from Python: score one submission, or compare several."""

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
from anls_metric.report.document import build_document

if TYPE_CHECKING:
    import pandas

    from anls_metric.nested import Average, NoneKeys

Path = str | os.PathLike[str]


class FileScores:
    """What is known of the submissions in files: what `score_file` and `compare_files` return.

    It prints as the command does, and a notebook shows it as a table.

    Attributes:
        scored_sets: everything that is known of each submission, by its name.
        notes: how the files were read.
    """

    def __init__(self, scored_sets: Mapping[str, ScoredSet], document: dict[str, Any], notes: Sequence[str]) -> None:
        self.scored_sets = dict(scored_sets)
        self.notes = list(notes)
        self._document = document

    @property
    def anls(self) -> float:
        """The ANLS of the submission; of several, that of the first."""
        return next(iter(self.scored_sets.values())).mean

    @property
    def signature(self) -> str:
        """Which ANLS it is, to report with the number."""
        return str(self._document["signature"])

    @property
    def hints(self) -> list[str]:
        """What looks wrong with the files; it has not changed any number."""
        return list(self._document["hints"])

    def to_dict(self) -> dict[str, Any]:
        """All of it as one document: what ``anls --format json`` prints."""
        return self._document

    def to_markdown(self) -> str:
        """The table for Markdown."""
        return tables.as_markdown(self._document)

    def to_latex(self) -> str:
        """The table for a paper, with booktabs."""
        return tables.as_latex(self._document)

    def to_csv(self) -> str:
        """The figures as CSV, a line for each submission."""
        return tables.as_csv(self._document)

    def to_pandas(self) -> pandas.DataFrame:
        """The figures as a data frame, a row for each submission.

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
        return terminal.format_summary(*self.scored_sets.values())

    def __repr__(self) -> str:
        means = ", ".join(f"{name}: {scored_set.mean:.4f}" for name, scored_set in self.scored_sets.items())
        return f"<FileScores {means}; {self.signature}>"

    def _repr_html_(self) -> str:
        return tables.as_html(self._document)


def score_file(*files: Path, gold: Path | None = None, **options: Any) -> FileScores:
    """Score the answers of one submission.

    Args:
        files: one file that holds predictions and accepted answers; or a gold file, then a file of answers; or, where
            `gold` is given, a file of answers. Any file that the command reads.
        gold: the file with the accepted answers.
        options: see `compare_files`.

    Returns:
        The scores: `.anls`, `.signature`, `.hints`, and `.to_dict()` for all of it.

    Raises:
        ValueError: the files cannot be scored, and what to do; there are several submissions. OSError: a file cannot be
            read.

    Example:
        >>> found = score_file("examples/gold_label.json", "examples/submission.json")
        >>> found.anls
        0.6273148148148148
        >>> found
        <FileScores submission: 0.6273; anls|standard|threshold:0.5|v2.0.0>
    """
    found = compare_files(*files, gold=gold, **options)
    if len(found.scored_sets) > 1:
        raise ValueError(f"there are several submissions ({', '.join(found.scored_sets)}): compare_files takes them")
    return found


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
    prediction_field: str | None = None,
    references_field: str | None = None,
    references_separator: str | None = None,
    extract: str | None = None,
    repeat: str | None = None,
    missing: str = "error",
    extra: str = "error",
) -> FileScores:
    """Score several submissions to the same questions, and compare them question by question.

    Args:
        files: a gold file, then submissions; or, where `gold` is given, submissions; or files that hold both sides. One
            of them may be a list of paths, or a dictionary of paths by the names that the submissions are to have.
        gold: the file with the accepted answers.
        variant: which ANLS; names with commas between, or "all", give the number under each, and the first counts.
            "anls_star" and "anlsl" score lists and nested values.
        threshold, ignore_case: see `get_variant`.
        none_keys, average: of "anls_star", see `nested.get_value_variant`.
        by: fields of the records to break the scores down by.
        by_key: of lists and nested values: whether to have the mean score of each key.
        worst: how many of the worst answers to give for each submission.
        regressions: how many of the questions to give that a submission lost against the baseline, and won.
        baseline: the name of the submission that the others are compared with; None takes the first.
        cluster_by: the field that says which questions belong together, "none" for none; None finds it.
        layout, id_field, prediction_field, references_field, references_separator, repeat, missing, extra: see
            `reading.sources.Reading`.
        extract: the rules that take the answers out of what a model wrote, like "think,final".

    Returns:
        The scores with the comparison: `.to_dict()`, `.to_markdown()`, `.to_latex()`, `.to_pandas()`.

    Raises:
        ValueError: the files cannot be scored, and what to do. OSError: a file cannot be read.

    Example:
        >>> answers = "examples/submission.json"
        >>> found = compare_files("examples/gold_label.json", {"base": answers, "tuned": answers})
        >>> found.to_dict()["comparisons"][0]["verdict"]
        'too few questions'
    """
    reading = Reading(
        layout=layout,
        id_field=id_field,
        prediction_field=prediction_field,
        references_field=references_field,
        references_separator=references_separator,
        extract=None if extract is None else extractor(extract, values=variant in OF_VALUES),
        repeat=repeat,
        missing=missing,
        extra=extra,
        values=variant in OF_VALUES,
    )
    by = [by] if isinstance(by, str) else list(by)
    submissions = find_submissions(
        _paths(files), None if gold is None else os.fspath(gold), (), reading, fields_of(by, cluster_by)
    )
    evaluation = Evaluation(
        submissions,
        find_scorers(variant, threshold, ignore_case, none_keys, average),
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


def _paths(files: Iterable[Path | Iterable[Path] | Mapping[str, Path]]) -> list[str]:
    """The files as the command names them."""
    found: list[str] = []
    for file in files:
        if isinstance(file, (str, os.PathLike)):
            found.append(os.fspath(file))
        elif isinstance(file, Mapping):
            found += [f"{name}={os.fspath(path)}" for name, path in file.items()]
        else:
            found += [os.fspath(path) for path in file]
    return found
