"""Scores of single answers and of sets: the definition, the options, and refused input."""

from __future__ import annotations

import copy
import enum
import itertools
import math
import pickle
import random
import re
import string
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy
import pandas
import pyarrow
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import anls_metric
from anls_metric import (
    VARIANTS,
    Variant,
    anls_batch,
    anls_score,
    anls_scores,
    explain,
    get_variant,
    iter_anls_scores,
    mean,
    normalized_levenshtein_similarity,
    signature,
)
from anls_metric.core.version import SCORES_VERSION
from tests.conftest import ROOT

COCA_COLA = ["Coca Cola", "Coca Cola Company"]

# The texts have features that distinguish the variants: case, many kinds of white space, letters that become longer in
# another case. They use few letters, so that they are similar.
texts = st.text(alphabet="abAB \t\n\u00a0\u3000\x1cßİŉ%.!'é", max_size=12) | st.text(max_size=90)
long_texts = st.text(alphabet="ab %\tİ", min_size=60, max_size=400)
references = st.lists(texts, min_size=1, max_size=4)
rows = st.lists(st.tuples(texts, references), min_size=1, max_size=8)
long_rows = st.tuples(long_texts, st.lists(long_texts | texts, min_size=1, max_size=3))
thresholds = st.none() | st.floats(0, 1) | st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0])
variants = st.sampled_from(list(VARIANTS))


# The definition


class Answer(str, enum.Enum):
    COLA = "Coca Cola"


NO_ANSWER = replace(VARIANTS["standard"], name="no_answer", no_answers=("none",))
UPPER = replace(VARIANTS["standard"], name="upper", reference_length="normalized upper", threshold=0.65)

