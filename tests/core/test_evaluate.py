"""The metric behind `evaluate.load`: the ways to load it, the ways to pass rows, and refused input."""

from __future__ import annotations

import copy
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
from anls_metric import get_variant
from anls_metric.core.scorer import Scorer, get_scorer
from tests.conftest import LIGHT, ROOT

evaluate = pytest.importorskip("evaluate")
datasets = pytest.importorskip("datasets")
pandas = pytest.importorskip("pandas")

Rows = list[tuple[Any, Any]]

# Rows of each configuration: predictions, and what is accepted.
TEXTS: Rows = [
    ("CocaCola", ["Coca Cola", "Coca Cola Company"]),
    ("The Coca", "Coca Cola"),
    ("Coca cola", ("Coca Cola",)),
    ("12/15/89", ["12/15/88"]),
    ("half a pair: \ud800", ["half a pair: \ud801"]),
]
VALUES: Rows = [
    (None, {"a": {"b": "c"}}),
    (
        {"total": 12.5, "items": [{"name": "tee"}, {"name": "milk", "price": None}, None]},
        {"total": "12.50", "items": [{"name": "milk"}, {"name": ("tea", "coffee")}]},
    ),
    (["Air", "bus"], ["Bus", "Air", ("Other", "Others")]),
    ("CocaCola", ["Coca Cola", "Coca Cola Company"]),
    ({"paid": True, "tags": []}, {"paid": ("yes", "true"), "date": ("31.12.2023", "31 Dec 2023"), "tip": None}),
    ([math.inf, math.nan], ["inf", "nan"]),
    ("half a pair: \ud800", ("half a pair: \ud801", "x")),
]
LISTS: Rows = [(["Cola", "tea", "milk"], ["tea", "cola"]), ("b", ["a", "b", "b"]), (["x"] * 9, ("x", "y"))]
ROWS = {"anls": TEXTS, "anls_star": VALUES, "anlsl": LISTS}

EXPECTED = {"anls": math.fsum([8 / 9, 0.0, 1.0, 0.875, 13 / 14]) / 5}


def columns(rows: Rows) -> dict[str, Any]:
    return {"predictions": [prediction for prediction, _ in rows], "references": [reference for _, reference in rows]}


# Ways to load it


