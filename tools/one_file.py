"""Build anls.py, the metric as one file, from the package: python tools/one_file.py

``evaluate.load`` fetches one file, and people copy one file into their projects. This script writes that file from the
core, the Trainer hook and the metric of the package. Features that need other modules of the package (lists and nested
values, extraction rules) import them when they are called.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "anls_metric"

# The modules in the order in which one reads the file. Only functions may use names of a module below.
MODULES = (
    "core.version",
    "metric",
    "core.choices",
    "core.rows",
    "core.variants",
    "core.scoring",
    "core.kernel",
    "core.explanation",
    "transformers",
)

# What only the package needs: measures and batches for files and engines.
LEFT_OUT = {
    *("Scorer", "scores_and_similarities", "anls_batch", "_get_column", "normalizer", "reason", "score_rows"),
    *(
        "iter_anls_scores",
        "check_pairs",
        "PASS_PAIRS",
        "normalized_levenshtein_similarity",
        "check_count",
        "check_shares",
    ),
}

# The functions whose docstrings are copied in full.
DOCUMENTED = {"anls_score", "explain", "get_variant", "build_compute_metrics", "load"}

# The classes of the metric stand in a function, because importing evaluate takes 0.7 s. As globals they can be pickled.
LAZY = '''
def _define_metric() -> None:
    """Define the metric: when evaluate loads this file, or on first use."""
    global Anls, AnlsOfValues
{body}

def __getattr__(name: str) -> Any:
    if name not in ("Anls", "AnlsOfValues"):
        raise AttributeError(f"module {{__name__!r}} has no attribute {{name!r}}")
    _define_metric()
    return globals()[name]
'''

HEADER = '''# ruff: noqa: E501
# mypy: ignore-errors
"""ANLS (Average Normalized Levenshtein Similarity) for answers to questions about documents, in one file.

BUILT from the package anls_metric, not to be edited: change the module and run ``python tools/one_file.py``.

For each question, ``1 - edit distance / length`` against the closest accepted answer, 0 where that stays under a
threshold (0.5); then the mean over the questions. ``evaluate.load`` takes this file, it can be imported (``import
anls``), and it can be copied into a project: it needs rapidfuzz, and the metric needs evaluate and datasets.

Sources: Biten et al., "Scene Text Visual Question Answering", ICCV 2019, https://arxiv.org/abs/1905.13648; Mathew et
al., "DocVQA", WACV 2021, https://arxiv.org/abs/2007.00398.
"""
'''

FOOTER = """
if hasattr(sys.modules.get("evaluate"), "Metric"):
    _define_metric()  # evaluate.load takes the first metric among the names of the module

if __name__ == "__main__":
    sys.exit("this file is a module: pip install anls-metric has the command anls")
