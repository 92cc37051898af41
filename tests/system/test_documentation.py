"""The statements of README, docs, docstrings and metadata are true."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import VARIANTS, compare, score
from anls_metric.analysis.lost_points import MEANINGS
from anls_metric.analysis.parts import BY_NAME
from anls_metric.command import command_line, subcommands
from anls_metric.command.arguments import Parser, read_flags
from anls_metric.document import build_document
from anls_metric.report.figures import complete
from anls_metric.report.schema import Document
from anls_metric.report.schema_check import list_mismatches
from anls_metric.report.wording import word
from tests.conftest import ROOT
from tests.system.conftest import Shell

_BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
_GENERATED = re.compile(r"<!-- generated: .*?<!-- end -->", re.DOTALL)


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def list_blocks(page: Path, language: str) -> list[str]:
    return [body for kind, body in _BLOCK.findall(read(page)) if kind == language]


def list_code(page: Path) -> list[str]:
    """List the texts between backticks, and the lines of blocks without a language. Bars in tables are escaped."""
    inline = re.findall(r"`([^`]+)`", _GENERATED.sub("", _BLOCK.sub("", read(page))))
    plain = [line for block in list_blocks(page, "") for line in block.splitlines()]
    return plain + [code.replace("\\|", "|") for code in inline]


README = ROOT / "README.md"
GUIDE = [README, *sorted(ROOT.glob("docs/*.md"))]
DOCUMENTS = [path for pattern in ("*.md", "docs/*.md", "benchmarks/*.md") for path in sorted(ROOT.glob(pattern))]
EXAMPLES = sorted(path for path in (ROOT / "examples").rglob("*") if path.suffix in (".py", ".yaml"))
FILES = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in (ROOT / "anls_metric").rglob("*.py")]
# Without the module that has an effect when it is imported.
MODULES = sorted({"anls", *(name.removesuffix(".__init__") for name in FILES)} - {"anls_metric.__main__"})

# The modules that are named after a library.
_LIBRARIES = "generation|torchmetrics|keras|trl|transformers|inspect_ai|lm_eval|lmms_eval|pytest"
_DEEPER = re.compile(rf"\banls_metric\.(?!(?:{_LIBRARIES})\b)[a-z]\w*|^(?:>>> )?(?:from|import) anls\b", re.MULTILINE)

of_the_guide = pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)


def find_lacking(*names: str) -> set[str]:
    """Import modules, and return the libraries that they need and that are not installed."""
    lacking = set()
    for name in names:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if str(error.name).startswith("anls"):
                raise
            lacking.add(str(error.name))
    return lacking


# Generated tables


def test_tables_that_come_from_the_code_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    docs = importlib.import_module("docs")
    stale = [path.name for path in docs.PAGES if docs.fill(path.read_text("utf-8")) != path.read_text("utf-8")]
    assert stale == [], "run python tools/docs.py"
    texts = "".join(path.read_text("utf-8") for path in docs.PAGES)
    assert set(re.findall(r"<!-- generated: (\w+) -->", texts)) == set(docs.TABLES)


def test_number_of_variants_is_that_of_the_table_wherever_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    docs = importlib.import_module("docs")
    texts = {name: (ROOT / name).read_text("utf-8") for name in docs.VARIANT_COUNTS}
    assert sum(map(len, docs.VARIANT_COUNTS.values())) == 6
    stale = [name for name, text in texts.items() if docs.count_variants(text, docs.VARIANT_COUNTS[name]) != text]
    assert stale == [], "run python tools/docs.py"
    pages = [*(page for page in docs.PAGES if page.name != "CHANGELOG.md"), ROOT / "pyproject.toml"]
    counts = re.findall(r"(\d+) (?:published |other )?\[?variants", "".join(page.read_text("utf-8") for page in pages))
    assert set(counts) == {str(len(VARIANTS))}
    with pytest.raises(ValueError, match="change VARIANT_COUNTS"):
        docs.count_variants("lists all", docs.VARIANT_COUNTS["docs/variants.md"])


def test_page_counts_the_variants_that_put_each_model_first() -> None:
    scores = json.loads((ROOT / "benchmarks" / "nine_models.json").read_text("utf-8"))["scores"]
    nemotron, maverick = scores["nemotron"], scores["llama maverick"]
    known = [name for name in VARIANTS if name in nemotron]  # a new variant waits for who has the answers
    first = [name for name in known if nemotron[name] > maverick[name]]
    counts = f"{len(first)} put nemotron first and {len(known) - len(first)} put llama maverick first"
    assert counts in (ROOT / "docs" / "why_scores_differ.md").read_text("utf-8")


# Blocks of README and docs


def list_imports(block: str) -> list[str]:
    """List the modules that a block needs."""
    loads = ["evaluate"] if re.search(r"\bload\(", block) else []
    return [*re.findall(r"^ *>>> (?:import|from) ([\w.]+)", block, re.MULTILINE), *loads]


@of_the_guide
def test_python_sessions_of_documents_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all blocks in one Python session, in the folder of a clone."""
    monkeypatch.chdir(ROOT)
    missing = {block: find_lacking(*list_imports(block)) for block in list_blocks(page, "python")}
    text = "\n".join(block for block, libraries in missing.items() if not libraries)
    example = doctest.DocTestParser().get_doctest(text, {}, page.name, page.name, 0)
    results = doctest.DocTestRunner().run(example)
    assert results.failed == 0
    assert results.attempted == text.count(">>> ")
    if any(missing.values()):
        pytest.skip(f"all but the blocks that need {', '.join(sorted(set().union(*missing.values())))}")


