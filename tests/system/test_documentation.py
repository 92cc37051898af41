"""The statements of README, docs, docstrings and metadata are true."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import json
import pydoc
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import anls_metric
from anls_metric import command_line, metric, subcommands
from anls_metric.reading.extract import EXTRACTORS
from anls_metric.reading.join import join_files
from anls_metric.reading.layouts import LAYOUTS
from tests.conftest import CONFORMANCE, ROOT, benchmark
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


@of_the_guide
def test_every_kind_of_block_is_run_by_a_test_here(document: Document) -> None:
    kinds = {kind for kind, _ in _BLOCK.findall(document.text)}
    assert kinds <= {"", "python", "console", *(["bash", "bibtex", "json", "csv"] if document == README else [])}
    assert "```" not in _BLOCK.sub("", document.text)
    assert all(line.startswith("anls ") for block in document.blocks("") for line in block.splitlines())


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


@of_the_guide
def test_commands_that_are_named_have_the_flags_that_they_show(
    document: Document, capsys: pytest.CaptureFixture[str]
) -> None:
    parsers = [command_line.build_parser(), *map(subcommands.build_parser, command_line.SUBCOMMANDS)]
    known = {flag for parser in parsers for action in parser._actions for flag in action.option_strings}
    for code in document.code():
        command = code.removeprefix("anls ")
        if command == code and not code.startswith("--"):
            continue
        words = ["1" if word == "N" else word for word in shlex.split(command) if word != "..."]
        if words[1:] or command != code:
            try:
                command_line.parse_arguments(words)
            except SystemExit:
                pytest.fail(f"{code}: {capsys.readouterr().err}")
        else:  # a flag in the text; one flag belongs to another program
            assert code in {*known, "--semantic"}


def test_commands_of_the_guide_to_harnesses_have_the_flags_that_they_show() -> None:
    commands = [code for code in Document(ROOT / "examples/harnesses/README.md").code() if code.startswith("anls ")]
    assert len(commands) > 10
    for command in commands:
        assert command_line.parse_arguments(shlex.split(command)[1:]).command


# Commands


@pytest.mark.parametrize("block", [block for page in [README, *PAGES.values()] for block in page.blocks("console")])
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
    chatty = [
        "hint: chatty: 13 of 150 predictions look like raw model output: extract the answers with --extract sentence"
    ]
    message = [
        line for line in err.splitlines() if not line.startswith("anls: examples/")
    ]  # besides how files were read
    assert message == (chatty if "examples/compare/chatty.json" in arguments else [])


# Tables


def _list_fields(fields: Iterable[str]) -> str:
    return ", ".join(" or ".join(f"`{path}`" for path in field.split(" or ")) for field in fields)


def test_tables_of_layouts_and_rules_are_those_of_the_code() -> None:
    layouts = re.findall(r"^\| `(\w+)` \| .* \| ([a-z ]+) \| (`.*`) \|$", PAGES["files"].text, re.MULTILINE)
    assert layouts == [(one.name, one.holds, _list_fields(one.fields)) for one in LAYOUTS]
    rules = re.findall(r"^\| `([\w-]+)` \| (.*) \|$", PAGES["files"].section("Extraction"), re.MULTILINE)
    meanings = [rule.meaning.replace("|", r"\|") for rule in EXTRACTORS.values()]
    assert rules == list(zip(EXTRACTORS, meanings))


def test_second_command_is_what_ci_runs() -> None:
    _, test = README.blocks("bash")
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert test.strip() in map(str.strip, lines)


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


def columns_of(gold: str, submission: str) -> tuple[list[Any], list[Any]]:
    """Read the predictions and references of all questions."""
    rows = [row for batch in join_files(gold, submission) for row in batch]
    return [row.prediction for row in rows], [row.references for row in rows]


def test_table_of_models_is_what_the_real_answers_give(real_answers: Path) -> None:
    head, _, *rows = PAGES["variants"].table("| variant | llama maverick |")
    submissions = [real_answers / f"submission__{cell.replace(' ', '_')}.json" for cell in head[1:]]
    assert set(submissions) == set(real_answers.glob("submission__*.json"))
    columns = [columns_of(str(real_answers / "gold.json"), str(submission)) for submission in submissions]
    assert [row[0] for row in rows] == [f"`{name}`" for name in anls_metric.VARIANTS]
    for name, row in zip(anls_metric.VARIANTS, rows):
        scores = (anls_metric.anls_scores(predictions, references, variant=name) for predictions, references in columns)
        assert row[1:] == [f"{100 * anls_metric.mean(each):.2f}" for each in scores]
    spread = f"from {min(row[1] for row in rows)} to {max(row[1] for row in rows)}"
    assert [document.name for document in GUIDE if spread in document.text] == ["README.md", "docs/variants.md"]
    months = PAGES["variants"].section("The months when lmms-eval scored 0 or 1")
    by_name = {row[0]: dict(zip(head, row)) for row in rows}
    for model in ("llama maverick", "qwen2 vl 7b instruct"):
        assert f"{by_name['`lmms_eval_0_2`'][model]} instead of {by_name['`standard`'][model]}" in months


def test_programs_without_a_row_differ_as_documented() -> None:
    _, _, *rows = PAGES["variants"].table("| program | what it does |")
    files = {path.stem.split(".")[0]: path for path in (CONFORMANCE / "implementations").glob("*.json")}
    cases = json.loads(files["cases"].read_text(encoding="utf-8"))
    for (program, *_, prediction, accepted, given, standard), name in zip(
        rows, ("dessurt", "idefics_m4", "ocrbench_v2"), strict=True
    ):
        assert name.split("_")[0] in program.lower()
        answer: dict[str, Any] = {"prediction": prediction.strip("`"), "references": [accepted.strip("`")]}
        (case,) = (case["id"] for case in cases if case.items() >= answer.items())
        assert json.loads(files[name].read_text(encoding="utf-8"))["scores"][case] == float(given)
        assert anls_metric.anls_score(answer["prediction"], answer["references"]) == float(standard)


def test_picture_of_speed_is_of_the_same_run() -> None:
    pytest.importorskip("matplotlib")
    plot = benchmark("plot")
    costs = plot.costs(json.loads(plot.FIGURES.read_text(encoding="utf-8")))
    assert next(iter(costs)) == plot.OURS
    (message,) = re.findall(r"!\[Microseconds per answer .*?: (.*)\]\(speed.png\)", PAGES["speed"].text)
    for one in message.split(", "):
        name, _, cost = one.rpartition(" ")
        assert f"{next(costs[peer] for peer in costs if name.removeprefix('a ') in peer):.3g}" == cost
    assert [text.get_text() for text in plot.draw(costs).axes[0].texts] == [f"{one:,.3g} µs" for one in costs.values()]


def test_table_of_speed_is_that_of_the_run_that_is_kept() -> None:
    run = benchmark("run")
    figures = json.loads((ROOT / "benchmarks" / "python3.11.json").read_text(encoding="utf-8"))
    rows = [run.Row(**row) for row in figures["rows"]]
    page = PAGES["speed"].text
    assert run.summary(rows) in page
    memory, stream = figures["memory"], figures["stream"].values()
    for way, what in (("anls_scores", "for `anls_scores`"), ("iter_anls_scores", "for a stream")):
        most = max(figure for name, figure in memory.items() if name.startswith(f"{way},"))
        assert f" {most:.0f} MB" in page.partition(what)[0][-40:]
    grows = f"{min(stream):.1f} to {max(stream):.1f} µs per row from 10,000 to 10,000,000 rows of a stream"
    assert grows in page.replace("\n", " ")
    assert {row.checked for row in rows if "no ANLS" not in row.peer} == {"right"}


def test_tables_of_the_command_and_of_nested_values_are_those_of_the_runs_that_are_kept() -> None:
    head, _, *rows = PAGES["speed"].table("| questions |")
    command = json.loads((ROOT / "benchmarks" / "command.json").read_text(encoding="utf-8"))
    took = {
        count: [f"{times[name.strip('`')]:.0f}" if name.strip("`") in times else "" for name in head[1:]]
        for count, times in command.items()
    }
    assert {count.replace(",", ""): cells for count, *cells in rows} == took
    _, _, *rows = PAGES["speed"].table("| a value of |")
    nested = json.loads((ROOT / "benchmarks" / "nested.json").read_text(encoding="utf-8"))["rows"]
    assert rows == [
        [
            row["workload"],
            f"{row['theirs']:.2f} ms",
            f"{row['ours']:.3f} ms",
            f"{row['theirs'] / row['ours']:.0f}x",
        ]
        for row in nested
    ]


@pytest.mark.parametrize("name", ["files", "report"])
def test_tables_of_files_and_of_the_report_are_those_of_the_runs_that_are_kept(name: str) -> None:
    module, timing = benchmark(name), benchmark("timing")
    kept = json.loads((ROOT / "benchmarks" / f"{name}.json").read_text(encoding="utf-8"))
    assert timing.markdown(module.COLUMNS, [module.Row(**row) for row in kept["rows"]]) in PAGES["speed"].text


def test_lines_for_training_are_in_their_examples() -> None:
    head, _, *rows = PAGES["training"].table("| framework | the line |")
    assert head[-1] == "example"
    for _, lines, install, link in rows:
        example = (PAGES["training"].path.parent / re.findall(r"\((.*)\)", link)[0]).read_text(encoding="utf-8")
        for call in re.findall(r"(\w+)\(", lines):
            assert f"{call}(" in example
        for extra in re.findall(r"\w+", install.strip('`".')):
            assert f"\n{extra} = [" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_citation_is_that_of_the_metric() -> None:
    assert README.blocks("bibtex") == [metric.CITATION]


def test_front_matter_and_the_sections_of_a_metric_card() -> None:
    yaml = pytest.importorskip("yaml")
    card = yaml.safe_load(README.text.split("---\n")[1])
    assert card["title"] == "ANLS"
    assert card["tags"] == ["evaluate", "metric"]
    assert card["license"] == "apache-2.0"
    assert card["sdk"] == "gradio"
    assert (ROOT / card["app_file"]).is_file()
    headings = re.findall(r"^#+ (.*)$", README.text, re.MULTILINE)
    expected = ["Metric description", "How to use", "Inputs", "Output values", "Values from popular papers", "Examples"]
    expected += ["Limitations and bias", "Citation", "Further references"]
    assert [heading for heading in headings if heading in expected] == expected


def test_files_that_the_readme_shows_are_those_of_examples() -> None:
    blocks = README.blocks("json") + README.blocks("csv")
    files = [
        path.read_text("utf-8") for path in (ROOT / "examples").rglob("*") if path.suffix in (".json", ".jsonl", ".csv")
    ]
    assert len(blocks) == 4
    assert [block for block in blocks if not any(block in text for text in files)] == []


@pytest.mark.parametrize("command", sorted(set(re.findall(r"`anls ([^`]*examples/[^`]*)`", README.text))))
def test_commands_in_sentences_and_tables_of_the_readme_run(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    assert command_line.main(shlex.split(command)) == 0


def test_numbers_of_eight_programs_are_those_of_the_page_of_variants() -> None:
    head, _, *rows = PAGES["variants"].table("| variant | llama maverick |")
    column = head.index("qwen2 vl 7b")
    scores = {row[0]: row[column] for row in rows}
    _, _, *shown = README.table("| program | variant | ANLS |")
    assert len(shown) == len({score for _, _, score in shown}) == 8
    assert [score for _, _, score in shown] == [scores[variant] for _, variant, _ in shown]
    assert f"it gives {scores['`standard`']} for the model in the table" in README.text


def test_readme_says_its_id_on_the_hub_once() -> None:
    (namespace,) = re.findall(r"the Space `([\w-]+)/anls`", README.text)
    held = {document.name: document.text.count(f"{namespace}/") for document in DOCUMENTS if document != CONTRIBUTING}
    assert {name: count for name, count in held.items() if count} == {"README.md": 1}


def test_endpoints_of_the_page_are_those_of_its_module() -> None:
    api = importlib.import_module("anls_metric.page.endpoints")
    _, _, *rows = PAGES["page"].table("| endpoint |")
    assert [name for names, _ in rows for name in re.findall(r"`(\w+)`", names) if not getattr(api, name).__doc__] == []


def test_space_gradio_is_not_newer_than_the_tested() -> None:
    newest = pytest.importorskip("gradio").__version__
    tested = re.findall(r"^sdk_version: (.*)$", README.text, re.MULTILINE)
    assert tuple(map(int, tested[0].split("."))) <= tuple(map(int, newest.split(".")[:3]))


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
def test_docstring_examples_run(name: str, clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clone if name == "anls" else ROOT)
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


def test_map_of_contributing_has_all_of_the_checkout() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").replace("/\n", "\n").split()
    there = [path for path in ROOT.iterdir() if path.name != ".git" and not any(map(path.match, ignored))]
    mapped = set(re.findall(r"`([\w./]+)`", CONTRIBUTING.text.partition("## Where new code goes")[0]))
    folders = {f"{path.name}/" for path in there if path.is_dir()}
    assert folders - {"anls_metric/"} | {path.name for path in there if path.suffix == ".py"} <= mapped


def test_help_of_the_package_names_every_public_name() -> None:
    page = pydoc.plain(pydoc.render_doc(anls_metric))
    description = page.partition("DESCRIPTION\n")[2].partition("\nPACKAGE CONTENTS\n")[0]
    assert set(anls_metric.__all__) - set(re.findall(r"\w+", description)) == {"__version__"}


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


def test_citation_file_matches_the_package() -> None:
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert [reference["year"] for reference in cited["references"]] == [2019, 2021]
