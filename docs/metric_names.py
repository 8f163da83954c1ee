"""Write the names that ``ragmetrics_core.metrics`` shows, from its files. ``python docs/metric_names.py`` does it.

A metric is one file, and its class has the name of that file. Type checkers and readers want them listed in the façade
all the same, so the lists there are written by this script, and a test compares them with ``facade()``. The files are read, not
imported: a metric must be listed before anything can import it.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from ragmetrics_core import metrics

METRICS = Path(__file__).resolve().parents[1] / "packages" / "ragmetrics-core" / "src" / "ragmetrics_core" / "metrics"
FACADE = METRICS / "__init__.py"


def facade() -> str:
    """The text of the façade, with its lists written anew."""
    names = [(name, path.stem) for path in sorted(METRICS.glob("_[a-z]*.py")) for name in public_names(path)]
    parts = {
        "imports": [f"    from ragmetrics_core.metrics.{module} import {name}" for name, module in group(names)],
        "names": ["__all__ = [", *(f'    "{name}",' for name, _ in sorted(names, key=rank)), "]"],
    }
    text = FACADE.read_text(encoding="utf-8")
    for part, lines in parts.items():
        pieces = re.split(rf"( *# generated: {part}\n| *# end: {part}\n)", text)
        if len(pieces) != 5:
            raise ValueError(f"{FACADE} needs one pair of comments 'generated: {part}' and 'end: {part}'")
        pieces[2] = "\n".join(lines) + "\n"
        text = "".join(pieces)
    return text


def public_names(path: Path) -> list[str]:
    """What a file shows: the class or function of its own name, ``ContextRecall`` in ``_context_recall.py``, and exceptions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = [node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    names = [name for name in defined if name.replace("_", "").lower() == path.stem.replace("_", "")]
    names += [name for name, module in metrics.ELSEWHERE.items() if module == path.stem]
    if not names:
        raise ValueError(f"{path} defines nothing of its own name")
    return names


def group(names: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """By module, the names of one module side by side."""
    modules: dict[str, list[str]] = {}
    for name, module in names:
        modules.setdefault(module, []).append(name)
    return [(", ".join(sorted(found)), module) for module, found in sorted(modules.items())]


def rank(item: tuple[str, str]) -> tuple[int, str]:
    """Constants, then classes, then functions, as everywhere."""
    name = item[0]
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2), name


if __name__ == "__main__":
    FACADE.write_text(facade(), encoding="utf-8")
    print(FACADE.relative_to(METRICS.parents[4]))
