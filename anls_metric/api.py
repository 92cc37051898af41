"""`score` and `compare` for files, DataFrames and lists, and the result that they return."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from anls_metric.analysis.evaluation import Evaluation, fields_of, find_rule_columns, find_scorers, pause_collector
from anls_metric.analysis.metrics import find_metrics
from anls_metric.analysis.scored import ScoredSet
from anls_metric.analysis.significance import Interval
from anls_metric.analysis.variant_search import VariantMatch, find_variants
from anls_metric.core.choices import check_count, check_number, describe_unknown, find_similar_name
from anls_metric.core.rows import COLUMN_METHODS, describe
from anls_metric.core.variants import OF_VALUES
from anls_metric.reading.containers import NAMES
from anls_metric.reading.corrections import read_corrections
from anls_metric.reading.errors import InputError, MissingFileError
from anls_metric.reading.extract import extractor
from anls_metric.reading.input_file import describe_missing_file, list_some
from anls_metric.reading.memory_tables import Table, join_columns, list_labels, make_table
from anls_metric.reading.records import find_shards
from anls_metric.reading.resolver import ID_FIELDS
from anls_metric.reading.sources import AUTO, CHOICES, Reading
from anls_metric.reading.submissions import Input, find_submissions, find_tables
from anls_metric.report import tables, terminal, terminal_comparison
from anls_metric.report.answers import Answer, flatten_answer, list_answers
from anls_metric.report.document import describe_evaluation
from anls_metric.report.numbers import Numbers

if TYPE_CHECKING:
    from typing import TypeAlias

    import datasets
    import pandas
    import polars
    import pyarrow
    from typing_extensions import Unpack

    from anls_metric.nested import Average, NoneKeys

    Columns: TypeAlias = str | Iterable[str]
    Path: TypeAlias = str | os.PathLike[str]
    Frame: TypeAlias = pandas.DataFrame | polars.DataFrame | pyarrow.Table | datasets.Dataset
    Data: TypeAlias = Path | Frame | Mapping[str, Any] | Sequence[Any]


class ANLSWarning(UserWarning):
    """A hint: a score seems to depend on how the answers are written rather than on how good they are."""


class Options(TypedDict, total=False):
    """The options of `score` and `compare`.

    Which field is which, if it is not detected:
        prediction: the path of the prediction, such as "output.text"; several, comma-separated, are submissions, which
            `compare` also takes as a list.
        references: the path of the accepted answers.
        id: the path of the question id; "none" matches by position.
        gold_id: the path of the question id in the gold table, if it differs.
        submission: the field that names the model, in a table of several models.
        field: the paths of the columns that the rule of a benchmark needs, such as {"answer_format": "meta.format"}.
        references_separator: the text between accepted answers that share one string.
        layout: the name of a row of `LAYOUTS`: ``anls --list-layouts`` prints them.
        filter: which filter of lm-evaluation-harness to score.

    What is scored:
        extract: the rules that extract the answers from raw model output, such as "think,final" or a list of names.
        missing: "error" (the default), or "zero" to score unanswered questions 0.
        extra: "error" (the default), or "ignore" to ignore answers to questions that are not in the gold table.
        runs: "question" if answers with the same id are runs of one model, "error" to refuse them; None detects runs.
        run: which run to score: its number from 1, or its name, such as an epoch; None scores the mean of all runs.

    How it is scored:
        variant: the variant of ANLS. Several names separated by commas, or "all", give the mean under each; the first
            gives the scores. "anls_star" and "anlsl" score lists and nested values; the rule of a benchmark, like
            "docvqa_2026", needs more columns: see `rule`.
        threshold, ignore_case: see `get_variant`.
        none_keys, average: options of "anls_star": see `nested.get_value_variant`.

    What else is computed:
        by: fields of the records to break the scores down by.
        by_key: whether to break the scores of lists and nested values down by key.
        cluster_by: the field that names the document of a question, "none" for no clusters; None detects it.
        metrics: more metrics, such as "f1,cer": see `analysis.metrics.METRICS`.
        confusions: how many of the most frequent confusions of characters to list; 0 by default.
        suspects: whether to list questions on which most of three or more submissions agree on a wrong answer.
        corrections: the path of a file that accepts more answers, or excludes questions.
        confidence_field: the path of the model's confidence: a number from 0 to 1, or, in a field ``logprob``, its
            natural logarithm; None detects it.
        judge_field: the path of a judge's verdict about an answer: true or false, 1 or 0, "correct" or "incorrect",
            "yes" or "no".
        right_at: the lowest score of a right answer, for confidence and judge; None is 0.5.
        worst: how many of the worst answers of each submission to show; 0 by default.
        baseline: the name of the submission to compare the others with; None is the first.
        all_pairs: whether to compare every pair of submissions.
        regressions: how many lost questions to show for each submission, and as many won questions; 0 by default.
    """

    prediction: str | Sequence[str] | None
    references: str | None
    id: str | None
    gold_id: str | None
    submission: str | None
    field: Mapping[str, str]
    references_separator: str | None
    layout: str | None
    filter: str | None
    extract: str | Sequence[str] | None
    missing: Literal["error", "zero"]
    extra: Literal["error", "ignore"]
    runs: Literal["question", "error"] | None
    run: int | str | None
    variant: str | Sequence[str] | None
    threshold: float | None
    ignore_case: bool | None
    none_keys: NoneKeys | None
    average: Average | None
    by: str | Sequence[str] | None
    by_key: bool
    cluster_by: str | None
    metrics: str | Sequence[str] | None
    confusions: int
    suspects: bool
    corrections: Path | None
    confidence_field: str | None
    judge_field: str | None
    right_at: float | None
    worst: int
    baseline: str | None
    all_pairs: bool
    regressions: int


class Scores:
    """What `score` and `compare` return. It prints as the command does, and a notebook shows it as a table.

    Attributes:
        scored_sets: the scored set of each submission, by its name.
        notes: how the tables and files were read.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        most_changes: int = 0,
        most_confusions: int = 0,
        with_suspects: bool = False,
        inputs: Sequence[Input] = (),
    ) -> None:
        self._evaluation = evaluation
        self.scored_sets = evaluation.scored_sets
        self.notes = evaluation.notes
        self._inputs = [each.records or each.path for each in inputs]
        self._details = most_changes, most_confusions, with_suspects

    @cached_property
    def _document(self) -> dict[str, Any]:
        return describe_evaluation(self._evaluation, self.hints, *self._details)

    @property
    def anls(self) -> float:
        """The ANLS. ValueError: there are several submissions."""
        return self._get_only_set().mean

    @property
    def interval(self) -> Interval | None:
        """The 95 % confidence interval; None for fewer than two clusters. ValueError: there are several submissions."""
        return self._get_only_set().interval

    def _get_only_set(self) -> ScoredSet:
        if len(self.scored_sets) > 1:
            first = next(iter(self.scored_sets))
            raise ValueError(
                f"there are several submissions ({', '.join(self.scored_sets)}): "
                f'take one with scores["{first}"], or all with to_pandas()'
            )
        return next(iter(self.scored_sets.values()))

    def __getitem__(self, name: str) -> ScoredSet:
        """Return the scored set of a submission: ``.anls``, ``.interval``, ``.rows``. KeyError: there is none."""
        if name not in self.scored_sets:
            advice = "; the mean score is .anls" if name == "anls" else ""
            raise KeyError(describe_unknown("submission", name, self.scored_sets) + advice)
        return self.scored_sets[name]

    @property
    def signature(self) -> str:
        """The signature of the score. Report it with the number."""
        return str(self._document["signature"])

    @property
    def hints(self) -> list[str]:
        """Sentences about what looks wrong with the answers. They change no number."""
        return list(map(str, self._evaluation.hints))

    def answers(self) -> list[Answer]:
        """List every answer with its score: a dict for each question and submission.

        Example:
            >>> (answer,) = score(["CocaCola"], [["Coca Cola"]]).answers()
            >>> answer["id"], answer["prediction"], answer["score"], answer["outcome"]
            ('1', 'CocaCola', 0.8888888888888888, 'close enough')
        """
        return list(list_answers(self._evaluation.entries))

    def answers_frame(self) -> pandas.DataFrame:
        """Return the answers as a data frame of pandas, with a column for each field of `by`.

        Raises:
            ImportError: pandas is not installed.
        """
        return _import_pandas("answers_frame").DataFrame(map(flatten_answer, self.answers()))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as one document: what ``anls --format json`` prints."""
        return self._document

    def to_pandas(self) -> pandas.DataFrame:
        """Return the figures as a data frame of pandas, a row for each submission.

        Raises:
            ImportError: pandas is not installed.
        """
        return _import_pandas("to_pandas").DataFrame(tables.collect_figures(self._document))

    def to_markdown(self, *, percent: bool = False, digits: int | None = None, columns: Columns = ()) -> str:
        """Format the tables for Markdown.

        Args:
            percent: whether to print 83.57 instead of 0.8357.
            digits: the number of digits after the point; None for 4, and for 2 in percent.
            columns: the columns of the first table, by their names in `to_dict`, such as "anls,interval"; by default
                the usual columns.

        Raises:
            ValueError: there is no such column; the message lists all of them.

        Example:
            >>> print(score(["CocaCola"], [["Coca Cola"]]).to_markdown(percent=True, columns="anls").splitlines()[2])
            | data | 88.89 |
        """
        return tables.as_markdown(self._document, Numbers.of(percent, digits), columns)

    def to_latex(self, *, percent: bool = False, digits: int | None = None, columns: Columns = ()) -> str:
        """Format the tables for a paper, with booktabs. The arguments are those of `to_markdown`."""
        return tables.as_latex(self._document, Numbers.of(percent, digits), columns)

    def to_csv(self, *, percent: bool = False, digits: int | None = None, columns: Columns = ()) -> str:
        """Format the figures as CSV, a line for each submission. The arguments are those of `to_markdown`.

        Without these arguments, every number has all of its digits.
        """
        return tables.as_csv(self._document, Numbers.of(percent, digits), columns)

    def find(self, number: float | str) -> list[VariantMatch]:
        """Find the variants and extraction rules that give a number, rounded to its digits.

        Args:
            number: the number, such as 84.75. A text keeps trailing zeros: "84.70".

        Returns:
            All variants and rules that give the number; if there are none, the nearest one.

        Example:
            >>> [match.variant for match in score(["CocaCola"], [["Coca Cola"]]).find(88.9)][:2]
            ['standard', 'rrc']
        """
        return find_variants(str(number), self.scored_sets)

    def report(self, path: Path, images: Path | None = None, images_limit: float = 24) -> None:
        """Write a report of all results as an HTML file, which opens in a browser without a network.

        Args:
            path: the file to write, such as "report.html".
            images: the pages that the report shows beside the questions: a folder, a zip archive, or a Parquet file
                with a column of images. None takes them from an image column of the scored data. In a table in memory,
                the cells are bytes, paths, dicts of both as `datasets` has them, or Pillow images.
            images_limit: the limit for all pages together, in MB; 0 for no pages.

        Raises:
            ValueError: there are no images at `images`, `path` does not end in ".html", or the limit is no number from
                0 to 10,000.
            OSError: the file cannot be written.
        """
        from anls_metric.report.html import as_html
        from anls_metric.report.images import Images, count_bytes
        from anls_metric.report.results import refuse_report_path, write_whole

        if not isinstance(path, (str, os.PathLike)):
            raise ValueError(f'path is {describe(path)}: give the name of a file, such as "report.html"')
        refuse_report_path(os.fspath(path))
        for scored_set in self.scored_sets.values():
            scored_set.complete()
        pages = Images(None if images is None else os.fspath(images), self._inputs, count_bytes(images_limit))
        pages.has_ids = self._evaluation.has_ids
        write_whole(
            os.fspath(path), as_html(self._evaluation.entries, self._evaluation.compared, self.hints, images=pages)
        )

    def __str__(self) -> str:
        if len(self.scored_sets) > 1:
            text = terminal_comparison.as_text(self._document, self.scored_sets)
        else:
            text = terminal.format_summary(self._evaluation.entries[0])
        hints = [f"hint: {terminal.make_printable(hint)}" for hint in self.hints]
        return "\n\n".join([text, *(["\n".join(hints)] if hints else [])])

    def __repr__(self) -> str:
        means = ", ".join(f"{name}: {scored_set.mean:.4f}" for name, scored_set in self.scored_sets.items())
        return f"<Scores {means}; {self.signature}>"

    def _repr_html_(self) -> str:
        return tables.as_html(self._document)


def _import_pandas(method: str) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"{method}() needs pandas: pip install pandas", name=error.name) from None
    return pandas


def score(data: Data | None = None, gold: Data | None = None, **options: Unpack[Options]) -> Scores:
    """Score the answers of a model.

    Args:
        data: the answers: the path of a file, a DataFrame of pandas or polars, a `datasets.Dataset`, a pyarrow table, a
            list of dicts, a dict of columns, a dict from ids to answers, or a list of texts. Without `gold`, it also
            holds the accepted answers. A list of paths or of tables holds several runs of one model.
        gold: the accepted answers, in any of these forms. They are joined with the answers by id, or two lists by
            position.
        options: see `Options`.

    Returns:
        The scores: `.anls`, `.interval`, `.signature`, `.hints`, `.answers()`, `.to_dict()`, and more. Each hint is
        also issued as an `ANLSWarning`.

    Raises:
        ValueError: the answers cannot be scored. The message says what is wrong, where, and what to do.
        OSError: a file cannot be opened. If it does not exist, the error is also a ValueError.
        TypeError: there is no such option, or `data` is missing.

    Example:
        >>> score(["CocaCola", "12/15/89"], [["Coca Cola"], ["12/15/88"]]).anls
        0.8819444444444444
        >>> score("examples/submission.json", gold="examples/gold_label.json")
        <Scores submission: 0.6273; anls|standard|threshold:0.5|questions:6|gold:eedc3a47|v2.0.0>
        >>> table = [{"nr": 1, "output": "Cola", "accepted": ["Coca Cola", "Cola"]}]
        >>> score(table, id="nr", prediction="output", references="accepted").anls
        1.0
    """
    checked = _check_options("score", options)
    if data is None:
        raise TypeError("score() needs the predictions as its first argument")
    named = _list_named(checked)
    if isinstance(data, Mapping) and _are_submissions(data, named):
        problem = f"it holds several submissions ({list_some(map(str, data))})"
        raise InputError(problem, "data", "call compare instead of score")
    if isinstance(data, Mapping) and data and _are_paths(list(data.values())):
        raise InputError("it is a dict of files", "data", "call compare instead of score, or give one file")
    if gold is None and isinstance(data, (list, tuple)) and data and isinstance(data[0], tuple):
        problem, remedy = "it is a list of tuples", "call score(predictions, references) with two lists"
        raise InputError(problem, "data", remedy)
    if gold is None and isinstance(data, Mapping) and _are_unknown_columns(data, named):
        problem = f"it is a dict of lists, and none has a usual name ({list_some(map(repr, data))})"
        remedy = (
            "name the columns with the arguments 'prediction' and 'references'; if the keys are ids, pass this dict as "
            "gold, after the predictions"
        )
        raise InputError(problem, "data", remedy)
    if _are_columns(data, gold, checked.get("variant", "")):
        _refuse_other_order(data, gold, "data")
        columns = join_columns({"prediction": data, "references": gold}, "data")
        return _run([Input("", "data", Table("data", columns))], None, **checked)
    return _run(list(_list_inputs(data, "data", named, gold)), gold, **checked)


def compare(
    submissions: Mapping[str, Data] | Sequence[Path] | Frame, gold: Data | None = None, **options: Unpack[Options]
) -> Scores:
    """Compare the answers of several models, question by question.

    Args:
        submissions: the answers of each model by its name, in any form that `score` takes. In a list of paths, each
            model has the name of its file. One table or file can hold the answers of several models.
        gold: the accepted answers in any form that `score` takes, unless the submissions hold them.
        options: see `Options`.

    Returns:
        The scores and the comparison: `.to_dict()`, `.to_markdown()`, `.to_latex()`, `.to_pandas()`, and more.

    Raises:
        ValueError: the answers cannot be scored or compared. The message says what is wrong, where, and what to do.
        OSError: a file cannot be opened. If it does not exist, the error is also a ValueError.
        TypeError: there is no such option.

    Example:
        >>> gold = {"questionId": [1, 2], "answers": [["Coca Cola"], ["1988"]]}
        >>> scores = compare({"base": {"prediction": ["Cola", "1988"]}, "tuned": {1: "Coca Cola", 2: "1988"}}, gold)
        >>> [(each["name"], each["anls"]) for each in scores.to_dict()["submissions"]]
        [('base', 0.5), ('tuned', 1.0)]
        >>> scores.anls
        Traceback (most recent call last):
        ValueError: there are several submissions (base, tuned): take one with scores["base"], or all with to_pandas()
    """
    checked = _check_options("compare", options)
    named = _list_named(checked)
    if isinstance(submissions, (str, os.PathLike)) and isinstance(gold, (list, tuple)) and _are_paths(gold):
        raise InputError("it comes before a list of files", os.fspath(submissions), "call compare(submissions, gold)")
    if isinstance(submissions, Mapping) and not hasattr(submissions, "features"):
        inputs: list[Input] = []
        for name, data in submissions.items():
            if _are_columns(data, gold, checked.get("variant", "")):
                _refuse_other_order(data, gold, str(name))
                data = {"prediction": data}
            inputs += _list_inputs(data, str(name), named, gold)
    elif isinstance(submissions, (list, tuple)) and submissions and _are_lists(submissions, checked):
        problem = f"it is a list of {len(submissions):,} lists or tables"
        raise InputError(problem, "submissions", "give a dict from the name of each model to its answers")
    elif isinstance(submissions, (list, tuple)) and _are_paths(submissions):
        inputs = [_make_input(path, "", named) for path in submissions]
    else:
        inputs = list(_list_inputs(submissions, "data", named, gold))
    scores = _run(inputs, gold, **checked)
    if isinstance(submissions, (str, os.PathLike)) and len(scores.scored_sets) == 1:
        remedy = "give a dict from the name of each model to its file, or call score"
        raise InputError("it holds the answers of one model", os.fspath(submissions), remedy)
    return scores


def _run(inputs: Sequence[Input], gold: Any, **options: Any) -> Scores:
    """Score inputs, and issue the hints as warnings at the line that called `score` or `compare`."""
    variant, by = options.get("variant", "standard"), options.get("by", ())
    of_values, extract, run = variant in OF_VALUES, options.get("extract"), options.get("run")
    reading = Reading(
        layout=options.get("layout") or AUTO,
        id_field=options.get("id"),
        gold_id_field=options.get("gold_id"),
        prediction_field=options.get("prediction"),
        references_field=options.get("references"),
        submission_field=options.get("submission"),
        references_separator=options.get("references_separator"),
        filter=options.get("filter"),
        confidence_field=options.get("confidence_field"),
        judge_field=options.get("judge_field"),
        runs=options.get("runs"),
        run=None if run is None else str(run),
        extract=None if extract is None else extractor(extract, values=of_values),
        missing=options.get("missing", "error"),
        extra=options.get("extra", "error"),
        values=of_values,
        rule=find_rule_columns(variant, options.get("field")),
    )
    metrics, corrections = options.get("metrics"), options.get("corrections")
    scorers = find_scorers(
        variant,
        options.get("threshold"),
        options.get("ignore_case"),
        options.get("none_keys"),
        options.get("average"),
    )
    by = [by] if isinstance(by, str) else list(by)
    fields = fields_of(by, options.get("cluster_by"))
    if gold is not None:
        if _is_column(gold, variant):
            gold = {"references": gold} if list_labels(gold) is None else gold.to_frame("references")
        questions = _make_input(gold, "gold", _list_named(options))
        submissions = find_submissions((), questions, inputs, reading, fields)
    elif len(inputs) > 1:
        submissions = find_tables(inputs, reading, fields)
    else:
        submissions = find_submissions(inputs, None, (), reading, fields)
    with pause_collector():
        evaluation = Evaluation(
            submissions,
            scorers,
            by=by,
            by_key=options.get("by_key", False),
            worst=options.get("worst", 0),
            cluster_by=options.get("cluster_by"),
            baseline=options.get("baseline"),
            all_pairs=options.get("all_pairs", False),
            keep=True,
            metrics=() if metrics is None else find_metrics(metrics),
            confusions=bool(options.get("confusions")),
            corrections=None if corrections is None else read_corrections(_find_path(corrections)),
            right_at=options.get("right_at"),
        ).finish()
    scores = Scores(
        evaluation,
        options.get("regressions", 0),
        options.get("confusions", 0),
        options.get("suspects", False),
        inputs=[questions, *inputs] if gold is not None else inputs,
    )
    for hint in scores.hints:
        warnings.warn(hint, ANLSWarning, stacklevel=3)
    return scores


def _check_options(function: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse an option or a value that does not exist. Leave out what is None, and join a list of names to a text."""
    checked: dict[str, Any] = {}
    for name, value in options.items():
        if name not in Options.__annotations__:
            shorter = name.removesuffix("_field")  # a flag of the command has this ending
            similar = (
                shorter
                if shorter in Options.__annotations__
                else find_similar_name(name, ["gold", *Options.__annotations__])
            )
            advice = f"did you mean {similar}?" if similar else "help(anls_metric.Options) lists the options"
            advice = _ADVICE.get(name, advice)
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}: {advice}")
        if value is None:
            continue
        if name in CHOICES and value not in CHOICES[name]:
            raise ValueError(describe_unknown(f"value of {name}", value, CHOICES[name]))
        several = (*_NAMES, "prediction") if function == "compare" else _NAMES
        if name in several and isinstance(value, (list, tuple)) and set(map(type, value)) == {str}:
            value = ",".join(value)
        is_wrong = name in _VALUES and (not isinstance(value, _TYPES.get(name, str)) or value == "")
        is_wrong = is_wrong or (name in ("prediction", "references") and os.path.isfile(value))
        if is_wrong:
            raise ValueError(f"{name} is {describe(value)}: {_VALUES[name]}")
        if name in ("worst", "confusions", "regressions"):
            check_count(name, value)
        if name == "right_at":
            check_number(name, value)
        checked[name] = value
    return checked


