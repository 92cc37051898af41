"""What README, docstrings and metadata say is so."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import anls
from anls_metric import command_line
from anls_metric.reading.extract import EXTRACTORS
from anls_metric.reading.join import join_files
from anls_metric.reading.layouts import LAYOUTS
from tests.conftest import ROOT, copy_of_the_checkout
from tests.system.test_house import FILES, MAY_IMPORT, module

README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "benchmarks" / "README.md"]
MODULES = sorted({module(path) for path in FILES} - {"app", "anls_metric.__main__"})


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def table(heading: str) -> list[list[str]]:
    """The rows of the table of the README whose first cell of its head, and the second, are these."""
    lines = README[README.index(heading) :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def import_or_skip(name: str) -> ModuleType:
    """A module of ours, where the libraries that it stands for are installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if str(error.name).startswith("anls"):
            raise
        pytest.skip(f"{name} needs {error.name}")


def test_every_kind_of_block_is_run_by_a_test_here() -> None:
    assert set(re.findall(r"^```(\w+)$", README, re.MULTILINE)) == {"python", "console", "bash", "bibtex"}


def test_python_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Typed into one Python after the other, in the folder of a clone."""
    pytest.importorskip("evaluate")
    monkeypatch.chdir(ROOT)
    text = "\n".join(blocks("python"))
    example = doctest.DocTestParser().get_doctest(text, {}, "README.md", "README.md", 0)
    results = doctest.DocTestRunner().run(example)
    assert results.failed == 0
    assert results.attempted > 20


@pytest.mark.parametrize("line", sorted(set(re.findall(r"`(from anls[\w.]* import [^`]+)`", README))))
def test_the_lines_that_import(line: str) -> None:
    name, _, wanted = line.removeprefix("from ").partition(" import ")
    there = import_or_skip(name)
    assert [what for what in wanted.split(", ") if not hasattr(there, what)] == []


# Commands, each typed into a fresh shell in a clone


Typed = Callable[[str], "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Typed:
    """Type a command into a fresh shell in a clone of which nobody has activated or installed anything."""
    clone = copy_of_the_checkout(tmp_path_factory.mktemp("fresh") / "clone")
    ours = str(Path(sys.executable).parent)
    path = os.pathsep.join(folder for folder in os.environ["PATH"].split(os.pathsep) if folder != ours)
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command], cwd=clone, env={**environment, "PATH": path}, capture_output=True, text=True
        )

    return run


@pytest.fixture(scope="module")
def first_command(typed: Typed) -> str:
    """What the first command prints at its end."""
    score, _ = blocks("bash")
    done = typed(score)
    if "No matching distribution" in done.stderr + done.stdout:
        pytest.skip("no package registry can be reached")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_first_command_scores_the_example(first_command: str) -> None:
    assert "ANLS       0.6273\nquestions  6\n" in first_command
    assert anls.signature() in first_command


def test_the_first_command_installs_rapidfuzz_alone(first_command: str, typed: Typed) -> None:
    listed = typed(".venv/bin/python -m pip list --format freeze").stdout
    names = {line.partition("==")[0].lower() for line in listed.splitlines()}
    assert names - {"pip", "setuptools", "wheel"} == {"anls-metric", "rapidfuzz"}
    program = "import anls; print(anls.anls_score('CocaCola', ['Coca Cola']), anls.__version__)"
    elsewhere = typed(f'cd / && "$OLDPWD/.venv/bin/python" -c "{program}"')
    assert elsewhere.stdout == f"0.8888888888888888 {anls.__version__}\n", elsewhere.stderr


@pytest.mark.parametrize("block", blocks("console"), ids=lambda block: " ".join(block.split()[:3]))
def test_console_blocks(block: str, first_command: str, typed: Typed) -> None:
    """After the first command, and the line that activates what that has made."""
    (activate,) = re.findall(r"`(source [^`]+)`", README)
    assert README.index(activate) < README.index(block)
    command, _, expected = block.removeprefix("$ ").partition("\n")
    done = typed(f"{activate} && {command}")
    assert (done.stdout, done.stderr) == (expected, "")


# The pages of docs


def of_a_page(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


PAGES = sorted(ROOT.glob("docs/*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_snippets_of_a_page(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert set(re.findall(r"^```(\w+)$", page.read_text(encoding="utf-8"), re.MULTILINE)) <= {"python", "console"}
    text = "\n".join(of_a_page(page, "python"))
    example = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize("block", [block for page in PAGES for block in of_a_page(page, "console")])
def test_the_commands_of_a_page(
    block: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    command, _, expected = block.removeprefix("$ ").partition("\n")
    program, *arguments = shlex.split(command)
    assert program == "calculate-anls"
    assert command_line.main(arguments) == 0
    assert capsys.readouterr().out == expected


def test_the_tables_of_layouts_and_rules_are_those_of_the_code() -> None:
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    layouts = re.findall(r"^\| `(\w+)` \| .* \| (`.*`) \|$", page, re.MULTILINE)
    assert layouts == [(one.name, ", ".join(f"`{field}`" for field in one.fields)) for one in LAYOUTS]
    _, _, extraction = page.partition("## Extraction")
    rules = re.findall(r"^\| `([\w-]+)` \| (.*) \|$", extraction.partition("\n## ")[0], re.MULTILINE)
    meanings = [rule.meaning.replace("`", "").replace("|", r"\|") for rule in EXTRACTORS.values()]
    assert rules == list(zip(EXTRACTORS, meanings))


def test_the_second_command_is_what_ci_runs() -> None:
    _, test = blocks("bash")
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert test.strip() in map(str.strip, lines)


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


def columns_of(gold: str, submission: str) -> tuple[list[Any], list[Any]]:
    """Predictions and references of all questions."""
    rows = [row for batch in join_files(gold, submission) for row in batch]
    return [row.prediction for row in rows], [row.references for row in rows]


def test_the_table_of_models_is_what_the_real_answers_give(real_answers: Path) -> None:
    head, _, *rows = table("| variant | llama maverick |")
    submissions = [real_answers / f"submission__{cell.replace(' ', '_')}.json" for cell in head[1:]]
    assert set(submissions) == set(real_answers.glob("submission__*.json"))
    columns = [columns_of(str(real_answers / "gold.json"), str(submission)) for submission in submissions]
    assert [row[0] for row in rows] == [f"`{name}`" for name in anls.VARIANTS]
    for name, row in zip(anls.VARIANTS, rows):
        scores = (anls.anls_scores(predictions, references, variant=name) for predictions, references in columns)
        assert row[1:] == [f"{100 * anls.mean(each):.2f}" for each in scores]
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
    headings = re.findall(r"^#+ (.*)$", README, re.MULTILINE)
    expected = ["Metric description", "How to use", "Inputs", "Output values", "Values from popular papers", "Examples"]
    expected += ["Limitations and bias", "Citation", "Further references"]
    assert [heading for heading in headings if heading in expected] == expected


def test_the_space_runs_on_a_gradio_that_is_tested() -> None:
    newest = pytest.importorskip("gradio").__version__
    tested = re.findall(r"^sdk_version: (.*)$", README, re.MULTILINE)
    assert tuple(map(int, tested[0].split("."))) <= tuple(map(int, newest.split(".")[:3]))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.relative_to(ROOT).as_posix())
def test_every_file_that_a_document_links_is_there(document: Path) -> None:
    for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
        assert link.startswith("https://") or (document.parent / link).exists(), link


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings(name: str, clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clone if name == "anls" else ROOT)
    if name == "anls":
        pytest.importorskip("evaluate")
    results = doctest.testmod(import_or_skip(name))
    assert results.failed == 0


def test_the_map_has_every_place_of_the_house() -> None:
    paths = {place.replace("anls_metric.", "anls_metric/") for place in MAY_IMPORT} - {"anls_metric", "app"}
    assert {path for path in paths if f"`{path}.py`" not in CONTRIBUTING and f"`{path}/`" not in CONTRIBUTING} == set()


@pytest.mark.parametrize("name", sorted(set(anls.__all__) - {"VARIANTS"}))
def test_what_is_public_is_documented(name: str) -> None:
    public = getattr(anls, name)
    assert public.__doc__
    if callable(public) and not isinstance(public, type):
        for section in ("Args:", "Returns:", "Raises:", "Example:"):
            assert section in public.__doc__, section


def test_one_place_for_the_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", anls.__version__)
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", cited, re.MULTILINE) == [anls.__version__]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)", changes, re.MULTILINE)
    assert newest is not None
    assert newest[1] == anls.__version__
    assert anls.__version__ not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_citation_file() -> None:
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert [reference["year"] for reference in cited["references"]] == [2019, 2021]


def test_anls_can_be_copied_into_a_project(tmp_path: Path, run_python: Callable[..., Any]) -> None:
    shutil.copy(ROOT / "anls.py", tmp_path)
    done = run_python("from anls import anls_score; print(anls_score('CocaCola', ['Coca Cola']))", tmp_path)
    assert done.stdout == "0.8888888888888888\n", done.stderr
