"""The metrics of Keras, through what Keras does with them: on one backend here, and on the others in processes of
their own, which run this file again.

All texts here are made up, but those of keras_hub's documentation.
"""

from __future__ import annotations

import doctest
import importlib.util
import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import anls
from tests.conftest import ROOT, fuzzed_rows

os.environ.setdefault("KERAS_BACKEND", "torch")  # keras asks for it once, when it is imported
keras = pytest.importorskip("keras", reason="the extra `keras`, or its backend, is not installed")
np = pytest.importorskip("numpy")

import anls_metric.keras  # noqa: E402
from anls_metric.keras import ANLS, EditDistance, ValidationMetrics  # noqa: E402

# What the backend of PyTorch says of numpy 2, whenever a tensor is taken to the host.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword")

BACKEND = keras.backend.backend()
SCRIPT = ROOT / "examples" / "train_with_keras.py"

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


def value(metric: Any) -> Any:
    """The value with its dtype, on the host."""
    return keras.ops.convert_to_numpy(metric.result())[()]


def computed(metric: Any, *columns: Any, **options: Any) -> Any:
    metric.update_state(*columns, **options)
    return value(metric)


def add_in_batches(metric: Any, *columns: list[Any], size: int) -> Any:
    for start in range(0, len(columns[0]), size):
        metric.update_state(*(column[start : start + size] for column in columns))
    return metric


def textbook_distance(left: list[Any], right: list[Any]) -> int:
    """The edit distance by the whole table, row after row."""
    row = list(range(len(right) + 1))
    for deleted, token in enumerate(left, 1):
        above, row = row, [deleted]
        for place, other in enumerate(right):
            row.append(min(above[place + 1] + 1, row[place] + 1, above[place] + (token != other)))
    return row[-1]


# The edit distance: its numbers


@pytest.mark.parametrize(("normalize", "numbers"), [(True, ["0.36363637", "0.73333335"]), (False, ["4.0", "5.5"])])
def test_the_numbers_of_keras_hub(normalize: bool, numbers: list[str]) -> None:
    metric = EditDistance(normalize=normalize)
    one, both = numbers
    assert str(keras.ops.convert_to_numpy(metric(TRUTH[0], PREDICTED[0]))) == one
    assert str(keras.ops.convert_to_numpy(metric(TRUTH[1], PREDICTED[1]))) == both
    metric.reset_state()
    assert str(keras.ops.convert_to_numpy(metric(TRUTH, PREDICTED))) == both
    assert value(metric).dtype == np.float32


@pytest.mark.parametrize("size", [1, 30, 400])
def test_the_distance_is_that_of_the_textbook(size: int) -> None:
    edits = [textbook_distance(list(text), list(answer)) for text, answer in zip(TEXTS, ANSWERS)]
    letters = list(map(list, TEXTS)), list(map(list, ANSWERS))
    ids = tuple([[ord(letter) for letter in text] for text in column] for column in (TEXTS, ANSWERS))
    for columns in (letters, ids):
        rate = add_in_batches(EditDistance(), *columns, size=size)
        assert value(rate) == np.float32(sum(edits) / sum(map(len, TEXTS)))
        mean = add_in_batches(EditDistance(normalize=False), *columns, size=size)
        assert value(mean) == np.float32(sum(edits) / len(edits))


def test_error_rates_are_those_of_jiwer() -> None:
    """Of single texts and of many: jiwer too divides all edits by all words. It strips, and has no empty words."""
    jiwer = pytest.importorskip("jiwer")
    words = [" ".join(text.split()) for text in TEXTS], [" ".join(answer.split()) for answer in ANSWERS]
    pairs = [*zip(*(column[:60] for column in words)), ("", ""), ("", "a b c"), ("a b c", ""), ("a", "b a c d")]
    for truth, predicted in pairs:
        word_error_rate = computed(EditDistance(), truth.split(), predicted.split())
        assert word_error_rate == np.float32(jiwer.wer(truth, predicted)), (truth, predicted)
        character_error_rate = computed(EditDistance(), list(truth), list(predicted))
        assert character_error_rate == np.float32(jiwer.cer(truth, predicted)), (truth, predicted)
    truth, predicted = map(list, zip(*pairs))
    split = [text.split() for text in truth], [text.split() for text in predicted]
    assert computed(EditDistance(), *split) == np.float32(jiwer.wer(truth, predicted))
    letters = list(map(list, truth)), list(map(list, predicted))
    assert computed(EditDistance(), *letters) == np.float32(jiwer.cer(truth, predicted))


