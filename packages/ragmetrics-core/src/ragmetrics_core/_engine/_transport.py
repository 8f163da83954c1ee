"""How calls reach a model: the ``Route`` to it, which chooses the transport.

There are two transports. *One by one*: questions to a language model, each a separate call, made again when it is lost, at the
pace that the server takes (`_calls`). *Gathered*: texts and pairs for an embedding model, many of them in one call
(`_batches`). Another one, such as calls that are handed in today and answered tomorrow, is a class with ``perform`` and ``close``,
and a line in ``Route.perform``.
"""

from __future__ import annotations

from typing import Any

from .._kernel._model_traits import ModelTraits
from .._kernel._steps import Outcome
from .._values._requests import Ask, Compare, Request
from ._batches import Batches
from ._budget import Budget
from ._calls import ModelCaller, Rules
from ._gate import Gate
from ._pending import PendingCall
from ._reply_keys import Keys

MOST_TEXTS = 2048
"""Most texts or pairs in one call to a model that does not say so itself (``texts_per_call``)."""


class Route:
    """The way to one model.

    Attributes:
        model: the model; held, so that its ``id`` stays its own.
        traits: what it says about itself.
        caller: makes the calls.
        keys: keys of its replies in the store; None if they cannot be stored, or there is no store.
    """

    def __init__(self, model: Any, gate: Gate, rules: Rules, budget: Budget, *, stored: bool) -> None:
        self.model = model
        self.traits = ModelTraits.of(model)
        self.caller = ModelCaller(model, self.traits, gate, rules, budget)
        self.keys = Keys(self.traits.identity) if stored and self.traits.identity else None
        self._batches: dict[type[Request], Batches] = {}

    async def perform(self, pending: PendingCall) -> Outcome | None:
        """Make the call, alone or with others; None: the budget is used up, and the call was not made.

        Raises:
            ModelError: the model is gone, or refuses in a way that all further calls would meet.
        """
        if isinstance(pending.request, Ask):
            return await self.caller.perform(pending.call)
        kind = type(pending.request)
        if kind not in self._batches:
            most = self.traits.texts_per_call or MOST_TEXTS
            if kind is Compare and not self.traits.compares:
                most = max(1, most // 2)  # its texts are embedded, and a pair has two
            overlapping = pending.call.asynchronous is not None
            self._batches[kind] = Batches(self.caller, pending.make, most=most, overlapping=overlapping)
        return await self._batches[kind].perform(pending.request)

    def close(self) -> None:
        """The run ends: give up what is under way."""
        self.caller.close()
        for batches in self._batches.values():
            batches.close()
