"""Defines a run, the document of scored answers with its views, which can be saved in a file and opened again."""

from __future__ import annotations

import gzip
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from anls_metric.messages import InputError, make_error
from anls_metric.options import RUNS, read_settings

if TYPE_CHECKING:
    from typing import TypeAlias

    import pandas
    from matplotlib.axes import Axes

    from anls_metric.analysis.answer_rows import Answer, AnswerRow
    from anls_metric.core.statistics.significance import Interval
    from anls_metric.report.columns import Names
    from anls_metric.report.schema import Document, FigureKind
    from anls_metric.report.schema import Run as Whole

    Path: TypeAlias = str | os.PathLike[str]

MAX_BYTES = 2_000_000_000
"""The maximum size in bytes of a file with a run, after decompression."""


def is_run(path: str) -> bool:
    """Whether a file name has the ending of a run."""
    return path.lower().endswith(RUNS)


class Run:
    """Scored answers with everything that tables, figures and the report show. `open` returns a run, and the results of
    `score` and `compare` are also runs.

    A run does not keep page images.
    """

    _drawn: Document | None = None

    def __init__(self, whole: Whole, path: str = "") -> None:
        self._kept, self._path = whole, path

    def _build(self, *needs: str) -> Whole:
        """Return the document with the parts that views need."""
        missing = [need for need in needs if need not in self._kept]
        if missing:
            sentence = "answers from different runs cannot be shown side by side: score the submissions together"
            raise make_error(self._path, sentence)
        return self._kept

    @property
    def _document(self) -> Document:
        from anls_metric.report.wording import word  # not needed for scores alone

        return self._drawn or word(self._build())

    # What was scored

    @property
    def anls(self) -> float:
        """The ANLS of the only submission. Raises ValueError if there are several submissions."""
        return float(self._find_only()["anls"])

    @property
    def interval(self) -> Interval | None:
        """The 95% confidence interval of the ANLS, or None if there are fewer than two clusters. Raises ValueError if
        there are several submissions.
        """
        from anls_metric.core.statistics.significance import Interval

        interval = self._find_only()["interval"]
        return Interval(*interval) if interval else None

    def _find_only(self) -> Any:
        first, *others = self._document["submissions"]
        if others:
            names = ", ".join(each["name"] for each in (first, *others))
            raise ValueError(f"there are several submissions ({names}): take all of them with to_pandas()")
        return first

    @property
    def signature(self) -> str:
        """The signature of the score, which should be reported with the score."""
        return self._document["signature"]

    @property
    def read(self) -> list[str]:
        """A line for each submission that shows what was read."""
        return [submission["read"] for submission in self._document["submissions"]]

    @property
    def hints(self) -> list[str]:
        """Sentences about what looks wrong with the answers. Hints do not change any number."""
        return [hint["text"] for hint in self._document["hints"]]

    def answers(self) -> list[Answer]:
        """List every answer with its score, as one dict for each answer of each submission.

        Example:
            >>> from anls_metric import score
            >>> (answer,) = score(["Coca-Cola"], [["Coca Cola"]]).answers()
            >>> answer["id"], answer["prediction"], answer["score"], answer["outcome"]
            ('1', 'Coca-Cola', 0.8888888888888888, 'punctuation')
        """
        from anls_metric.analysis.answer_rows import list_answers

        return list(list_answers(self._list_rows()))

    def _list_rows(self) -> Mapping[str, Iterable[AnswerRow]]:
        rows: Any = self._build("rows")["rows"]
        return rows  # type: ignore[no-any-return]

    def answers_frame(self) -> pandas.DataFrame:
        """Return the answers as a pandas DataFrame, with a column for each field of `by`.

        Raises:
            ImportError: pandas is not installed.
        """
        import pandas

        return pandas.DataFrame(self.answers())

    # Tables

    def to_dict(self) -> Document:
        """Return a dict with all results, the same document that ``anls --format json`` prints."""
        return self._document

    def to_pandas(self) -> pandas.DataFrame:
        """Return the figures as a pandas DataFrame, with a row for each submission.

        Raises:
            ImportError: pandas is not installed.
        """
        import pandas

        from anls_metric.report import tables

        return pandas.DataFrame(tables.collect_figures(self._document))

    def to_markdown(self, *, percent: bool = False, digits: int | None = None, columns: Names = ()) -> str:
        """Format the tables as Markdown.

        Args:
            percent: whether to print 83.57 instead of 0.8357.
            digits: the number of digits after the point; None means 4, or 2 for percentages.
            columns: the names of the columns of the first table, as in `to_dict`, such as "anls,interval"; empty for
                the default columns.

        Raises:
            ValueError: a column does not exist; the message lists all columns.

        Example:
            >>> from anls_metric import score
            >>> print(score(["CocaCola"], [["Coca Cola"]]).to_markdown(percent=True, columns="anls").splitlines()[2])
            | data | 88.89 |
        """
        return self._format("markdown", percent, digits, columns)

    def to_latex(self, *, percent: bool = False, digits: int | None = None, columns: Names = ()) -> str:
        """Format the tables as LaTeX for a paper, with booktabs. The arguments are the same as for `to_markdown`."""
        return self._format("latex", percent, digits, columns)

    def to_csv(self, *, percent: bool = False, digits: int | None = None, columns: Names = ()) -> str:
        """Format the figures as CSV, with a line for each submission. The arguments are the same as for `to_markdown`.

        By default, numbers are not rounded.
        """
        return self._format("csv", percent, digits, columns)

    def _format(self, name: str, percent: bool, digits: int | None, columns: Names) -> str:
        from anls_metric.report import tables
        from anls_metric.report.numbers import NumberFormat

        return tables.FORMATS[name](self._document, NumberFormat(percent, digits), columns)

    # The report, figures and files

    def report(self, path: Path) -> None:
        """Write a report of all results as an HTML file that can be opened in a browser, even offline.

        Args:
            path: the file to write, such as "report.html".

        Raises:
            ValueError: `path` does not end in ".html", or is the file of the run itself.
            OSError: the file cannot be written.
        """
        from anls_metric.report.html import check_path, write_report

        check_path(os.fspath(path))
        write_report(os.fspath(path), self._build("report"), self._list_inputs())

    def plot(self, kind: FigureKind = "forest", ax: Axes | None = None) -> Axes:
        """Draw a figure with matplotlib: `scores.plot().figure.savefig("forest.pdf")`.

        Args:
            kind: "forest" for the models with their differences from the baseline, "threshold" for the scores at other
                thresholds, "groups" for the groups of `by`, and "keys" for the keys of `by_key`.
            ax: the axes to draw on, preferably in a figure with `layout="constrained"`, in which all text fits; None
                creates a figure that is one article column wide.

        Returns:
            The axes, whose data is also in `to_dict`.

        Raises:
            ValueError: the scores lack the data of this kind, or matplotlib is not installed.

        Example:
            >>> import matplotlib.pyplot as plt
            >>> from anls_metric import compare
            >>> figure, axes = plt.subplots(layout="constrained")
            >>> scores = compare({"base": ["Cola", "Cool"], "tuned": ["Coca Cola", "Coca Col"]}, [["Coca Cola"]] * 2)
            >>> scores.plot(ax=axes).get_xlabel().splitlines()[0]
            'difference from base'
            >>> scores.plot(kind="threshold").get_ylabel()
            'ANLS in percent'
        """
        from anls_metric.report.figures import complete, draw
        from anls_metric.report.wording import word

        chosen = read_settings({"kind": kind}, str).kind or "forest"
        run = self._build_figure(chosen)
        document = complete(word(run), run, chosen)
        if chosen == "threshold":
            self._drawn = document  # the data of the figure are in `to_dict`
        return draw(document, chosen, ax)

    def _build_figure(self, kind: str) -> Whole:
        """Return the document with the data that a kind of figure shows."""
        return self._build("figures")

    def save(self, path: Path) -> None:
        """Save the run in a file that `open` reads and that ``anls report RUN``, ``anls table RUN`` and other
        subcommands show.

        Args:
            path: the file to write. Its name ends in ".anls.json" or, to compress it, ".anls.json.gz".

        Raises:
            ValueError: `path` has another file extension, or the file is an input.
            OSError: the file cannot be written.

        Example:
            >>> import os, tempfile
            >>> import anls_metric
            >>> path = os.path.join(tempfile.mkdtemp(), "run.anls.json")
            >>> anls_metric.score(["CocaCola"], [["Coca Cola"]]).save(path)
            >>> anls_metric.open(path).anls
            0.8888888888888888
        """
        from anls_metric.writing import check_output

        name = os.fspath(path)
        check_path(name)
        check_output(name, self._list_inputs())
        write_run(name, self._build_whole())

    def _build_whole(self) -> Whole:
        """Return the document with everything that views need."""
        return self._build("rows", "report", "figures")

    def _list_inputs(self) -> list[str]:
        """List the files that must not be overwritten."""
        return [self._path] if self._path else []

    # In a terminal, and in a notebook

    def __str__(self) -> str:
        from anls_metric.report.terminal import as_text, format_hints

        hints = format_hints(self._document, "scores.hints has all")
        return "\n\n".join(filter(None, [as_text(self._document), hints]))

    def __repr__(self) -> str:
        means = ", ".join(f"{each['name']}: {each['anls']:.4f}" for each in self._document["submissions"])
        return f"<{type(self).__name__} {means}; {self.signature}>"

    def _repr_markdown_(self) -> str:
        from anls_metric.report.tables import escape_markdown

        return "\n\n".join([self.to_markdown(), *(f"hint: {escape_markdown(hint)}" for hint in self.hints)])


