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
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "anls_metric"

# The modules in the order in which one reads the file. Only functions may use names of a module below.
MODULES = (
    "core.version",
    "metric",
    "core.strings.scoring",
    "core.checks",
    "core.scorer",
    "core.strings.variants",
    "core.strings.kernel",
    "core.strings.explanation",
    "core.strings.rows",
    "core.strings.metrics",
    "core.strings.vqa",
    "transformers",
)

# What only the package needs: sentences of a page, numbers of a file, streams, and batches for engines.
LEFT_OUT = {
    *("anls_batch", "Variant.minimum_similarity"),
    *("iter_anls_scores", "check_pairs", "normalized_levenshtein_similarity"),
    *("check_count", "count_noun", "SENTENCES", "Explanation.sentence"),
    *("Variant.score_checked", "__getattr__"),
}

HEADER = '''# ruff: noqa: E501
# mypy: ignore-errors
"""ANLS (Average Normalized Levenshtein Similarity) for answers to questions about documents, in one file.

BUILT from the package anls_metric, not to be edited: change the module and run ``python tools/one_file.py``.

For each question, ``1 - edit distance / length`` against the closest accepted answer, 0 where that stays under a
threshold (0.5); then the mean over the questions. ``evaluate.load`` takes this file, it can be imported (``import
anls``), and it can be copied into a project: it needs rapidfuzz, and the metric needs evaluate and datasets. The
docstrings of the package say more.

Sources: Biten et al., "Scene Text Visual Question Answering", ICCV 2019, https://arxiv.org/abs/1905.13648; Mathew et
al., "DocVQA", WACV 2021, https://arxiv.org/abs/2007.00398.
"""
'''

# The classes of the metric stand at the end, in a function, because importing evaluate takes 0.7 s. As globals they can
# be pickled.
FOOTER = '''
def _define_metric() -> None:
    """Define the metric: when evaluate loads this file, or on first use."""
    global Anls
{metric}

def __getattr__(name: str) -> Any:
    if name != "Anls":
        raise AttributeError(f"module {{__name__!r}} has no attribute {{name!r}}")
    _define_metric()
    return Anls


if hasattr(sys.modules.get("evaluate"), "Metric"):
    _define_metric()  # evaluate.load takes the first metric among the names of the module

if __name__ == "__main__":
    sys.exit("this file is a module, not a command: pip install anls-metric, and run anls")
'''


def build() -> str:
    """Build the source of anls.py, without formatting."""
    plain: set[str] = {"sys"}  # import a, b
    names: dict[str, set[str]] = {}  # from a import b, c
    public: list[str] = []
    bodies: list[str] = []
    metric: list[str] = []
    for module in MODULES:
        source = path_of(module).read_text(encoding="utf-8")
        tree = ast.parse(source)
        left_out = set()  # nodes that are not copied, or not here
        for node in tree.body:
            if isinstance(node, ast.Import):
                plain |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                if str(node.module).removeprefix(f"{PACKAGE}.") not in MODULES:
                    names.setdefault(str(node.module), set()).update(alias.name for alias in node.names)
            elif name_of(node) == "__all__":
                public += [name for name in ast.literal_eval(node.value) if name not in LEFT_OUT]  # type: ignore[attr-defined]
            elif module == "metric" and isinstance(node, (ast.Try, ast.ClassDef)):
                metric.append(textwrap.indent(lines_of(source, node), "    "))
            elif not is_docstring(node) and name_of(node) not in LEFT_OUT:
                left_out |= {
                    part for part in getattr(node, "body", ()) if f"{name_of(node)}.{name_of(part)}" in LEFT_OUT
                }
                continue
            left_out.add(node)
        about = (ast.get_docstring(tree) or "").partition("\n")[0]
        text = shorten_docstrings(without(source, left_out))
        bodies.append(f"\n\n# ---- {PACKAGE}.{module}: {about}\n\n{text}")
    # `load` cannot name a class that is not yet defined.
    code = "".join(bodies).replace("return Anls(", 'return __getattr__("Anls")(')
    code += FOOTER.format(metric="".join(metric))
    # Imports that only what was left out needs stay out, too.
    used = {"sys"} | {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    imports = [f"import {name}\n" for name in sorted(plain & used)]
    for module in sorted(names):
        if wanted := sorted(names[module] & used) or (module == "__future__" and ["annotations"]):
            imports.append(f"from {module} import {', '.join(wanted)}\n")
    listed = "__all__ = [" + ", ".join(f'"{name}"' for name in sorted(public)) + "]\n"
    return "".join([HEADER, "\n", *imports, "\n", listed, code])


def shorten_docstrings(source: str) -> str:
    """Keep the first paragraph of each docstring. The package documents its functions in full."""
    lines = source.splitlines(True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and is_docstring(node.body[0]):
            first, last = node.body[0].lineno, node.body[0].end_lineno or 0
            end = next((line for line in range(first, last) if not lines[line].strip()), None)
            if end is not None:
                close = "" if end == first else "\n" + " " * node.body[0].col_offset
                lines[end - 1] = f'{lines[end - 1].rstrip()}{close}"""\n'
                lines[end:last] = [""] * (last - end)
    return "".join(lines)


def lines_of(source: str, node: ast.stmt) -> str:
    """Return the source of a statement with its decorators."""
    first, last = range_of(node)
    return "".join(source.splitlines(True)[first - 1 : last]) + "\n"


def range_of(node: ast.stmt) -> tuple[int, int]:
    """Return the numbers of the first and the last line of a statement with its decorators."""
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    return first, node.end_lineno or node.lineno


def path_of(module: str) -> Path:
    """Return the path of a module of the package."""
    return ROOT / PACKAGE / f"{module.replace('.', '/')}.py"


def is_docstring(node: ast.stmt) -> bool:
    """Whether a statement is only a string."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def name_of(node: ast.stmt) -> str:
    """Return the name that a statement defines, "" for none."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return node.name
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0])
    return ast.unparse(node.target) if isinstance(node, ast.AnnAssign) else ""


def without(source: str, nodes: set[ast.stmt]) -> str:
    """Return the source of a module without the lines of these statements."""
    gone = {line for first, last in map(range_of, nodes) for line in range(first, last + 1)}
    return "".join(line for number, line in enumerate(source.splitlines(True), 1) if number not in gone).strip() + "\n"


def format_code(source: str) -> str:
    """Format the source with ruff, and sort its imports."""
    for command in (
        "check --fix --quiet --select I,RUF022",
        "format --quiet --config format.skip-magic-trailing-comma=true",
    ):
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
