"""The metrics for Keras: values, accepted and refused input. These tests do not depend on the backend.

Tests that do are in `test_keras_backends`. All texts are made up, except those from the documentation of keras_hub.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

import anls_metric
from tests.conftest import fuzzed_rows
from tests.frameworks.hostile import ODD, quick, trees

keras = pytest.importorskip("keras", reason="the extra `keras`, or its backend, is not installed")
np = pytest.importorskip("numpy")

from anls_metric.keras import ANLS, EditDistance  # noqa: E402

# The PyTorch backend warns with numpy 2 whenever a tensor is copied to the host.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword")

# The texts of https://keras.io/keras_hub/api/metrics/edit_distance/.
TRUTH, PREDICTED = (
    [text.split() for text in texts]
    for texts in [
        ("the tiny little cat was found under the big funny bed", "it is sunny today"),
        ("the cat was found under the bed", "it is sunny but with a hint of cloud cover"),
    ]
)

ROWS = fuzzed_rows(400, seed=7)
ANSWERS, ACCEPTED = [row[0] for row in ROWS], [row[1] for row in ROWS]
TEXTS = [references[0] for references in ACCEPTED]


def read_value(metric: Any) -> Any:
    """Read the value, with its dtype, on the host."""
    return keras.ops.convert_to_numpy(metric.result())[()]


def compute(metric: Any, *columns: Any, **options: Any) -> Any:
    metric.update_state(*columns, **options)
    return read_value(metric)


def add_in_batches(metric: Any, *columns: list[Any], size: int) -> Any:
    for start in range(0, len(columns[0]), size):
        metric.update_state(*(column[start : start + size] for column in columns))
    return metric


def compute_textbook_distance(left: list[Any], right: list[Any]) -> int:
    """Compute the edit distance with the whole table."""
    row = list(range(len(right) + 1))
    for deleted, token in enumerate(left, 1):
        above, row = row, [deleted]
        for place, other in enumerate(right):
            row.append(min(above[place + 1] + 1, row[place] + 1, above[place] + (token != other)))
    return row[-1]


# Values of the edit distance


@pytest.mark.parametrize("size", [1, 30, 400])
def test_edit_distance_is_that_of_the_textbook(size: int) -> None:
    edits = [compute_textbook_distance(list(text), list(answer)) for text, answer in zip(TEXTS, ANSWERS)]
    letters = list(map(list, TEXTS)), list(map(list, ANSWERS))
    ids = tuple([[ord(letter) for letter in text] for text in column] for column in (TEXTS, ANSWERS))
    for columns in (letters, ids):
        rate = add_in_batches(EditDistance(), *columns, size=size)
        assert read_value(rate) == np.float32(sum(edits) / sum(map(len, TEXTS)))
        mean = add_in_batches(EditDistance(normalize=False), *columns, size=size)
        assert read_value(mean) == np.float32(sum(edits) / len(edits))


def test_error_rates_equal_those_of_jiwer() -> None:
    """For one text and for many: jiwer also divides all edits by all words. It strips texts, and has no empty words."""
    jiwer = pytest.importorskip("jiwer")
    words = [" ".join(text.split()) for text in TEXTS], [" ".join(answer.split()) for answer in ANSWERS]
    pairs = [*zip(*(column[:60] for column in words)), ("", ""), ("", "a b c"), ("a b c", ""), ("a", "b a c d")]
    for truth, predicted in pairs:
        word_error_rate = compute(EditDistance(), truth.split(), predicted.split())
        assert word_error_rate == np.float32(jiwer.wer(truth, predicted)), (truth, predicted)
        character_error_rate = compute(EditDistance(), list(truth), list(predicted))
        assert character_error_rate == np.float32(jiwer.cer(truth, predicted)), (truth, predicted)
    truth, predicted = map(list, zip(*pairs))
    split = [text.split() for text in truth], [text.split() for text in predicted]
    assert compute(EditDistance(), *split) == np.float32(jiwer.wer(truth, predicted))
    letters = list(map(list, truth)), list(map(list, predicted))
    assert compute(EditDistance(), *letters) == np.float32(jiwer.cer(truth, predicted))


def test_texts_without_tokens_count_the_tokens_of_the_other_side() -> None:
    for truth, predicted, rate, edits in [
        ([], [], 0, 0),
        ([[]], [[]], 0, 0),
        (["a", "b"], [], 1, 2),
        ([], ["a", "b"], 2, 2),  # nothing to divide by: keras_hub would call it 0, which is no error at all
        ([[], []], [["a"], ["b", "c"]], 3, 1.5),
        ([[], ["a", "b"]], [["x", "y"], ["a", "c"]], 1.5, 1.5),
    ]:
        assert compute(EditDistance(), truth, predicted) == rate
        assert compute(EditDistance(normalize=False), truth, predicted) == edits
    metric = EditDistance(normalize=False)
    metric.update_state(np.zeros((0, 3), "int32"), np.zeros((0, 3), "int32"))  # a batch of no texts
    metric.update_state(["a"], ["b"])
    assert read_value(metric) == 1


def test_token_0_and_the_empty_string_count() -> None:
    """keras_hub ignores token 0 and the empty string in the distance; other implementations do not."""
    assert compute(EditDistance(), [1, 0, 2], [1, 2]) == np.float32(1 / 3)
    assert compute(EditDistance(), ["a", ""], ["a"]) == 0.5
    assert compute(EditDistance(normalize=False), [-1, -100, 2**60], [-2, -100, 2**60 - 1]) == 2


# Input of the edit distance


def test_flat_list_is_one_text() -> None:
    assert compute(EditDistance(normalize=False), ["a", "b"], [["a", "c"]]) == 1
    assert compute(EditDistance(normalize=False), np.array([[1, 2]]), [1, 3]) == 1


WRONG: list[tuple[Any, Any, str]] = [
    ([["a"], ["b"]], [["a"]], r"y_true and y_pred hold 2 and 1 texts: pass the tokens of the same number of texts"),
    (["a", "b"], [["a"], ["b"]], r"hold 1 and 2 texts.*a flat list is one text"),
    (np.array([1, 2]), np.zeros((2, 1), "int32"), r"hold 1 and 2 texts"),
    ("abc", "abd", r"y_true is 'abc' \(str\): pass the tokens .* list\(text\) or text.split\(\)"),
    (["a"], b"a", r"y_pred is b'a' \(bytes\): pass the tokens"),
    (3, 3, r"y_true is 3 \(int\): pass the tokens"),
    (np.array(3), np.array(3), r"y_true is array\(3\) \(ndarray\): pass the tokens"),
    (None, ["a"], r"y_true is None: pass the tokens"),
    ({"a": 1}, ["a"], r"y_true is \{'a': 1\} \(dict\): pass the tokens"),
    ([[["a"]]], [["a"]], r"y_true, text 0 \(counted from 0\), token 0, is \['a'\] \(list\).*in a list for each text"),
    ([[1]], np.zeros((1, 2, 9)), r"y_pred, text 0 .*, token 0, is \[0\.0, .*argmax\(scores, -1\)"),
    ([1, 2], np.array([1.0, 2.0]), r"y_pred, token 0, is 1\.0 \(float\): pass token ids.*cast\(ids"),
    ([["a"], ["b", None]], [["a"], ["b"]], r"y_true, text 1 .*, token 1, is None: pass token ids"),
    ([True], [1], r"y_true, token 0, is True \(bool\): pass token ids"),
    (["a", ["b"]], [["a"], ["b"]], r"y_true holds lists, but item 0 \(counted from 0\) is 'a' \(str\)"),
    (["a", 1], ["a", 1], r"y_true holds strings and whole numbers"),
    (["a"], [97], r"some texts are of strings and some of whole numbers: .* same tokenizer"),
    ([["a"], [1]], [["a"], [1]], r"some texts are of strings and some of whole numbers"),
    ([2**61], [1], r"y_true contains a number of more than 60 bits"),
    ([b"\xff"], ["a"], r"y_true, item 0, is not UTF-8 .*: decode the bytes"),
    (["a"], keras.KerasTensor((1,)), r"y_pred is a symbolic tensor \(KerasTensor\).*ValidationMetrics"),
]


@pytest.mark.parametrize(("y_true", "y_pred", "says"), WRONG, ids=range(len(WRONG)))
def test_bad_texts_are_named_and_leave_the_metric_unchanged(y_true: Any, y_pred: Any, says: str) -> None:
    for normalize in (True, False):
        metric = EditDistance(normalize=normalize)
        metric.update_state(TRUTH, PREDICTED)
        before = read_value(metric)
        with pytest.raises(ValueError, match=says):
            metric.update_state(y_true, y_pred)
        assert read_value(metric) == before
        metric.update_state(TRUTH, TRUTH)
        assert read_value(metric) == before / 2


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1], r"sample_weight has 1 rows and the batch has 2: pass one weight"),
        (
            [1, -1],
            r"sample_weight, row 1 \(counted from 0\), must be a finite float32 number, 0 or more, got -1 \(int\)",
        ),
        ([math.nan, 1], r"row 0 .*, got nan \(float\)"),
        ([1, math.inf], r"row 1 .*, got inf \(float\)"),
        (["a", "b"], r"row 0 .*, got 'a' \(str\)"),
        ("a", r"row 0 .*, got 'a' \(str\)"),
        ([[1.0], [1.0]], r"row 0 .*, got \[1\.0\] \(list\)"),
        ([1e39, 1], r"row 0 .*, got 1e\+39 \(float\)"),
        ([1, 10**400], r"row 1 .*, got 1000+\.\.\. \(int\)"),
        ([3e38, 3e38], r"adds up to more than float32 holds"),
        (keras.KerasTensor((2,)), r"sample_weight is a symbolic tensor"),
    ],
)
def test_bad_weights_are_named_and_leave_the_metric_unchanged(weights: Any, says: str) -> None:
    for metric, columns in [(EditDistance(), (TRUTH, PREDICTED)), (ANLS(), (["a", "b"], ["a", "c"]))]:
        metric.update_state(*columns)
        before = read_value(metric)
        with pytest.raises(ValueError, match=says):
            metric.update_state(*columns, sample_weight=weights)
        metric.update_state(*columns)
        assert read_value(metric) == before


# ANLS


@pytest.mark.parametrize("name", anls_metric.VARIANTS)
def test_anls_gives_the_mean_of_every_variant(name: str) -> None:
    scores = anls_metric.anls_scores(ANSWERS, ACCEPTED, variant=name)
    assert read_value(add_in_batches(ANLS(name), ACCEPTED, ANSWERS, size=70)) == np.float32(anls_metric.mean(scores))


def test_anls_takes_the_options_of_the_functions_and_names_them_in_its_signature() -> None:
    options: dict[str, Any] = {"variant": "lmms_eval", "threshold": 0.8, "ignore_case": False}
    metric = ANLS(**options)
    assert metric.signature() == anls_metric.signature(**options)
    expected = anls_metric.mean(anls_metric.anls_scores(ANSWERS, ACCEPTED, **options))
    assert compute(metric, ACCEPTED, ANSWERS) == np.float32(expected)
    for wrong in ({"variant": "best"}, {"threshold": 2}, {"ignore_case": "no"}, {"dtype": "int32"}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}|unknown variant 'best'"):
            ANLS(**wrong)


def test_columns_may_be_lists_arrays_bytes_and_iterators() -> None:
    references = [["Coca Cola", "Coke"], ["12/15/88", "x"]]
    predictions = ["CocaCola", "12/15/89"]
    expected = np.float32(anls_metric.mean([8 / 9, 7 / 8]))
    for y_true in (references, np.array(references), [[text.encode() for text in row] for row in references]):
        for y_pred in (predictions, np.array(predictions), np.array(predictions, object), np.array(predictions, "S")):
            assert compute(ANLS(), y_true, y_pred) == expected
    ragged = np.array([["Coca Cola"], np.array(["x", "12/15/88"])], dtype=object)
    assert compute(ANLS(), ragged, iter(predictions)) == expected
    assert compute(ANLS(), ["Coca Cola", "12/15/88"], tuple(predictions)) == expected
    assert compute(ANLS(), [], []) == 0


@pytest.mark.parametrize(
    ("y_true", "y_pred", "says"),
    [
        (["a"], ["a", "b"], r"predictions has 2, references has 1"),
        (["a", "b"], ["a", None], r"prediction of row 1 \(counted from 0\) is None, not a string"),
        ([["a"], []], ["a", "b"], r"references of row 1 .* is an empty list"),
        ("a", "a", r"'a' \(str\): pass .*list"),
        (["a"], [b"\xff"], r"y_pred, item 0, is not UTF-8 .*: decode the bytes"),
        (
            ["a"],
            np.zeros((1, 4, 9)),
            r"y_pred is a tensor or array of float64: pass texts.*ValidationMetrics",
        ),
        (keras.KerasTensor((1,)), ["a"], r"y_true is a symbolic tensor \(KerasTensor\).*ValidationMetrics"),
    ],
)
def test_bad_columns_are_named_and_leave_the_metric_unchanged(y_true: Any, y_pred: Any, says: str) -> None:
    metric = ANLS()
    metric.update_state(["a", "b"], ["a", "c"])
    with pytest.raises(ValueError, match=says):
        metric.update_state(y_true, y_pred)
    assert read_value(metric) == 0.5
    metric.update_state(["a", "b"], ["a", "b"])
    assert read_value(metric) == 0.75


@pytest.mark.parametrize("kind", [set, frozenset])
def test_accepted_answers_may_be_a_set_and_rows_may_not(kind: Callable[[Any], Any]) -> None:
    """The order of accepted answers does not matter; the order of rows does."""
    assert compute(ANLS(), [kind({"Coca Cola", "Coke"}), ["x"]], ["CocaCola", "x"]) == np.float32((8 / 9 + 1) / 2)
    for y_true, y_pred in [(kind({"a", "b"}), ["a", "b"]), (["a", "b"], kind({"a", "b"}))]:
        with pytest.raises(ValueError, match=r"set\): pass a list"):
            ANLS().update_state(y_true, y_pred)


# Any input


def read_error(metric: Any, *columns: Any, **options: Any) -> str:
    """Return the text of the ValueError, "" for none, and check that the metric is still right afterwards."""
    try:
        metric.update_state(*columns, **options)
    except ValueError as error:
        metric.update_state(["a", "b"], ["a", "c"])
        assert read_value(metric) == 0.5
        return str(error)
    return ""


@pytest.mark.parametrize("odd", ODD)
def test_odd_columns_are_refused(odd: str) -> None:
    make = ODD[odd]
    for columns in [(make(), ["a"]), (["a"], make()), (["a", "b"], ["a", make()]), (["a", make()], ["a", "b"])]:
        assert "pass " in read_error(ANLS(), *columns) or odd == "bytes"
        assert "pass " in read_error(EditDistance(), *columns) or odd == "bytes"
    if odd not in ("None", "a number"):
        for weights in (make(), [1, make()]):
            assert "sample_weight" in read_error(ANLS(), ["a", "b"], ["a", "c"], sample_weight=weights)


@quick
@given(trees, trees, trees)
def test_any_columns_are_scored_or_refused(y_true: Any, y_pred: Any, weights: Any) -> None:
    """The metric raises nothing but a ValueError, and is right afterwards."""
    for make in (ANLS, EditDistance):
        read_error(make(), y_true, y_pred)
        read_error(make(), y_true, y_pred, sample_weight=weights)
        read_error(make(), ["a", "b"], ["a", "c"], sample_weight=weights)


# Configurations


OWN = anls_metric.Variant("own", whitespace="strip", no_answers=("", "none"))


@pytest.mark.parametrize(
    "metric",
    [
        EditDistance(),
        EditDistance(normalize=False, dtype="float16", name="edits"),
        ANLS(),
        ANLS("vlmevalkit", threshold=0.8, ignore_case=False, name="leaderboard"),
        ANLS(OWN, threshold=0.3),
        ANLS(anls_metric.Variant("standard", threshold=0.2)),
    ],
    ids=lambda metric: metric.name,
)
def test_metric_comes_back_from_its_config_and_from_serialization(metric: Any) -> None:
    config = json.loads(json.dumps(metric.get_config()))
    saved = json.loads(json.dumps(keras.saving.serialize_keras_object(metric)))
    assert saved["registered_name"] == f"anls>{type(metric).__name__}"
    for again in (type(metric).from_config(config), keras.saving.deserialize_keras_object(saved)):
        assert type(again) is type(metric)
        assert again.get_config() == metric.get_config()
        assert again.dtype == metric.dtype
        if isinstance(metric, ANLS):
            assert again.variant == metric.variant
            assert again.signature() == metric.signature()


def test_config_names_a_known_variant() -> None:
    assert ANLS("vlmevalkit").get_config() == {
        "name": "anls",
        "dtype": "float32",
        "variant": "rrc",
        "threshold": None,
        "ignore_case": None,
    }
    assert EditDistance().get_config() == {"name": "edit_distance", "dtype": "float32", "normalize": True}


def test_bad_configs_are_refused() -> None:
    for variant, says in [
        ({"name": "own", "of_a_later_version": 1}, r"no Variant \(.*of_a_later_version"),
        ({}, r"no Variant \(.*name"),
        ({"name": "own", "whitespace": "all"}, "whitespace must be one of 'squeeze', 'strip', 'keep', got 'all'"),
        (["own"], r"variant is \['own'\] \(list\)"),
    ]:
        with pytest.raises(ValueError, match=says):
            ANLS.from_config({"variant": variant})
    for make in (ANLS, EditDistance):
        with pytest.raises(ValueError, match=r"name must be a string or None, got 5 \(int\)"):
            make(name=5)  # type: ignore[arg-type]