# A prediction, its references, the options of anls_score, and the score.
EXAMPLES: list[tuple[str, Any, dict[str, Any], float]] = [
    # the table of PyPI anls, with surplus blanks, too
    *(
        (blanks, COCA_COLA, {"threshold": 0.5}, score)
        for text, score in (("The Coca", 0.0), ("CocaCola", 8 / 9), ("Coca cola", 1.0), ("Cola", 0.0), ("Cat", 0.0))
        for blanks in (text, f" {text.replace(' ', '    ')} ")
    ),
    (" The    Coca ", COCA_COLA, {"variant": "rrc"}, 8 / 13),
    (" The    Coca ", COCA_COLA, {"variant": "lmms_eval"}, 6 / 11),
    (" The    Coca ", COCA_COLA, {"variant": "lmms_eval_0_2"}, 1.0),
    # a threshold of PyPI anls limits the distance
    ("Cola", ["Coca Cola"], {"threshold": 0.8}, 0.0),
    ("Cola", ["Coca Cola"], {"threshold": 0.8, "variant": "pypi_anls"}, 4 / 9),
    ("CocaCola", ["Coca Cola"], {"threshold": 0.05}, 8 / 9),
    ("CocaCola", ["Coca Cola"], {"threshold": 0.05, "variant": "pypi_anls"}, 0.0),
    # a bare string is one reference
    ("a", "abc", {}, 0.0),
    ("abd", "abc", {}, 2 / 3),
    # references and strings of other kinds
    *(
        ("CocaCola", kind(COCA_COLA), {}, 8 / 9)
        for kind in (tuple, set, frozenset, numpy.array, pandas.Series, pyarrow.array)
    ),
    (numpy.str_("CocaCola"), [Answer.COLA], {}, 8 / 9),
    (Answer.COLA, [numpy.str_("coca cola")], {}, 1.0),
    # case
    ("ABCD", ["abcd"], {"ignore_case": False}, 0.0),
    ("ABCD", ["abcd"], {"variant": "due"}, 0.0),
    ("ABCD", ["abcd"], {"variant": "due", "ignore_case": True}, 1.0),
    # whitespace, which lmms_eval strips before it measures
    ("ab  ", ["a"], {"variant": "rrc"}, 0.75),
    ("ab  ", ["a"], {"variant": "lmms_eval"}, 0.5),
    ("ab  ", ["a"], {"variant": "lmms_eval_0_2"}, 1.0),
    # words, without punctuation and articles
    ("The Coca-Cola Company, Inc.", ["cocacola company inc"], {"variant": "squad_anls"}, 1.0),
    ("theatre", ["the atre"], {"variant": "squad_anls"}, 4 / 7),
    ("A cat", ["cat"], {"variant": "squad_anls", "ignore_case": False}, 3 / 5),
    ("\u201ccat\u201d", ["cat"], {"variant": "squad_anls"}, 3 / 5),
    ("the " * 500 + "cat", ["a cat!"], {"variant": "squad_anls"}, 1.0),
    # every kept similarity above 0 becomes 1
    ("xyz", ["ab"], {"variant": "lmms_eval_0_2"}, 0.0),
    ("xyz", ["ab"], {"variant": "lmms_eval_0_2", "threshold": 0.0}, 0.0),
    # lower-casing makes İ two characters long, so that the distance can exceed the length as given
    ("İİİİ", ["abcd"], {"variant": "rrc", "threshold": 0.0}, 0.0),
    # variants that do not treat both sides alike
    ("ab  ", ["abc"], {"variant": "mmpretrain", "threshold": 0.0}, 0.75),
    ("abc", ["ab  "], {"variant": "mmpretrain", "threshold": 0.0}, 2 / 3),
    ("none", ["nine"], {"variant": "mp_docvqa"}, 0.0),
    ("nine", ["none"], {"variant": "mp_docvqa"}, 0.75),
    # lone surrogates, NUL, long and decomposed texts
    ("a\ud800b", ["a\ud800c"], {}, 2 / 3),
    ("a\x00b", ["a\x00b"], {}, 1.0),
    ("x" * 31_000, ["short"], {}, 0.0),
    ("b" * 100, ["a"], {"threshold": 1e-9}, 0.0),
    # no answer, of a variant that is like standard otherwise
    ("None", ["nine"], {"variant": NO_ANSWER}, 0.0),
    ("none", ["none"], {"variant": NO_ANSWER}, 0.0),
    # a long prediction whose reference becomes longer in lower case, or is measured in upper case
    ("i\u0307" * 40, ["\u0130" * 40], {"threshold": 0.9}, 1.0),
    ("ΐ" * 200 + "a" * 205, ["ΐ" * 200], {"variant": UPPER}, 1 - 205 / 600),
    ("cafe\u0301", ["caf\u00e9"], {}, 3 / 5),
]


@pytest.mark.parametrize(("prediction", "accepted", "options", "score"), EXAMPLES)
def test_anls_score_of_examples(prediction: str, accepted: Any, options: dict[str, Any], score: float) -> None:
    assert anls_score(prediction=prediction, gold_labels=accepted, **options) == pytest.approx(score)
    assert anls_scores([prediction], [accepted], **options) == [pytest.approx(score)]


def test_similarity_equal_to_the_threshold_counts_unless_the_variant_is_strict() -> None:
    for name, row in VARIANTS.items():
        is_strict = row.kept != "similarity >= threshold"
        assert anls_score("ab##", ["abcd"], 0.5, name) == (0.0 if is_strict else 0.5 + row.all_or_nothing / 2)


def test_similarity_next_to_the_threshold_counts_for_every_variant() -> None:
    for name, row in VARIANTS.items():
        near = math.nextafter(0.5, 1.0 if row.kept == "distance / length < threshold" else 0.0)
        score = 0.5 + row.all_or_nothing / 2
        assert anls_score("ab##", ["abcd"], near, name) == explain("ab##", ["abcd"], near, name).score == score


def test_mean_is_rounded_once() -> None:
    assert mean([0.1] * 10) == 0.1  # sum() of Python before 3.12 gives 0.09999999999999999
    with pytest.raises(ValueError, match="no rows"):
        mean([])