def test_texts_without_tokens() -> None:
    for truth, predicted, rate, edits in [
        ([], [], 0, 0),
        ([[]], [[]], 0, 0),
        (["a", "b"], [], 1, 2),
        ([], ["a", "b"], 2, 2),  # nothing to divide by: keras_hub would call it 0, which is no error at all
        ([[], []], [["a"], ["b", "c"]], 3, 1.5),
        ([[], ["a", "b"]], [["x", "y"], ["a", "c"]], 1.5, 1.5),
    ]:
        assert computed(EditDistance(), truth, predicted) == rate
        assert computed(EditDistance(normalize=False), truth, predicted) == edits
    metric = EditDistance(normalize=False)
    metric.update_state(np.zeros((0, 3), "int32"), np.zeros((0, 3), "int32"))  # a batch of no texts
    metric.update_state(["a"], ["b"])
    assert value(metric) == 1


def test_every_token_counts() -> None:
    """Where keras_hub leaves out token 0 and the empty string, and so do no others."""
    assert computed(EditDistance(), [1, 0, 2], [1, 2]) == np.float32(1 / 3)
    assert computed(EditDistance(), ["a", ""], ["a"]) == 0.5
    assert computed(EditDistance(normalize=False), [-1, -100, 2**60], [-2, -100, 2**60 - 1]) == 2


# The edit distance: what it takes

IDS, OTHER_IDS = [[1, 2, 3], [4, 5, 6]], [[1, 2, 4], [4, 5, 6]]
OF_EQUAL_LENGTH: dict[str, Callable[[Any], Any]] = {
    "tuples": lambda rows: tuple(map(tuple, rows)),
    "numpy": np.array,
    "numpy uint8": lambda rows: np.array(rows, dtype="uint8"),
    "numpy of objects": lambda rows: np.array(rows, dtype=object),
    "numpy strings": lambda rows: np.array(rows).astype(str),
    "numpy bytes": lambda rows: np.array(rows).astype("S"),
    "tensor": lambda rows: keras.ops.convert_to_tensor(rows, dtype="int32"),
    "variable": lambda rows: keras.Variable(rows, dtype="int32", trainable=False),
}
OF_ANY_LENGTH: dict[str, Callable[[Any], Any]] = {
    "lists": lambda rows: rows,
    "strings": lambda rows: [list(map(str, row)) for row in rows],
    "bytes": lambda rows: [[b"%d" % token for token in row] for row in rows],
    "lists of scalars of numpy": lambda rows: [list(np.array(row)) for row in rows],
    "list of arrays": lambda rows: [np.array(row, dtype="int64") for row in rows],
    "list of tensors": lambda rows: [keras.ops.convert_to_tensor(row, dtype="int32") for row in rows],
    "lists of scalar tensors": lambda rows: [
        [keras.ops.convert_to_tensor(token, dtype="int32") for token in row] for row in rows
    ],
}


@pytest.mark.parametrize("kind", [*OF_ANY_LENGTH, *OF_EQUAL_LENGTH])
def test_kinds_of_texts(kind: str) -> None:
    make = {**OF_ANY_LENGTH, **OF_EQUAL_LENGTH}[kind]
    assert computed(EditDistance(), make(IDS), make(OTHER_IDS)) == np.float32(1 / 6)
    assert computed(EditDistance(), make(IDS)[0], make(OTHER_IDS)[0]) == np.float32(1 / 3)
    if "strings" not in kind and "bytes" not in kind:
        assert computed(EditDistance(), IDS, make(OTHER_IDS)) == np.float32(1 / 6)