def list_names(line: str) -> set[tuple[str, str]]:
    """List the names that a line imports, each with its module."""
    module, _, names = line.removeprefix("from ").partition(" import ")
    return {(module, name.strip()) for name in names.split(",")}


@of_the_guide
def test_lines_without_a_prompt_are_those_of_an_example(page: Path) -> None:
    """Except for blanks, a comma at the end, and comments for mypy.

    An argument may appear as an assignment, and an import may have some of the names of an import in an example.
    """

    def bare(line: str) -> str:
        return re.sub(r"  # type: ignore\[.*|\s|,$", "", line)

    paths = [path for path in (ROOT / "examples").rglob("*.*") if path.suffix != ".pyc"]
    examples = [path.read_text("utf-8") for path in paths]
    there = {bare(line) for example in examples for line in example.splitlines()}
    joined = "\n".join(
        re.sub(r"\(\n((?:    .*\n)+?)\)", lambda match: match[1].replace("\n", " "), each) for each in examples
    )
    imported = set().union(*map(list_names, re.findall(r"^from .* import .*$", joined, re.MULTILINE)))
    python = [block for block in list_blocks(page, "python") if ">>>" not in block]
    shown = [*python, *list_blocks(page, "json"), *list_blocks(page, "csv")]
    lines = [line for block in shown for line in block.splitlines() if bare(line) not in there]
    assert [line for line in lines if not (line.startswith("from ") and list_names(line) <= imported)] == []


@pytest.mark.parametrize("path", [*GUIDE, *EXAMPLES], ids=lambda path: path.name)
def test_guide_and_examples_import_from_the_package_only(path: Path) -> None:
    named = _DEEPER.findall(read(path))
    assert [
        name for name in named if name.removeprefix("anls_metric.") not in (*anls_metric.__all__, "open", "scorers")
    ] == []


def parse(words: list[str]) -> None:
    """Parse a command. ValueError: it has a flag that does not exist, or a value that is none."""
    name = " ".join(words[: 2 if words[0] == "export" else 1])
    parser = command_line.build_parser()
    if name in subcommands.SUBCOMMANDS:
        parser, words = Parser(), words[len(name.split()) :]
        subcommands.SUBCOMMANDS[name].add_arguments(parser)
    read_flags(parser.parse_intermixed_args(words))


@of_the_guide
def test_commands_that_are_named_have_the_flags_that_they_show(page: Path) -> None:
    known = {flag for action in command_line.build_parser()._actions for flag in action.option_strings}
    of_others = {
        "--dataset",
        "--task",
        "--source",
        "--ids",
        "--with-answers",
        "--sample",
        "--help",
        "--version",
        "--log_samples",
    }
    for code in list_code(page):
        command = code.removeprefix("anls ").partition(" > ")[0]
        words = ["1" if word == "N" else word for word in shlex.split(command) if word != "..."]
        if code.startswith("--"):
            assert words[0] in known | of_others, code
        elif code.startswith("anls ") and command not in (*subcommands.SUBCOMMANDS, "--help", "--version"):
            parse(words)


# Examples for which a hint is printed, which a page does not show.
WITH_HINTS = ("compare/chatty.json", "abstention/answers.json", "extraction/small.jsonl")


@pytest.mark.parametrize("block", [block for page in GUIDE for block in list_blocks(page, "console")])
def test_commands_of_documents_run(shell: Shell, monkeypatch: pytest.MonkeyPatch, block: str) -> None:
    monkeypatch.chdir(ROOT)
    command, _, expected = block.partition("\n")
    assert command.startswith("$ anls ")
    status, out, err = shell.type(command.removeprefix("$ anls "))
    assert (status, out) == (0, expected)
    read = ("predictions ", "references ", "joined by ")  # beside a table in LaTeX
    notes = [line for line in err.splitlines() if not line.startswith(read)]
    assert bool(notes) == (any(name in command for name in WITH_HINTS) and "--quiet" not in command)