def test_normalized_levenshtein_similarity_has_no_threshold() -> None:
    assert normalized_levenshtein_similarity("The Coca", "Coca Cola") == pytest.approx(4 / 9)
    assert normalized_levenshtein_similarity("", "") == 1.0
    assert normalized_levenshtein_similarity("Ab", "ab", variant="nls") == 0.5
    assert normalized_levenshtein_similarity("Ab", "ab", ignore_case=False) == 0.5
    assert normalized_levenshtein_similarity("İİİİ", "abcd", variant="rrc") == -1.0


# Properties


@given(texts, references, texts, thresholds, variants)
def test_score_is_that_of_the_best_pair_and_another_reference_never_lowers_it(
    prediction: str, accepted: list[str], other: str, threshold: float | None, variant: str
) -> None:
    row = VARIANTS[variant]
    score = anls_score(prediction, accepted, threshold, variant)
    assert type(score) is float
    assert 0 <= score <= 1
    assert score == max(anls_score(prediction, [text], threshold, variant) for text in accepted)
    if score and not row.empty_equals_empty and not row.all_or_nothing:
        similarities = (normalized_levenshtein_similarity(prediction, text, variant) for text in accepted)
        assert score == max(similarities)
    for more in ([*accepted, other], [other, *accepted]):
        assert anls_score(prediction, more, threshold, variant) >= score
    if row.prediction_length == row.reference_length and not row.no_answers:
        left, right = ((prediction, [other]), (other, [prediction]))
        assert anls_score(*left, threshold, variant) == anls_score(*right, threshold, variant)


@given(texts, variants)
@example("none", "mp_docvqa")
@example(" ", "mp_docvqa")
@example("", "layoutlmv3_docvqa")
@example(" ", "layoutlmv3_docvqa")
@example("", "florence2")
@example("", "lmms_eval_slidevqa")
def test_text_scores_1_against_itself(text: str, variant: str) -> None:
    rejected = variant == "mp_docvqa" and text.strip().lower() in ("", "none")
    rejected |= variant in ("layoutlmv3_docvqa", "florence2", "lmms_eval_slidevqa") and text == ""
    assert anls_score(text, [text], variant=variant) == (0.0 if rejected else 1.0)


@given(st.text(string.ascii_letters + " ", max_size=20), references, thresholds, variants)
def test_case_counts_as_the_variant_says(
    prediction: str, accepted: list[str], threshold: float | None, variant: str
) -> None:
    as_is = anls_score(prediction, accepted, threshold, variant, ignore_case=True)
    assert as_is == anls_score(prediction.swapcase(), accepted, threshold, variant, ignore_case=True)
    if not VARIANTS[variant].ignore_case:
        assert anls_score("AB", ["ab"], variant=variant) == 0.0


@given(st.lists(st.text(string.ascii_letters, min_size=1, max_size=5), min_size=1, max_size=4), references)
def test_white_space_counts_as_the_variant_says(words: list[str], accepted: list[str]) -> None:
    tidy, loose = " ".join(words), "\u3000 " + "\t \x1c".join(words) + "\n"
    padded = f"\n {tidy}\u00a0"
    for name, row in VARIANTS.items():
        if row.prediction_length.startswith("normalized") and row.whitespace != "keep":
            other = loose if row.whitespace == "squeeze" else padded
            score = anls_score(tidy, accepted, variant=name)
            assert score == anls_score(other, accepted, variant=name)
        if row.whitespace == "keep":
            assert anls_score("abc ", ["abc"], variant=name) == 0.75


