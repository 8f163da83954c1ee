"""Names that people look for where they are not: RAGAS' names, with what to use instead, and ours, with their module.

A module asks here before it says that it has no such attribute. For a name of RAGAS it raises an ``ImportError``, since the
text of an ``AttributeError`` is lost on the way out of ``from module import name``. No name of RAGAS becomes another name of ours:
the scores differ, so who comes from there is told what to write, once.
"""

from __future__ import annotations

import importlib

from ._ragas_names import BECAUSE, PLACES

OWN_MODULES = ("metrics", "llms", "embeddings", "replies", "testing")

ELSEWHERE: dict[str, str] = {name: place for names, place in PLACES for name in names.split() if "." not in name}
"""RAGAS' names, and what to use instead, or why there is nothing."""


def where_it_is(name: str) -> str | None:
    """What to use instead of RAGAS' name, in words; None for other names."""
    use = ELSEWHERE.get(name)
    if use is None:
        return None
    if use.startswith(BECAUSE):
        return f"RAGAS' {name} has no counterpart here, {use}"
    return f"instead of RAGAS' {name}, use {use}"


def no_attribute(module: str, name: str) -> Exception:
    """The error for a module that has no such attribute."""
    advice = where_it_is(name)
    if advice is None and name[:1].isupper():
        home = next((home for home in OWN_MODULES if name in _names(home)), None)
        advice = home and f"it is in ragmetrics_core.{home}: from ragmetrics_core.{home} import {name}"
    if advice is None:
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    return ImportError(f"cannot import name {name!r} from {module!r}: {advice}", name=module)


def _names(home: str) -> list[str]:
    names: list[str] = importlib.import_module(f"ragmetrics_core.{home}").__all__
    return names
