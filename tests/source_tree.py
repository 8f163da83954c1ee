"""The source of the core as data: its modules, and what each of them imports from which other.

``from package import name`` counts as an import of the module that defines the name, not of the package: a package's
``__init__`` is a façade, and going through it is no dependency on everything else that it shows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "packages" / "ragmetrics-core" / "src"
CORE = "ragmetrics_core"


@dataclass(frozen=True)
class Import:
    """One imported name.

    ``statement`` is the module as the statement names it, ``target`` the module of the core that is meant in the end (the
    statement's where it leads out of the core). ``lazy``: inside a function. ``typing_only``: under ``if TYPE_CHECKING``.
    """

    source: str
    statement: str
    name: str | None
    target: str
    lazy: bool
    typing_only: bool
    line: int

    def __str__(self) -> str:
        return f"{self.source}:{self.line} imports {self.target}"


@cache
def modules() -> dict[str, Path]:
    """Every module of the core by its dotted name."""
    found = {}
    for path in sorted((SOURCE / CORE).rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree(module: str) -> ast.Module:
    """The parsed source of one module."""
    return ast.parse(modules()[module].read_text(encoding="utf-8"))


@cache
def nodes(module: str) -> tuple[ast.AST, ...]:
    """Every node of one module."""
    return tuple(ast.walk(tree(module)))


def is_core(module: str) -> bool:
    return module == CORE or module.startswith(f"{CORE}.")


@cache
def imports(module: str) -> tuple[Import, ...]:
    """Everything that one module imports, in order."""
    return tuple(
        Import(module, statement, name, _definer(statement, name), lazy, typing_only, line)
        for statement, name, lazy, typing_only, line in _statements(module)
    )


def all_imports() -> list[Import]:
    return [item for module in modules() for item in imports(module)]


def _definer(module: str, name: str | None) -> str:
    """The module that a name comes from in the end."""
    if name is None or module not in modules():
        return module
    if f"{module}.{name}" in modules():
        return f"{module}.{name}"
    for statement, imported, *_ in _statements(module):
        if imported == name and modules()[module].name == "__init__.py":
            return _definer(statement, imported)
    return module


@cache
def _statements(module: str) -> tuple[tuple[str, str | None, bool, bool, int], ...]:
    return tuple(_walk(module, tree(module), lazy=False, typing_only=False))


def _walk(
    module: str, node: ast.AST, *, lazy: bool, typing_only: bool
) -> Iterator[tuple[str, str | None, bool, bool, int]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield alias.name, None, lazy, typing_only, child.lineno
        elif isinstance(child, ast.ImportFrom):
            for alias in child.names:
                yield _absolute(module, child), alias.name, lazy, typing_only, child.lineno
        elif isinstance(child, ast.If) and last_name(child.test) == "TYPE_CHECKING":
            for part in child.body:
                yield from _walk(module, ast.Module([part], []), lazy=lazy, typing_only=True)
            for part in child.orelse:
                yield from _walk(module, ast.Module([part], []), lazy=lazy, typing_only=typing_only)
        else:
            inside = lazy or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _walk(module, child, lazy=inside, typing_only=typing_only)


def last_name(node: ast.expr) -> str:
    """``c`` of ``a.b.c``; nothing where there are no names alone."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _absolute(module: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    if modules()[module].name == "__init__.py":
        parts.append("")
    base = parts[: len(parts) - node.level]
    return ".".join([*base, node.module] if node.module else base)
