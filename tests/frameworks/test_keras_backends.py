"""The metrics for Keras with each backend: one here, and the others in processes that run this file again."""

from __future__ import annotations

import doctest
import importlib.util
import math
import os
import random
import runpy
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from tests.conftest import ROOT

keras = pytest.importorskip("keras", reason="the extra `keras`, or its backend, is not installed")
np = pytest.importorskip("numpy")

import anls_metric.keras  # noqa: E402
from anls_metric.keras import ANLS, EditDistance, ValidationMetrics  # noqa: E402
from tests.frameworks.test_keras import (  # noqa: E402
    PREDICTED,
    TRUTH,
    add_in_batches,
    compute,
    compute_textbook_distance,
    read_value,
)

# The PyTorch backend warns with numpy 2 whenever a tensor is copied to the host.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword")

BACKEND = keras.backend.backend()
OTHERS = sorted({"torch", "jax", "tensorflow"} - {BACKEND})
AGAIN = "ANLS_KERAS_AGAIN" in os.environ  # whether this process tests another backend
SCRIPT = ROOT / "examples" / "train_with_keras.py"


@pytest.mark.parametrize(("normalize", "numbers"), [(True, ["0.36363637", "0.73333335"]), (False, ["4.0", "5.5"])])
def test_edit_distance_gives_the_numbers_of_keras_hub(normalize: bool, numbers: list[str]) -> None:
    metric = EditDistance(normalize=normalize)
    single, both = numbers
    assert str(keras.ops.convert_to_numpy(metric(TRUTH[0], PREDICTED[0]))) == single
    assert str(keras.ops.convert_to_numpy(metric(TRUTH[1], PREDICTED[1]))) == both
    metric.reset_state()
    assert str(keras.ops.convert_to_numpy(metric(TRUTH, PREDICTED))) == both
    assert read_value(metric).dtype == np.float32


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
def test_texts_may_be_of_many_kinds(kind: str) -> None:
    make = {**OF_ANY_LENGTH, **OF_EQUAL_LENGTH}[kind]
    assert compute(EditDistance(), make(IDS), make(OTHER_IDS)) == np.float32(1 / 6)
    assert compute(EditDistance(), make(IDS)[0], make(OTHER_IDS)[0]) == np.float32(1 / 3)
    if "strings" not in kind and "bytes" not in kind:
        assert compute(EditDistance(), IDS, make(OTHER_IDS)) == np.float32(1 / 6)


@pytest.mark.parametrize("kind", [*OF_ANY_LENGTH, "numpy of objects"])
def test_texts_of_unequal_length_may_be_of_many_kinds(kind: str) -> None:
    make = OF_ANY_LENGTH.get(kind, lambda rows: np.array(rows, dtype=object))
    assert compute(EditDistance(), make([[1, 2], [3]]), make([[1, 2], [3, 5]])) == np.float32(1 / 3)


@pytest.mark.skipif(AGAIN and BACKEND != "tensorflow", reason="TensorFlow takes seconds, beside one other backend")
def test_tensors_of_tensorflow_are_read() -> None:
    tf = pytest.importorskip("tensorflow")
    ragged = tf.ragged.constant
    assert compute(EditDistance(), ragged([[1, 2], [3]]), ragged([[1, 2], [3, 5]])) == np.float32(1 / 3)
    assert compute(EditDistance(), ragged(TRUTH), ragged(PREDICTED)) == np.float32(11 / 15)
    assert compute(EditDistance(), TRUTH, ragged(PREDICTED)) == np.float32(11 / 15)
    assert compute(EditDistance(), tf.constant(["ä", "b"]), ["ä", "c"]) == 0.5
    assert compute(EditDistance(), list(ragged(TRUTH)), list(tf.constant([PREDICTED[0]] * 2))) > 0
    references = [["Café", "x"], ["Coca Cola"]]
    for y_true in (references, ragged(references), list(map(tf.constant, references))):
        assert compute(ANLS(), y_true, tf.constant(["café", "CocaCola"])) == np.float32((1 + 8 / 9) / 2)
    assert compute(ANLS(), tf.constant(["a", "b"]), tf.constant(["a", "c"]), sample_weight=tf.constant([3, 1])) == 0.75

    in_a_graph = tf.function(lambda metric, y: metric.update_state(y, y))

    for metric, y in [(EditDistance(), ragged(TRUTH)), (EditDistance(), tf.constant(["a"])), (ANLS(), ragged(TRUTH))]:
        with pytest.raises(ValueError, match=r"symbolic tensor.*ValidationMetrics"):
            in_a_graph(metric, y)