# The page about trouble

ANSWERED = [{"questionId": i, "answer": f"answer {i}"} for i in range(1, 11)]
TROUBLE: dict[str, list[dict[str, Any]]] = {
    "No ids in common": [{**row, "questionId": f"doc{i}-{row['questionId']}"} for i, row in enumerate(ANSWERED[:8])],
    "no answer to": ANSWERED[:5],
    "an id that is not in": ANSWERED,
    "repeated": [*ANSWERED[:8], ANSWERED[0]],
    "one answer per question": [{"answer": row["answer"]} for row in ANSWERED[:5]],
    "no predictions": [{"questionId": row["questionId"], "text": row["answer"]} for row in ANSWERED[:8]],
    "different question text": [{**row, "question": f"Frage {row['questionId']}?"} for row in ANSWERED[:8]],
}


@pytest.mark.parametrize("words", TROUBLE)
def test_errors_in_the_page_about_trouble_are_those_of_the_program(shell: Shell, words: str) -> None:
    gold = [{"questionId": i, "question": f"Question {i}?", "answers": [f"answer {i}"]} for i in range(1, 9)]
    shell.write({"gold.json": gold, "answers.json": TROUBLE[words]})
    assert words.lower() in shell.error("gold.json answers.json")
    page = read(ROOT / "docs" / "troubleshooting.md")
    assert f"### {words}\n" in page or f"| `{words}` |" in page


