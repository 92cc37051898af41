"""Build anls.py, the metric as one file, from the package: python tools/one_file.py

``evaluate.load`` fetches one file, and people copy one file into their projects. This script writes that file: the
class of the metric first, as a reviewer expects it, then what the metric needs of the package. Features that need more
of the package (lists and nested values, explanations, extraction rules, further metrics) import it on their first call.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "anls_metric"

# The modules in the order in which one reads the file. Only functions may use names of a module below.
MODULES = (
    "metric",
    "core.version",
    "core.strings.scoring",
    "core.checks",
    "core.scorer",
    "core.strings.variants",
    "core.strings.kernel",
    "core.strings.rows",
    "core.decoding",
    "transformers",
)

# Public functions for streams, batches of engines and single pairs, which are for users of the package; and what the
# file takes from the package, if it is there.
LEFT_OUT = {"anls_batch", "iter_anls_scores", "normalized_levenshtein_similarity"}
TAKEN = ("Edit", "Explanation", "Match", "explain")

HEADER = '''# ruff: noqa: E501
# mypy: ignore-errors
"""ANLS (Average Normalized Levenshtein Similarity) for answers to questions about documents, in one file.

BUILT from the package anls_metric, whose docstrings say more: change a module and run ``python tools/one_file.py``.
``evaluate.load`` takes this file, and it can be imported and copied. It needs rapidfuzz; the metric, evaluate as well.
"""
'''

HEADING = f"""

# ---- What the metric needs of {PACKAGE}: {", ".join(module.rpartition(".")[2] for module in MODULES[1:])}

"""

FOOTER = f'''

SCORERS.tables += [lambda: NAMES, lambda: load_table("{PACKAGE}:SCORERS")]  # the package for other names


def __getattr__(name: str) -> Any:
    """Take explanations from the package."""
    if name not in {TAKEN}:
        raise AttributeError(f"module {{__name__!r}} has no attribute {{name!r}}")
    return getattr(import_from_package("{PACKAGE}", name), name)


if __name__ == "__main__":
    sys.exit("this file is a module, not a command: pip install anls-metric, and run anls")
'''


class Part(NamedTuple):
    """A statement at the top level of a module, or a method or attribute of a class.

    Attributes:
        node: the statement.
        names: the names that it defines; none if the statement does something, and so must stay.
        uses: the names, attributes and words that it uses. Those of a method are not among those of its class.
        methods: the methods and attributes of a class, apart from special ones, fields, and those that a class of a
            library may call.
    """

    node: ast.stmt
    names: set[str]
    uses: set[str]
    methods: list[Part]


def build() -> str:
    """Build the source of anls.py, without formatting."""
    sources = {module: path_of(module).read_text(encoding="utf-8") for module in MODULES}
    trees = {module: ast.parse(source) for module, source in sources.items()}
    parts = {module: [split(node) for node in tree.body if is_code(node)] for module, tree in trees.items()}
    public = {name for tree in trees.values() for name in list_public(tree)} - LEFT_OUT - {*TAKEN}
    end = {node.id for node in ast.walk(ast.parse(FOOTER)) if isinstance(node, ast.Name)}
    needed = find_needed([part for own in parts.values() for part in own], {"Anls", "__version__", *public, *end})
    code = ""
    for module, tree in trees.items():
        gone = {node for node in tree.body if not is_code(node)} | {*find_unneeded(parts[module], needed)}
        code += shorten_docstrings(without(sources[module], gone)) + "\n\n"
        for node in tree.body:
            if isinstance(node, ast.Assign) and names_of(node) == {"_TABLE"} and isinstance(node.value, ast.Tuple):
                code = code.replace(lines_of(sources[module], node), write_table(sources[module], node.value))
        code += HEADING * (module == MODULES[0])
    code += FOOTER
    listed = f"__all__ = {sorted(public)}  # fmt: skip\n".replace("'", '"')
    return "".join([HEADER, "\nimport sys\n", *build_imports(trees.values(), code), "\n", listed, "\n\n", code])


def split(node: ast.stmt) -> Part:
    """Split a statement into what is needed together."""
    methods = []
    if isinstance(node, ast.ClassDef) and not any(isinstance(base, ast.Attribute) for base in node.bases):
        kinds = ast.FunctionDef if node.decorator_list else (ast.FunctionDef, ast.AnnAssign)  # of a dataclass: fields
        own = [split(each) for each in node.body if isinstance(each, kinds)]
        methods = [each for each in own if not any(name.startswith("__") for name in each.names)]
    apart = {id(each) for method in methods for each in ast.walk(method.node)}
    uses = {name_used(each) for each in ast.walk(node) if id(each) not in apart}
    return Part(node, names_of(node), uses, methods)


def write_table(source: str, table: ast.Tuple) -> str:
    """Write the table of variants with few lines: the name and the meaning of a variant, then everything else."""
    text = ""
    for call in table.elts:
        name, meaning, *words = [lines_of(source, each) for each in (*call.args, *call.keywords)]  # type: ignore[attr-defined]
        row = f"    Variant({name}, {meaning.removeprefix('meaning=')}"
        for word in words:
            starts = word.startswith("source=") or len(row.rpartition("\n")[2]) + len(word) > 115
            row += f",\n        {word.removeprefix('source=')}" if starts else f", {word}"
        text += f"{row}),\n"
    return f"# fmt: off\n_TABLE = (\n{text})\n# fmt: on"


def name_used(node: ast.AST) -> str:
    """Return the name, attribute or word that an expression uses, "" for none."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Constant):
        return str(node.value)
    return node.id if isinstance(node, ast.Name) else ""


