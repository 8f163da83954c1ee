"""LangGraph says when a graph waits for somebody, but only to handlers that inherit its own base class.

Why. A graph that ``interrupt_before`` or ``interrupt_after`` stops ends like one that is through. Newer versions of LangGraph tell
the two apart in an event of their own. LangGraph is not a dependency: where it is installed, a handler gets its base class when it
is made; where it is not, there are no graphs.
"""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from typing import Any, TypeVar, cast

__all__ = ["watching_graphs"]

T = TypeVar("T")


@cache
def _base() -> type[Any] | None:
    if importlib.util.find_spec("langgraph") is None or importlib.util.find_spec("langgraph.callbacks") is None:
        return None
    base: type[Any] | None = getattr(importlib.import_module("langgraph.callbacks"), "GraphCallbackHandler", None)
    return base


def watching_graphs(cls: type[T]) -> type[T]:
    """The class of handlers, with LangGraph's base class where there is one."""
    found: type[T] = _watching(cast("Any", cls))
    return found


@cache
def _watching(cls: Any) -> Any:
    base = _base()
    if base is None or issubclass(cls, base):
        return cls
    names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    return type(cls.__name__, (cls, base), names)