def test_load_by_folder_path_and_function(in_clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_folder = evaluate.load("anls")
    (tmp_path / "my clone").mkdir()
    shutil.copy(ROOT / "anls.py", tmp_path / "my clone")
    monkeypatch.chdir(tmp_path / "my clone")
    for metric in (by_folder, evaluate.load("./anls.py"), anls_metric.load(keep_in_memory=True)):
        assert isinstance(metric, evaluate.Metric)
        assert metric.compute(**columns(TEXTS)) == EXPECTED


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
for ask in (anls.Anls, anls.load, anls_metric.load, lambda: anls.nothing):
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
    for configuration, name, papers in (
        ("default", "ANLS (", ["1905.13648", "2007.00398"]),
        ("anls_star", "ANLS*", ["2402.03848"]),
        ("anlsl", "ANLSL", ["2104.14336"]),
    ):
        configured = evaluate.load("anls", configuration)
        assert name in configured.description
        assert configured.reference_urls == [f"https://arxiv.org/abs/{paper}" for paper in papers]
        assert all(set(features) == {"predictions", "references"} for features in configured.features)


def test_options_are_those_of_compute_in_the_signature_and_the_description(metric: Any) -> None:
    options = inspect.signature(metric._compute).parameters
    names = ["variant", "threshold", "ignore_case", "normalize", "none_keys", "average", "numbers", "ignore_keys"]
    assert list(options) == ["predictions", "references", *names, "return_all_scores"]
    assert [option.default for option in options.values()][2:] == [*[None] * 8, False]
    for name in options:
        assert f"\n    {name}: " in metric.inputs_description


def test_features_take_one_reference_or_several(metric: Any) -> None:
    several, single = metric.features
    assert isinstance(several["references"], type(datasets.Sequence(datasets.Value("string"))))
    assert several["references"].feature.dtype == "string"
    assert single["references"].dtype == several["predictions"].dtype == "string"


# Ways to pass rows


@pytest.mark.parametrize(
    ("configuration", "options", "scorer"),
    [
        ("default", {}, get_variant()),
        ("default", {"variant": "due"}, get_variant("due")),
        ("default", {"threshold": 0.9}, get_variant(threshold=0.9)),
        ("default", {"ignore_case": False}, get_variant(ignore_case=False)),
        ("default", {"variant": "nls", "threshold": 0.9}, get_variant("nls", threshold=0.9)),
        ("default", {"variant": get_variant("rrc")}, get_variant("rrc")),  # a Variant of another copy of the module
        ("rrc", {}, get_variant("rrc")),
        ("anls_star", {}, get_scorer("anls_star")),
        ("anls_star", {"average": "leaves"}, get_scorer("anls_star", average="leaves")),
        ("anls_star", {"ignore_keys": "a"}, get_scorer("anls_star", ignore_keys="a")),
        ("anls_star", {"none_keys": "ignored"}, get_scorer("anls_star", none_keys="ignored")),
        ("anls_star", {"numbers": "by_value"}, get_scorer("anls_star", numbers="by_value")),
        ("rrc", {"normalize": ["typography", "width"]}, get_scorer("rrc", normalize="width,typography")),
        ("anlsl", {"threshold": 0.9}, get_scorer("anlsl", threshold=0.9)),
    ],
)
def test_mean_and_all_scores_follow_the_options_of_load_and_of_compute(
    in_clone: Path, configuration: str, options: dict[str, Any], scorer: Scorer
) -> None:
    rows = columns(ROWS[scorer.key])
    scores = scorer.score(**rows)
    for at_load, at_compute in ((options, {}), ({}, options)):
        metric = evaluate.load("anls", configuration, **at_load)
        assert metric.signature(**at_compute) == scorer.signature()
        result = metric.compute(**rows, **at_compute, return_all_scores=True)
        assert result == {scorer.key: scorer.mean(scores), f"{scorer.key}_scores": scores}
        assert type(result) is dict
        assert {type(value) for value in [result[scorer.key], *result[f"{scorer.key}_scores"]]} == {float}
        assert metric.compute(**rows, **at_compute) == {scorer.key: scorer.mean(scores)}


def test_option_of_compute_counts_more_than_that_of_load(in_clone: Path) -> None:
    row: dict[str, list[Any]] = {"predictions": ["ab  "], "references": ["a"]}
    for metric in (evaluate.load("anls", variant="rrc"), evaluate.load("anls", "rrc")):
        assert metric.compute(**row) == {"anls": 0.75}
        assert metric.compute(**row, variant="standard") == {"anls": 0.5}
    metric = evaluate.load("anls", return_all_scores=True)
    assert metric.compute(**row) == {"anls": 0.5, "anls_scores": [0.5]}
    assert metric.compute(**row, return_all_scores=False) == {"anls": 0.5}
    assert metric.signature() == get_variant().signature()
    row = {"predictions": [{"a": None}], "references": [{}]}
    assert metric.compute(**row, variant="anls_star", none_keys="ignored") == {
        "anls_star": 1.0,
        "anls_star_scores": [1.0],
    }
    star = evaluate.load("anls", "anls_star", none_keys="ignored")
    assert (star.compute(**row), star.compute(**row, none_keys="counted")) == ({"anls_star": 1.0}, {"anls_star": 0.0})


@pytest.mark.parametrize(
    ("configuration", "scorer", "find_parts"),
    [
        ("default", get_variant(), lambda rows: [rows[0][1]]),
        ("anls_star", get_scorer("anls_star"), lambda rows: [rows[1][0]["items"][0], rows[2][1]]),
    ],
)
def test_compute_scores_added_rows_as_they_were_also_of_a_pickled_metric(
    in_clone: Path, configuration: str, scorer: Scorer, find_parts: Callable[[Rows], list[Any]]
) -> None:
    expected = {scorer.key: scorer.mean(scorer.score(**columns(ROWS[scorer.key])))}
    rows = copy.deepcopy(ROWS[scorer.key])
    batch = columns(rows[2:-1])
    metric = evaluate.load("anls", configuration)
    metric.add(prediction=rows[0][0], reference=rows[0][1])
    metric.add(predictions=rows[1][0], references=rows[1][1])  # as evaluate.combine says it
    metric.add_batch(**batch)
    metric.add_batch(predictions=[], references=[])
    for changed in (*batch.values(), *find_parts(rows)):
        changed.clear()
    for each in (pickle.loads(pickle.dumps(metric)), metric):
        assert len(each) == len(rows) - 1
        assert each.compute(**columns(rows[-1:])) == expected
        assert len(each) == 0
    assert pickle.loads(pickle.dumps(metric)).compute(**columns(ROWS[scorer.key])) == expected


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
    predictions = COLUMNS[kind](["CocaCola", "12/15/89"])
    references = COLUMNS[kind]([["Coca Cola", "Coca Cola Company"], ["12/15/88"]])
    assert metric.compute(predictions=predictions, references=references) == {"anls": (8 / 9 + 0.875) / 2}
    metric.add_batch(predictions=predictions, references=references)
    assert metric.compute() == {"anls": (8 / 9 + 0.875) / 2}


# Refused input


GOOD = {"predictions": ["CocaCola"], "references": ["Coca Cola"]}
# Options of a configuration that `evaluate.load` and `compute` refuse.
BAD_OPTIONS: list[tuple[str, dict[str, Any], str]] = [
    ("default", {"variant": "squad"}, "unknown variant 'squad'"),
    ("default", {"variant": ""}, "unknown variant ''"),
    ("default", {"threshold": 50}, "threshold must be a number from 0 to 1, got 50"),
    ("default", {"ignore_case": "no"}, "ignore_case must be one of True, False, got 'no'"),
    ("default", {"average": "leaves"}, "standard has no option 'average'; choose from threshold, ignore_case"),
    ("default", {"treshold": 0.3}, "unknown argument 'treshold'; did you mean threshold"),
    ("default", {"reference": ["a"]}, "unknown argument 'reference'; did you mean references"),
    ("anls_star", {"ignore_case": False}, "anls_star has no option 'ignore_case'; choose from none_keys"),
    ("anlsl", {"average": "leaves"}, "anlsl has no option 'average'; choose from normalize, threshold"),
]
# Calls of `compute`. The functions refuse more rows, in the same way.
BAD_CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("default", {"predictions": ["a"] * 2999 + [None], "references": ["a"] * 3000}, "prediction of row 2999 "),
    ("default", {"predictions": ["a"]}, "references is None"),
    ("default", {"references": ["a"]}, "predictions is None"),
    ("default", {"predictions": [], "references": []}, "no rows"),
    ("default", {}, "no rows"),
    ("anls_star", {"average": "leaves"}, "there are no rows"),
]
BAD_CALLS += [(configuration, {**GOOD, **options}, message) for configuration, options, message in BAD_OPTIONS]