def find_needed(parts: Iterable[Part], names: set[str]) -> set[str]:
    """Find the names that the given names need, directly or not."""
    known = set[str]()
    while names != known:
        known = names
        needed = [part for part in parts if is_needed(part, known)]
        needed += [method for part in needed for method in part.methods if is_needed(method, known)]
        names = known.union(*(part.uses for part in needed))
    return known


def is_needed(part: Part, names: set[str]) -> bool:
    """Whether a part is needed, given all names that are."""
    return not part.names or not part.names.isdisjoint(names)


def find_unneeded(parts: Iterable[Part], needed: set[str]) -> Iterator[ast.stmt]:
    """Find the statements that are not needed."""
    for part in parts:
        if is_needed(part, needed):
            yield from find_unneeded(part.methods, needed)
        else:
            yield part.node


def is_code(node: ast.stmt) -> bool:
    """Whether a statement of a module belongs in the file: no docstring, import or list of public names."""
    is_import = isinstance(node, (ast.Import, ast.ImportFrom)) or is_typing(node)
    return not is_import and not is_docstring(node) and names_of(node) != {"__all__"}


def is_typing(node: ast.stmt) -> bool:
    """Whether a statement holds imports of types."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def list_public(tree: ast.Module) -> list[str]:
    """List the public names of a module."""
    lists = [node.value for node in tree.body if isinstance(node, ast.Assign) and names_of(node) == {"__all__"}]
    return [name for each in lists for name in ast.literal_eval(each)]


def build_imports(trees: Iterable[ast.Module], code: str) -> Iterator[str]:
    """Build the imports that the code needs. Types of other modules of the package are imported for type checkers."""
    used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    types = []
    statements = [node for tree in trees for node in tree.body]
    statements += [each for node in statements if is_typing(node) for each in node.body]  # type: ignore[attr-defined]
    for node in statements:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            node.names = [alias for alias in node.names if alias.name in used | {"annotations"}]
            own = str(getattr(node, "module", "")).partition(f"{PACKAGE}.")[2]
            if node.names and not own:
                yield ast.unparse(node) + "\n"
            elif node.names and own not in MODULES:
                types.append(ast.unparse(node))
    if types:
        yield "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n" + "".join(f"    {line}\n" for line in types)


def shorten_docstrings(source: str) -> str:
    """Keep the first sentence of each docstring. The package documents its functions in full."""
    lines = source.splitlines(True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and is_docstring(node.body[0]):
            first, last, indent = node.body[0].lineno, node.body[0].end_lineno or 0, node.body[0].col_offset
            text = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
            sentence = re.split(r"(?<=[.:]) (?=[A-Z])", text)[0]
            short = f'"""{sentence if indent + len(text) > 112 else text}"""'
            lines[first - 1 : last] = [" " * indent + short + "\n", *[""] * (last - first)]
    return "".join(lines)


def lines_of(source: str, node: ast.AST) -> str:
    """Return the source of a node."""
    return ast.get_source_segment(source, node) or ""


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


def names_of(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {each.id for target in targets if target for each in ast.walk(target) if isinstance(each, ast.Name)}


def without(source: str, nodes: set[ast.stmt]) -> str:
    """Return the source of a module without the lines of these statements, and without the comments right above."""
    lines = source.splitlines(True)
    gone = set()
    for first, last in map(range_of, nodes):
        while lines[first - 2].lstrip().startswith("#"):
            first -= 1
        gone |= {*range(first, last + 1)}
    return "".join(line for number, line in enumerate(lines, 1) if number not in gone).strip() + "\n"


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