# Files


def check_path(path: str) -> None:
    """Raise InputError if a file name lacks the ending of a run."""
    if not is_run(path):
        raise make_error(path, "the file name of a run must end in .anls.json or .anls.json.gz, such as run.anls.json")


def write_run(path: str, whole: Whole) -> None:
    """Write a run, without page images, to a file that appears only when it is complete. Raises OSError if the file
    cannot be written.
    """
    from anls_metric.writing import open_aside

    report = whole["report"]
    kept = {**whole, "report": {**report, "data": {**report["data"], **_NO_IMAGES}}}
    text = json.dumps(kept, separators=(",", ":"), allow_nan=False, default=str)  # any text, as ASCII
    with open_aside(path) as file:
        if path.lower().endswith(".gz"):
            file.buffer.write(gzip.compress(text.encode("ascii"), mtime=0))  # type: ignore[attr-defined]
        else:
            file.write(text + "\n")


def open_run(path: Path) -> Run:
    """Open a run that `Run.save` or ``anls GOLD SUBMISSION --output run.anls.json`` wrote.

    Args:
        path: the file.

    Returns:
        The run, with the same tables, figures and report as when it was scored.

    Raises:
        ValueError: the file is not a run, has a later format, or is damaged.
        OSError: the file cannot be read. If it does not exist, the error is also a ValueError.

    Example:
        >>> import os, tempfile
        >>> import anls_metric
        >>> path = os.path.join(tempfile.mkdtemp(), "run.anls.json.gz")
        >>> anls_metric.score(["CocaCola"], [["Coca Cola"]]).save(path)
        >>> print(anls_metric.open(path).to_markdown(columns="anls").splitlines()[2])
        | data | 0.8889 |
    """
    name = os.fspath(path)
    return Run(read_run(name), name)