@pytest.mark.parametrize("kind", [*OF_ANY_LENGTH, "numpy of objects"])
def test_kinds_of_texts_of_unequal_length(kind: str) -> None:
    make = OF_ANY_LENGTH.get(kind, lambda rows: np.array(rows, dtype=object))
    assert computed(EditDistance(), make([[1, 2], [3]]), make([[1, 2], [3, 5]])) == np.float32(1 / 3)


def test_a_batch_may_be_one_text() -> None:
    assert computed(EditDistance(normalize=False), ["a", "b"], [["a", "c"]]) == 1
    assert computed(EditDistance(normalize=False), np.array([[1, 2]]), [1, 3]) == 1


def test_tensors_of_tensorflow() -> None:
    tf = pytest.importorskip("tensorflow")
    ragged = tf.ragged.constant
    assert computed(EditDistance(), ragged([[1, 2], [3]]), ragged([[1, 2], [3, 5]])) == np.float32(1 / 3)
    assert computed(EditDistance(), ragged(TRUTH), ragged(PREDICTED)) == np.float32(11 / 15)
    assert computed(EditDistance(), TRUTH, ragged(PREDICTED)) == np.float32(11 / 15)
    assert computed(EditDistance(), tf.constant(["ä", "b"]), ["ä", "c"]) == 0.5
    assert computed(EditDistance(), list(ragged(TRUTH)), list(tf.constant([PREDICTED[0]] * 2))) > 0
    references = [["Café", "x"], ["Coca Cola"]]
    for y_true in (references, ragged(references), list(map(tf.constant, references))):
        assert computed(ANLS(), y_true, tf.constant(["café", "CocaCola"])) == np.float32((1 + 8 / 9) / 2)
    assert computed(ANLS(), tf.constant(["a", "b"]), tf.constant(["a", "c"]), sample_weight=tf.constant([3, 1])) == 0.75

    in_a_graph = tf.function(lambda metric, y: metric.update_state(y, y))

    for metric, y in [(EditDistance(), ragged(TRUTH)), (EditDistance(), tf.constant(["a"])), (ANLS(), ragged(TRUTH))]:
        with pytest.raises(ValueError, match=r"without values.*ValidationMetrics"):
            in_a_graph(metric, y)


WRONG: list[tuple[Any, Any, str]] = [
    ([["a"], ["b"]], [["a"]], r"2 texts in y_true but 1 in y_pred: pass the tokens of one text on both sides"),
    (["a", "b"], [["a"], ["b"]], r"1 text in y_true but 2 in y_pred.*a flat list is one text"),
    (np.array([1, 2]), np.zeros((2, 1), "int32"), r"1 text in y_true but 2 in y_pred"),
    ("abc", "abd", r"y_true is 'abc' \(str\): pass the tokens .* list\(text\) or text.split\(\)"),
    (["a"], b"a", r"y_pred is b'a' \(bytes\): pass the tokens"),
    (3, 3, r"y_true is 3 \(int\): pass the tokens"),
    (np.array(3), np.array(3), r"y_true is 3 \(int\): pass the tokens"),
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
    ([2**61], [1], r"y_true holds a number beyond 60 bits"),
    ([b"\xff"], ["a"], r"y_true, token 0, is not UTF-8 .*: decode the bytes"),
    (["a"], keras.KerasTensor((1,)), r"y_pred is a tensor without values \(KerasTensor\).*ValidationMetrics"),
]


@pytest.mark.parametrize(("y_true", "y_pred", "says"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_said_and_nothing_kept(y_true: Any, y_pred: Any, says: str) -> None:
    for normalize in (True, False):
        metric = EditDistance(normalize=normalize)
        metric.update_state(TRUTH, PREDICTED)
        before = value(metric)
        with pytest.raises(ValueError, match=says):
            metric.update_state(y_true, y_pred)
        assert value(metric) == before
        metric.update_state(TRUTH, TRUTH)
        assert value(metric) == before / 2


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1], r"1 weight in sample_weight for 2 rows: pass one for each"),
        ([1, -1], r"sample_weight, row 1 \(counted from 0\), is -1 \(int\): it must be a number, 0 or more"),
        ([math.nan, 1], r"row 0 .* is nan \(float\)"),
        ([1, math.inf], r"row 1 .* is inf \(float\)"),
        (["a", "b"], r"row 0 .* is 'a' \(str\)"),
        ("a", r"row 0 .* is 'a' \(str\)"),
        ([[1.0], [1.0]], r"row 0 .* is \[1\.0\] \(list\)"),
        ([1e39, 1], r"adds up to more than float32 holds"),
        ([1e308, 1e308], r"adds up to more than float32 holds"),
        (keras.KerasTensor((2,)), r"sample_weight is a tensor without values"),
    ],
)
def test_what_is_wrong_with_weights(weights: Any, says: str) -> None:
    for metric, columns in [(EditDistance(), (TRUTH, PREDICTED)), (ANLS(), (["a", "b"], ["a", "c"]))]:
        metric.update_state(*columns)
        before = value(metric)
        with pytest.raises(ValueError, match=says):
            metric.update_state(*columns, sample_weight=weights)
        metric.update_state(*columns)
        assert value(metric) == before


