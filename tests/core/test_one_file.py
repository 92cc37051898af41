"""`anls.py`, the metric as one file: up to date with the package, without the package, and from the Hub."""

from __future__ import annotations

import ast
import inspect
import pickle
import shutil
import sys
import threading
from collections.abc import Callable
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import anls_metric
from anls_metric.core.strings.metrics import METRICS
from tests.conftest import LIGHT, ROOT, RunPython, copy_of_the_checkout
from tests.core.test_conformance import REPRODUCED, find_differences

# A Python in which the package is not installed.
ALONE = f"{LIGHT}sys.modules['anls_metric'] = None\n"


@pytest.fixture(scope="module")
def anls() -> ModuleType:
    """The built file, even if another module is called `anls`."""
    spec: Any = spec_from_file_location("built_anls", ROOT / "anls.py")
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Building it


@pytest.mark.skipif(find_spec("ruff") is None, reason="ruff formats the file: pip install ruff")
def test_building_leaves_a_fresh_checkout_unchanged_and_follows_the_package(
    tmp_path: Path, run_python: RunPython
) -> None:
    def build(*options: str) -> tuple[int, str]:
        done = run_python([str(checkout / "tools" / "one_file.py"), *options], tmp_path)
        return done.returncode, done.stderr

    checkout = copy_of_the_checkout(tmp_path / "checkout")
    before = {path: path.read_bytes() for path in checkout.rglob("*") if path.is_file()}
    assert build() == (0, "")
    assert {path: path.read_bytes() for path in checkout.rglob("*") if path.is_file()} == before

    built = checkout / "anls.py"
    version = checkout / "anls_metric" / "core" / "version.py"
    version.write_text(version.read_text().replace(anls_metric.__version__, "9.9.9"))
    assert build("--check") == (1, "anls.py is stale: run python tools/one_file.py\n")
    assert built.read_bytes() == before[built]
    assert build() == build("--check") == (0, "")
    assert '__version__ = "9.9.9"\n' in built.read_text(encoding="utf-8")


# What a reviewer of the Hub sees


def test_class_of_the_metric_stands_near_the_beginning() -> None:
    """As in the metrics of evaluate: description, citation, arguments, and the class, before everything else."""
    source = (ROOT / "anls.py").read_text(encoding="utf-8")
    (class_,) = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == "Anls"]
    assert [ast.unparse(base) for base in class_.bases] == ["evaluate.Metric"]
    assert class_.lineno <= 250
    table = next(node for node in ast.parse(source).body if "_TABLE" in ast.unparse(node)[:20])
    rows = (table.end_lineno or 0) - table.lineno
    assert len(source.splitlines()) - rows <= 1500
    head = source[: source.index("class Anls")]
    assert [name in head for name in ("_DESCRIPTION = ", "_CITATION = ", "_KWARGS_DESCRIPTION = ")] == [True] * 3


def test_functions_need_no_evaluate(tmp_path: Path, run_python: RunPython) -> None:
    shutil.copy(ROOT / "anls.py", tmp_path)
    program = f"""{ALONE}
sys.modules['evaluate'] = None
import anls
print(anls.mean(anls.anls_scores(['CocaCola'], ['Coca Cola'])), anls.signature('unitxt'))
anls.load(num_process=2, process_id=0)"""
    done = run_python(program, tmp_path)
    assert done.stdout == "0.8888888888888888 anls|rrc|threshold:0.5|v2\n"
    assert done.stderr.endswith("ImportError: the metric needs Hugging Face evaluate: pip install evaluate datasets\n")


def test_metric_is_read_in_a_process_that_has_not_loaded_evaluate(tmp_path: Path, run_python: RunPython) -> None:
    shutil.copy(ROOT / "anls.py", tmp_path)
    compute = "metric.compute(predictions=['ab  '], references=['a'])"
    write = f"{ALONE}import anls, pickle; metric = anls.load(variant='rrc'); pickle.dump(metric, open('metric', 'wb'))"
    read = f"{ALONE}import pickle; metric = pickle.load(open('metric', 'rb')); print({compute})"
    assert run_python(write, tmp_path).stderr == ""
    assert run_python(read, tmp_path).stdout == "{'anls': 0.75}\n"


# The same scores as the package


def test_built_file_has_the_names_signatures_and_explanations_of_the_package(anls: ModuleType) -> None:
    assert set(anls.__all__) < set(anls_metric.__all__)
    assert [name for name in anls.__all__ if not hasattr(anls, name)] == []
    assert inspect.signature(anls.anls_scores) == inspect.signature(anls_metric.anls_scores)
    assert str(anls.explain("The Coca", ["Coca Cola"])) == str(anls_metric.explain("The Coca", ["Coca Cola"]))
    for variant in anls_metric.VARIANTS:
        assert anls.signature(variant, 0.3) == anls_metric.signature(variant, 0.3)


@pytest.mark.parametrize("name", REPRODUCED)
def test_built_file_reproduces_every_golden_score(name: str, anls: ModuleType) -> None:
    assert find_differences(name, anls.anls_scores) == []


