"""The metrics for Keras with each backend: one here, and the others in processes that run this file again."""

from __future__ import annotations

import dataclasses
import doctest
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from tests.conftest import ROOT, fuzzed_rows

keras = pytest.importorskip("keras", reason="the extra `keras`, or its backend, is not installed")
np = pytest.importorskip("numpy")

import anls_metric.keras  # noqa: E402
from anls_metric.keras import ANLS, EditDistance, ValidationMetrics  # noqa: E402

BACKEND = keras.backend.backend()
OTHERS = sorted({"torch", "jax", "tensorflow"} - {BACKEND})
AGAIN = "ANLS_KERAS_AGAIN" in os.environ  # whether this process tests another backend
HAS_LOADED_TENSORFLOW = "tensorflow" in sys.modules

# The PyTorch backend warns with numpy 2 whenever a tensor is copied to the host.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword")

TRUTH, PREDICTED = [["a", "b", "c"], ["d"]], [["a", "c"], ["d", "e", "f", "g"]]
ROWS = fuzzed_rows(400, seed=7)
ANSWERS, ACCEPTED = [row[0] for row in ROWS], [row[1] for row in ROWS]


def read_value(metric: Any) -> Any:
    """Read the value, with its dtype, on the host."""
    return keras.ops.convert_to_numpy(metric.result())[()]


def compute(metric: Any, *columns: Any, **options: Any) -> Any:
    metric.update_state(*columns, **options)
    return read_value(metric)


# Values


@pytest.mark.parametrize(
    ("truth", "predicted", "rate", "edits"),
    [
        (TRUTH[0], PREDICTED[0], 1 / 3, 1),
        (TRUTH, PREDICTED, 1, 2),
        ([], [], 0, 0),
        (["a", "b"], [], 1, 2),
        ([], ["a", "b"], 2, 2),  # nothing to divide by: keras_hub would call it 0, which is no error at all
        ([[], ["a", "b"]], [["x", "y"], ["a", "c"]], 1.5, 1.5),
        ([["a"] * 11, ["b"] * 4], [["a"] * 7, ["b"] * 11], 11 / 15, 5.5),
        ([1, 0, 2], [1, 2], 1 / 3, 1),  # keras_hub ignores token 0 and the empty string in the distance
        (["a", ""], ["a"], 0.5, 1),
        ([-1, -100, 2**60], [-2, -100, 2**60 - 1], 2 / 3, 2),
        (["a", "b"], [["a", "c"]], 0.5, 1),  # a flat list is one text
    ],
)
def test_edit_distance_of_texts(truth: Any, predicted: Any, rate: float, edits: float) -> None:
    assert compute(EditDistance(), truth, predicted) == np.float32(rate)
    assert compute(EditDistance(normalize=False), truth, predicted) == np.float32(edits)


@pytest.mark.parametrize(("rate", "split"), [("wer", str.split), ("cer", list)])
def test_error_rates_equal_those_of_jiwer(rate: str, split: Callable[[str], list[str]]) -> None:
    """Jiwer also divides all edits by all words. It strips texts, and has no empty words."""
    jiwer = pytest.importorskip("jiwer")
    truth, predicted = [" ".join(texts[0].split()) for texts in ACCEPTED], [" ".join(text.split()) for text in ANSWERS]
    expected = np.float32(getattr(jiwer, rate)(truth, predicted))
    assert compute(EditDistance(), list(map(split, truth)), list(map(split, predicted))) == expected


STRICT = {"variant": "lmms_eval", "threshold": 0.8, "ignore_case": False}


@pytest.mark.parametrize("options", [*({"variant": name} for name in anls_metric.VARIANTS), STRICT], ids=str)
def test_anls_gives_the_mean_and_the_signature_of_every_variant(options: dict[str, Any]) -> None:
    metric, scores = ANLS(**options), anls_metric.anls_scores(ANSWERS, ACCEPTED, **options)
    for start in range(0, len(ANSWERS), 30):
        metric.update_state(ACCEPTED[start : start + 30], ANSWERS[start : start + 30])
    assert read_value(metric) == np.float32(anls_metric.mean(scores))
    assert metric.signature() == anls_metric.signature(**options)


