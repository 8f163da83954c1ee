"""How calls reach a model: the ``Route`` to it, which chooses the transport.

There are two transports. *Single calls* carry questions to a language model: one call for each question, with retries, at the pace
that the server accepts (`_calls`). *Batches* carry texts and pairs to an embedding model, many in one call (`_batches`). Another
transport would be a class with ``perform`` and a line in ``Route.perform``. Questions for the batch API of a provider take no
route: a ``Collector`` of `_questions` takes them.
"""

from __future__ import annotations

from typing import Any

from .._kernel._model_traits import ModelTraits
from .._kernel._steps import Outcome
from .._values._requests import Ask, Compare, Request
from ._batches import Batches
from ._budget import Budget
from ._calls import ModelCaller
from ._pending import PendingCall
from ._reply_keys import Keys
from ._traffic import Server

MOST_TEXTS = 2048
"""The largest number of texts or pairs in one call to a model that does not set ``texts_per_call``."""


class Route:
    """The way to one model.

    Attributes:
        model: the model; this reference keeps its ``id`` from being reused.
        traits: the traits of the model.
        caller: makes the calls.
        keys: computes the keys of the replies in the store; None if there is no store, or the model has no identity.
    """

    def __init__(self, model: Any, server: Server, max_retries: int, budget: Budget, *, stored: bool) -> None:
        self.model = model
        self.traits = ModelTraits.of(model)
        self.caller = ModelCaller(model, self.traits, server, max_retries, budget)
        self.keys = Keys(self.traits.identity) if stored and self.traits.identity else None
        self._batches: dict[type[Request], Batches] = {}

    async def perform(self, pending: PendingCall) -> Outcome | None:
        """Make the call, alone or in a batch; None: the budget was used up before the call was made.

        Raises:
            ModelError: the server is most likely gone, or asks for too long a pause.
        """
        if isinstance(pending.request, Ask):
            return await self.caller.perform(pending.call)
        kind = type(pending.request)
        if kind not in self._batches:
            most = self.traits.texts_per_call or MOST_TEXTS
            if kind is Compare and not self.traits.compares:
                most = max(1, most // 2)  # the two texts of each pair are embedded
            overlapping = pending.call.asynchronous is not None
            self._batches[kind] = Batches(self.caller, pending.make, most=most, overlapping=overlapping)
        return await self._batches[kind].perform(pending.request)