def test_weights() -> None:
    truth, predicted = [["a", "b"], ["c"], ["d"]], [["a", "x"], ["c"], ["y"]]
    for normalize in (True, False):
        lengths = [2, 1, 1] if normalize else [1, 1, 1]
        for weights in ([1.5, 2.0, 0.25], [0, 1, 0], [0.125, 0.25, 0], [True, False, True]):
            expected = (weights[0] + weights[2]) / sum(weight * n for weight, n in zip(weights, lengths))
            arrays = [weights, np.array(weights), keras.ops.convert_to_tensor(np.array(weights, "float32"))]
            for array in [*arrays, [np.float32(weight) for weight in weights]]:
                result = computed(EditDistance(normalize), truth, predicted, sample_weight=array)
                assert result == np.float32(expected)
        assert computed(EditDistance(normalize), truth, predicted, sample_weight=0) == 0
        same = computed(EditDistance(normalize), truth, predicted, sample_weight=7)
        assert same == computed(EditDistance(normalize), truth, predicted)
        repeated = EditDistance(normalize)
        repeated.update_state(truth + truth[:1] * 2, predicted + predicted[:1] * 2)
        assert computed(EditDistance(normalize), truth, predicted, sample_weight=[3, 1, 1]) == value(repeated)
    assert computed(ANLS(), ["a", "b"], ["a", "c"], sample_weight=[3, 1]) == 0.75


# ANLS


@pytest.mark.parametrize("name", anls.VARIANTS)
def test_every_variant_gives_the_mean_of_anls(name: str) -> None:
    scores = anls.anls_scores(ANSWERS, ACCEPTED, variant=name)
    assert value(add_in_batches(ANLS(name), ACCEPTED, ANSWERS, size=70)) == np.float32(anls.mean(scores))


def test_options_and_signature() -> None:
    options: dict[str, Any] = {"variant": "lmms_eval", "threshold": 0.8, "ignore_case": False}
    metric = ANLS(**options)
    assert metric.signature() == anls.signature(**options)
    expected = anls.mean(anls.anls_scores(ANSWERS, ACCEPTED, **options))
    assert computed(metric, ACCEPTED, ANSWERS) == np.float32(expected)
    for wrong in ({"variant": "best"}, {"threshold": 2}, {"ignore_case": "no"}, {"dtype": "int32"}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}|no variant 'best'"):
            ANLS(**wrong)


def test_kinds_of_columns() -> None:
    references = [["Coca Cola", "Coke"], ["12/15/88", "x"]]
    predictions = ["CocaCola", "12/15/89"]
    expected = np.float32(anls.mean([8 / 9, 7 / 8]))
    for y_true in (references, np.array(references), [[text.encode() for text in row] for row in references]):
        for y_pred in (predictions, np.array(predictions), np.array(predictions, object), np.array(predictions, "S")):
            assert computed(ANLS(), y_true, y_pred) == expected
    ragged = np.array([["Coca Cola"], np.array(["x", "12/15/88"])], dtype=object)
    assert computed(ANLS(), ragged, iter(predictions)) == expected
    assert computed(ANLS(), ["Coca Cola", "12/15/88"], tuple(predictions)) == expected
    assert computed(ANLS(), [], []) == 0