def test_weights_multiply_rows() -> None:
    truth, predicted = [["a", "b"], ["c"], ["d"]], [["a", "x"], ["c"], ["y"]]
    for normalize in (True, False):
        lengths = [2, 1, 1] if normalize else [1, 1, 1]
        for weights in ([1.5, 2.0, 0.25], [0, 1, 0], [0.125, 0.25, 0], [True, False, True]):
            expected = (weights[0] + weights[2]) / sum(weight * n for weight, n in zip(weights, lengths))
            arrays = [weights, np.array(weights), keras.ops.convert_to_tensor(np.array(weights, "float32"))]
            for array in [*arrays, [np.float32(weight) for weight in weights]]:
                result = compute(EditDistance(normalize), truth, predicted, sample_weight=array)
                assert result == np.float32(expected)
        assert compute(EditDistance(normalize), truth, predicted, sample_weight=0) == 0
        same = compute(EditDistance(normalize), truth, predicted, sample_weight=7)
        assert same == compute(EditDistance(normalize), truth, predicted)
        repeated = EditDistance(normalize)
        repeated.update_state(truth + truth[:1] * 2, predicted + predicted[:1] * 2)
        assert compute(EditDistance(normalize), truth, predicted, sample_weight=[3, 1, 1]) == read_value(repeated)
    assert compute(ANLS(), ["a", "b"], ["a", "c"], sample_weight=[3, 1]) == 0.75


# The state


@pytest.mark.parametrize("make", [EditDistance, ANLS])
def test_value_is_0_before_the_first_batch_and_after_reset(make: Any) -> None:
    metric = make()
    assert read_value(metric) == 0
    metric.update_state(["a", "b"], ["x", "b"])
    assert read_value(metric) == 0.5
    metric.reset_state()
    assert read_value(metric) == 0
    metric.update_state(["a", "b"], ["a", "b"])
    assert read_value(metric) == (1 if make is ANLS else 0)


def test_state_is_in_variables_of_keras() -> None:
    """Training loops for JAX use the stateless functions of Keras."""
    metric = EditDistance()
    state = metric.stateless_reset_state()
    for text, answer in zip(TRUTH, PREDICTED):
        state = metric.stateless_update_state(state, text, answer)
    assert str(keras.ops.convert_to_numpy(metric.stateless_result(state))) == "0.73333335"
    assert read_value(metric) == 0