# Options that users try -> what to do.
_ADVICE = {
    "return_all_scores": "score(...).answers() lists every answer with its score",
    "report": 'score(...).report("report.html") writes the report',
    "output": "score(...).to_dict() has all results",
    "predictions": "give the predictions as the first argument, and the accepted answers as the second",
}

_A_FIELD = "it must be the name of a field"
# Options that have one type, mostly a text -> what to pass instead of something else.
_VALUES = {
    "prediction": "give the predictions as the first argument; prediction is the name of a field",
    "references": "give the accepted answers as the second argument; references is the name of a field",
    **dict.fromkeys(("id", "gold_id", "submission", "cluster_by", "confidence_field", "judge_field"), _A_FIELD),
    "references_separator": "it must be a text",
    "layout": "it must be the name of a layout",
    "filter": "it must be the name of a filter",
    "extract": 'it must name extraction rules, such as "think,final"',
    "variant": 'it must name variants, such as "rrc"',
    "metrics": 'it must name metrics, such as "f1,cer"',
    "baseline": "it must be the name of a submission",
    "by": "it must be the name of a field, or a list of names",
    "corrections": "write the corrections to a file, and give its path",
    "field": 'it must be a dict, such as {"answer_format": "meta.format"}',
}
_TYPES: Mapping[str, Any] = {"by": Iterable, "corrections": (str, os.PathLike), "field": Mapping}
_NAMES = ("extract", "variant", "metrics")  # options that take several names: a list, or a text with commas