@given(rows | long_rows.map(lambda row: [row]), thresholds, variants)
@example([(" " * 70, [""])], None, "standard")
@example([(" " * 70, [""])], 0.0, "paligemma")
@example([("none" + " " * 70, ["none"])], None, "mp_docvqa")
@example([("a" * 128, ["a" * 64]), ("a" * 129, ["a" * 64])], None, "standard")
@example([("none", ["None"]), ("", [""]), ("None", ["x", "none"])], None, "mp_docvqa")
@example([("", [""]), ("", ["", "x"])], 0.0, "inspect_evals")
@example([("", [""])], None, "layoutlmv3_docvqa")
def test_all_functions_agree_with_explain(
    rows: list[tuple[str, list[str]]], threshold: float | None, variant: str
) -> None:
    predictions, accepted = [row[0] for row in rows], [row[1] for row in rows]
    explained = [explain(*row, threshold, variant) for row in rows]
    scores = anls_scores(predictions, accepted, threshold, variant)
    assert scores == [why.score for why in explained]
    assert scores == [anls_score(*row, threshold, variant) for row in rows]
    assert scores == list(iter_anls_scores(iter(rows), threshold, variant))
    assert mean(scores) == mean(iter_anls_scores(rows, threshold, variant))
    batch = {"p": predictions, "r": accepted}
    assert anls_batch(batch, None, "p", "r", "score", threshold, variant) == {"score": scores}


