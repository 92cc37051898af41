"""Defines `score` and `compare` for files, DataFrames and lists, and the result they return."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.evaluation import Result, evaluate
from anls_metric.analysis.scored import Scored
from anls_metric.core.checks import describe_unknown
from anls_metric.core.scorer import SCORERS
from anls_metric.messages import list_some, make_error, shorten
from anls_metric.options import Options, Settings, make_settings
from anls_metric.reading.inputs import Input
from anls_metric.reading.kinds import is_list, is_table
from anls_metric.reading.records import NAMES
from anls_metric.run import Run

if TYPE_CHECKING:
    from typing import Protocol, TypeAlias

    from typing_extensions import Unpack

    from anls_metric.analysis.answer_rows import AnswerRow, LeafRow
    from anls_metric.analysis.confusions import Confusion
    from anls_metric.analysis.parts.lost import LostRow
    from anls_metric.analysis.suspects import Suspect
    from anls_metric.analysis.variant_search import VariantMatch
    from anls_metric.core.statistics.significance import Interval
    from anls_metric.report.schema import Run as Whole

    Path: TypeAlias = str | os.PathLike[str]

    # The attributes of tables, so that types do not depend on which libraries are installed.

    class _Stream(Protocol):
        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

    class _Columns(Protocol):
        @property
        def columns(self) -> Any: ...

    class _ColumnNames(Protocol):
        @property
        def column_names(self) -> Any: ...

    Frame: TypeAlias = _Stream | _Columns | _ColumnNames
    Data: TypeAlias = Path | Frame | Mapping[Any, Any] | Collection[Any]


class ANLSWarning(UserWarning):
    """A hint that a score seems to depend on how the answers are written rather than on how good they are."""


class Scores(Run):
    """The result of `score` and `compare`. Printing a result shows the same output as the command, and a notebook shows
    a table.

    Attributes:
        submissions: the submissions with their scores, by name.
    """

    def __init__(self, result: Result, inputs: Sequence[Input] = ()) -> None:
        self._result, self._inputs = result, inputs
        self.submissions: dict[str, Scored] = {scored.name: scored for scored in result.submissions}

    @cached_property
    def _figures(self) -> Whole:
        from anls_metric.document import build_document  # a score does not need it

        return build_document(self._result)

    def _build(self, *needs: str) -> Whole:
        from anls_metric.document import build_document

        return build_document(self._result, needs) if needs else self._figures

    def _build_figure(self, kind: str) -> Whole:
        return self._build(kind)

    def _build_whole(self) -> Whole:
        from anls_metric.document import EVERYTHING

        return self._build(EVERYTHING)

    def _list_rows(self) -> Mapping[str, Iterable[AnswerRow]]:
        from anls_metric.analysis.answer_rows import list_rows

        return {scored.name: list_rows(scored) for scored in self._result.submissions}

    def _list_inputs(self) -> list[str]:
        return list(filter(None, [*(each.path for each in self._inputs), self._result.settings.corrections]))

    @property
    def anls(self) -> float:
        """The ANLS of the only submission. Raises ValueError if there are several submissions."""
        return self._only.anls

    @property
    def interval(self) -> Interval | None:
        """The 95% confidence interval of the ANLS, or None if there are fewer than two clusters. Raises ValueError if
        there are several submissions.
        """
        return self._only.interval

    @property
    def _only(self) -> Scored:
        if len(self.submissions) > 1:
            first = next(iter(self.submissions))
            raise ValueError(
                f"there are several submissions ({', '.join(self.submissions)}): "
                f'take one with scores["{first}"], or all with to_pandas()'
            )
        return self._result.submissions[0]

    def __getitem__(self, name: str) -> Scored:
        """Return a submission's scores: ``.anls``, ``.interval``, ``.scores``. Raises KeyError if there is no such
        submission.
        """
        if name not in self.submissions:
            raise KeyError(describe_unknown("submission", name, self.submissions))
        return self.submissions[name]

    @property
    def signature(self) -> str:
        """The signature of the score, which should be reported with the score."""
        return self._result.signature

    @property
    def read(self) -> list[str]:
        """A line for each submission that shows what was read."""
        return [scored.answers.read.text() for scored in self._result.submissions]

    @property
    def hints(self) -> list[str]:
        """Sentences about what looks wrong with the answers. Hints do not change any number."""
        return [hint.text() for hint in self._result.hints]

    def lost_points(self, name: str | None = None) -> list[LostRow]:
        """Break down by cause the points that the score lost, which add up to 1 - ANLS, with a remedy for each cause.

        Args:
            name: the name of the submission, if there are several.

        Returns:
            One dict for each cause, with ``cause``, ``points``, ``answers`` (how many), ``meaning``, ``remedy``,
            ``options``, ``anls`` and ``lowered``. The steps that win points back come first. For a step, ``options``
            holds keyword arguments for `score` (None if the step can only be done in the files), ``anls`` is the score
            after the step, and ``lowered`` is the number of points that the step takes away from other answers. For
            other causes, these values are None, None and 0.0.

        Raises:
            ValueError: there are several submissions and no name is given. KeyError: no submission has this name.

        Example:
            >>> for row in score(["Coca-Cola", "5", "tee"], [["Coca Cola"], ["4"], ["tea"]]).lost_points():
            ...     print(row["cause"], round(row["points"], 4), row["remedy"])
            another number 0.3333 the model or the OCR
            a few characters 0.1111 the model or the OCR
            punctuation 0.037 ask the model to copy the page, or accept both with corrections=
        """
        from anls_metric.analysis.parts.lost import describe_lost
        from anls_metric.document import put_into_words

        found = describe_lost(self._only if name is None else self[name])
        rows: list[LostRow] = put_into_words(found["rows"], {})
        return rows

    def leaves(self) -> list[LeafRow]:
        """List every leaf of structured answers that were scored with ``by_key=True``, each with its outcome.

        Raises:
            ValueError: the leaves were not counted.

        Example:
            >>> invoices = [{"total": "12.5"}], [{"total": "12.50", "date": "2026-11-27"}]
            >>> for leaf in score(*invoices, variant="anls_star", by_key=True).leaves():
            ...     print(leaf["path"], leaf["outcome"], leaf["prediction"], leaf["reference"])
            total close 12.5 12.50
            date missed None 2026-11-27
        """
        from anls_metric.analysis.answer_rows import list_leaves

        if not self._result.settings.by_key:
            raise ValueError("the leaves were not counted: score with by_key=True")
        return list(list_leaves(self._result.submissions))

    def find(self, number: float | str) -> list[VariantMatch]:
        """Find the variants, metrics and extraction steps whose result, rounded to the digits of a number, equals the
        number.

        Args:
            number: the number, such as 84.75. A string keeps trailing zeros: "84.70".

        Returns:
            All matches, with variants at other thresholds last, or only the nearest result if nothing matches.

        Example:
            >>> [match.variant for match in score(["CocaCola"], [["Coca Cola"]]).find(88.9)][:2]
            ['standard', 'rrc']
        """
        from anls_metric.analysis.variant_search import find_variants

        return find_variants(str(number), self._result.submissions)

    def confusions(self, most: int = 20) -> dict[str, list[Confusion]]:
        """Return, by submission name, the most frequent edits, which show which characters the models confuse.

        Example:
            >>> score(["B0B", "R0AD"], [["BOB"], ["ROAD"]]).confusions()
            {'data': [Confusion(predicted='0', accepted='o', count=2)]}
        """
        from anls_metric.analysis.confusions import find_confusions

        confusions = {name: find_confusions(scored, most) for name, scored in self.submissions.items()}
        return {name: [confusion for confusion, _ in pairs] for name, pairs in confusions.items()}

    def suspects(self) -> list[Suspect]:
        """List suspected label errors: questions for which most submissions agree on an answer that is not accepted.

        Raises:
            ValueError: there are fewer than three submissions.
        """
        from anls_metric.analysis.suspects import MIN_SUBMISSIONS, find_suspects

        if len(self.submissions) < MIN_SUBMISSIONS:
            raise ValueError(
                f"suspected label errors require at least {MIN_SUBMISSIONS} submissions, got {len(self.submissions)}"
            )
        return find_suspects(self._result.submissions)

    def report(self, path: Path, images: Path | None = None) -> None:
        """Write a report of all results as an HTML file that can be opened in a browser, even offline.

        Args:
            path: the file to write, such as "report.html".
            images: the page images that the report shows next to the questions: a folder, a zip archive, or a Parquet
                file with a column of images. None selects an image column of the scored data. In an in-memory table,
                the cells of this column are bytes, paths, dicts of both as in `datasets`, or Pillow images.

        Raises:
            ValueError: there are no images at `images`, `path` does not end in ".html", or the file is an input.
            OSError: the file cannot be written.
        """
        from anls_metric.analysis.images import Images
        from anls_metric.document import REPORT, build_document
        from anls_metric.report.html import check_path, write_report

        check_path(os.fspath(path))
        place = None if images is None else os.fspath(images)
        run = build_document(self._result, {REPORT}, Images(place, self._inputs))
        write_report(os.fspath(path), run, [*self._list_inputs(), *([place] if place else [])])

    def __repr__(self) -> str:
        means = ", ".join(f"{name}: {scored.anls:.4f}" for name, scored in self.submissions.items())
        return f"<Scores {means}; {self.signature}>"


def score(data: Data | None = None, gold: Data | None = None, **options: Unpack[Options]) -> Scores:
    """Score the answers of one model.

    Args:
        data: the answers: the path to a file, a pandas or polars DataFrame, a `datasets.Dataset`, any table with
            `__arrow_c_stream__` (pyarrow, DuckDB, Spark 4), a list of dicts, a dict of columns, a dict mapping ids to
            answers, or a list of strings. Without `gold`, the data must also contain the references. A list of paths or
            tables holds several runs of one model.
        gold: the references (accepted answers), in any of these forms, or the name of public data, such as
            "docvqa:val", which are fetched once. References are joined with the answers by id, or by position if both
            are lists.
        options: see `Options`.

    Returns:
        The scores: `.anls`, `.interval`, `.signature`, `.hints`, `.answers()`, `.to_dict()`, and more. Each hint is
        also issued as an `ANLSWarning`.

    Raises:
        ValueError: the answers cannot be scored. The message says what is wrong, where, and what to do.
        OSError: a file cannot be opened. If it does not exist, the error is also a ValueError.
        TypeError: an option does not exist.

    Example:
        >>> score(["CocaCola", "12/15/89"], [["Coca Cola"], ["12/15/88"]]).anls
        0.8819444444444444
        >>> score("examples/submission.json", gold="examples/gold_label.json")
        <Scores submission: 0.6273; anls|standard|threshold:0.5|questions:6|gold:4f3517b9|v2>
        >>> table = [{"nr": 1, "output": "Cola", "accepted": ["Coca Cola", "Cola"]}]
        >>> score(table, id="nr", prediction="output", references="accepted").anls
        1.0
    """
    if data is None:
        raise TypeError("score() takes the answers first, then the references: score(predictions, references)")
    settings = make_settings(options, "score")
    if isinstance(data, str) and is_list(gold) and not os.path.exists(data):
        sentence = "there is no file {text!r}: to score one answer, call anls_score; to score several, pass a list"
        raise make_error("data", sentence, text=shorten(data, 60))
    if isinstance(data, Mapping) and not is_table(data) and NAMES.isdisjoint(data) and _are_tables(data.values()):
        sentence = "it contains several submissions ({names}): call compare instead of score"
        raise make_error("data", sentence, names=list_some(data))
    return _run(_list_inputs(data, "", settings), gold, settings)


def compare(
    submissions: Mapping[str, Data] | Collection[Any] | Frame, gold: Data | None = None, **options: Unpack[Options]
) -> Scores:
    """Compare the answers of several models, question by question.

    Args:
        submissions: the answers of each model by name, in any form that `score` takes. In a list of paths, each model
            is named after its file. One table or file can hold the answers of several models.
        gold: the references in any form that `score` takes, unless the submissions contain them.
        options: see `Options`.

    Returns:
        The scores and the comparison: `.to_dict()`, `.to_markdown()`, `.to_latex()`, `.to_pandas()`, and more.

    Raises:
        ValueError: the answers cannot be scored or compared. The message says what is wrong, where, and what to do.
        OSError: a file cannot be opened. If it does not exist, the error is also a ValueError.
        TypeError: an option does not exist.

    Example:
        >>> gold = {"questionId": [1, 2], "answers": [["Coca Cola"], ["1988"]]}
        >>> scores = compare({"base": {"prediction": ["Cola", "1988"]}, "tuned": {1: "Coca Cola", 2: "1988"}}, gold)
        >>> [(each["name"], each["anls"]) for each in scores.to_dict()["submissions"]]
        [('base', 0.5), ('tuned', 1.0)]
        >>> scores.anls
        Traceback (most recent call last):
        ValueError: there are several submissions (base, tuned): take one with scores["base"], or all with to_pandas()
    """
    settings = make_settings(options, "compare")
    if isinstance(submissions, Mapping):
        inputs = [each for name, data in submissions.items() for each in _list_inputs(data, str(name), settings)]
    elif isinstance(submissions, (list, tuple)) and all(isinstance(each, (str, os.PathLike)) for each in submissions):
        inputs = [Input(os.fspath(path)) for path in submissions]
    else:
        inputs = _list_inputs(submissions, "", settings)
        if len(inputs) > 1:
            sentence = "expected a dict mapping the name of each model to its answers, got a list of {count:,} tables"
            raise make_error("submissions", sentence, count=len(inputs))
    return _run(inputs, gold, settings)


def _run(inputs: Sequence[Input], gold: Any, settings: Settings) -> Scores:
    """Score inputs and issue the hints as warnings at the line that called `score` or `compare`."""
    questions = None if gold is None else _make_input(gold, "gold", "references", settings)
    if any(each.path for each in (questions, *inputs) if each):
        from anls_metric.gold import resolve  # a path may be the name of public data

        inputs, questions, settings = resolve(inputs, questions, settings)
    result = evaluate(inputs, questions, settings)
    for hint in result.hints:
        warnings.warn(hint.text(), ANLSWarning, stacklevel=3)
    return Scores(result, [questions, *inputs] if questions else inputs)


# Data in memory


def _list_inputs(data: Any, name: str, settings: Settings) -> list[Input]:
    """List the inputs of a submission: several if a list holds runs. Without a name, a file is named after its path."""
    if isinstance(data, (list, tuple)) and _are_tables(data):
        return [_make_input(run, name or "data", "prediction", settings) for run in data]
    return [_make_input(data, name, "prediction", settings)]


def _are_tables(items: Collection[Any]) -> bool:
    """Whether items are tables or files, rather than records or answers."""
    return bool(items) and all(map(_is_table_or_file, items))


def _is_table_or_file(item: Any) -> bool:
    if isinstance(item, (list, tuple, dict)):
        kind = int if isinstance(item, dict) else Mapping  # answers by id, and records
        return bool(item) and all(isinstance(each, kind) for each in item)
    return is_table(item) or isinstance(item, os.PathLike) or (isinstance(item, str) and os.path.isfile(item))


def _make_input(data: Any, name: str, field: str, settings: Settings) -> Input:
    """Create an input from a path or from in-memory data, in which bare answers are put into ``field``."""
    if isinstance(data, (str, os.PathLike)):
        return Input(os.fspath(data), name)
    return Input(_make_table(data, field, settings), name or "data")


def _scores_values(name: str | None) -> bool:
    """Whether a variant scores lists and nested values. An unknown name is rejected later."""
    scorer = SCORERS.get(name or "standard")
    return scorer is not None and scorer.reads_json


def _make_table(data: Any, field: str, settings: Settings) -> Any:
    """Create a table from in-memory data, in which bare answers are put into ``field``. The index of a Series provides
    the ids, unless a label is repeated.
    """
    if not is_list(data):
        from anls_metric.reading.memory import fetch_rows  # which lists do not need

        return fetch_rows(data, field)
    first = next(iter(data), None)
    are_values = _scores_values(settings.variant) and not settings.fields
    if isinstance(first, Mapping):
        paths = filter(None, [*(settings.prediction or ()), settings.references, settings.id])
        named = {*NAMES, *(step for path in paths for step in (path, path.partition(".")[0]))}
        if not are_values or not named.isdisjoint(first):
            return data
    if not hasattr(data, "rename_axis") or not data.index.is_unique:
        return {field: data}
    if field == "references" and data.index.tolist() != list(range(len(data))):
        data = data.rename_axis(data.index.name or "questionId")
    return data.to_frame(field)
