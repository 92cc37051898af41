"""The stub package `anls-stubs`, made from `anls.py`: ``python -m tests.core.stubs`` writes it.

A single module cannot carry the marker `py.typed`, so that type checkers ignore what an installed `anls.py` says. They
do read a package `anls-stubs` beside it (PEP 561).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
STUB = ROOT / "anls-stubs" / "__init__.pyi"

HEAD = "# Made from anls.py by `python -m tests.core.stubs`: change it there.\n"

# Private names that are part of what is offered all the same.
OFFERED = {"__version__", "__all__", "__init__", "__len__", "__call__", "_AnlsBehaviour"}


def stub(source: str) -> str:
    """What a module offers, without how it does it."""
    module = ast.parse(source)
    module.body = list(_offered(module.body))
    used = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    for imported in [node for node in module.body if isinstance(node, ast.ImportFrom)]:
        imported.names = [alias for alias in imported.names if (alias.asname or alias.name) in used]
        if not imported.names:
            module.body.remove(imported)
    return HEAD + ast.unparse(ast.fix_missing_locations(module)) + "\n"


def _offered(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in statements:
        if isinstance(statement, ast.If):  # what type checkers alone see; the rest happens when it runs
            if ast.unparse(statement.test) == "TYPE_CHECKING":
                yield from _offered(statement.body)
        elif isinstance(statement, ast.ImportFrom) and statement.module != "__future__":
            yield statement
        elif isinstance(statement, (ast.FunctionDef, ast.ClassDef)) and _is_offered(statement.name):
            is_class = isinstance(statement, ast.ClassDef)
            statement.body = (list(_offered(statement.body)) if is_class else []) or [ast.Expr(ast.Constant(...))]
            yield statement
        elif isinstance(statement, ast.AnnAssign) and _is_offered(ast.unparse(statement.target)):
            statement.value = ast.Constant(...) if statement.value and statement.col_offset else None
            yield statement
        elif isinstance(statement, ast.Assign) and _is_offered(ast.unparse(statement.targets[0])):
            yield _assigned(statement)


def _assigned(statement: ast.Assign) -> ast.stmt:
    """Names for types stay as they are, and so does the list of what is public; of a text only its type counts."""
    if not isinstance(statement.value, ast.Constant):
        return statement
    name, kind = ast.unparse(statement.targets[0]), type(statement.value.value).__name__
    return ast.AnnAssign(ast.Name(name), ast.Name(kind), None, simple=1)


def _is_offered(name: str) -> bool:
    return not name.startswith("_") or name in OFFERED


if __name__ == "__main__":
    STUB.parent.mkdir(exist_ok=True)
    STUB.write_text(stub((ROOT / "anls.py").read_text(encoding="utf-8")), encoding="utf-8")
