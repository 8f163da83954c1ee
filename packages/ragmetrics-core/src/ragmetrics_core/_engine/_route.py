"""All that leads to one model in a run."""

from __future__ import annotations

from typing import Any

from .._kernel._model_traits import ModelTraits
from .._kernel._requests import Request
from .._kernel._steps import Outcome
from ._budget import Budget
from ._calls import ModelCaller, Rules
from ._gate import Gate
from ._pending import PendingCall
from ._reply_keys import Keys, identity_digest
from ._transport import Transport, transport_for


class Route:
    """The way to one model.

    Attributes:
        model: the model; held, so that its ``id`` stays its own.
        traits: what it says about itself.
        caller: makes the calls.
        keys: keys of its replies in the store; None if they cannot be stored, or there is no store.
        questions: the same, as who knows only a digest of the model can make them.
    """

    def __init__(self, model: Any, gate: Gate, rules: Rules, budget: Budget, *, stored: bool) -> None:
        self.model = model
        self.traits = ModelTraits.of(model)
        self.caller = ModelCaller(model, self.traits, gate, rules, budget)
        identity = self.traits.identity if stored else None
        self.keys = Keys(identity) if identity else None
        self.questions = Keys(identity_digest(identity)) if identity else None
        self._transports: dict[type[Request], Transport] = {}

    async def perform(self, pending: PendingCall) -> Outcome | None:
        """Make the call, alone or with others; None: the budget is used up."""
        kind = type(pending.request)
        if kind not in self._transports:
            self._transports[kind] = transport_for(pending, self.traits, self.caller)
        return await self._transports[kind].perform(pending)

    def close(self) -> None:
        """Give up what is under way."""
        self.caller.close()
        for transport in self._transports.values():
            transport.close()