@pytest.mark.parametrize("weights", [[1.5, 2.0, 0.25], [0, 1, 0], [True, False, True], 7, 0])
def test_weights_multiply_rows(weights: Any) -> None:
    truth, predicted = [["a", "b"], ["c"], ["d"]], [["a", "x"], ["c"], ["y"]]
    first, second, third = np.broadcast_to(weights, 3).astype(float)
    for normalize, count in [(True, 2 * first + second + third), (False, first + second + third)]:
        expected = np.float32((first + third) / (count or 1))
        for array in (weights, np.array(weights), keras.ops.convert_to_tensor(np.array(weights, "float32"))):
            assert compute(EditDistance(normalize), truth, predicted, sample_weight=array) == expected


def test_mean_of_many_rows_is_exact() -> None:
    """The mean of a long epoch, in which a batch is repeated, is that of the batch."""
    metric, weights = ANLS(), [1e-6, 0.1, 1.0, 1000.0] * 15
    for _ in range(500):
        metric.update_state(ACCEPTED[:60], ANSWERS[:60], sample_weight=weights)
    assert read_value(metric) == compute(ANLS(), ACCEPTED[:60], ANSWERS[:60], sample_weight=weights)


# Kinds of columns


def make_tensor(rows: Any) -> Any:
    return keras.ops.convert_to_tensor(rows, dtype="int32")


OF_ANY_LENGTH: dict[str, Callable[[Any], Any]] = {
    "lists": lambda rows: rows,
    "tuples": lambda rows: tuple(map(tuple, rows)),
    "bytes": lambda rows: [[b"%d" % token for token in row] for row in rows],
    "numpy of objects": lambda rows: np.array(rows, dtype=object),
    "list of arrays": lambda rows: [np.array(row, dtype="int64") for row in rows],
    "list of tensors": lambda rows: list(map(make_tensor, rows)),
    "lists of scalar tensors": lambda rows: [list(map(make_tensor, row)) for row in rows],
}
OF_ALL_KINDS: dict[str, Callable[[Any], Any]] = OF_ANY_LENGTH | {
    "numpy": np.array,
    "numpy uint8": lambda rows: np.array(rows, dtype="uint8"),
    "numpy strings": lambda rows: np.array(rows).astype(str),
    "numpy bytes": lambda rows: np.array(rows).astype("S"),
    "tensor": make_tensor,
    "variable": lambda rows: keras.Variable(rows, dtype="int32", trainable=False),
}


@pytest.mark.parametrize("kind", OF_ALL_KINDS)
def test_texts_may_be_of_many_kinds(kind: str) -> None:
    make, truth, predicted = OF_ALL_KINDS[kind], [[1, 2, 3], [4, 5, 6]], [[1, 2, 4], [4, 5, 6]]
    assert compute(EditDistance(), make(truth), make(predicted)) == np.float32(1 / 6)
    assert compute(EditDistance(), make(truth)[0], make(predicted)[0]) == np.float32(1 / 3)
    if kind in OF_ANY_LENGTH:
        assert compute(EditDistance(), make([[1, 2], [3]]), make([[1, 2], [3, 5]])) == np.float32(1 / 3)


def test_columns_of_anls_may_be_of_many_kinds() -> None:
    references, predictions = [["Coca Cola", "Coke"], ["12/15/88", "x"]], ["CocaCola", "12/15/89"]
    expected = np.float32(anls_metric.mean([8 / 9, 7 / 8]))
    encoded = [[text.encode() for text in row] for row in references]
    for y_true in (references, np.array(references), encoded, list(map(set, references)), ["Coca Cola", "12/15/88"]):
        for y_pred in (predictions, np.array(predictions), np.array(predictions, "S"), iter(predictions)):
            assert compute(ANLS(), y_true, y_pred) == expected


