"""What README, docstrings and metadata say is so."""

from __future__ import annotations

import doctest
import importlib
import importlib.metadata
import json
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import anls
import anls_metric
from anls_metric import command_line, rrc
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = ["anls", *(f"anls_metric.{module.name}" for module in pkgutil.iter_modules(anls_metric.__path__))]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def table(heading: str) -> list[list[str]]:
    """The rows of the table of the README whose first cell of its head, and the second, are these."""
    lines = README[README.index(heading) :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_every_kind_of_block_is_run_by_a_test_here() -> None:
    assert set(re.findall(r"^```(\w+)$", README, re.MULTILINE)) == {"python", "console", "bash", "bibtex"}


def test_python_blocks(in_clone: Path) -> None:
    pytest.importorskip("evaluate")
    text = "\n".join(blocks("python"))
    example = doctest.DocTestParser().get_doctest(text, {}, "README.md", "README.md", 0)
    results = doctest.DocTestRunner().run(example)
    assert results.failed == 0
    assert results.attempted > 20


@pytest.mark.parametrize("block", blocks("console"), ids=lambda block: " ".join(block.split()[:3]))
def test_console_blocks(block: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    command, _, expected = block.partition("\n")
    prompt, program, *arguments = shlex.split(command)
    assert (prompt, program) == ("$", "calculate-anls")
    assert command_line.main(arguments) == 0
    assert capsys.readouterr().out == expected


def test_the_first_command_in_a_fresh_copy(tmp_path: Path) -> None:
    score, _ = blocks("bash")
    copy = tmp_path / "copy"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__", "tests"))
    done = subprocess.run(["bash", "-c", score], cwd=copy, capture_output=True, text=True)
    if "No matching distribution" in done.stderr + done.stdout:
        pytest.skip("no package registry can be reached")
    assert done.returncode == 0, done.stderr
    assert "ANLS       0.6273\nquestions  6\n" in done.stdout
    assert anls.signature() in done.stdout

    # What was installed needs rapidfuzz alone, and the commands of the README find the same from elsewhere.
    python = copy / ".venv" / "bin" / "python"
    listed = subprocess.run([python, "-m", "pip", "list", "--format", "freeze"], capture_output=True, text=True)
    names = {line.partition("==")[0].lower() for line in listed.stdout.splitlines()}
    assert names - {"pip", "setuptools", "wheel"} == {"anls-metric", "rapidfuzz"}
    program = "import anls; print(anls.anls_score('CocaCola', ['Coca Cola']), anls.__version__)"
    done = subprocess.run([python, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == f"0.8888888888888888 {anls.__version__}\n", done.stderr


def test_the_second_command_is_what_ci_runs() -> None:
    _, test = blocks("bash")
    assert test.strip() in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_the_table_of_variants_is_that_of_the_code() -> None:
    head, _, *rows = table("| variant | what it is |")
    assert head[2:] == [
        "case",
        "white space",
        "length (prediction, reference)",
        "kept when",
        "threshold",
        "also named",
    ]
    assert len(rows) == len(anls.VARIANTS)
    for row, variant in zip(rows, anls.VARIANTS.values()):
        assert row == [
            f"[`{variant.name}`]({variant.source})",
            variant.meaning,
            "ignored" if variant.ignore_case else "counts",
            variant.whitespace,
            f"{variant.prediction_length}, {variant.reference_length}",
            variant.kept,
            str(variant.threshold),
            ", ".join(f"`{name}`" for name in variant.aliases),
        ]


def test_the_table_of_models_is_what_the_real_answers_give(real_answers: Path) -> None:
    head, _, *rows = table("| variant | llama maverick |")
    questions = [
        list(rrc.read_questions(str(real_answers / "gold.json"), str(real_answers / f"submission__{name}.json")))
        for name in (cell.replace(" ", "_") for cell in head[1:])
    ]
    assert len(questions) == len(list(real_answers.glob("submission__*.json")))
    assert [row[0] for row in rows] == [f"`{name}`" for name in anls.VARIANTS]
    for name, row in zip(anls.VARIANTS, rows):
        means = []
        for asked in questions:
            predictions = [question.prediction for question in asked if question.prediction is not None]
            scores = anls.anls_scores(predictions, [question.references for question in asked], variant=name)
            means.append(f"{100 * anls.mean(scores):.2f}")
        assert row[1:] == means
    assert f"from {min(row[1] for row in rows)} to {max(row[1] for row in rows)}" in README


def test_the_table_of_speed_is_that_of_the_run_that_is_kept() -> None:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    run: Any = importlib.import_module("run")
    sys.path.remove(str(ROOT / "benchmarks"))
    figures = json.loads((ROOT / "benchmarks" / "python3.11.json").read_text(encoding="utf-8"))
    rows = [run.Row(**row) for row in figures["rows"]]
    assert run.summary(rows) in README
    memory, stream = figures["memory"], figures["stream"].values()
    for way, what in (("anls_scores", "for `anls_scores`"), ("iter_anls_scores", "for a stream")):
        most = max(figure for name, figure in memory.items() if name.startswith(f"{way},"))
        assert f" {most:.0f} MB" in README.partition(what)[0][-40:]
    assert f"{min(stream):.1f} to {max(stream):.1f} us\na row from 10,000 to 10,000,000 rows of a stream" in README
    assert {row.checked for row in rows if "no ANLS" not in row.peer} == {"right"}


def test_the_lines_for_training_are_in_their_examples() -> None:
    head, _, *rows = table("| framework | the line |")
    assert head[-1] == "example"
    for _, lines, install, link in rows:
        example = (ROOT / re.findall(r"\((.*)\)", link)[0]).read_text(encoding="utf-8")
        for call in re.findall(r"(\w+)\(", lines):
            assert f"{call}(" in example
        for extra in re.findall(r"\w+", install.strip('`".')):
            assert f"\n{extra} = [" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_citation_is_that_of_the_metric() -> None:
    assert blocks("bibtex") == [anls._CITATION]


def test_the_front_matter_and_the_sections_of_a_metric_card() -> None:
    yaml = pytest.importorskip("yaml")
    card = yaml.safe_load(README.split("---\n")[1])
    assert card["title"] == "ANLS"
    assert card["tags"] == ["evaluate", "metric"]
    assert card["license"] == "apache-2.0"
    assert card["sdk"] == "gradio"
    assert (ROOT / card["app_file"]).is_file()
    newest = pytest.importorskip("gradio").__version__
    assert tuple(map(int, card["sdk_version"].split("."))) <= tuple(map(int, newest.split(".")[:3]))
    headings = re.findall(r"^#+ (.*)$", README, re.MULTILINE)
    expected = ["Metric description", "How to use", "Inputs", "Output values", "Values from popular papers", "Examples"]
    expected += ["Limitations and bias", "Citation", "Further references"]
    assert [heading for heading in headings if heading in expected] == expected


def test_every_file_that_the_readme_links_is_there() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert link.startswith("https://") or (ROOT / link).exists(), link


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings(name: str, in_clone: Path) -> None:
    needs = {"anls": "evaluate", "anls_metric.keras": "keras", "anls_metric.torchmetrics": "torchmetrics"}
    needs |= {f"anls_metric.{module}": "scipy" for module in ("compare", "review", "show")}
    needs["anls_metric.page"] = "gradio"
    pytest.importorskip(needs.get(name, "anls"))
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0


@pytest.mark.parametrize("name", sorted(set(anls.__all__) - {"VARIANTS"}))
def test_what_is_public_is_documented(name: str) -> None:
    public = getattr(anls, name)
    assert public.__doc__
    if callable(public) and not isinstance(public, type):
        for section in ("Args:", "Returns:", "Raises:", "Example:"):
            assert section in public.__doc__, section


def test_one_place_for_the_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", anls.__version__)
    assert importlib.metadata.version("anls-metric") == anls.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)", changes, re.MULTILINE)
    assert newest is not None
    assert newest[1] == anls.__version__
    assert anls.__version__ not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_what_an_installation_needs() -> None:
    needs = [need for need in importlib.metadata.requires("anls-metric") or [] if "extra ==" not in need]
    assert needs == ["rapidfuzz>=3.0"]
    wanted = (ROOT / "requirements.txt").read_text(encoding="utf-8").split()
    extras = [
        need for need in importlib.metadata.requires("anls-metric") or [] if re.search("== .(app|evaluate).$", need)
    ]
    others = {need.partition(";")[0].strip() for need in extras} - {"anls-metric[evaluate]"}
    assert sorted(wanted) == sorted([*needs, *others])


def test_the_citation_file() -> None:
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert [reference["year"] for reference in cited["references"]] == [2019, 2021]


def test_anls_can_be_copied_into_a_project(tmp_path: Path, run_python: Callable[..., Any]) -> None:
    shutil.copy(ROOT / "anls.py", tmp_path)
    done = run_python("from anls import anls_score; print(anls_score('CocaCola', ['Coca Cola']))", tmp_path)
    assert done.stdout == "0.8888888888888888\n", done.stderr
