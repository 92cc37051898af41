"""Shared by the tests: paths, a separate cache for evaluate, and peers that run in their own folders."""

from __future__ import annotations

import atexit
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings

from anls_metric import SCORERS

# No test measures time, or fails by chance. The whole run tries more examples.
settings.register_profile("anls", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("whole", settings.get_profile("anls"), max_examples=100)
settings.load_profile("anls")

# Set before evaluate is imported: evaluate uses a temporary cache, and counts no downloads.
os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="anls-tests-")
atexit.register(shutil.rmtree, os.environ["HF_HOME"], ignore_errors=True)
os.environ["HF_UPDATE_DOWNLOAD_COUNTS"] = "0"

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(__file__).parent / "data"
CONFORMANCE = DATA / "conformance"
REAL_ANSWERS = ROOT.parent / "shared" / "data" / "docvqa_val_1k"  # not part of this repository
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

# Tests import the scripts of these folders by their names.
sys.path += [str(ROOT / "examples"), str(ROOT / "benchmarks")]

Rows = list[tuple[str, list[str]]]
RunPython = Callable[..., "subprocess.CompletedProcess[str]"]
Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

# The start of a program that imports evaluate. Without these two libraries, the import takes 3 s instead of 20.
LIGHT = "import sys; sys.modules.update(dict.fromkeys(('transformers', 'scipy')))\n"

LETTERS = "abcdeABCDE  \t\n\u00a0.,-0123éßİŉﬃΣσς漢🙂"


def fuzzed_rows(count: int, seed: int) -> Rows:
    """Make answers that are close to their references, and sometimes blank or long."""
    chance = random.Random(seed)

    def text(most: int) -> str:
        return "".join(chance.choices(LETTERS, k=chance.randint(0, most)))

    rows: Rows = []
    for _ in range(count):
        references = [text(20) for _ in range(chance.randint(1, 4))]
        prediction = list(chance.choice(references))
        for _ in range(chance.randint(0, 8)):
            place = chance.randint(0, len(prediction))
            prediction[place : place + chance.randint(0, 1)] = text(1)
        rows.append(("".join(prediction) if chance.random() < 0.9 else text(150), references))
    return rows


# Tests that need more than the extra `test` are not collected if a library is missing. The whole run collects all
# tests, and skips none.
NEEDS = {
    "frameworks/test_generation.py": ["transformers", "torch"],
    "frameworks/test_inspect_ai.py": ["inspect_ai"],
    "frameworks/test_keras.py": ["keras"],
    "frameworks/test_lm_eval.py": ["lm_eval"],
    "frameworks/test_ray.py": ["ray"],
    "frameworks/test_spark.py": ["pyspark"],
    "frameworks/test_torchmetrics.py": ["torchmetrics"],
    "frameworks/test_transformers.py": ["transformers", "torch"],
    "page/test_browser.py": ["gradio", "playwright"],
    "page/test_fair.py": ["gradio"],
    "page/test_guard.py": ["gradio"],
    "page/test_launch.py": ["gradio"],
    "page/test_programs.py": ["gradio"],
    "page/test_stop.py": ["gradio", "playwright"],
    "release": ["build"],
    "report/test_browser.py": ["playwright"],
    "rules/test_rules_on_the_page.py": ["gradio"],
    "system/test_figures.py": ["matplotlib"],
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    place = os.path.relpath(collection_path, Path(__file__).parent)
    missing = any(find_spec(module) is None for module in NEEDS.get(place, ()))
    return True if missing and not config.getoption("nothing_skips") else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of real answers where there are none, and those marked `needs` whose library is missing.

    The whole run keeps the latter.
    """
    libraries = not config.getoption("nothing_skips")
    missing = [item for item in items if _lacks_answers(item) or (libraries and _lacks_library(item))]
    if missing:
        config.hook.pytest_deselected(items=missing)
        items[:] = [item for item in items if item not in missing]


def _lacks_answers(item: pytest.Item) -> bool:
    return "real_answers" in getattr(item, "fixturenames", ()) and not REAL_ANSWERS.is_dir()


def _lacks_library(item: pytest.Item) -> bool:
    return any(find_spec(mark.args[0]) is None for mark in item.iter_markers("needs"))


def mark_needs(kinds: Iterable[str], library: str) -> list[Any]:
    """Mark the kinds that need a library, which have its name."""
    return [pytest.param(kind, marks=[pytest.mark.needs(library)] if library in kind else []) for kind in kinds]


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("nothing_skips"):
        settings.load_profile("whole")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nothing-skips", action="store_true", help="a test that would be skipped fails")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _refused((yield), item.config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _refused((yield), collector.config)


def _refused(report: Report, config: pytest.Config) -> Report:
    if config.getoption("nothing_skips") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"nothing skips here: {report.longrepr}"
    return report


def copy_of_the_checkout(folder: Path) -> Path:
    """Copy the files that a clone would have to a folder that a test may change."""
    left_out = (ROOT / ".gitignore").read_text(encoding="utf-8").replace("/\n", "\n").split()
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".git", *left_out), symlinks=True)
    return folder


@pytest.fixture(autouse=True)
def own_scorers() -> Iterator[None]:
    """Forget what a test, or an example of the docs, registers."""
    before = dict(SCORERS.registered)
    yield
    if SCORERS.registered != before:
        SCORERS.registered = before
        SCORERS.changes += 1


@pytest.fixture
def in_clone(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder in which `evaluate.load("anls")` finds the checkout as the folder `anls`."""
    folder = tmp_path_factory.mktemp("working-directory")
    (folder / "anls").symlink_to(ROOT, target_is_directory=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def metric(in_clone: Path) -> Any:
    """The metric, loaded with evaluate.load."""
    evaluate = pytest.importorskip("evaluate")
    return evaluate.load("anls")


@pytest.fixture(scope="session")
def real_answers() -> Path:
    """Real answers of models, which are not part of this repository."""
    return REAL_ANSWERS


def find_pypi_anls() -> Path:
    """Find the folder in which PyPI's `anls` is installed."""
    folders = (Path(folder) / "anls" for folder in sys.path)
    folder = next((folder for folder in folders if (folder / "__init__.py").is_file()), None)
    return folder or pytest.skip("PyPI anls 0.0.2 is not installed: pip install anls==0.0.2")


@pytest.fixture
def run_python() -> RunPython:
    """A function that runs a program, or Python with arguments, in a new process in a folder."""

    def run(program: str | list[str], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        arguments = ["-c", program] if isinstance(program, str) else program
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=cwd,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without a network. Its pages share a cache, which halves the time to open one.

    It is closed after each module, because it keeps an asyncio loop running, in which no other loop can start.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    options = "no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update"
    closed = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
    # Without isolation a report is in the process of the page. Chromium may lose a click in a frame of another process.
    flags = [f"--{option}" for option in [*options.split(), "disable-sync", "disable-site-isolation-trials"]]
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=[*flags, closed])
        yield chromium.new_context(accept_downloads=True)
        chromium.close()


def wait_for(condition: Callable[[], Any], seconds: float = 60) -> None:
    """Wait until a condition is met, at most these seconds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def without_questions(text: str) -> str:
    """Remove the parts that identify the questions from the signatures in a text."""
    return re.sub(r"\|questions:\d+\|gold:[0-9a-f]{8}", "", text)
