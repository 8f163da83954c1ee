"""What every package beside the core is held to: read from its source, for the tests of each."""

from __future__ import annotations

import ast
from pathlib import Path


def imported(path: Path) -> list[tuple[str, str]]:
    """Module and name of everything that a file imports from elsewhere; the name is empty where the module itself is imported."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found += [(node.module or "", alias.name) for alias in node.names]
    return found


def check_lengths(path: Path, function: int = 40) -> None:
    """No function of more than so many lines."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < function, node.name