@pytest.mark.parametrize(
    ("dtype", "held"), [("float32", "float32"), ("float16", "float16"), (None, "float32"), ("mixed_float16", "float16")]
)
def test_dtype_is_that_of_the_value(dtype: Any, held: str) -> None:
    metric = EditDistance(dtype=dtype)
    assert read_value(add_in_batches(metric, *[[["a"] * 3] * 5000] * 2, size=1000)) == 0
    result = compute(metric, [["a"] * 3] * 5000, [["a", "a", "b"]] * 5000)
    assert result.dtype == held
    assert result == np.array(1 / 6, dtype=held)
    for wrong in ("int32", "bool"):
        with pytest.raises(ValueError, match=rf"dtype must be a floating-point type .*, got '{wrong}'"):
            EditDistance(dtype=wrong)
    with pytest.raises(ValueError, match=r"normalize must be True or False, got 1 \(int\)"):
        EditDistance(normalize=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("weighted", [False, True])
def test_mean_of_many_rows_is_exact(weighted: bool) -> None:
    """Add the scores of a long epoch batch by batch, and compare with math.fsum of all."""
    chance = random.Random(6)
    scores = [anls_metric.anls_score("a" * n, ["a" * (n + 1)]) for n in range(1, 30)]
    rows = chance.choices(range(1, 30), k=30_000)
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
    assert read_value(metric) == np.float32(exact)
    # Sums that are rounded to float32 after each batch, for comparison.
    plain = [np.float32(0), np.float32(0)]
    for start in range(0, len(rows), 60):
        for place, column in enumerate((products, weights)):
            plain[place] = np.float32(math.fsum([plain[place], *column[start : start + 60]]))
    assert abs(plain[0] / plain[1] - np.float32(exact)) > 2 * np.spacing(np.float32(exact))


def test_counts_beyond_float32_are_exact() -> None:
    metric = EditDistance(normalize=False)
    metric.update_state(["a"], ["a"], sample_weight=2**24)
    for _ in range(40):
        metric.update_state(["a"], ["b"])
    assert read_value(metric) == np.float32(40 / (2**24 + 40))
    assert np.float32(2**24) + np.float32(1) == np.float32(2**24)


# In compile and fit


def make_model_of_ids() -> Any:
    """Make a model whose first output is token ids, and whose second output is trained."""
    ids = keras.Input((5,), dtype="int32")
    first = keras.layers.Reshape((5,), name="ids")(ids)
    second = keras.layers.Dense(1, name="scores")(keras.layers.Embedding(7, 2)(ids))
    return keras.Model(ids, {"ids": first, "scores": second})


def fit_with(metric: Any, tmp_path: Path | None = None, **options: Any) -> dict[str, Any]:
    chance = np.random.default_rng(0)
    x, y = (chance.integers(0, 7, (20, 5)).astype("int32") for _ in range(2))
    model = make_model_of_ids()
    model.compile("sgd", loss={"scores": "mse"}, metrics={"ids": [metric]}, **options)
    data = x, {"ids": y, "scores": np.zeros((20, 5, 1))}
    history: dict[str, Any] = model.fit(*data, batch_size=8, verbose=0, validation_data=data).history
    edits = sum(map(compute_textbook_distance, x.tolist(), y.tolist()))
    for name in ("ids_edit_distance", "val_ids_edit_distance"):
        assert history[name] == [np.float32(edits / y.size)]
    if tmp_path is not None:
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        assert loaded.evaluate(*data, verbose=0, return_dict=True)["ids_edit_distance"] == np.float32(edits / y.size)
    return history


def test_metric_in_compile_works_or_says_what_to_use(tmp_path: Path) -> None:
    """It works if Keras runs a step eagerly. If Keras compiles the step, the error says what to do instead."""
    if BACKEND == "torch":
        fit_with(EditDistance(), tmp_path)
    else:
        with pytest.raises(ValueError, match=r"symbolic tensor .*(Tracer|SymbolicTensor).*ValidationMetrics"):
            fit_with(EditDistance())
    if BACKEND == "tensorflow":
        fit_with(EditDistance(), tmp_path, run_eagerly=True)
    if BACKEND == "jax":
        with pytest.raises(ValueError, match=r"symbolic tensor .*Tracer.*ValidationMetrics"):
            fit_with(EditDistance(), run_eagerly=True)
    with pytest.raises(ValueError, match="ValidationMetrics"):
        fit_with(ANLS())


def make_small_model() -> Any:
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    return model


def test_callback_logs_what_other_callbacks_monitor(tmp_path: Path) -> None:
    references = [["Coca Cola", "Coke"], ["Pepsi"]]
    message = [
        ["x", "y"],
        ["CocaCola", "y"],
        ["CocaCola", "Pepsi"],
        ["CocaCola", "y"],
        ["x", "y"],
        ["CocaCola", "Pepsi"],
    ]
    weights: list[float] = []
    x, y = np.ones((4, 1)), np.ones((4, 1))
    model = make_small_model()

    def predict(model: Any) -> list[str]:
        weights.append(model.predict(x, verbose=0)[0, 0])  # a prediction in the middle of training, as it is used
        return message[len(weights) - 1]

    path = str(tmp_path / "best.weights.h5")
    callbacks = [
        ValidationMetrics(predict, references, [ANLS(name="standard"), ANLS("nls", name="nls")]),
        keras.callbacks.ModelCheckpoint(path, "val_standard", mode="max", save_best_only=True, save_weights_only=True),
        keras.callbacks.EarlyStopping("val_standard", mode="max", patience=2),
    ]
    history = model.fit(x, y, epochs=6, verbose=0, validation_data=(x, y), callbacks=callbacks).history
    assert len(weights) == 5  # two epochs after the best one
    for name in ("standard", "nls"):
        means = [
            anls_metric.mean(anls_metric.anls_scores(answers, references, variant=name)) for answers in message[:5]
        ]
        assert history[f"val_{name}"] == [np.float32(mean) for mean in means]
    assert len(history["val_loss"]) == 5
    assert len(set(weights)) == 5
    best = make_small_model()
    best.load_weights(path)
    assert best.predict(x, verbose=0)[0, 0] == pytest.approx(weights[2])
    callbacks[0].on_epoch_end(0)  # Keras may give no logs


def return_always(answers: Any, model: Any) -> Any:
    return answers


def test_callback_takes_a_single_metric_or_none() -> None:
    x = np.ones((2, 1))
    for metrics, name in [(None, "val_anls"), (ANLS(name="score"), "val_score"), (EditDistance(), "val_edit_distance")]:
        y = [["a", "b"], ["c", "d"]] if "edit" in name else ["ab", "cd"]
        callback = ValidationMetrics(partial(return_always, y), y, metrics)
        history = make_small_model().fit(x, x, epochs=2, verbose=0, callbacks=[callback]).history
        assert history[name] == ([0, 0] if "edit" in name else [1, 1])


def test_bad_arguments_of_the_callback_are_refused() -> None:
    with pytest.raises(ValueError, match=r"names of the metrics are anls, anls: give each its own"):
        ValidationMetrics(lambda model: [], [], [ANLS(), ANLS("rrc")])
    with pytest.raises(ValueError, match=r"'anls' \(str\) is not a Keras metric: pass one such as ANLS\(\)"):
        ValidationMetrics(lambda model: [], [], ["anls"])
    with pytest.raises(ValueError, match=r"5 \(int\) is not a Keras metric"):
        ValidationMetrics(lambda model: [], [], 5)
    with pytest.raises(ValueError, match=r"predict is \['a'\] \(list\): pass a function"):
        ValidationMetrics(["a"], ["a"])  # type: ignore[arg-type]
    x = np.ones((2, 1))
    callback = ValidationMetrics(lambda model: ["a"], ["a", "b"])
    with pytest.raises(ValueError, match="predictions has 1, references has 2"):
        make_small_model().fit(x, x, verbose=0, callbacks=[callback])


# Beside others


def test_docstrings_run_with_this_backend() -> None:
    results = doctest.testmod(anls_metric.keras)
    assert results.failed == 0
    assert results.attempted > 15


def test_example_keeps_the_best_weights(
    capsys: pytest.CaptureFixture[str], load_example: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model learns. With the other backends, the test only checks that it runs."""
    if AGAIN:
        monkeypatch.setattr(keras.utils, "set_random_seed", random.seed)  # it would import TensorFlow
        load_example("train_with_keras").main(epochs=1)
    else:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    *epochs, kept, last = capsys.readouterr().out.splitlines()
    assert last == anls_metric.signature()
    scores = [float(line.split()[-1]) for line in epochs]
    assert float(kept.split()[2]) == max(scores)
    assert AGAIN or max(scores) > 0.9 > scores[0]


# With the other backends


@pytest.mark.skipif(AGAIN, reason="this is one of these processes")
def test_this_file_passes_with_the_other_backends(tmp_path: Path) -> None:
    """Each backend has its own process; both run at the same time."""
    installed = [backend for backend in OTHERS if importlib.util.find_spec(backend)]
    processes = [run_again(backend, tmp_path / backend) for backend in installed]
    printed = [process.communicate(timeout=400)[0] for process in processes]
    for process, text in zip(processes, printed):
        assert process.returncode == 0, text[-5000:]
        assert " passed" in text
    if installed != OTHERS:
        pytest.skip(f"of {', '.join(OTHERS)} not all are installed")


def run_again(backend: str, folder: Path) -> subprocess.Popen[str]:
    environment = {"KERAS_BACKEND": backend, "ANLS_KERAS_AGAIN": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    options = ["-q", "-n0", "-p", "no:cacheprovider", f"--basetemp={folder}"]
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, __file__],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
