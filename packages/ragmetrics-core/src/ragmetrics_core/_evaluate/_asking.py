"""What it costs to ask a model: tokens of a question as the chat protocol sends it, and of its reply."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .._engine import Keys
from .._kernel._model_traits import ModelTraits
from .._kernel._requests import Ask, Embed, Request
from .._support._strict_schema import strict_schema
from .._support._tokens import tokens_in

PER_MESSAGE, PER_QUESTION, PER_SCHEMA = 3, 3, 10
"""Tokens that the chat protocol adds to each message, to each question, and to a schema that is sent with it."""


@dataclass
class Cost:
    """What was or will be asked of one model: calls, prompt and completion tokens."""

    calls: float = 0.0
    prompt: float = 0.0
    completion: float = 0.0

    def add(self, calls: float, prompt: float, completion: float) -> None:
        """Add to it."""
        self.calls += calls
        self.prompt += prompt
        self.completion += completion


class AskedModel:
    """A model as a dry run sees it.

    Args:
        model: the model, or None.
        stored: whether its replies are looked for in a journal.

    Attributes:
        keys: of its replies in the journal; None if they cannot be there.
        free: whether it computes in place.
    """

    def __init__(self, model: Any, *, stored: bool) -> None:
        self.model = model
        traits = ModelTraits.of(model)
        self.keys = Keys(traits.identity) if stored and traits.identity else None
        self.free = traits.instant
        self._remote = traits.settings.get("base_url") is not None
        self._schemas = traits.settings.get("structured", "schema") == "schema"
        self._known: dict[str, float] = {}  # system messages and schemas, which stay the same

    def cost(self, request: Request, reply: str | None) -> tuple[float, float]:
        """Prompt and completion tokens."""
        if self.free:
            return 0.0, 0.0
        if isinstance(request, Ask):
            return self._asked(request), tokens_in(reply or "")
        if not self._remote:
            return 0.0, 0.0
        texts = request.texts if isinstance(request, Embed) else {text for pair in request.pairs for text in pair}
        return sum(map(tokens_in, texts)), 0.0

    def _asked(self, ask: Ask) -> float:
        total = float(PER_QUESTION)
        for message in ask.messages:
            total += PER_MESSAGE + (
                self._once(message.content) if message.role == "system" else tokens_in(message.content)
            )
        if self._schemas and ask.wants_json and ask.reply.schema is not None:
            total += PER_SCHEMA + self._schema(ask)
        return total

    def _schema(self, ask: Ask) -> float:
        schema = ask.reply.schema
        assert schema is not None
        return self._once(json.dumps(strict_schema(schema) or dict(schema), separators=(",", ":"), default=str))

    def _once(self, text: str) -> float:
        if text not in self._known:
            self._known[text] = tokens_in(text)
        return self._known[text]