def test_metric_of_the_built_file_is_that_of_the_package(anls: ModuleType) -> None:
    built, packaged = anls.load(variant="rrc"), anls_metric.load(variant="rrc")
    for metric in (built, pickle.loads(pickle.dumps(built))):
        result = metric.compute(predictions=["ab  "], references=["a"], return_all_scores=True)
        assert result == {"anls": 0.75, "anls_scores": [0.75]}
    assert built.signature() == packaged.signature()
    assert built.inputs_description == packaged.inputs_description
    assert built.features == packaged.features


# Without the package


@pytest.mark.parametrize("name", ["anls", pytest.param("anls/anls.py", marks=pytest.mark.thorough)])
def test_evaluate_loads_the_built_file_from_another_directory(name: str, tmp_path: Path, run_python: RunPython) -> None:
    """By the path of the file, and by the folder of a clone, which must have the name of its file."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "anls").mkdir()
    shutil.copy(ROOT / "anls.py", tmp_path / "anls")
    program = f"{ALONE}import evaluate\nmetric = evaluate.load({str(tmp_path / name)!r})\n"
    program += "print(metric.compute(predictions=['CocaCola'], references=[['Coca Cola', 'Coca Cola Company']]))"
    done = run_python(program, tmp_path / "elsewhere", HF_HOME=str(tmp_path / "cache"))
    assert done.stdout == "{'anls': 0.8888888888888888}\n", done.stderr


@pytest.mark.parametrize(
    "ask",
    [
        lambda anls: anls.load("anls_star"),
        lambda anls: anls.load("anlsl"),
        lambda anls: anls.load().build_reward(),
        lambda anls: anls.load().build_compute_metrics(None, extract="think,final"),
        lambda anls: anls.load().build_compute_metrics(None, metrics="f1"),
        lambda anls: anls.explain("a", ["a"]),
    ],
)
def test_feature_of_the_package_names_the_install_command(
    anls: ModuleType, ask: Callable[[ModuleType], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "anls_metric"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises((ImportError, ValueError), match=r" the package anls-metric: pip install anls-metric$"):
        ask(anls)


# From the Hub


FROM_THE_HUB = f"""{LIGHT}
import evaluate
for arguments in ((), ("anls_star",)):
    metric = evaluate.load("someone/anls", *arguments)
    result = metric.compute(predictions=["CocaCola"], references=[["Coca Cola", "Coca Cola Company"]])
    print(type(metric).__module__.split(".")[2], result)
"""
EXPECTED = "someone--anls {'anls': 0.8888888888888888}\nsomeone--anls {'anls_star': 0.8888888888888888}\n"


@pytest.mark.thorough
def test_evaluate_load_reads_one_file_from_the_hub_then_the_cache(tmp_path: Path, run_python: RunPython) -> None:
    """The code path of evaluate runs with a server on this machine, and then offline."""
    paths: list[str] = []

    class Hub(SimpleHTTPRequestHandler):
        """Serves anls.py at the path of a Space on the Hub. There is no release tag, only main."""

        def translate_path(self, path: str) -> str:
            paths.append(path)
            return str(ROOT / "anls.py") if path == "/spaces/someone/anls/resolve/main/anls.py" else "/nowhere"

        def log_message(self, *args: Any) -> None:
            pass

    environment = {"PYTHONPATH": str(ROOT), "HF_HOME": str(tmp_path / "cache")}
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        environment["HF_ENDPOINT"] = f"http://127.0.0.1:{server.server_port}"
        first = run_python(FROM_THE_HUB, tmp_path, **environment)
        server.shutdown()
    assert first.stdout == EXPECTED, first.stderr
    assert {path.rpartition("/")[2] for path in paths if path.startswith("/spaces/")} == {"anls.py"}
    again = run_python(FROM_THE_HUB, tmp_path, **environment)
    assert again.stdout == EXPECTED, again.stderr
    assert "cached version" in again.stderr


@pytest.mark.thorough
def test_evaluate_load_says_how_to_install_missing_rapidfuzz(tmp_path: Path, run_python: RunPython) -> None:
    program = f"{LIGHT}import evaluate\nsys.modules['rapidfuzz'] = None\nevaluate.load({str(ROOT / 'anls.py')!r})"
    assert "pip install rapidfuzz" in run_python(program, tmp_path).stderr


def test_metrics_of_the_hook_are_those_of_the_package(anls: ModuleType) -> None:
    """`contains` normalizes, which the file left out while nothing in it did."""
    np = pytest.importorskip("numpy")

    class Tokenizer:
        def batch_decode(self, rows: Any, skip_special_tokens: bool) -> list[str]:
            return [("It is COCA  Cola", "cola", "Pepsi")[row[0] - 1] if row else "" for row in rows]

    references, ids = [["Coca Cola"], ["Cola"], ["tea"]], np.array([[1], [2], [3]])
    hooks = [
        module.build_compute_metrics(Tokenizer(), references, metrics=list(METRICS)) for module in (anls, anls_metric)
    ]
    found, expected = (hook((ids, None)) for hook in hooks)
    assert found == expected
    assert (found["contains"], found["exact_match"]) == (2 / 3, 1 / 3)