@pytest.mark.parametrize(
    ("configuration", "options", "message"),
    [
        *BAD_OPTIONS,
        ("glue", {}, "unknown variant 'glue'"),
        (
            "anls_star",
            {"variant": "rrc"},
            "got both the configuration 'anls_star' and variant='rrc' (str): pass only one",
        ),
        (
            "rrc",
            {"variant": "standard"},
            "got both the configuration 'rrc' and variant='standard' (str): pass only one",
        ),
    ],
)
def test_bad_options_are_refused_when_the_metric_is_loaded(
    in_clone: Path, configuration: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        evaluate.load("anls", configuration, **options)


@pytest.mark.parametrize(("configuration", "bad", "message"), BAD_CALLS)
def test_good_call_is_right_at_once_after_a_bad_one(
    in_clone: Path, monkeypatch: pytest.MonkeyPatch, configuration: str, bad: dict[str, Any], message: str
) -> None:
    metric = evaluate.load("anls", configuration)
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("it waits for the lock that its failed call left"))
    with pytest.raises(ValueError, match=re.escape(message)):
        metric.compute(**bad)
    assert len(metric) == 0
    assert list(metric.compute(**GOOD).values()) == [8 / 9]
    assert list(Path(metric.data_dir).iterdir()) == []


@pytest.mark.parametrize(
    ("configuration", "method", "arguments", "message"),
    [
        ("default", "add_batch", {"predictions": ["a", None], "references": ["a", "b"]}, "prediction of row 33 "),
        ("default", "add_batch", {"predictions": ["a"], "references": [["a"], "abc"]}, "has 1, references has 2"),
        ("default", "compute", {"predictions": ["a", None], "references": ["a", "b"]}, "prediction of row 33 "),
        ("default", "add", {"prediction": None, "reference": "a"}, "prediction of row 32 .* is None"),
        ("default", "add", {"prediction": "a", "reference": None}, "references of row 32 .* is None"),
        ("default", "add", {"prediction": "a"}, "references is None: pass a list with the references"),
        ("default", "add", {"prediction": "a", "ref": "a"}, "unknown argument 'ref'; did you mean reference?"),
        ("default", "add", {"references": "a"}, "predictions is None: pass a list"),
        ("default", "compute", {"variant": "squad"}, "unknown variant 'squad'"),
        (
            "anls_star",
            "add",
            {"prediction": 1, "reference": [{"a": b"3"}]},
            r"reference of row 32 .*, \[0\]\.a, is b'3'",
        ),
        ("anls_star", "compute", {"predictions": ["a", b"3"], "references": ["a", {}]}, "prediction of row 33 .* b'3'"),
        (
            "anlsl",
            "add_batch",
            {"predictions": [["a", 5]], "references": ["a"]},
            r"prediction of row 32 .*, item 1, is 5",
        ),
    ],
)
def test_bad_row_is_counted_from_the_first_added_row(
    in_clone: Path, configuration: str, method: str, arguments: dict[str, Any], message: str
) -> None:
    metric = evaluate.load("anls", configuration)
    metric.add_batch(predictions=["a"] * 32, references=["a"] * 32)
    with pytest.raises(ValueError, match=message):
        getattr(metric, method)(**arguments)
    assert len(metric) == (0 if method == "compute" else 32)
    metric.add(prediction="a", reference="a")
    assert list(metric.compute().values()) == [1.0]


def test_metric_of_one_process_needs_no_folder_that_it_can_write(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = str(tmp_path / "file" / "cache")
    metric = anls_metric.load(cache_dir=cache)
    metric.add(prediction="a", reference="a")
    assert metric.compute() == {"anls": 1.0}
    with pytest.raises(OSError, match="cache"):
        anls_metric.load(cache_dir=cache, num_process=2, process_id=0)