@pytest.mark.parametrize(
    ("y_true", "y_pred", "says"),
    [
        (["a"], ["a", "b"], r"2 predictions but references for 1 questions"),
        (["a", "b"], ["a", None], r"prediction of row 1 \(counted from 0\) is None, not a string"),
        ([["a"], []], ["a", "b"], r"references of row 1 .* is an empty list"),
        ("a", "a", r"'a' \(str\): pass a list of strings"),
        (["a"], [b"\xff"], r"y_pred, item 0, is not UTF-8 .*: decode the bytes"),
        (
            ["a"],
            np.zeros((1, 4, 9)),
            r"y_pred is a tensor or array of float64: pass texts.*ValidationMetrics",
        ),
        (keras.KerasTensor((1,)), ["a"], r"y_true is a tensor without values \(KerasTensor\).*ValidationMetrics"),
    ],
)
def test_what_is_wrong_with_columns(y_true: Any, y_pred: Any, says: str) -> None:
    metric = ANLS()
    metric.update_state(["a", "b"], ["a", "c"])
    with pytest.raises(ValueError, match=says):
        metric.update_state(y_true, y_pred)
    assert value(metric) == 0.5
    metric.update_state(["a", "b"], ["a", "b"])
    assert value(metric) == 0.75


# What Keras does with a metric


@pytest.mark.parametrize("make", [EditDistance, ANLS])
def test_reset_and_nothing_yet(make: Any) -> None:
    metric = make()
    assert value(metric) == 0
    metric.update_state(["a", "b"], ["x", "b"])
    assert value(metric) == 0.5
    metric.reset_state()
    assert value(metric) == 0
    metric.update_state(["a", "b"], ["a", "b"])
    assert value(metric) == (1 if make is ANLS else 0)


def test_the_state_is_that_of_variables() -> None:
    """So that the functions of Keras without side effects, which loops written for JAX use, work."""
    metric = EditDistance()
    state = metric.stateless_reset_state()
    for text, answer in zip(TRUTH, PREDICTED):
        state = metric.stateless_update_state(state, text, answer)
    assert str(keras.ops.convert_to_numpy(metric.stateless_result(state))) == "0.73333335"
    assert value(metric) == 0


@pytest.mark.parametrize(
    ("dtype", "held"), [("float32", "float32"), ("float16", "float16"), (None, "float32"), ("mixed_float16", "float16")]
)
def test_dtypes(dtype: Any, held: str) -> None:
    metric = EditDistance(dtype=dtype)
    assert value(add_in_batches(metric, *[[["a"] * 3] * 5000] * 2, size=1000)) == 0
    result = computed(metric, [["a"] * 3] * 5000, [["a", "a", "b"]] * 5000)
    assert result.dtype == held
    assert result == np.array(1 / 6, dtype=held)
    for wrong in ("int32", "bool"):
        with pytest.raises(ValueError, match=f"dtype is '{wrong}': it must be that of a fraction"):
            EditDistance(dtype=wrong)
    with pytest.raises(ValueError, match="normalize is 1: it must be True or False"):
        EditDistance(normalize=1)  # type: ignore[arg-type]


OWN = anls.Variant("own", whitespace="strip", no_answers=("", "none"))


@pytest.mark.parametrize(
    "metric",
    [
        EditDistance(),
        EditDistance(normalize=False, dtype="float16", name="edits"),
        ANLS(),
        ANLS("vlmevalkit", threshold=0.8, ignore_case=False, name="leaderboard"),
        ANLS(OWN, threshold=0.3),
        ANLS(anls.Variant("standard", threshold=0.2)),
    ],
    ids=lambda metric: metric.name,
)
def test_config_and_serialization(metric: Any) -> None:
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