def _list_named(options: Mapping[str, Any]) -> list[str]:
    """List the fields that the user names."""
    fields = [options.get(name) for name in ("prediction", "references", "id", "gold_id", "submission")]
    return [part.strip() for field in fields if field for part in field.split(",")]


# Data in memory


def _are_columns(data: Any, gold: Any, variant: str) -> bool:
    """Whether two objects are a column of predictions and a column of accepted answers."""
    if not _is_list(data) or not _is_column(gold, variant):
        return False
    return variant in OF_VALUES or not _holds_records(data)


def _refuse_other_order(data: Any, gold: Any, name: str) -> None:
    """Refuse two Series or DataFrames of pandas whose indexes match them in another order than their positions."""
    ours, theirs = list_labels(data), list_labels(gold)
    if ours != theirs and ours and theirs and len(ours) == len(theirs) and set(ours) == set(theirs):
        problem = "its index has the labels of the accepted answers in another order"
        raise InputError(
            problem, name, "match by index with predictions.loc[gold.index], or give lists to match by position"
        )


def _drop_common_index(data: Any, gold: Any, name: str) -> Any:
    """Drop the index of predictions if it has no name and that of the gold table is the same: they are rows of one."""
    labels = list_labels(data)
    if labels is None or len(getattr(data, "columns", "1")) != 1 or any(each is not None for each in data.index.names):
        return data
    if set(ID_FIELDS).isdisjoint(getattr(gold, "columns", ())):
        _refuse_other_order(data, gold, name)
    return data.reset_index(drop=True) if labels == list_labels(gold) else data


