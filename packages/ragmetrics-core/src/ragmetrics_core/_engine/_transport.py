"""How calls reach a model. There are two ways, and `transport_for` chooses one.

*One by one*: questions to a language model, each a call of its own, made again when it is lost, at the pace that the server takes
(`_calls`). *Gathered*: texts and pairs for an embedding model, many of them in one call (`_batches`). A way of another kind, such
as calls that are handed in today and answered tomorrow, is a class with the two methods of ``Transport`` and a line in
``transport_for``.
"""

from __future__ import annotations

from typing import Protocol

from .._kernel._model_traits import ModelTraits
from .._kernel._requests import Ask, Compare
from .._kernel._steps import Outcome
from ._batches import Batches
from ._calls import ModelCaller
from ._pending import PendingCall

MOST_TEXTS = 2048
"""Most texts or pairs in one call to a model that does not say so itself (``texts_per_call``)."""


class Transport(Protocol):
    """Takes calls of one kind to one model."""

    async def perform(self, pending: PendingCall) -> Outcome | None:
        """The outcome of a call; None: the budget is used up, and the call was not made.

        Raises:
            ModelError: the model is gone, or refuses in a way that all further calls would meet.
        """
        ...

    def close(self) -> None:
        """The run ends: give up what is under way."""
        ...


class OneByOne:
    """Each call by itself."""

    def __init__(self, caller: ModelCaller) -> None:
        self._caller = caller

    async def perform(self, pending: PendingCall) -> Outcome | None:
        """Make the call."""
        return await self._caller.perform(pending.call)

    def close(self) -> None:
        """The route closes the caller; nothing else is under way here."""


def transport_for(pending: PendingCall, traits: ModelTraits, caller: ModelCaller) -> Transport:
    """The transport for calls like this one."""
    if isinstance(pending.request, Ask):
        return OneByOne(caller)
    most = traits.texts_per_call or MOST_TEXTS
    if isinstance(pending.request, Compare) and not traits.compares:
        most = max(1, most // 2)  # its texts are embedded, and a pair has two
    return Batches(caller, pending.make, most=most, overlapping=pending.call.asynchronous is not None)
