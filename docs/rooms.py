"""Write the map of the rooms into CONTRIBUTING.md. ``python docs/rooms.py`` does it.

A room is a folder of the core. Its line in the map is the first sentence of the docstring of its ``__init__``. A room imports only
from rooms below it in the table.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "packages" / "ragmetrics-core" / "src" / "ragmetrics_core"
PAGE = ROOT / "CONTRIBUTING.md"


def page() -> str:
    """The text of CONTRIBUTING.md, with the map written anew."""
    pieces = re.split(r"(<!-- (?:end )?rooms -->\n)", PAGE.read_text(encoding="utf-8"))
    if len(pieces) != 5:
        raise ValueError(f"{PAGE} needs one pair of comments '<!-- rooms -->' and '<!-- end rooms -->'")
    lines = [f"| `{room}` | {sentence(room)} |" for room in from_the_top()]
    pieces[2] = "\n".join(["| Room | What it holds |", "| --- | --- |", *lines]) + "\n"
    return "".join(pieces)


def rooms() -> list[str]:
    """The folders of the core."""
    return sorted(path.parent.name for path in CORE.glob("*/__init__.py"))


def files(room: str) -> list[Path]:
    """The modules of a room."""
    return sorted((CORE / room).rglob("*.py"))


def sentence(room: str) -> str:
    """The first sentence of a room's docstring."""
    text = ast.get_docstring(ast.parse((CORE / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    return " ".join(re.split(r"(?<=\.)\s", text)[0].split()).replace("``", "`")


@cache
def level(room: str) -> int:
    """How many rooms stand one below the other under this one."""
    return 1 + max(map(level, needs(room)), default=0)


def needs(room: str) -> set[str]:
    """The rooms that a room imports from."""
    nodes = [(path, node) for path in files(room) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    named = {part_of(path, node) for path, node in nodes if isinstance(node, ast.ImportFrom)}
    return named & set(rooms()) - {room}


def part_of(path: Path, node: ast.ImportFrom) -> str:
    """The room that an import names; empty where it names none."""
    module = (node.module or "").split(".")
    if node.level == 0:
        return module[1] if module[0] == "ragmetrics_core" and len(module) > 1 else ""
    below = path.parent.relative_to(CORE).parts
    return [*below[: len(below) - node.level + 1], *module][0]


def from_the_top() -> list[str]:
    """The rooms, those that import most levels of others first."""
    return sorted(rooms(), key=lambda room: (-level(room), room.strip("_")))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: {len(rooms())} rooms")