def test_names_in_a_config() -> None:
    assert ANLS("vlmevalkit").get_config() == {
        "name": "anls",
        "dtype": "float32",
        "variant": "rrc",
        "threshold": None,
        "ignore_case": None,
    }
    assert EditDistance().get_config() == {"name": "edit_distance", "dtype": "float32", "normalize": True}


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_do_not_drift(weighted: bool) -> None:
    """Scores of a long epoch, added one batch after another, against math.fsum of them all."""
    chance = random.Random(3)
    scores = [anls.anls_score("a" * n, ["a" * (n + 1)]) for n in range(1, 30)]
    rows = chance.choices(range(1, 30), k=60_000)
    weights = [chance.choice([1e-6, 0.1, 1.0, 1000.0]) if weighted else 1.0 for _ in rows]
    metric = ANLS()
    for start in range(0, len(rows), 60):
        batch = rows[start : start + 60]
        metric.update_state(
            ["a" * (n + 1) for n in batch],
            ["a" * n for n in batch],
            sample_weight=weights[start : start + 60] if weighted else None,
        )
    products = [weight * scores[n - 1] for n, weight in zip(rows, weights)]
    exact = math.fsum(products) / math.fsum(weights)
    assert value(metric) == np.float32(exact)
    # Every bit of it, which a float32 result does not show.
    numerator, denominator = (math.fsum(parts) for parts in metric._held())
    assert (numerator, denominator) == (math.fsum(products), math.fsum(weights))
    added = np.float32(0)
    for product in products:
        added += np.float32(product)
    assert float(added) != numerator  # what a sum in float32 would be


# In compile and fit


def model_of_ids() -> Any:
    """Its first output are token ids, and the second is what it learns."""
    ids = keras.Input((5,), dtype="int32")
    first = keras.layers.Reshape((5,), name="ids")(ids)
    second = keras.layers.Dense(1, name="scores")(keras.layers.Embedding(7, 2)(ids))
    return keras.Model(ids, {"ids": first, "scores": second})


def fit_with(metric: Any, tmp_path: Path | None = None, **options: Any) -> dict[str, Any]:
    chance = np.random.default_rng(0)
    x, y = (chance.integers(0, 7, (20, 5)).astype("int32") for _ in range(2))
    model = model_of_ids()
    model.compile("sgd", loss={"scores": "mse"}, metrics={"ids": [metric]}, **options)
    data = x, {"ids": y, "scores": np.zeros((20, 5, 1))}
    history: dict[str, Any] = model.fit(*data, batch_size=8, verbose=0, validation_data=data).history
    edits = sum(map(textbook_distance, x.tolist(), y.tolist()))
    for name in ("ids_edit_distance", "val_ids_edit_distance"):
        assert history[name] == [np.float32(edits / y.size)]
    if tmp_path is not None:
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        assert loaded.evaluate(*data, verbose=0, return_dict=True)["ids_edit_distance"] == np.float32(edits / y.size)
    return history


def test_in_compile(tmp_path: Path) -> None:
    """Where Keras runs a step as it is, it works; where it traces one, the error says what to do instead."""
    if BACKEND == "torch":
        fit_with(EditDistance(), tmp_path)
    else:
        with pytest.raises(ValueError, match=r"tensor without values .*(Tracer|SymbolicTensor).*ValidationMetrics"):
            fit_with(EditDistance())
    if BACKEND == "tensorflow":
        fit_with(EditDistance(), tmp_path, run_eagerly=True)
    if BACKEND == "jax":
        with pytest.raises(ValueError, match=r"tensor without values .*Tracer.*ValidationMetrics"):
            fit_with(EditDistance(), run_eagerly=True)
    with pytest.raises(ValueError, match="ValidationMetrics"):
        fit_with(ANLS())


def small_model() -> Any:
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    return model