@pytest.mark.skipif(AGAIN and BACKEND != "tensorflow", reason="TensorFlow takes seconds, beside one other backend")
def test_tensors_of_tensorflow_are_read() -> None:
    tf = pytest.importorskip("tensorflow")
    ragged = tf.ragged.constant
    for truth, predicted, expected in [
        (ragged([[1, 2], [3]]), ragged([[1, 2], [3, 5]]), 1 / 3),
        (ragged(TRUTH), ragged(PREDICTED), 1),
        (TRUTH, list(ragged(PREDICTED)), 1),
        (tf.constant(["ä", "b"]), ["ä", "c"], 0.5),
    ]:
        assert compute(EditDistance(), truth, predicted) == np.float32(expected)
    references = [["Café", "x"], ["Coca Cola"]]
    for y_true in (references, ragged(references), list(map(tf.constant, references))):
        assert compute(ANLS(), y_true, tf.constant(["café", "CocaCola"])) == np.float32((1 + 8 / 9) / 2)
    assert compute(ANLS(), tf.constant(["a", "b"]), ["a", "c"], sample_weight=tf.constant([3, 1])) == 0.75
    in_a_graph = tf.function(lambda metric, y: metric.update_state(y, y))
    for metric, y in [(EditDistance(), ragged(TRUTH)), (EditDistance(), tf.constant(["a"])), (ANLS(), ragged(TRUTH))]:
        with pytest.raises(ValueError, match=r"symbolic tensor.*ValidationMetrics"):
            in_a_graph(metric, y)


# Refused input


TEXT = "pass a list or tensor of tokens"


