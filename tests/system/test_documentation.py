"""The statements of README, docs, docstrings and metadata are true."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

import anls_metric
from anls_metric import command_line, subcommands
from anls_metric.arguments import Parser
from anls_metric.reading.extract import EXTRACTORS
from anls_metric.reading.layouts import LAYOUTS
from tests.conftest import ROOT
from tests.system.test_house import FILES, MAY_IMPORT

_BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)


@dataclass(frozen=True)
class Document:
    """A Markdown file of the checkout, and its content."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def blocks(self, language: str) -> list[str]:
        return [body for kind, body in _BLOCK.findall(self.text) if kind == language]

    def code(self) -> list[str]:
        """List the texts between backticks, and the lines of blocks without a language. Bars in tables are escaped."""
        inline = re.findall(r"`([^`]+)`", _BLOCK.sub("", self.text))
        plain = [line for block in self.blocks("") for line in block.splitlines()]
        return plain + [code.replace("\\|", "|") for code in inline]

    def table(self, head: str) -> list[list[str]]:
        """List the rows of the table whose first line begins like this, including that line."""
        lines = self.text[self.text.index(head) :].split("\n\n")[0].splitlines()
        return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]

    def section(self, heading: str) -> str:
        return re.split(r"^#+ ", self.text.partition(f"# {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


README, CONTRIBUTING = Document(ROOT / "README.md"), Document(ROOT / "CONTRIBUTING.md")
HARNESSES = Document(ROOT / "examples/harnesses/README.md")
PAGES = {path.stem: Document(path) for path in sorted(ROOT.glob("docs/*.md"))}
GUIDE = [README, *PAGES.values()]
DOCUMENTS = [
    Document(path)
    for pattern in ("*.md", "docs/*.md", "benchmarks/*.md", "examples/**/*.md")
    for path in sorted(ROOT.glob(pattern))
]
EXAMPLES = sorted(path for path in (ROOT / "examples").rglob("*") if path.suffix in (".py", ".yaml"))
# Without modules that have effects when they are imported.
MODULES = sorted({"anls", *FILES} - {"app", "anls_metric.__main__", "anls_metric.ms_swift.reward_plugin"})

# The modules that are named after a library.
_LIBRARIES = "torchmetrics|keras|trl|transformers|inspect_ai|lm_eval|lmms_eval|ms_swift|pytest"
_DEEPER = re.compile(
    rf"\banls_metric\.(?!(?:{_LIBRARIES})\b)[a-z]\w*|^(?:>>> )?(?:from|import) anls\b",
    re.MULTILINE,
)

of_the_guide = pytest.mark.parametrize("document", GUIDE, ids=lambda document: document.name)
of_all = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)


def import_or_skip(name: str) -> ModuleType:
    """Import a module of the package, or skip the test if its library is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if str(error.name).startswith("anls"):
            raise
        pytest.skip(f"{name} needs {error.name}")


# Blocks of README and docs


def lacking(block: str) -> set[str]:
    """Find the libraries that a block needs and that are not installed."""
    missing = set()
    loads = ["evaluate"] if re.search(r"\bload\(", block) else []
    for name in [*re.findall(r"^>>> (?:import|from) ([\w.]+)", block, re.MULTILINE), *loads]:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if str(error.name).startswith("anls"):
                raise
            missing.add(str(error.name))
    return missing


@of_the_guide
def test_python_sessions_of_documents_run(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all blocks in one Python session, in the folder of a clone."""
    monkeypatch.chdir(ROOT)
    missing = {block: lacking(block) for block in document.blocks("python")}
    text = "\n".join(block for block, libraries in missing.items() if not libraries)
    example = doctest.DocTestParser().get_doctest(text, {}, document.name, document.name, 0)
    results = doctest.DocTestRunner().run(example)
    assert results.failed == 0
    assert results.attempted == text.count(">>> ")
    if any(missing.values()):
        pytest.skip(f"all but the blocks that need {', '.join(sorted(set().union(*missing.values())))}")


@of_the_guide
def test_lines_without_a_prompt_are_those_of_an_example(document: Document) -> None:
    """Except for blanks, and a comma at the end. An argument may appear as an assignment."""

    def bare(line: str) -> str:
        return re.sub(r"\s|,$", "", line)

    examples = [path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py")]
    there = {bare(line) for example in examples for line in example.splitlines()}
    shown = [block for block in document.blocks("python") if ">>>" not in block]
    assert [line for block in shown for line in block.splitlines() if bare(line) not in there] == []


@of_the_guide
def test_import_lines_of_documents_run(document: Document) -> None:
    for line in document.code():
        if match := re.fullmatch(r"from (anls[\w.]*) import (.+)", line):
            there = import_or_skip(match[1])
            assert [what for what in match[2].split(", ") if not hasattr(there, what)] == []


@pytest.mark.parametrize("path", [*(each.path for each in GUIDE), *EXAMPLES], ids=lambda path: path.name)
def test_guide_and_examples_import_from_the_package_only(path: Path) -> None:
    named = _DEEPER.findall(path.read_text(encoding="utf-8"))
    assert [name for name in named if name.removeprefix("anls_metric.") not in anls_metric.__all__] == []


def parse(words: list[str]) -> None:
    """Parse a command. SystemExit: it has a flag that does not exist, or a value that is none."""
    name = " ".join(words[: 2 if words[0] == "export" else 1])
    if name not in subcommands.SUBCOMMANDS:
        command_line.build_parser().parse_intermixed_args(words)
        return
    parser = Parser()
    subcommands.SUBCOMMANDS[name].add_arguments(parser)
    parser.parse_intermixed_args(words[len(name.split()) :])


@pytest.mark.parametrize("document", [*GUIDE, HARNESSES], ids=lambda document: document.name)
def test_commands_that_are_named_have_the_flags_that_they_show(
    document: Document, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {flag for action in command_line.build_parser()._actions for flag in action.option_strings}
    for code in document.code():
        command = code.removeprefix("anls ")
        words = ["1" if word == "N" else word for word in shlex.split(command) if word != "..."]
        if command != code or (code.startswith("--") and words[1:]):
            try:
                parse(words)
            except SystemExit:
                pytest.fail(f"{code}: {capsys.readouterr().err}")
        elif code.startswith("--"):  # a flag in the text; the others belong to subcommands and to another program
            assert code in {*known, "--dataset", "--task", "--source", "--ids", "--semantic", "--log_samples"}


# Commands


@pytest.mark.parametrize("block", [block for page in GUIDE for block in page.blocks("console")])
def test_commands_of_documents_run(
    block: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    command, _, expected = block.removeprefix("$ ").partition("\n")
    program, *arguments = shlex.split(command)
    assert program == "anls"
    assert command_line.main(arguments) == 0
    out, err = capsys.readouterr()
    assert out == expected
    assert bool(err) == ("examples/compare/chatty.json" in arguments)


# Tables


def _list_fields(fields: Iterable[str]) -> str:
    return ", ".join(" or ".join(f"`{path}`" for path in field.split(" or ")) for field in fields)


def test_tables_of_layouts_and_rules_are_those_of_the_code() -> None:
    layouts = re.findall(r"^\| `(\w+)` \| .* \| ([a-z ]+) \| (`.*`) \|$", PAGES["files"].text, re.MULTILINE)
    assert layouts == [(one.name, one.holds, _list_fields(one.fields)) for one in LAYOUTS]
    rules = re.findall(r"^\| `([\w-]+)` \| (.*) \|$", PAGES["files"].section("Extraction"), re.MULTILINE)
    meanings = [rule.meaning.replace("|", r"\|") for rule in EXTRACTORS.values()]
    assert rules == list(zip(EXTRACTORS, meanings))


def test_table_of_variants_is_that_of_the_code() -> None:
    head, _, *rows = PAGES["variants"].table("| variant | what it is |")
    assert head[2:] == [
        "case",
        "white space",
        "length (prediction, reference)",
        "kept when",
        "threshold",
        "also named",
    ]
    assert len(rows) == len(anls_metric.VARIANTS)
    for row, variant in zip(rows, anls_metric.VARIANTS.values()):
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


def test_table_of_models_is_what_the_real_answers_give(real_answers: Path) -> None:
    head, _, *rows = PAGES["variants"].table("| variant | llama maverick |")
    submissions = [real_answers / f"submission__{cell.replace(' ', '_')}.json" for cell in head[1:]]
    assert set(submissions) == set(real_answers.glob("submission__*.json"))
    columns = [
        anls_metric.score(each, real_answers / "gold.json", variant="all").to_dict()["submissions"][0]["variants"]
        for each in submissions
    ]
    assert [row[0] for row in rows] == [f"`{name}`" for name in anls_metric.VARIANTS]
    for name, row in zip(anls_metric.VARIANTS, rows):
        assert row[1:] == [f"{100 * means[name]:.2f}" for means in columns]
    spread = f"from {min(row[1] for row in rows)} to {max(row[1] for row in rows)}"
    assert [document.name for document in GUIDE if spread in document.text] == ["README.md", "docs/variants.md"]
    months = PAGES["variants"].section("The months when lmms-eval scored 0 or 1")
    by_name = {row[0]: dict(zip(head, row)) for row in rows}
    for model in ("llama maverick", "qwen2 vl 7b instruct"):
        assert f"{by_name['`lmms_eval_0_2`'][model]} instead of {by_name['`standard`'][model]}" in months


def test_files_that_the_readme_shows_are_those_of_examples() -> None:
    blocks = README.blocks("json") + README.blocks("csv")
    files = [
        path.read_text("utf-8") for path in (ROOT / "examples").rglob("*") if path.suffix in (".json", ".jsonl", ".csv")
    ]
    assert len(blocks) == 4
    assert [block for block in blocks if not any(block in text for text in files)] == []


def test_numbers_of_eight_programs_are_those_of_the_page_of_variants() -> None:
    head, _, *rows = PAGES["variants"].table("| variant | llama maverick |")
    column = head.index("qwen2 vl 7b")
    scores = {row[0]: row[column] for row in rows}
    _, _, *shown = README.table("| program | variant | ANLS |")
    assert len(shown) == len({score for _, _, score in shown}) == 8
    assert [score for _, _, score in shown] == [scores[variant] for _, variant, _ in shown]
    assert f"it gives {scores['`standard`']} for the model in the table" in README.text


def anchors(document: Document) -> set[str]:
    """List the anchors of a document, as forges make them from its headings."""
    headings = re.findall(r"^#+ (.*)$", document.text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@of_all
def test_every_file_and_heading_that_a_document_links_is_there(document: Document) -> None:
    for link, _, anchor in re.findall(r"\]\(([^)#\s]*)(#([^)]*))?\)", document.text):
        if not link.startswith("https://"):
            target = document.path.parent / link if link else document.path
            assert target.exists(), link
            assert not anchor or anchor in anchors(Document(target)), f"{link}#{anchor}"


def test_navigation_of_the_site_names_every_page_of_docs() -> None:
    yaml = pytest.importorskip("yaml")
    navigation = str(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    assert sorted(re.findall(r"'([\w-]+)\.md'", navigation.replace("'reference.md'", ""))) == sorted(
        [*PAGES, *(path.stem for path in ROOT.glob("*.md"))]
    )


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    if name == "anls":
        pytest.importorskip("evaluate")
    module = import_or_skip(name)
    public = {public: getattr(anls_metric, public) for public in anls_metric.__all__}
    results = doctest.testmod(module, globs=public | vars(module))
    assert results.failed == 0


def test_map_of_contributing_is_the_table_of_the_house() -> None:
    _, _, *rows = CONTRIBUTING.table("| where | what | may import |")
    path_of = {"anls_metric": "anls_metric/__init__.py"}
    for row in set(MAY_IMPORT) - set(path_of):
        path = row.replace(".", "/")
        path_of[row] = f"{path}/" if (ROOT / path).is_dir() else f"{path}.py"
    assert [place for place, *_ in rows] == [f"`{path_of[row]}`" for row in MAY_IMPORT]
    for (_, _, cell), allowed in zip(rows, MAY_IMPORT.values()):
        names = re.split(r", ", cell)
        ours = {f"anls_metric.{name.strip('`')}" for name in names if name.startswith("`")}
        assert ours | {name for name in names if not name.startswith("`")} == allowed


@pytest.mark.parametrize("name", sorted(set(anls_metric.__all__) - {"VARIANTS"}))
def test_public_names_have_documented_sections(name: str) -> None:
    public = getattr(anls_metric, name)
    assert public.__doc__
    if callable(public) and not isinstance(public, type):
        for section in ("Args:", "Returns:", "Raises:", "Example:"):
            assert section in public.__doc__, section


def test_one_place_for_the_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", anls_metric.__version__)
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", cited, re.MULTILINE) == [anls_metric.__version__]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)", changes, re.MULTILINE)
    assert newest is not None
    assert newest[1] == anls_metric.__version__
    assert anls_metric.__version__ not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