def _is_column(gold: Any, variant: str) -> bool:
    """Whether an object is a column of accepted answers, rather than a list of records."""
    return _is_list(gold) and not _holds_records(gold, NAMES if variant in OF_VALUES else frozenset())


def _is_list(data: Any) -> bool:
    """Whether an object is a list or a column of a library, rather than a table."""
    if isinstance(data, (str, bytes, Mapping)):
        return False
    is_column = isinstance(data, (Sequence, ValuesView)) or any(hasattr(data, method) for method in COLUMN_METHODS)
    return is_column and not any(hasattr(data, name) for name in ("columns", "column_names", "schema"))


def _holds_records(data: Iterable[Any], names: Set[str] = frozenset()) -> bool:
    """Whether a list holds dicts; if names are given, dicts with one of these keys."""
    first = next(iter(data), None)
    return isinstance(first, Mapping) and (not names or not names.isdisjoint(first))


def _list_inputs(data: Any, name: str, named: Collection[str], gold: Any) -> Iterator[Input]:
    """List the inputs of a submission: several if a list holds runs."""
    if isinstance(data, (list, tuple)) and data and (_are_paths(data) or all(map(_is_run, data))):
        for number, run in enumerate(data, 1):
            run_name = f"{name}, run {number}"
            each = _make_input(_drop_common_index(run, gold, run_name), run_name, named)
            yield each._replace(name=name)
    else:
        each = _make_input(_drop_common_index(data, gold, name), name, named)
        yield each if name == "data" and each.path else each._replace(name=name)