"""

LINE = f"# {'-' * 98}\n"


def build() -> str:
    """Build the source of anls.py, without formatting. ValueError: two modules define the same name."""
    plain: set[str] = {"sys"}  # import a, b
    names: dict[str, set[str]] = {}  # from a import b, c
    public: list[str] = []
    bodies: list[str] = []
    owners: dict[str, str] = {}
    for module in MODULES:
        source = path_of(module).read_text(encoding="utf-8")
        tree = ast.parse(source)
        for name in defined_names(tree):
            if name != "__all__" and owners.setdefault(name, module) != module:
                raise ValueError(f"{name} is defined in {owners[name]} and in {module}: rename one of them")
        left_out, lazy = set(), []  # nodes that are not copied to the built file, and nodes of `_define_metric`
        for node in tree.body:
            if isinstance(node, ast.Import):
                plain |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                if not is_built_in(str(node.module)):
                    names.setdefault(str(node.module), set()).update(alias.name for alias in node.names)
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                public += [name for name in ast.literal_eval(node.value) if name not in LEFT_OUT]
            elif module == "metric" and isinstance(node, (ast.Try, ast.ClassDef)):
                lazy.append(node)
            elif not is_docstring(node) and LEFT_OUT.isdisjoint(defined_names(ast.Module([node], []))):
                continue
            left_out.add(node)
        text = shorten_docstrings(without(source, left_out))
        if lazy:
            # `load` cannot name a class that is not yet defined.
            text = text.replace("return Anls(", 'return __getattr__("Anls")(')
            text += LAZY.format(body="".join(indented(source, node) for node in lazy))
        about = (ast.get_docstring(tree) or "").partition("\n")[0]
        bodies.append(f"\n\n{LINE}# {PACKAGE}.{module}: {about}\n{LINE}\n{text}")
    # Imports that only what was left out needs stay out, too.
    code = "".join(bodies)
    used = {"sys"} | {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    imports = [f"import {name}\n" for name in sorted(plain & used)]
    for module in sorted(names):
        if wanted := sorted(names[module] & used) or (module == "__future__" and ["annotations"]):
            imports.append(f"from {module} import {', '.join(wanted)}\n")
    listed = "__all__ = [" + ", ".join(f'"{name}"' for name in sorted(public)) + ",]\n"
    return "".join([HEADER, "\n", *imports, "\n", listed, code, FOOTER])


def shorten_docstrings(source: str) -> str:
    """Keep the first paragraph of each docstring, apart from `DOCUMENTED`: the package documents the others in full."""
    lines = source.splitlines(True)
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, (ast.FunctionDef, ast.ClassDef))
            and node.name not in DOCUMENTED
            and is_docstring(node.body[0])
        ):
            first, last = node.body[0].lineno, node.body[0].end_lineno or 0
            end = next((line for line in range(first, last) if not lines[line].strip()), None)
            if end is not None:
                lines[end - 1] = lines[end - 1].rstrip() + '"""\n'
                lines[end:last] = [""] * (last - end)
    return "".join(lines)


def indented(source: str, node: ast.stmt) -> str:
    """Return the source of a statement with its decorators, indented by one level. Text in quotes stays as it is."""
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    return textwrap.indent("".join(source.splitlines(True)[first - 1 : node.end_lineno]), "    ") + "\n"


def path_of(module: str) -> Path:
    """Return the path of a module of the package."""
    return ROOT / PACKAGE / f"{module.replace('.', '/')}.py"


def is_built_in(module: str) -> bool:
    """Whether the file is built from this module."""
    return module.removeprefix(f"{PACKAGE}.") in MODULES


def is_docstring(node: ast.stmt) -> bool:
    """Whether a statement is only a string."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def defined_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module defines, without its imports."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield ast.unparse(target)


def without(source: str, nodes: set[ast.stmt]) -> str:
    """Return the source of a module without the lines of these statements."""
    gone = {
        line
        for node in nodes
        for line in range(
            min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))]),
            (node.end_lineno or node.lineno) + 1,
        )
    }
    return "".join(line for number, line in enumerate(source.splitlines(True), 1) if number not in gone).strip() + "\n"


def format_code(source: str) -> str:
    """Format the source with ruff, and sort its imports."""
    for command in ("check --fix --quiet --select I,RUF022", "format --quiet"):
        ruff = [sys.executable, "-m", "ruff", *command.split(), "--stdin-filename", str(ROOT / "anls.py"), "-"]
        done = subprocess.run(ruff, input=source, capture_output=True, encoding="utf-8", cwd=ROOT)
        if done.returncode:
            sys.exit(f"ruff {command} failed: {done.stderr.strip()} (pip install ruff, or -e '.[lint]')")
        source = done.stdout
    return source


def main() -> None:
    """Write anls.py, or with --check report whether it is up to date."""
    flags = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    flags.add_argument("--check", action="store_true", help="exit with 1 where anls.py is stale, and write nothing")
    built, target = format_code(build()), ROOT / "anls.py"
    if not flags.parse_args().check:
        target.write_text(built, encoding="utf-8")
    elif target.read_text(encoding="utf-8") != built:
        sys.exit("anls.py is stale: run python tools/one_file.py")


if __name__ == "__main__":
    main()