_NO_IMAGES: Any = {"images": [], "pictures": []}
_SCORE = "score the answers again, with --output run.anls.json"


def read_run(path: str) -> Whole:
    """Read the document of a run from a file. Raises the same errors as `open_run`."""
    from anls_metric.reading.files import describe_missing_file, load_bytes
    from anls_metric.report.schema import FORMAT
    from anls_metric.report.schema import Run as Whole
    from anls_metric.report.schema_check import list_mismatches

    try:
        data = load_bytes(path)
    except FileNotFoundError:
        raise describe_missing_file(path) from None
    whole = _parse(_unpack(data, path), path)
    if not isinstance(whole, dict) or not {"format", "report", "words"} <= whole.keys():
        sentence = "it is not a run: to make one, type anls GOLD SUBMISSION --output run.anls.json (with this ending)"
        raise make_error(path, sentence)
    version: Any = whole["format"] if isinstance(whole["format"], int) else "?"
    if version == "?" or version > FORMAT:
        sentence = "it has format {version}, and this version of anls-metric opens format {known} and earlier: update "
        raise make_error(path, sentence + "anls-metric", version=version, known=FORMAT)
    mismatch = next(list_mismatches(whole, Whole), None)
    if mismatch:
        raise make_error(path, f"it is damaged ({{place}}): {_SCORE}", place=mismatch)
    run: Any = whole
    run["report"]["data"] |= _NO_IMAGES  # a run has no images, whatever its file says
    return run  # type: ignore[no-any-return]


def _unpack(data: bytes, path: str) -> bytes:
    """Return the content of a file, decompressed if needed. Raises InputError if the content is damaged or exceeds the
    limit.
    """
    try:
        if data.startswith(b"\x1f\x8b"):
            with gzip.open(io.BytesIO(data)) as stream:
                data = stream.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise make_error(path, f"it is a damaged gzip file: {_SCORE}") from None
    if len(data) > MAX_BYTES:
        raise make_error(path, "it has more than {most:,} MB once unpacked, the limit", most=MAX_BYTES // 10**6)
    return data


def _parse(data: bytes, path: str) -> Any:
    """Parse JSON that contains neither NaN nor infinity."""
    try:
        return json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):  # also for bytes that are not text and numbers with too many digits
        raise make_error(path, f"it is damaged or is not JSON: {_SCORE}") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


@contextmanager
def explain_damage(path: str) -> Iterator[None]:
    """Replace an error that only an edited file can cause, such as the lookup of a missing name, with an InputError
    that names the file.
    """
    try:
        yield
    except InputError:
        raise
    except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        damage = f"{type(error).__name__}: {error}"[:100]
        raise make_error(path, f"it is damaged ({{damage}}): {_SCORE}", damage=damage) from error
