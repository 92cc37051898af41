"""The metric behind `evaluate.load`: the ways to load it, the ways to pass rows, and refused input."""

from __future__ import annotations

import doctest
import inspect
import math
import pickle
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from tests.conftest import LIGHT, ROOT

evaluate = pytest.importorskip("evaluate")
datasets = pytest.importorskip("datasets")
pandas = pytest.importorskip("pandas")

PREDICTIONS = ["CocaCola", "The Coca", "Coca cola", "12/15/89"]
REFERENCES = [["Coca Cola", "Coca Cola Company"]] * 3 + [["12/15/88"]]
EXPECTED = {"anls": math.fsum([8 / 9, 0.0, 1.0, 0.875]) / 4}


# Ways to load it


def test_load_by_folder_path_and_function(in_clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_folder = evaluate.load("anls")
    (tmp_path / "my clone").mkdir()
    shutil.copy(ROOT / "anls.py", tmp_path / "my clone")
    monkeypatch.chdir(tmp_path / "my clone")
    for metric in (by_folder, evaluate.load("./anls.py"), anls_metric.load(keep_in_memory=True)):
        assert isinstance(metric, evaluate.Metric)
        assert metric.compute(predictions=PREDICTIONS, references=REFERENCES) == EXPECTED


@pytest.mark.thorough
@pytest.mark.parametrize("module", ["anls", "anls_metric.metric"])
@pytest.mark.parametrize("first", ["import evaluate; from {} import Anls", "from {} import Anls; import evaluate"])
def test_metric_class_can_be_imported_before_and_after_evaluate(
    first: str, module: str, tmp_path: Path, run_python: Callable[..., Any]
) -> None:
    program = (
        f"{LIGHT}{first.format(module)}; import pickle; metric = Anls(); import {module} as module;"
        "assert module.Anls is Anls is type(metric);"
        "assert issubclass(Anls, evaluate.Metric);"
        "metric = pickle.loads(pickle.dumps(metric)); print(metric.compute(predictions=['a'], references=['a']))"
    )
    done = run_python(program, tmp_path, PYTHONPATH=str(ROOT))
    assert done.stdout == "{'anls': 1.0}\n", done.stderr


@pytest.mark.thorough
def test_without_evaluate_all_but_the_metric_works_and_the_metric_says_what_to_install(
    tmp_path: Path, run_python: Callable[..., Any]
) -> None:
    shutil.copy(ROOT / "anls.py", tmp_path)
    program = """
import sys
sys.modules["evaluate"] = None  # what Python itself takes for a module that cannot be imported
import anls, anls_metric
print(anls.anls_score("CocaCola", ["Coca Cola"]), anls.explain("a", "a").reason, anls_metric.signature())
for ask in (lambda: anls.Anls, anls.load, lambda: anls_metric.load, lambda: anls.nothing):
    try:
        ask()
    except (ImportError, AttributeError) as error:
        print(error)
"""
    done = run_python(program, tmp_path, PYTHONPATH=str(ROOT))
    advice = "the metric needs Hugging Face evaluate: pip install evaluate datasets\n"
    assert done.stdout == (
        f"0.8888888888888888 equal {anls_metric.signature()}\n{advice * 3}module 'anls' has no attribute 'nothing'\n"
    ), done.stderr


def test_metric_passes_the_test_of_modules_of_evaluate(metric: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks of tests/test_metric_common.py in evaluate 0.4.6: ellipsis, doctests, no **kwargs."""
    module = sys.modules[type(metric).__module__]
    parameters = inspect.signature(type(metric)._compute).parameters.values()
    assert all(parameter.kind != parameter.VAR_KEYWORD for parameter in parameters)
    monkeypatch.setattr(doctest, "ELLIPSIS_MARKER", "[...]")
    monkeypatch.chdir(ROOT)  # the examples load ./anls.py
    results = doctest.testmod(module, raise_on_error=True)
    assert results.failed == 0
    assert results.attempted >= 10


def test_module_information_is_complete(metric: Any) -> None:
    assert (metric.name, metric.module_type, metric.license) == ("anls", "metric", "Apache-2.0")
    assert metric.reference_urls == ["https://arxiv.org/abs/1905.13648", "https://arxiv.org/abs/2007.00398"]
    assert metric.codebase_urls
    for text, words in (
        (metric.description, "Levenshtein"),
        (metric.citation, "Scene Text Visual Question Answering"),
        (metric.citation, "A Dataset for {VQA} on Document Images"),
        (metric.inputs_description, ">>> anls.compute("),
        (metric.compute.__doc__, "return_all_scores"),
        (metric.add.__doc__, "accepted answers"),
        (repr(metric), "stored examples: 0"),
    ):
        assert words in text


def test_options_are_those_of_compute_in_the_signature_and_the_description(metric: Any) -> None:
    options = inspect.signature(metric._compute).parameters
    assert list(options) == ["predictions", "references", "variant", "threshold", "ignore_case", "return_all_scores"]
    assert [option.default for option in options.values()][2:] == [None, None, None, False]
    for name in options:
        assert f"\n    {name}: " in metric.inputs_description


def test_features_take_one_reference_or_several(metric: Any) -> None:
    several, single = metric.features
    assert isinstance(several["references"], type(datasets.Sequence(datasets.Value("string"))))
    assert several["references"].feature.dtype == "string"
    assert single["references"].dtype == several["predictions"].dtype == "string"


# Ways to pass rows


def test_compute_returns_the_mean_and_all_scores(metric: Any) -> None:
    result = metric.compute(predictions=PREDICTIONS, references=REFERENCES, return_all_scores=True)
    assert result == {**EXPECTED, "anls_scores": anls_metric.anls_scores(PREDICTIONS, REFERENCES)}
    assert type(result) is dict
    assert {type(value) for value in [result["anls"], *result["anls_scores"]]} == {float}


@pytest.mark.parametrize(
    "options",
    [
        {"variant": "due"},
        {"threshold": 0.9},
        {"ignore_case": False},
        {"variant": "nls", "threshold": 0.9},
        {"variant": anls_metric.VARIANTS["rrc"]},  # a Variant of another copy of the module
    ],
)
def test_compute_takes_the_options_of_the_functions(metric: Any, options: dict[str, Any]) -> None:
    result = metric.compute(predictions=PREDICTIONS, references=REFERENCES, **options)
    assert result == {"anls": anls_metric.mean(anls_metric.anls_scores(PREDICTIONS, REFERENCES, **options))}
    assert metric.signature(**options) == anls_metric.signature(**options)


def test_load_takes_options(in_clone: Path) -> None:
    by_option, by_configuration = evaluate.load("anls", variant="rrc"), evaluate.load("anls", "rrc")
    for metric in (by_option, by_configuration):
        assert metric.signature() == anls_metric.signature("rrc")
        assert metric.compute(predictions=["ab  "], references=["a"]) == {"anls": 0.75}
        assert metric.compute(predictions=["ab  "], references=["a"], variant="standard") == {"anls": 0.5}
    for arguments, options, message in (
        (["glue"], {}, "unknown variant 'glue'"),
        ([], {"variant": ""}, "unknown variant ''"),
        ([], {"treshold": 0.3}, "unknown argument 'treshold'; did you mean threshold"),
    ):
        with pytest.raises(ValueError, match=message):
            evaluate.load("anls", *arguments, **options)


def test_compute_scores_added_rows_as_they_were(metric: Any) -> None:
    predictions, references = PREDICTIONS[2:3], [list(REFERENCES[2])]
    metric.add(prediction=PREDICTIONS[0], reference=REFERENCES[0])
    metric.add(predictions=PREDICTIONS[1], references=REFERENCES[1])  # as evaluate.combine says it
    metric.add_batch(predictions=predictions, references=references)
    metric.add_batch(predictions=[], references=[])
    predictions[0], references[0][0] = "x", "y"
    assert len(metric) == 3
    assert metric.compute(predictions=PREDICTIONS[3:], references=REFERENCES[3:]) == EXPECTED
    assert len(metric) == 0


def test_combine_takes_rows_in_each_way(metric: Any) -> None:
    combined = evaluate.combine([metric, anls_metric.load("anlsl")])
    rows = {"predictions": ["a", "CocaCola"], "references": [["a"], ["Coca Cola"]]}
    expected = dict.fromkeys(("anls", "anlsl"), (1 + 8 / 9) / 2)
    assert combined.compute(**rows) == pytest.approx(expected)
    for prediction, reference in zip(*rows.values()):
        combined.add(prediction=prediction, reference=reference)
    assert combined.compute() == pytest.approx(expected)
    combined.add_batch(**rows)
    assert combined.compute() == pytest.approx(expected)


COLUMNS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "filtered pandas": lambda column: pandas.Series([None, *column])[1:],
    "datasets": lambda column: datasets.Dataset.from_dict({"column": column})["column"],
    "datasets as numpy": lambda column: datasets.Dataset.from_dict({"column": column}).with_format("numpy")["column"],
    "datasets as pandas": lambda column: datasets.Dataset.from_dict({"column": column}).with_format("pandas")["column"],
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_may_be_of_every_kind(metric: Any, kind: str) -> None:
    references = [["Coca Cola", "Coca Cola Company"], ["Coca Cola"], ["Coca Cola"], ["12/15/88", "x"]]
    predictions, refs = COLUMNS[kind](PREDICTIONS), COLUMNS[kind](references)
    assert metric.compute(predictions=predictions, references=refs) == EXPECTED
    metric.add_batch(predictions=predictions, references=refs)
    assert metric.compute() == EXPECTED


def test_metric_can_be_pickled_before_and_after_use(metric: Any) -> None:
    for _ in range(2):
        metric.add_batch(predictions=PREDICTIONS[:2], references=REFERENCES[:2])
        for each in (pickle.loads(pickle.dumps(metric)), metric):
            each.add_batch(predictions=PREDICTIONS[2:], references=REFERENCES[2:])
            assert each.compute() == EXPECTED


# Refused input


# Calls of `add_batch` and `compute`, and then of `compute` alone.
BAD_ROWS: list[tuple[dict[str, Any], str]] = [
    ({"predictions": ["a"], "references": [["a"], "abc"]}, "predictions has 1, references has 2"),
    ({"predictions": ["a", "b"], "references": [["a"], ["b", 5]]}, "row 1 (counted from 0), item 1,"),
    ({"predictions": ["a", None], "references": ["a", "b"]}, "prediction of row 1 "),
    ({"predictions": ["a"] * 3000, "references": ["a"] * 2999 + [[]]}, "references of row 2999 "),
    ({"predictions": ["a"], "references": [{"text": ["a"], "answer_start": [1]}]}, "keys 'text'"),
    ({"predictions": ["a"]}, "references is None"),
    ({"references": ["a"]}, "predictions is None"),
]
BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"variant": "squad"}, "unknown variant 'squad'"),
    ({"threshold": 50}, "threshold must be a number from 0 to 1, got 50"),
    ({"ignore_case": "no"}, "ignore_case must be one of True, False, got 'no'"),
    ({"normalise": True}, "unknown argument 'normalise'; choose from predictions, references, variant, threshold"),
    ({"reference": ["a"]}, "unknown argument 'reference'; did you mean references"),
]
BAD_CALLS = [({"predictions": ["a"], "references": ["a"], **options}, message) for options, message in BAD_OPTIONS]
BAD_CALLS += [({"predictions": [], "references": []}, "no rows"), ({}, "no rows")]


@pytest.mark.parametrize(("bad", "message"), [*BAD_ROWS, *BAD_CALLS])
def test_good_call_is_right_at_once_after_a_bad_one(metric: Any, bad: dict[str, Any], message: str) -> None:
    start = time.monotonic()
    with pytest.raises(ValueError, match=re.escape(message)):
        metric.compute(**bad)
    assert len(metric) == 0
    assert metric.compute(predictions=PREDICTIONS, references=REFERENCES) == EXPECTED
    assert time.monotonic() - start < 0.9  # the base class waits 1.00 s on the lock that its failed call left
    assert list(Path(metric.data_dir).iterdir()) == []


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("add_batch", {"predictions": ["a", None], "references": ["a", "b"]}, "prediction of row 33 "),
        ("add_batch", {"predictions": ["a"], "references": [["a"], "abc"]}, "predictions has 1, references has 2"),
        ("compute", {"predictions": ["a", None], "references": ["a", "b"]}, "prediction of row 33 "),
        ("add", {"prediction": None, "reference": "a"}, "prediction of row 32 .* is None"),
        ("add", {"prediction": "a", "reference": None}, "references of row 32 .* is None"),
        ("add", {"prediction": "a"}, "references is None: pass a list with the accepted answers"),
        ("add", {"references": "a"}, "predictions is None: pass a list"),
        ("compute", {"variant": "squad"}, "unknown variant 'squad'"),
    ],
)
def test_bad_row_is_counted_from_the_first_added_row(
    metric: Any, method: str, arguments: dict[str, Any], message: str
) -> None:
    metric.add_batch(predictions=["a"] * 32, references=["a"] * 32)
    with pytest.raises(ValueError, match=message):
        getattr(metric, method)(**arguments)
    assert len(metric) == (0 if method == "compute" else 32)
    metric.add(prediction="a", reference="a")
    assert metric.compute() == {"anls": 1.0}


def test_lone_surrogate_is_a_character_like_any_other(metric: Any) -> None:
    assert metric.compute(predictions=["a\ud800b"], references=["a\ud800c"]) == {"anls": pytest.approx(2 / 3)}
    assert metric.compute(predictions=["a"], references=["a"]) == {"anls": 1.0}