def test_a_callback_logs_what_others_monitor(tmp_path: Path) -> None:
    references = [["Coca Cola", "Coke"], ["Pepsi"]]
    said = [["x", "y"], ["CocaCola", "y"], ["CocaCola", "Pepsi"], ["CocaCola", "y"], ["x", "y"], ["CocaCola", "Pepsi"]]
    weights: list[float] = []
    x, y = np.ones((4, 1)), np.ones((4, 1))
    model = small_model()

    def predict(model: Any) -> list[str]:
        weights.append(model.predict(x, verbose=0)[0, 0])  # a prediction in the middle of training, as it is used
        return said[len(weights) - 1]

    path = str(tmp_path / "best.weights.h5")
    callbacks = [
        ValidationMetrics(predict, references, [ANLS(name="standard"), ANLS("nls", name="nls")]),
        keras.callbacks.ModelCheckpoint(path, "val_standard", mode="max", save_best_only=True, save_weights_only=True),
        keras.callbacks.EarlyStopping("val_standard", mode="max", patience=2),
    ]
    history = model.fit(x, y, epochs=6, verbose=0, validation_data=(x, y), callbacks=callbacks).history
    assert len(weights) == 5  # two epochs after the best one
    for name in ("standard", "nls"):
        means = [anls.mean(anls.anls_scores(answers, references, variant=name)) for answers in said[:5]]
        assert history[f"val_{name}"] == [np.float32(mean) for mean in means]
    assert len(history["val_loss"]) == 5
    assert len(set(weights)) == 5
    best = small_model()
    best.load_weights(path)
    assert best.predict(x, verbose=0)[0, 0] == pytest.approx(weights[2])
    callbacks[0].on_epoch_end(0)  # Keras may give no logs


def always(answers: Any, model: Any) -> Any:
    return answers


def test_one_metric_or_none_given() -> None:
    x = np.ones((2, 1))
    for metrics, name in [(None, "val_anls"), (ANLS(name="score"), "val_score"), (EditDistance(), "val_edit_distance")]:
        y = [["a", "b"], ["c", "d"]] if "edit" in name else ["ab", "cd"]
        callback = ValidationMetrics(partial(always, y), y, metrics)
        history = small_model().fit(x, x, epochs=2, verbose=0, callbacks=[callback]).history
        assert history[name] == ([0, 0] if "edit" in name else [1, 1])


def test_what_is_wrong_with_a_callback() -> None:
    with pytest.raises(ValueError, match=r"names of the metrics are anls, anls: give each its own"):
        ValidationMetrics(lambda model: [], [], [ANLS(), ANLS("rrc")])
    with pytest.raises(ValueError, match=r"'anls' is no metric of Keras: pass ANLS\(\)"):
        ValidationMetrics(lambda model: [], [], ["anls"])
    x = np.ones((2, 1))
    callback = ValidationMetrics(lambda model: ["a"], ["a", "b"])
    with pytest.raises(ValueError, match="1 predictions but references for 2 questions"):
        small_model().fit(x, x, verbose=0, callbacks=[callback])


# Beside others


def test_the_examples_of_the_docstrings_with_this_backend() -> None:
    results = doctest.testmod(anls_metric.keras)
    assert results.failed == 0
    assert results.attempted > 15


def test_no_other_library_is_imported_in_its_own_process(run_python: Callable[..., Any]) -> None:
    program = (
        "import sys, anls_metric.keras;"
        "print(*{'datasets', 'evaluate', 'keras_hub', 'torchmetrics', 'transformers'} & set(sys.modules))"
    )
    done = run_python(program, ROOT, KERAS_BACKEND=BACKEND)
    assert (done.stdout, done.returncode) == ("\n", 0), done.stderr


def test_the_example_learns_with_this_backend(load_example: Callable[[str], Any]) -> None:
    assert load_example("train_with_keras").main(epochs=7) > 0.9


def test_the_example_in_its_own_process(tmp_path: Path) -> None:
    environment = {**os.environ, "KERAS_BACKEND": BACKEND}
    done = subprocess.run(
        [sys.executable, SCRIPT], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    *epochs, kept, last = done.stdout.splitlines()
    assert last == anls.signature()
    scores = [float(line.split()[-1]) for line in epochs]
    assert float(kept.split()[2]) == max(scores) > 0.9 > scores[0]


OTHERS = [] if "ANLS_KERAS_AGAIN" in os.environ else sorted({"torch", "jax", "tensorflow"} - {BACKEND})


@pytest.mark.parametrize("backend", OTHERS or [None])
def test_all_of_this_with_another_backend(backend: str | None, tmp_path: Path) -> None:
    if backend is None:
        return  # this is one of these processes
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    environment = {**os.environ, "KERAS_BACKEND": backend, "ANLS_KERAS_AGAIN": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    options = ["-q", "-k", "not own_process", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'again'}"]
    command = [sys.executable, "-m", "pytest", *options, __file__]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
