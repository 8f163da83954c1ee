"""Which event loop a LangChain model may be called in asynchronously.

Why. Integrations share connections behind the user's back: langchain-openai keeps one asynchronous client per address in a process,
whichever model object asks. A connection works only in the loop that opened it, so a second ``asyncio.run`` with a
second model on the same address would meet the connections of a loop that is closed.

Strategy. All models of one class and one address have one home: the first loop in which one of them was used. In any other loop
they are called synchronously, on a thread.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any

from langchain_core.runnables import RunnableBinding

from ragmetrics_core.adapters import HomeLoop

from ._identity import addresses_of

__all__ = ["home_of"]


def home_of(model: Any) -> HomeLoop:
    """The home of a model's connections."""
    while isinstance(model, RunnableBinding):
        model = model.bound
    kind: Any = type(model)
    return _home(kind, addresses_of(model))


@cache  # one small entry per class and address, as long as the process lives: so do the connections
def _home(cls: Hashable, addresses: tuple[tuple[str, str], ...]) -> HomeLoop:  # noqa: ARG001  they are the key
    return HomeLoop()