def test_error_in_the_page_about_files_is_that_of_the_program(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (block,) = [block for block in list_blocks(ROOT / "docs" / "files.md", "text") if block.startswith("$ anls")]
    line, _, error = block.partition("\n")
    assert " ".join(error.split()) == f"anls: error: {shell.error(line.removeprefix('$ anls '))}"
    example = error.replace("\n", " ").partition("for example: anls ")[2]
    assert len(shell.scores(example)) == 1


def test_ranges_in_the_pages_are_those_of_the_nine_models() -> None:
    models = json.loads(read(ROOT / "benchmarks" / "nine_models.json"))["scores"]
    names = list(models["nemotron"])

    def spread(first: str, second: str) -> tuple[str, str]:
        changes = sorted(round(model[second] - model[first], 2) for model in models.values())
        return f"{changes[0]:.2f}", f"{changes[-1]:.2f}"

    migrate, differ = read(ROOT / "docs/migrate.md"), " ".join(read(ROOT / "docs/why_scores_differ.md").split())
    for first, second in (("pypi_anls", "standard"), ("due", "pix2struct")):
        assert "rise by {} to {} (from `{}` to `{}`)".format(*spread(first, second), first, second) in migrate
    assert "fall by {} to {} (from `nls` to `due`)".format(*spread("due", "nls")) in migrate
    assert (spread("stvqa", "standard")[1], spread("standard", "rrc")[1]) == ("0.04", "0.95")
    boundary, whole = spread("pypi_anls", "standard"), spread("rrc", "lmms_eval_0_2")
    assert "between {} and {} points (`standard` against `pypi_anls`)".format(*boundary) in differ
    assert "between {} and {} points this way (`lmms_eval_0_2` against `rrc`)".format(*whole) in differ
    assert len(names) - len({tuple(model[name] for model in models.values()) for name in names}) == 14
    assert sum(models["llama maverick"][name] > models["nemotron"][name] for name in names) == 10


# The JSON document

_COMPARE = " ".join(f"examples/compare/{name}.json" for name in ("gold", "base", "tuned"))
_METRICS = ",".join(["f1", *(name for name in BY_NAME if name != "pages")])
_EVERYTHING = f"--by kind --metrics {_METRICS} --variant standard,rrc --worst 1 --extract sentence --corrections"
RUNS = (
    f"{_COMPARE} examples/compare/chatty.json {_EVERYTHING} examples/compare/corrections.json",
    "examples/judged.jsonl --field judge=verdict",
    "examples/invoices.jsonl --variant anls_star --by-key --worst 1",
    "examples/mmlongbench_doc.jsonl --variant mmlongbench_doc",
    "examples/compare/gold.json model=examples/compare/base.json model=examples/compare/tuned.json",
    "examples/compare/gold.json examples/compare/chatty.json",
    f"{_COMPARE} --report report.html --fail-if-worse",
    "examples/compare/gold.json examples/compare/base.json --find 88.67",
    "examples/pages/gold.jsonl examples/pages/answers.jsonl --metrics pages",
)
# How many levels below a key have names of data, or of rows of a table. Below others, all keys are names of data.
_OF_NAMES = ("options", "extraction", "summary", "metrics", "pages", "coverage")
_LEVELS = {"groups": 2, "pairs": 2, **dict.fromkeys(_OF_NAMES, 1)}
_DATA = ("variants", "names", "ranks", "reversed_by", "prediction", "references", "closest_reference", "reference")


def list_keys(value: Any, levels: int = 0) -> Iterator[str]:
    """List the keys of a document, without names of data."""
    for child in value if isinstance(value, list) else []:
        yield from list_keys(child)
    for key, child in value.items() if isinstance(value, dict) else ():
        yield from [] if levels else [key]
        if key == "lost":  # causes are keys in it
            yield from (each for each in list_keys(child) if each not in MEANINGS)
        elif key not in _DATA:
            yield from list_keys(child, levels - 1 if levels else _LEVELS.get(key, 0))


@pytest.fixture
def documents(shell: Shell) -> list[Any]:
    """Documents with all keys: of commands, of a comparison that one document decides, and of confidences by key."""
    Path("examples").symlink_to(ROOT / "examples")
    base: list[dict[str, Any]] = [{"doc": max(0, n - 20), "prediction": "a", "answers": "a"} for n in range(60)]
    tuned = [{**row, "prediction": "a" if row["doc"] > 9 else "b"} for row in base]
    values = [
        {"prediction": {"a": "b"}, "answers": {"a": "b" * (n % 2)}, "confidence": {"a": n / 60}} for n in range(60)
    ]
    one = score(["a"], [["a"]])
    drawn = build_document(one._result, {"threshold"})
    return [
        *map(shell.document, RUNS),
        complete(word(drawn), drawn, "threshold"),
        compare({"base": base, "tuned": tuned}, cluster_by="doc").to_dict(),
        score(values, variant="anls_star", by_key=True).to_dict(),
        score([None], [["a"]], missing="zero").to_dict(),
    ]


def test_documents_have_the_types_of_the_schema(documents: list[Any]) -> None:
    mismatches = partial(list_mismatches, kind=Document, knows_all=True)
    assert [each for document in documents for each in mismatches(document)] == []
    wrong = {**documents[0], "questions": "60", "more": 1}
    assert list(mismatches(wrong)) == ["document.more", "document.questions: not int"]


def test_page_about_json_names_every_key(documents: list[Any]) -> None:
    keys = set(list_keys(documents))
    page = _BLOCK.sub("", read(ROOT / "docs/json.md")).partition("## results.json")[0]
    listed = " ".join(re.findall(r"^ *- ((?:`\w+`(?:, )?)+): ", page, re.MULTILINE))
    described, named = (set(re.findall(r"`(\w+)`", text)) for text in (listed, page))
    assert keys - named == set()
    assert described - keys == set()


# Links


def list_anchors(page: Path) -> set[str]:
    """List the anchors of a document, as forges make them from its headings."""
    headings = re.findall(r"^#+ (.*)$", read(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.stem)
def test_every_file_and_heading_that_a_document_links_is_there(page: Path) -> None:
    for link, _, anchor in re.findall(r"\]\(([^)#\s]*)(#([^)]*))?\)", read(page)):
        if not link.startswith("https://"):
            target = page.parent / link if link else page
            assert target.exists(), link
            assert not anchor or anchor in list_anchors(target), f"{link}#{anchor}"


# Docstrings and metadata


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    lacking = find_lacking(name, *["evaluate"] * (name == "anls"))
    if lacking:
        pytest.skip(f"{name} needs {', '.join(sorted(lacking))}")
    module = importlib.import_module(name)
    public = {public: getattr(anls_metric, public) for public in anls_metric.__all__}
    examples = doctest.DocTestFinder().find(module, globs=public | vars(module))
    for example in examples:
        if not find_lacking(*list_imports(str(example.docstring))):
            assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize("name", sorted(set(anls_metric.__all__) - {"VARIANTS"}))
def test_public_names_have_documented_sections(name: str) -> None:
    public = getattr(anls_metric, name)
    assert public.__doc__
    if callable(public) and not isinstance(public, type):
        for section in ("Args:", "Returns:", "Raises:", "Example:"):
            assert section in public.__doc__, section


def test_one_place_for_the_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", anls_metric.__version__)
    cited = read(ROOT / "CITATION.cff")
    assert re.findall(r"^version: (.*)$", cited, re.MULTILINE) == [anls_metric.__version__]
    changes = read(ROOT / "CHANGELOG.md")
    assert re.findall(r"^## (\S+)", changes, re.MULTILINE)[0] == anls_metric.__version__
    assert anls_metric.__version__ not in read(ROOT / "pyproject.toml")