@given(st.integers(0, 2**32), st.floats(0, 1.2), st.floats(0, 1.2), thresholds, variants)
def test_anls_score_agrees_with_explain_for_pages_of_text(
    seed: int, at_the_beginning: float, later: float, threshold: float | None, variant: str
) -> None:
    chance = random.Random(seed)
    text = chance.choices("abcdE  ", k=chance.randint(700, 1500))
    edited = list(text)
    for start, end, share in ((0, 128, at_the_beginning), (128, len(text), later)):
        for _ in range(int(share * (end - start))):
            place = chance.randrange(start, end)
            edited[place] = chance.choice(["", "xy", "a", edited[place]])
    page, reference = "".join(text), "".join(edited)
    for accepted in ([reference], [reference, page[::-1], page[: len(page) // 2]]):
        assert anls_score(page, accepted, threshold, variant) == (explain(page, accepted, threshold, variant).score)


# Columns of every kind


COLUMNS = {
    "tuple": tuple,
    "iterator": iter,
    "itertools": lambda column: itertools.chain(column[:1], column[1:]),
    "numpy": lambda column: numpy.array(column, dtype=object),
    "pandas": lambda column: pandas.Series(column),
    "filtered pandas": lambda column: pandas.Series(["x", *column, "y"])[lambda series: series.index.isin([1, 2])],
    "pyarrow": pyarrow.array,
    "chunked pyarrow": lambda column: pyarrow.chunked_array([column[:1], column[1:]]),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_anls_scores_accepts_columns_of_every_kind(kind: str) -> None:
    scores = anls_scores(COLUMNS[kind](["CocaCola", "b"]), COLUMNS[kind](["Coca Cola", "c"]))
    assert scores == [pytest.approx(8 / 9), 0.0]


def test_columns_of_numpy_may_have_two_dimensions_and_sets_are_sorted() -> None:
    assert anls_scores(numpy.array(["CocaCola"] * 2), numpy.array([COCA_COLA] * 2)) == [pytest.approx(8 / 9)] * 2
    why = explain("abcd", {"abcx", "abcy", "abcz", "Coca Cola"})
    assert [match.reference for match in why.matches] == ["Coca Cola", "abcx", "abcy", "abcz"]


# The columns of a table in libraries that not every user has.
FRAME: dict[str, list[Any]] = {"prediction": ["CocaCola", "b"], "references": [COCA_COLA, ["c"]]}
OF_FRAME = pytest.approx([8 / 9, 0.0])


def find_line(start: str) -> str:
    """Find the code that begins so in the page of large data."""
    page = (ROOT / "docs" / "large_data.md").read_text(encoding="utf-8")
    return next(str(code) for code in re.findall("`([^`\n]+)`", page) if code.startswith(start))


def check_refused(predictions: Any, accepted: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^[^\n]*{message}[^\n]*$"):
        anls_scores(predictions, accepted)


@pytest.mark.needs("polars")
def test_polars_columns_and_frames_are_scored_and_lazy_ones_refused() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(FRAME)
    assert anls_scores(frame["prediction"], frame["references"]) == OF_FRAME
    assert anls_scores(frame["prediction"], frame["prediction"]) == [1.0, 1.0]
    assert anls_batch(frame) == {"anls": OF_FRAME}
    names = {"frame": frame, "pl": polars, "anls_batch": anls_batch}
    assert eval(find_line("frame.with_columns"), names)["anls"].to_list() == OF_FRAME
    assert list(iter_anls_scores(frame.iter_rows())) == OF_FRAME
    assert anls_scores(frame.select("prediction"), frame.select("references")) == OF_FRAME
    check_refused(frame, FRAME["references"], "Frame: pass one of its columns")
    check_refused(frame.lazy(), FRAME["references"], r"a lazy LazyFrame: call .collect\(\) first")
    with pytest.raises(ValueError, match=r"a lazy LazyFrame: call .collect\(\) first"):
        anls_batch(frame.lazy())
    check_refused(polars.Series(["a", None]), ["a", "b"], "prediction of row 1")
    check_refused(["a", "b"], polars.Series([{"text": ["a"]}, {"text": ["b"]}]), "dict with the keys 'text'")


@pytest.mark.needs("duckdb")
def test_duckdb_relations_are_tables() -> None:
    duckdb = pytest.importorskip("duckdb")
    rows = "('CocaCola', ['Coca Cola', 'Coca Cola Company']), ('b', ['c'])"
    con = duckdb.connect()
    relation = con.sql(f'select * from (values {rows}) as t(prediction, "references")')
    assert anls_scores(relation["prediction"], relation["references"]) == OF_FRAME
    check_refused(relation, FRAME["references"], "pass one of its columns")
    assert anls_metric.score(relation, id="none").anls == pytest.approx(4 / 9)
    assert anls_metric.compare({"a": relation, "b": relation}, id="none")["b"].anls == pytest.approx(4 / 9)
    eval(find_line("con.create_function"), {"con": con, "anls_score": anls_score})
    assert [each for (each,) in con.sql('SELECT anls(prediction, "references") FROM relation').fetchall()] == OF_FRAME
    for fetch in (lambda: relation, relation.arrow, relation.df, relation.fetchnumpy):
        assert anls_batch(fetch()) == {"anls": OF_FRAME}


@pytest.mark.needs("dask")
def test_dask_columns_are_refused_until_they_are_lists() -> None:
    frames = pytest.importorskip("dask.dataframe")
    # Lists would become their printed form: Dask turns columns of objects into strings.
    frame = frames.from_pandas(pandas.DataFrame(FRAME | {"references": ["Coca Cola", "c"]}), npartitions=1)
    for lazy in (frame, frame["prediction"]):
        check_refused(lazy, FRAME["references"], r"a lazy \w+: call .compute\(\) first")
    with pytest.raises(ValueError, match=r"^data: a lazy DataFrame has no rows yet: call .compute\(\) first"):
        anls_metric.score(frame)
    lists = frames.from_pandas(pandas.DataFrame(FRAME), npartitions=1)
    with pytest.raises(ValueError, match=r"one string that looks like a list.*: parse it"):
        anls_batch(lists.compute())
    assert anls_scores(list(frame["prediction"]), FRAME["references"]) == OF_FRAME
    assert anls_batch(frame.compute()) == {"anls": OF_FRAME}


# Refused input


def nest_deep(kind: Callable[[list[Any]], Any]) -> Any:
    """A value so deep that Python cannot print it."""
    value: Any = kind([])
    for _ in range(100_000):
        value = kind([value])
    return value


class Unprintable:
    def __repr__(self) -> str:
        raise OSError


BAD_ROWS: list[tuple[Any, Any, list[str]]] = [
    (["a", None], ["a", "b"], ["prediction of row 1", "None", '""']),
    (["a", math.nan], ["a", "b"], ["prediction of row 1", "nan", "leave it out"]),
    (["a", pandas.NA], ["a", "b"], ["prediction of row 1", "NA", "leave it out"]),
    (["a", 5], ["a", "b"], ["prediction of row 1", "5 (int)", '"5"']),
    (["a", True], ["a", "b"], ["prediction of row 1", "True (bool)"]),
    (["a", b"b"], ["a", "b"], ["prediction of row 1", "bytes", "decode"]),
    (["a", {"text": "b"}], ["a", "b"], ["prediction of row 1", "dict", "'text'"]),
    (["a", ["b"]], ["a", "b"], ["prediction of row 1", "list", "not a list"]),
    (["a", "b"], [["a"], []], ["references of row 1", "empty list", "add a reference"]),
    (["a", "b"], [["a"], None], ["references of row 1", "None"]),
    (["a", "b"], [["a"], ["b", None]], ["references of row 1 (counted from 0), item 1,", "None"]),
    (["a", "b"], [["a"], ["b", 3.5]], ["references of row 1 (counted from 0), item 1,", "3.5 (float)"]),
    (["a", "b"], {"text": ["a", "b"]}, ["references is a dict with the keys 'text'"]),
    (["a", "b"], [["a"], {"b", None}], ["references of row 1", "item 1", "None"]),
    (["a", "b"], [["a"], set()], ["references of row 1", "add a reference"]),
    ({"a", "b"}, ["a", "b"], ["predictions is {", "(set)", "pass a list"]),
    (["a", "b"], frozenset(["a", "b"]), ["references is frozenset", "pass a list"]),
    (["a", "b"], [["a"], 7], ["references of row 1", "7 (int)"]),
    (["a", "b"], ["a"], ["predictions has 2", "references has 1"]),
    ([], [], ["no rows"]),
    ("ab", ["a", "b"], ["predictions is 'ab' (str)", "pass a list"]),
    (None, ["a"], ["predictions is None"]),
    (pandas.DataFrame({"answer": ["a"], "id": [1]}), ["a"], ["predictions is a DataFrame", "one of its columns"]),
    (pyarrow.table({"answer": ["a"], "id": [1]}), ["a"], ["predictions is a Table", "one of its columns"]),
    (["a"], [{"id": "1", "answers": {"text": ["a"]}}], ["references of row 0", "'answers'"]),
    ({"1": "a"}, ["a"], ["predictions is a dict", "pass a list"]),
    ([nest_deep(list)], ["a"], ["prediction of row 0", "(list), not a string"]),
    (["a"], [nest_deep(tuple)], ["references of row 0", "item 0", "(tuple), not a string"]),
    ([10**5000], ["a"], ["prediction of row 0", "(int), not a string: pass a string"]),
    ([Unprintable()], ["a"], ["prediction of row 0", "... (Unprintable), not a string"]),
]


@pytest.mark.parametrize(("predictions", "accepted", "message_parts"), BAD_ROWS, ids=lambda value: None)
def test_bad_rows_are_refused_with_the_row_and_what_to_do(
    predictions: Any, accepted: Any, message_parts: list[str]
) -> None:
    with pytest.raises(ValueError, match=r"(?s).+") as raised:
        anls_scores(predictions, accepted)
    for words in message_parts:
        assert words in str(raised.value)
    assert "\n" not in str(raised.value)
    assert anls_scores(["a", "b"], [["a"], ["c"]]) == [1.0, 0.0]


def test_bad_references_behind_an_exact_match_are_refused() -> None:
    with pytest.raises(ValueError, match="gold_labels, item 1, is None"):
        anls_score("a", ["a", None])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="gold_labels is an empty list"):
        anls_score("a", [])


BAD_THRESHOLDS = [-0.1, 1.1, 50, math.nan, math.inf, "0.5", b"0.5", True, numpy.True_, 10**400, 1j, Decimal("0.5")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(({"threshold": threshold}, "threshold must be a number from 0 to 1, got .*") for threshold in BAD_THRESHOLDS),
        *(({"variant": variant}, "unknown variant '|variant is ") for variant in ("squad", "", "RRC", None, 5)),
        ({"variant": "anls_star"}, "anls_star is for structured answers"),
        ({"variant": "dude"}, "dude needs more than predictions and references"),
        ({"ignore_case": "no"}, r"ignore_case must be one of True, False, got 'no' \(str\)"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    for score in (anls_score, anls_scores):
        with pytest.raises(ValueError, match=message):
            score(["a"], ["a"], **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        iter_anls_scores([], **options)


def test_threshold_may_be_any_kind_of_real_number() -> None:
    kinds: list[Any] = [0.5, numpy.float32(0.5), numpy.float64(0.5), Fraction(1, 2)]
    for threshold in kinds:
        assert anls_score("ab", ["abcd"], threshold=threshold) == 0.5
        assert signature(threshold=threshold) == signature()


def test_tie_with_the_threshold_is_decided_in_floating_point() -> None:
    """1 - distance / length is compared in floating point, as in the original programs."""

    def counts(edits: int, length: int, threshold: float, variant: str = "standard") -> bool:
        return anls_score("#" * edits + "a" * (length - edits), "a" * length, threshold, variant) > 0

    for length in range(4, 41, 4):
        for quarters in (1, 2, 3):
            assert counts(length * quarters // 4, length, 1 - quarters / 4)
    assert not counts(4, 5, 0.2)  # 1 - 0.8 is 0.19999999999999996
    # A distance is rounded like the threshold, so the variants that compare distances never count a tie.
    ties = [(edits, length) for length in range(1, 101) for edits in range(1, length)]
    assert not any(counts(edits, length, edits / length, "pypi_anls") for edits, length in ties)


# Variants and signatures


def test_mistral_evals_ignores_all_ascii_punctuation_but_percent() -> None:
    assert VARIANTS["mistral_evals"].ignored_ending == string.punctuation.replace("%", "") + " "


def test_get_variant_accepts_aliases() -> None:
    variants_by_alias = {alias: row for row in VARIANTS.values() for alias in row.aliases}
    assert " ".join(variants_by_alias) == (
        "evalscope minicpm_v vlmevalkit unitxt qwen_vl moondream mini_monkey docowl15 molmo2 layoutlmv2 docsaid_nls "
        "docext aisbench latin_prompt"
    )
    assert all(get_variant(alias) is row for alias, row in variants_by_alias.items())


@pytest.mark.parametrize(
    ("variant", "options", "text"),
    [
        ("standard", {}, "standard|threshold:0.5"),
        ("unitxt", {"threshold": 1}, "rrc|threshold:1.0"),
        ("nls", {"threshold": -0.0}, "nls|threshold:0.0"),
        ("due", {"ignore_case": False}, "due|threshold:0.5"),
        ("due", {"ignore_case": True}, "due|ignore_case:True|threshold:0.5"),
        ("rrc", {"extract": "think,final"}, "rrc|threshold:0.5|extract:think,final"),
        (replace(VARIANTS["rrc"], no_answers=("n/a",)), {}, "rrc|threshold:0.5|no_answers:('n/a',)"),
        (Variant("other", whitespace="strip"), {}, "other|whitespace:strip|threshold:0.5"),
    ],
)
def test_signature_names_the_variant_and_every_field_that_differs(
    variant: Any, options: dict[str, Any], text: str
) -> None:
    assert signature(variant, **options) == f"anls|{text}|v{SCORES_VERSION}"


def test_two_variants_never_share_a_signature() -> None:
    assert len({signature(name) for name in VARIANTS}) == len(VARIANTS)


def test_custom_variant_is_scored_as_its_fields_say() -> None:
    mine = replace(VARIANTS["standard"], ignored_ending=".", no_answers=("n/a",), threshold=0.0)
    assert anls_scores(["yes.", "N/A"], ["yes", "n/a"], variant=mine) == [1.0, 0.0]


IMPOSSIBLE: list[tuple[str, Any]] = [("whitespace", "trim"), ("kept", ">="), ("reference_length", "long")]
IMPOSSIBLE += [("prediction_length", ["raw"]), ("threshold", 2), ("no_answers", "none"), ("ignore_case", 2)]


@pytest.mark.parametrize(("field", "value"), [*IMPOSSIBLE, ("all_or_nothing", "no")])
def test_variant_with_an_impossible_field_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{field}.* must be "):
        replace(VARIANTS["standard"], **{field: value})


def test_variants_are_frozen_and_survive_copies_and_pickles() -> None:
    with pytest.raises(TypeError):
        VARIANTS["standard"] = VARIANTS["rrc"]  # type: ignore[index]
    for row in VARIANTS.values():
        other = replace(row, threshold=0.7)
        assert copy.deepcopy(other) == pickle.loads(pickle.dumps(other)) == other != row
        assert hash(other) == hash(copy.deepcopy(other))


# Streams and batches


@pytest.mark.parametrize("wrong", [None, 5, "0.5", [1.0, None], iter([1.0, None]), [1.0, math.nan], [math.inf]])
def test_mean_refuses_anything_but_numbers(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"scores must be .* numbers|the scores must all be finite numbers"):
        mean(wrong)


def test_iter_anls_scores_reads_row_by_row_and_numbers_bad_rows_from_its_start() -> None:
    taken = 0

    def rows() -> Any:
        nonlocal taken
        for number in range(5000):
            taken += 1
            yield ("a", ["a"]) if number != 3333 else ("a", [None])

    stream = iter_anls_scores(rows(), variant="lmms_eval_0_2")
    assert taken == 0
    for number in range(1, 6):
        assert next(stream) == 1.0
        assert taken == number
    with pytest.raises(ValueError, match=r"references of row 3333 \(counted from 0\), item 0, is None"):
        mean(stream)
    assert list(stream) == []


def test_iter_anls_scores_refuses_anything_but_pairs() -> None:
    with pytest.raises(
        ValueError, match=r"row 1 \(counted from 0\) is 'ab' \(str\): pass pairs, each with a prediction"
    ):
        list(iter_anls_scores([("a", "a"), "ab"]))  # type: ignore[list-item]
    with pytest.raises(ValueError, match="no rows"):
        mean(iter_anls_scores([]))


def test_anls_batch_refuses_bad_batches() -> None:
    batch = {"prediction": ["a", None], "references": ["a", "b"]}
    with pytest.raises(ValueError, match="prediction of row 4097 is None"):
        anls_batch(batch, indices=[4096, 4097])
    for row, problem in {"a": r"'a' \(str\)", None: "None"}.items():
        with pytest.raises(ValueError, match=f"predictions is {problem}: pass a list of strings, .* with batched=True"):
            anls_batch({"prediction": row, "references": "a"})
    for table in (batch, pyarrow.table({"prediction": ["a"]})):
        with pytest.raises(KeyError, match="answer"):
            anls_batch(table, prediction_column="answer")


def test_anls_batch_takes_dicts_and_tables() -> None:
    assert anls_batch({"prediction": [], "references": []}) == {"anls": []}
    assert anls_batch(pyarrow.table({"prediction": ["a"], "references": [["a", "b"]]})) == {"anls": [1.0]}
    assert anls_batch(pandas.DataFrame({"prediction": ["a"], "references": ["a"]})) == {"anls": [1.0]}


def test_anls_batch_works_in_dataset_map() -> None:
    datasets = pytest.importorskip("datasets")
    options = {"batched": True, "batch_size": 2, "with_indices": True}
    rows: dict[str, list[Any]] = {"prediction": ["ab  ", "x", "b"], "references": [["a"], ["y", "z"], ["b"]]}
    scored = datasets.Dataset.from_dict(rows).map(anls_batch, fn_kwargs={"variant": "rrc"}, **options)
    assert scored["anls"][:] == [0.75, 0.0, 1.0]
    rows["references"][2] = []
    with pytest.raises(Exception, match="references of row 2 is an empty list"):
        datasets.Dataset.from_dict(rows).map(anls_batch, **options)


def test_printed_list_as_one_accepted_answer_gives_a_warning() -> None:
    for text in ("['Coca Cola', 'Cola']", '["Coca Cola"]'):
        with pytest.warns(UserWarning, match=r"row 0 \(counted from 0\) are one string that looks like a list.*parse"):
            assert anls_scores(["Coca Cola"] * 2, [text, "Cola"])[0] < 1
