"""Count the test files of the core that import private modules. ``python tests/private_imports.py`` lists them.

A test that goes through the public doors survives when code moves; one that imports a private module has to be changed with it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent / "core"
CORE = "ragmetrics_core"
PRIVATE = re.compile(rf"{CORE}[\w.]*\._|{CORE}[\w.]* import[^\n]* _|{CORE}[\w.]* import \([^)]*\s_")
"""What a file must hold, be it in a text, to import a private name."""


def files() -> dict[Path, list[str]]:
    """By file, the private names that it imports."""
    found = {path: sorted(set(private_names(path))) for path in sorted(TESTS.rglob("*.py"))}
    return {path: names for path, names in found.items() if names}


def private_names(path: Path) -> Iterator[str]:
    """What one file imports from private modules of the core."""
    text = path.read_text(encoding="utf-8")
    if not PRIVATE.search(text):  # most files; to parse each takes two seconds
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{item.name}" for item in node.names]
        elif isinstance(node, ast.Import):
            names = [item.name for item in node.names]
        else:
            continue
        yield from (name for name in names if is_private(name))


def is_private(name: str) -> bool:
    """Whether a dotted name of the core has a part with a leading underscore."""
    first, *others = name.split(".")
    return first == CORE and any(part.startswith("_") and not part.endswith("__") for part in others)


if __name__ == "__main__":
    for file, imported in files().items():
        print(f"{file.relative_to(TESTS)}: {', '.join(name.removeprefix(f'{CORE}.') for name in imported)}")
    print(f"{len(files())} files")