def _make_input(data: Any, name: str, named: Collection[str]) -> Input:
    if isinstance(data, (str, os.PathLike)):
        return Input(_find_path(data))
    if _is_list(data) and list_labels(data) is not None and not _holds_records(data):
        data = data.to_frame("prediction")
    return Input("", name, make_table(data, name, named))


def _find_path(file: Path) -> str:
    """Return the path of a file. MissingFileError: there is no such file."""
    path = os.fspath(file)
    if path == "-" or os.path.exists(path) or ("\n" not in path and find_shards(path) is not None):
        return path
    if path.lstrip().startswith(("{", "[")):
        raise InputError("it is JSON, and not the path of a file", "data", "parse it with json.loads, or give the path")
    problem, remedy = describe_missing_file(path)
    if not remedy and os.path.splitext(path)[1].lower() not in _ENDINGS:
        remedy = "give the path of a file or a list of texts, or score one text with anls_score"
    raise MissingFileError(problem, path, remedy)


def _is_run(data: Any) -> bool:
    """Whether an object in a list is a run: a table, or answers by ids that are numbers. A field has no such name."""
    return _is_table(data) or (isinstance(data, Mapping) and len(data) > 0 and set(map(type, data)) == {int})


def _is_table(data: Any) -> bool:
    """Whether an object is a table rather than a record: a DataFrame, or a list of records."""
    if isinstance(data, (list, tuple)):
        return bool(data) and all(isinstance(record, Mapping) for record in data)
    return hasattr(data, "columns") or hasattr(data, "column_names")


