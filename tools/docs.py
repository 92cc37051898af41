"""Write what README and docs take from the code: tables, and the output of commands: ``python tools/docs.py``.

A table stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``, and NAME is a key of `TABLES`. The speed and
the scores of nine models come from the results in `benchmarks/`. A block ``console`` has a command and its output.
Tests fail if a table or an output is out of date: look at what changed before you commit it.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from inspect import getdoc, signature
from pathlib import Path
from typing import Any

from anls_metric.analysis.causes import CAUSES, Cause
from anls_metric.analysis.leaf_causes import LEAF_CAUSES
from anls_metric.analysis.parts import PARTS
from anls_metric.analysis.steps import EXAMPLES
from anls_metric.command.arguments import write_help
from anls_metric.command.subcommands import SUBCOMMANDS
from anls_metric.core.extraction.extract import EXTRACTORS, PROGRAMS
from anls_metric.core.statistics.clusters import DOCUMENTS
from anls_metric.core.strings.explanation import format_percent
from anls_metric.core.strings.metrics import METRICS
from anls_metric.core.strings.normalization import NORMALIZATIONS
from anls_metric.core.strings.variants import VARIANTS
from anls_metric.gold import GOLD
from anls_metric.messages import Message
from anls_metric.options import COMPARISON, INPUT, MOST, OPTIONS, OUTPUT, SCORING, Option, Options, read_switch
from anls_metric.page import limits
from anls_metric.page.endpoints import ENDPOINTS
from anls_metric.reading import roles
from anls_metric.reading.layouts import LAYOUTS
from anls_metric.rules import RULES

ROOT = Path(__file__).resolve().parent.parent
HOW = ROOT / "anls_metric" / "page" / "assets" / "how.html"
PAGES = (ROOT / "README.md", ROOT / "SECURITY.md", HOW, *sorted((ROOT / "docs").glob("*.md")))
SIX_IMPLEMENTATIONS = {
    "due": "DUE's evaluator",
    "nls": "docext: no threshold",
    "pypi_anls": "PyPI `anls` 0.0.2",
    "rrc": "the RRC leaderboard's script",
    "mistral_evals": "mistral-evals",
    "lmms_eval_0_2": "lmms-eval 0.1.0 to 0.2.4",
}
PACKAGE = ROOT / "anls_metric"
SCHEMA = {
    node.name: node
    for path in (PACKAGE / "report" / "schema.py", *sorted((PACKAGE / "analysis" / "parts").glob("*.py")))
    for node in ast.parse(path.read_text(encoding="utf-8")).body
    if isinstance(node, ast.ClassDef)
}
"""The dicts of the JSON document, by name."""
_CONSOLE = re.compile(r"^(```console\n\$ anls (.*)\n)(?:.*\n)*?(```)$", re.MULTILINE)
_BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

# The number of variants in sentences: the file -> the words around it.
VARIANT_COUNTS: Mapping[str, Sequence[str]] = {
    "README.md": (r"of the (\d+) variants match", r"variants of ANLS \| (\d+) \|"),
    "docs/metric_card.md": (r"fast, with (\d+) variants", r"reproduces (\d+) of them"),
    "docs/variants.md": (r"lists all (\d+)",),
    "pyproject.toml": (r"document VQA: (\d+) published variants",),
}

Row = Sequence[str]


def fill(text: str) -> str:
    """Write the tables of a page anew."""
    return _BLOCK.sub(lambda block: f"{block[1]}\n{TABLES[block[2]]()}\n\n{block[3]}", text)


def count_variants(text: str, patterns: Iterable[str]) -> str:
    """Write the number of variants into sentences. Raises ValueError if a text lacks one of them."""
    for pattern in patterns:
        found = re.search(pattern, text)
        if not found:
            raise ValueError(f"no text like {pattern!r}: change VARIANT_COUNTS in tools/docs.py")
        text = f"{text[: found.start(1)]}{len(VARIANTS)}{text[found.end(1) :]}"
    return text


def run_commands(text: str) -> str:
    """Run the commands of a page, and write their output anew."""
    return _CONSOLE.sub(lambda block: block[1] + run_command(block[2]) + block[3], text)


def run_command(command: str) -> str:
    """Run a command in the folder of the clone, and return what it prints."""
    words = [sys.executable, "-m", "anls_metric", *shlex.split(command)]
    return subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def format_table(head: Row, rows: Iterable[Row]) -> str:
    """Format a table in Markdown. Bars in cells are escaped."""
    lines = [head, ["---"] * len(head), *([cell.replace("|", r"\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def format_html_table(head: Row, rows: Iterable[Row]) -> str:
    """Format a table in HTML, given cells in Markdown. The first cell of a row is its name."""

    def make_cell(tag: str, cell: str) -> str:
        text = re.sub(r"\[(.*?)\]\((.*?)\)(?=$)", r'<a href="\2">\1</a>', escape(cell))
        code = re.sub("`(.*?)`", r"<code>\1</code>", text)
        return f"<{tag}>{code}"

    heads = "".join(make_cell('th scope="col"', cell) for cell in head)
    lines = [
        "".join([make_cell('th scope="row"', row[0]), *(make_cell("td", cell) for cell in row[1:])]) for row in rows
    ]
    return "\n".join(["<table>", f"<thead><tr>{heads}</thead>", *(f"<tr>{line}" for line in lines), "</table>"])


def quote(names: Iterable[str]) -> str:
    """Write names as code."""
    return ", ".join(f"`{name}`" for name in names)


def load(name: str) -> Any:
    """Load the results of a benchmark."""
    return json.loads((ROOT / "benchmarks" / name).read_text(encoding="utf-8"))


# The command


def describe_flags(option: Option) -> str:
    """Describe the flags of an option with their value."""
    if option.read is read_switch:
        return quote(f"--[no-]{flag[2:]}" if option.default is None else flag for flag in option.flags)
    return ", ".join(f"`{flag} {option.metavar}`" for flag in option.flags)


def make_flags() -> str:
    """Make a table of flags for each group of options."""
    parts = []
    for group in (MOST, INPUT, SCORING, COMPARISON, OUTPUT):
        rows = [
            (describe_flags(each), write_help(each), f"`{name}`" if name in Options.__annotations__ else "")
            for name, each in OPTIONS.items()
            if each.group == group
        ]
        parts.append(f"### {group.capitalize()}\n\n" + format_table(("flag", "what it does", "in Python"), rows))
    return "\n\n".join(parts)


def make_subcommands() -> str:
    """Make the table of subcommands."""
    return format_table(("type", "to"), [(f"`anls {name}`", each.meaning) for name, each in SUBCOMMANDS.items()])


# Files


def make_gold() -> str:
    """Make the table of gold data by name."""
    rows = [
        (f"`{name}`", f"{each.rows:,}", f"`{each.variant or 'standard'}`", f"[{each.dataset}]({each.source})")
        for name, each in GOLD.items()
    ]
    return format_table(("name", "questions", "scored by", "source"), rows)


def make_roles() -> str:
    """Make the table of common field names."""
    usual = (
        ("id", roles.IDS, "--id-field", "--gold-id-field"),
        ("question", roles.QUESTIONS, "--field question=PATH"),
        ("prediction", (*roles.PREDICTIONS, "answer"), "--prediction-field"),
        ("references", (*roles.REFERENCES, "answer", *roles.LESS_CERTAIN_REFERENCES), "--references-field"),
        ("model", roles.SUBMISSIONS, "--submission-field"),
        ("run", roles.RUNS, "--runs"),
        ("document", DOCUMENTS, "--cluster-by"),
        ("confidence", roles.CONFIDENCES, "--field confidence=PATH"),
    )
    rows = [
        (role, quote(name for name in names if not name.startswith("(")), quote(flags)) for role, names, *flags in usual
    ]
    return format_table(("role", "common names", "to choose"), rows)


def link_layout(name: str, source: str) -> str:
    """Link the name of a layout to its source, which may name more programs after the URL."""
    url = re.match(r"https://[^\s,]+", source)
    return f"[`{name}`]({url[0]}){source[url.end() :]}" if url else f"`{name}`, {source}"


def make_layouts() -> str:
    """Make the table of layouts."""
    rows = [
        (
            link_layout(each.name, each.source),
            each.contains,
            ", ".join(quote(field.split(" or ")).replace(", ", " or ") for field in each.fields),
        )
        for each in LAYOUTS
    ]
    return format_table(("layout", "contains", "recognized by the fields"), rows)


def make_extraction() -> str:
    """Make the table of extraction rules."""
    rules = [*EXTRACTORS.values(), *PROGRAMS.values()]
    return format_table(("rule", "what remains"), [(f"`{each.name}`", each.meaning) for each in rules])


# Scores


def make_variants(
    form: Callable[[float], str] = str, format_all: Callable[[Row, Iterable[Row]], str] = format_table
) -> str:
    """Make the table of variants."""
    head = (
        "variant",
        "what it is",
        "case",
        "whitespace",
        "length (prediction, reference if different)",
        "kept when",
        "also named",
    )
    rows = [
        (
            f"[`{each.name}`]({each.source})",
            each.meaning,
            "ignored" if each.ignore_case else "matters",
            each.whitespace,
            ", ".join(dict.fromkeys((each.prediction_length, each.reference_length))),
            each.kept.replace("threshold", form(each.threshold)),
            quote(each.aliases),
        )
        for each in VARIANTS.values()
    ]
    return format_all(head, rows)


def make_endpoints() -> str:
    """Make the table of endpoints for the page of the web app."""
    rows = [
        (
            f"`{each.__name__}`",
            (getdoc(each) or "").split("\n\n")[0].partition(". ")[0].rstrip(".").replace("\n", " ") + ".",
            ", ".join(f"`{name}`" for name in signature(each).parameters),
        )
        for each in ENDPOINTS
    ]
    return format_html_table(("endpoint", "what it does", "arguments"), rows)


def make_normalizations() -> str:
    """Make the table of what both sides can be normalized by."""
    return format_table(
        ("name", "what becomes equal"), [(f"`{each.name}`", each.meaning) for each in NORMALIZATIONS.values()]
    )


def make_models() -> str:
    """Make the table of nine models under every variant, with a row for variants with the same scores."""
    scores = load("nine_models.json")["scores"]
    rows: dict[Row, list[str]] = {}
    for name in VARIANTS:
        row = tuple(f"{each[name]:.2f}" if name in each else "–" for each in scores.values())  # "–" for a new variant
        rows.setdefault(row, []).append(name)
    return format_table(("variants", *scores), [(quote(names), *row) for row, names in rows.items()])


def make_six() -> str:
    """Make the table of two models under six variants."""
    scores = load("nine_models.json")["scores"]
    models = {"Llama 4 Maverick": scores["llama maverick"], "Nemotron Nano 12B": scores["nemotron"]}
    rows = []
    for name, implementation in SIX_IMPLEMENTATIONS.items():
        pair = [each[name] for each in models.values()]
        cells = [f"**{score:.2f}**" if score == max(pair) else f"{score:.2f}" for score in pair]
        rows.append((implementation, f"`{name}`", *cells))
    return format_table(("implementation", "variant", *models), rows)


def make_rules() -> str:
    """Make the table of benchmark metrics."""
    rows = [
        (f"[`{name}`]({each.source})", each.meaning, quote(each.columns), quote(each.optional))
        for name, each in RULES.items()
    ]
    return format_table(("name", "what it scores", "columns", "optional columns"), rows)


def make_causes(causes: Sequence[Cause]) -> str:
    """Make a table of causes of lost points."""
    rows = [
        (f"`{each.name}`", word(re.sub(r", such as {example}| {example}", "", each.meaning)), word(each.remedy))
        for each in causes
    ]
    return format_table(("cause", "answers with it", "what to do"), rows)


def make_steps() -> str:
    """Make the table of the steps that give lost points back, with a row for each cause."""
    meanings: dict[str, dict[str, None]] = {}
    for step in EXAMPLES:
        meanings.setdefault(step.name, {})[step.meaning.format(inner="a key")] = None
    named = {step.name: step for step in EXAMPLES}
    fixed = ("anls_star", "by_value", "ignored", "keys")  # the values of options that do not depend on the answers
    rows = []
    for name, step in named.items():
        words = [
            f"{{use.{key}:{value}}}" if value in fixed else f"{{use.{key}}}" for key, value in step.options.items()
        ]
        what = word(": ".join([step.remedy, *words]))
        rows.append((f"`{name}`", "; ".join(meanings[name]).replace("; answers have ", "; "), what))
    return format_table(("cause", "what the program finds", "what to do"), rows)


def word(sentence: str) -> str:
    """Word a sentence about any answers for the command, with its options as code."""
    text = Message("", sentence, {"marker": "FINAL ANSWER:"}).text("command")
    return re.sub(r"(--[a-z-]+(?: (?:skip|anls_star|by_value|ignored|keys|abstention))?)", r"`\1`", text)


def make_metrics() -> str:
    """Make the table of other metrics. What a metric has in common with the one above it is not repeated."""
    rows, above = [], ""
    for name, each in METRICS.items():
        kind, _, rest = each.meaning.rpartition("; ")
        rows.append((f"`{name}`", f"the same; {rest}" if kind and kind == above else each.meaning))
        above = kind
    return format_table(("metric", "meaning"), rows)


# The JSON document


def make_keys(name: str, indent: str = "") -> str:
    """Make the list of the keys of a dict. Below a key stand the keys of its dict, unless they have a list themselves.

    Keys without a text share the next text.
    """
    kind, lines, keys = SCHEMA[name], [], []
    lines += [make_keys(base, indent) for base in map(ast.unparse, kind.bases) if base.startswith("_")]
    for node in kind.body:
        if isinstance(node, ast.AnnAssign):
            keys.append(node)
        elif keys and isinstance(node, ast.Expr):
            lines.append(f"{indent}- {quote(ast.unparse(key.target) for key in keys)}: {read_text(node)}")
            lines += make_inner_keys(ast.unparse(keys[-1].annotation), indent)
            keys = []
    return "\n".join(lines)


def make_inner_keys(kind: str, indent: str = "") -> list[str]:
    """Make the lists of the keys of the dicts in a type, unless they have a list themselves."""
    inner = sorted(set(re.findall(r"\w+", kind)) & set(SCHEMA))
    return [make_keys(each, f"{indent}    ") for each in inner if f"keys_{each}" not in TABLES]


def make_submission() -> str:
    """Make the list of the keys of a submission, with those of its parts."""
    parts: dict[str, None] = {}
    for part in PARTS:
        parts[f"- `{part.key}`: {part.sentence}"] = None
        parts |= dict.fromkeys(make_inner_keys(str(part.type)))  # once, if two parts have the same keys
    return "\n".join([make_keys("_Submission"), make_keys("_Runs"), *parts, make_keys("_OfFigures")])


def read_text(node: ast.Expr) -> str:
    """Read the text below a key, on one line."""
    return " ".join(str(ast.literal_eval(node.value)).split())


# Speed and limits


def make_speed() -> str:
    """Make the table of ratios on answers like those of DocVQA, on files, and on nested values."""
    ratios: dict[tuple[str, str], list[float]] = {}
    for row in load("results.json")["rows"]:
        if row["workload"] not in ("W1", "W3", "W3b"):
            ratios.setdefault((row["ours"], row["other"]), []).append(row["ratio"])
    rows = [(ours, other, spread(each)) for (ours, other), each in ratios.items()]
    return format_table(("this package", "other implementation", "times as fast"), rows)


def spread(ratios: Sequence[float]) -> str:
    """Format ratios as a range, with two digits or all whole ones."""
    low, high = (f"{each:,.0f}" if each >= 10 else f"{each:.1f}" for each in (min(ratios), max(ratios)))
    return low if low == high else f"{low} to {high}"


def make_coverage() -> str:
    """Make the table of simulated intervals and tests: the lowest and the highest share over scores and numbers."""
    designs: dict[tuple[str, str], list[Mapping[str, float]]] = {}
    for row in load("simulations.json")["rows"]:
        documents = "5 or 10" if row["documents"] < 30 else "30 or 100" if row["documents"] < 200 else "200 or more"
        designs.setdefault((row["size"], documents), []).append(row)
    columns = ("interval", "difference", "false_alarms")
    rows = [
        (*design, *(f"{spread([100 * each[column] for each in own])}%" for column in columns))
        for design, own in designs.items()
    ]
    head = ("of each document", "documents", "interval of a score", "interval of a difference", "false alarms")
    return format_table(head, rows)


def make_power() -> str:
    """Say how many differences of the size of the minimum detectable effect were detected."""
    shares = [100 * row["detected"] for row in load("simulations.json")["power"]]
    return f"In the simulation, {spread(shares)}% of such differences were detected with 30 or 100 documents."


def make_limits() -> str:
    """Make the table of limits of the web app."""
    rows = [
        ("a request that uploads nothing", f"{limits.MAX_REQUEST >> 10} kB"),
        ("one file", f"{limits.MAX_FILE // limits.MB} MB"),
        ("one upload", f"{limits.MAX_UPLOAD // limits.MB} MB"),
        ("files in one call", str(limits.MAX_SUBMISSIONS)),
        ("the JSON that one call returns", f"{limits.MAX_RESULT // limits.MB} MB"),
        ("memory of one call", f"{limits.MEMORY // limits.MB:,} MB"),
        ("CPU time of one call", f"{limits.SMALL_SECONDS} s; {limits.SECONDS} s for files"),
        (
            "calls on files at a time",
            f"{limits.MAX_FILES_AT_ONCE}, and as many that take over {limits.FIRST_SECONDS} s of CPU time; "
            "one of each visitor",
        ),
        ("calls on files that wait", f"{limits.MAX_CALLS_OF_ONE} of each visitor"),
        ("long answers and nested values that wait", f"{limits.MAX_SLOW}, of each visitor {limits.MAX_SLOW_OF_ONE}"),
        ("a call whose result nobody listens for", f"{limits.MAX_SILENCE} s"),
        ("the result of an MCP tool", f"{limits.MAX_TOOL_RESULT // 1_000} kB"),
        ("lists and objects inside one another, in a request", f"{limits.MAX_DEPTH}"),
        ("page images in one report", f"{limits.MAX_IMAGES // limits.MB} MB"),
        ("a pause while a request arrives", f"{limits.MAX_PAUSE} s"),
        ("an upload or a report is kept", f"{limits.KEPT_SECONDS // 60} minutes"),
        ("all uploads and reports together", f"{limits.MAX_KEPT // limits.MB:,} MB"),
    ]
    return format_table(("what", "at most"), rows)


TABLES: Mapping[str, Callable[[], str]] = {
    "flags": make_flags,
    "subcommands": make_subcommands,
    "gold": make_gold,
    "roles": make_roles,
    "layouts": make_layouts,
    "extraction": make_extraction,
    "variants": make_variants,
    "variants_of_the_page": partial(make_variants, format_percent, format_html_table),
    "endpoints_of_the_page": make_endpoints,
    "normalizations": make_normalizations,
    "models": make_models,
    "six": make_six,
    "rules": make_rules,
    "causes": partial(make_causes, CAUSES),
    "leaf_causes": partial(make_causes, LEAF_CAUSES),
    "steps": make_steps,
    "metrics": make_metrics,
    "speed": make_speed,
    "coverage": make_coverage,
    "power": make_power,
    "limits": make_limits,
    "keys_Submission": make_submission,
    **{
        f"keys_{name}": partial(make_keys, name)
        for name in (
            *(
                "Document",
                "Independent",
                "Compared",
                "Hint",
                "Group",
                "Leaves",
                "Key",
                "WorstAnswer",
                "Comparison",
                "Match",
            ),
            "Headline",
        )
    },
}
"""The name of a table -> the function that makes it."""


if __name__ == "__main__":
    for name, patterns in VARIANT_COUNTS.items():
        path = ROOT / name
        path.write_text(count_variants(path.read_text(encoding="utf-8"), patterns), encoding="utf-8")
    for page in PAGES:
        page.write_text(run_commands(fill(page.read_text(encoding="utf-8"))), encoding="utf-8")