@pytest.mark.parametrize(
    ("make", "y_true", "y_pred", "weights", "says"),
    [
        (EditDistance, [["a"], ["b"]], [["a"]], None, "y_true has 2 strings and y_pred has 1: pass tokens"),
        (
            EditDistance,
            ["a", "b"],
            [["a"], ["b"]],
            None,
            r"y_true has 1 string and y_pred has 2.*a flat list is one string",
        ),
        (EditDistance, "abc", "abd", None, rf"y_true is 'abc' \(str\): {TEXT}"),
        (EditDistance, [[1]], np.zeros((1, 2, 9)), None, r"the tokens are int and list: pass .*argmax\(scores, -1\)"),
        (EditDistance, [1, 2], np.array([1.0, 2.0]), None, "the tokens are float and int: pass token ids"),
        (EditDistance, ["a", ["b"]], [["a", "b"]], None, "the tokens are list and str"),
        (EditDistance, ["a"], [97], None, "the tokens are int and str: .* with the same kind on both sides"),
        (EditDistance, ["a"], keras.KerasTensor((1,)), None, "y_pred is a symbolic tensor .*ValidationMetrics"),
        (EditDistance, TRUTH, PREDICTED, [1, 2, 3], "shape"),
        (EditDistance, TRUTH, PREDICTED, ["a", "b"], "could not convert string to float: 'a'"),
        (ANLS, ["a"], ["a", "b"], None, "predictions has 2, references has 1"),
        (ANLS, ["a", "b"], ["a", None], None, r"prediction of row 1 \(counted from 0\) is None, not a string"),
        (ANLS, ["a"], [b"\xff"], None, "can't decode byte 0xff"),
        (ANLS, ["a"], np.zeros((1, 4)), None, r"prediction of row 0 .* not a string: .*\(decode token ids first\)"),
        (ANLS, keras.KerasTensor((1,)), ["a"], None, r"y_true is a symbolic tensor \(KerasTensor\)"),
        (ANLS, ["a", "b"], ["a", "b"], keras.KerasTensor((2,)), "sample_weight is a symbolic tensor"),
    ],
)
def test_bad_batches_leave_the_metric_unchanged(make: Any, y_true: Any, y_pred: Any, weights: Any, says: str) -> None:
    metric = make()
    metric.update_state(["a", "b"], ["a", "c"])
    with pytest.raises(ValueError, match=says):
        metric.update_state(y_true, y_pred, sample_weight=weights)
    assert read_value(metric) == 0.5
    metric.update_state(["a", "b"], ["a", "c"])
    assert read_value(metric) == 0.5


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: ANLS("best"), "unknown variant 'best'"),
        (lambda: ANLS(threshold=2), "threshold must be"),
        (lambda: ANLS(dtype="int32"), r"dtype must be a floating-point type .*, got 'int32'"),
        (
            lambda: ValidationMetrics(lambda _: [], [], [ANLS(), ANLS("rrc")]),
            "metrics must have different names, got anls, anls",
        ),
        (
            lambda: ValidationMetrics(lambda _: [], [], "anls"),
            r"metrics contains 'anls'.*: pass Keras metrics, such as",
        ),
    ],
)
def test_bad_arguments_are_refused(make: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()


# The state and the configuration


@pytest.mark.parametrize("make", [EditDistance, ANLS])
def test_state_is_reset_and_is_in_variables_of_keras(make: Any) -> None:
    """Training loops for JAX use the stateless functions of Keras."""
    metric = make()
    assert read_value(metric) == 0
    assert compute(metric, ["a", "b"], ["x", "b"]) == 0.5
    metric.reset_state()
    state = metric.stateless_update_state(metric.stateless_reset_state(), ["a", "b"], ["x", "b"])
    assert keras.ops.convert_to_numpy(metric.stateless_result(state)) == 0.5
    assert read_value(metric) == 0


@pytest.mark.parametrize(("dtype", "held"), [("float16", "float16"), (None, "float32"), ("mixed_float16", "float16")])
def test_dtype_is_that_of_the_value(dtype: Any, held: str) -> None:
    result = compute(EditDistance(dtype=dtype), [["a"] * 3] * 5000, [["a", "a", "b"]] * 5000)
    assert result.dtype == held
    assert result == np.array(1 / 3, dtype=held)


@pytest.mark.parametrize(
    "metric",
    [
        EditDistance(normalize=False, dtype="float16", name="edits"),
        ANLS(),
        ANLS("vlmevalkit", threshold=0.8, ignore_case=False, name="leaderboard"),
    ],
    ids=lambda metric: metric.name,
)
def test_metric_comes_back_from_its_config_and_from_serialization(metric: Any) -> None:
    config = json.loads(json.dumps(metric.get_config()))
    saved = json.loads(json.dumps(keras.saving.serialize_keras_object(metric)))
    assert saved["registered_name"] == f"anls>{type(metric).__name__}"
    for again in (type(metric).from_config(config), keras.saving.deserialize_keras_object(saved)):
        assert again.get_config() == metric.get_config()
        assert again.dtype == metric.dtype
        assert compute(again, ["a"], ["b"]) == compute(metric, ["a"], ["b"])
        if isinstance(metric, ANLS):
            assert again.signature() == metric.signature()


def test_variant_of_ones_own_is_not_saved_as_that_of_the_table() -> None:
    own = dataclasses.replace(anls_metric.VARIANTS["standard"], whitespace="strip")
    with pytest.raises(ValueError, match="the variant standard differs from the one in the table"):
        ANLS(own).get_config()


# In compile and fit


def fit_with(metric: Any, tmp_path: Path, **options: Any) -> None:
    """Train a model whose first output is token ids, and score this output."""
    ids = keras.Input((5,), dtype="int32")
    first = keras.layers.Reshape((5,), name="ids")(ids)
    second = keras.layers.Dense(1, name="scores")(keras.layers.Embedding(7, 2)(ids))
    model = keras.Model(ids, {"ids": first, "scores": second})
    model.compile("sgd", loss={"scores": "mse"}, metrics={"ids": [metric]}, **options)
    x, y = np.random.default_rng(0).integers(0, 7, (2, 20, 5)).astype("int32")
    data = x, {"ids": y, "scores": np.zeros((20, 5, 1))}
    history: dict[str, Any] = model.fit(*data, batch_size=8, verbose=0, validation_data=data).history
    expected = compute(EditDistance(), y, x)
    assert history["ids_edit_distance"] == history["val_ids_edit_distance"] == [expected]
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.evaluate(*data, verbose=0, return_dict=True)["ids_edit_distance"] == expected


@pytest.mark.parametrize(
    ("metric", "options", "works", "says"),
    [
        (EditDistance, {}, ["torch"], r"symbolic tensor .*(Tracer|SymbolicTensor).*ValidationMetrics"),
        (EditDistance, {"run_eagerly": True}, ["torch", "tensorflow"], r"symbolic tensor .*Tracer.*ValidationMetrics"),
        (ANLS, {}, [], r"ValidationMetrics|decode token ids first"),
    ],
)
def test_metric_in_compile_works_or_says_what_to_use(
    metric: Any, options: dict[str, Any], works: list[str], says: str, tmp_path: Path
) -> None:
    """It works if Keras runs a step eagerly. If Keras compiles the step, the error says what to do instead."""
    with nullcontext() if BACKEND in works else pytest.raises(ValueError, match=says):
        fit_with(metric(), tmp_path, **options)


def fit_with_callbacks(*callbacks: Any, epochs: int) -> dict[str, list[float]]:
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.ones((2, 1))
    history: dict[str, list[float]] = model.fit(x, x, epochs=epochs, verbose=0, callbacks=[*callbacks]).history
    return history


def test_callback_logs_each_metric_before_other_callbacks_monitor_it(tmp_path: Path) -> None:
    references = [["Coca Cola", "Coke"], ["Pepsi"]]
    answers = [["x", "y"], ["CocaCola", "y"], ["CocaCola", "Pepsi"], ["CocaCola", "y"], ["x", "y"]]
    following = iter(answers)
    history = fit_with_callbacks(
        ValidationMetrics(lambda _: next(following), references, [ANLS(name="standard"), ANLS("nls", name="nls")]),
        keras.callbacks.ModelCheckpoint(f"{tmp_path}/{{epoch}}.keras", "val_standard", mode="max", save_best_only=True),
        keras.callbacks.EarlyStopping("val_standard", mode="max", patience=2),
        epochs=9,
    )
    for name in ("standard", "nls"):
        means = [anls_metric.mean(anls_metric.anls_scores(each, references, variant=name)) for each in answers]
        assert history[f"val_{name}"] == [np.float32(mean) for mean in means]
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["1", "2", "3"]


def test_callback_takes_a_single_metric_or_none() -> None:
    for metrics, name, value in [(None, "val_anls", 1), (EditDistance(), "val_edit_distance", 0)]:
        callback = ValidationMetrics(lambda model: ["ab", "cd"], ["ab", "cd"], metrics)
        assert fit_with_callbacks(callback, epochs=2)[name] == [value, value]
    with pytest.raises(ValueError, match="predictions has 1, references has 2"):
        fit_with_callbacks(ValidationMetrics(lambda model: ["a"], ["a", "b"]), epochs=1)


# Beside others


def test_docstrings_run_with_this_backend() -> None:
    assert doctest.testmod(anls_metric.keras).failed == 0


def test_example_keeps_the_best_weights(capsys: pytest.CaptureFixture[str]) -> None:
    """The model learns. With the other backends, the test only checks that it runs."""
    import_module("train_with_keras").main(epochs=1 if AGAIN else 10)
    *epochs, kept, last = capsys.readouterr().out.splitlines()
    assert last == anls_metric.signature()
    scores = [float(line.split()[-1]) for line in epochs]
    assert float(kept.split()[2]) == max(scores)
    assert AGAIN or max(scores) > 0.9 > scores[0]


def test_metrics_need_no_tensorflow() -> None:
    assert not (AGAIN and BACKEND == "jax" and HAS_LOADED_TENSORFLOW)


@pytest.mark.skipif(AGAIN, reason="this is one of these processes")
def test_this_file_passes_with_the_other_backends(tmp_path: Path) -> None:
    """Each backend has its own process; both run at the same time."""
    installed = [backend for backend in OTHERS if importlib.util.find_spec(backend)]

    def run_again(backend: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "KERAS_BACKEND": backend, "ANLS_KERAS_AGAIN": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
        options = ["-q", "-n0", "-p", "no:cacheprovider", f"--basetemp={tmp_path / backend}"]
        command = [sys.executable, "-m", "pytest", *options, __file__]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=400)

    with ThreadPoolExecutor() as pool:
        for done in pool.map(run_again, installed):
            assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]
            assert " passed" in done.stdout
    if installed != OTHERS:
        pytest.skip(f"of {', '.join(OTHERS)} not all are installed")