def _are_submissions(data: Mapping[str, Any], named: Collection[str]) -> bool:
    """Whether a dict holds tables by the names of models, and no columns."""
    return len(data) > 1 and {*NAMES, *named}.isdisjoint(data) and all(map(_is_table, data.values()))


def _are_lists(items: Sequence[Any], options: Mapping[str, Any]) -> bool:
    """Whether items are submissions without names: tables, or lists of texts."""
    if all(map(_is_table, items)):
        return True
    return options.get("variant") not in OF_VALUES and all(map(_is_list, items))


def _are_unknown_columns(data: Mapping[str, Any], named: Collection[str]) -> bool:
    """Whether a dict holds columns of one length under names that are neither usual nor ids."""
    columns = list(data.values())
    names = all(isinstance(name, str) and name.isidentifier() for name in data)
    return (
        len(data) > 1
        and names
        and {*NAMES, *named}.isdisjoint(data)
        and all(_is_list(column) and not _holds_records(column) for column in columns)
        and len(set(map(len, columns))) == 1
    )


def _are_paths(items: Sequence[Any]) -> bool:
    """Whether texts are paths of files rather than answers."""
    if len(items) > _MOST_RUNS or not all(isinstance(item, (str, os.PathLike)) for item in items):
        return False
    endings = {os.path.splitext(item)[1].lower() for item in items}
    return endings <= _ENDINGS or any(isinstance(item, os.PathLike) or os.path.exists(item) for item in items)


_MOST_RUNS = 1000
_ENDINGS = frozenset(
    (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".parquet", ".arrow", ".xlsx", ".eval", ".gz")
)
