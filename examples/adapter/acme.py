"""Acme, a made-up framework in the place of the one at hand: a chat model, an embedder, and evaluators of cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Answer:
    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    is_cut_off: bool = False


@dataclass
class Chat:
    """A chat model; ``respond`` is what its server does."""

    name: str
    respond: Callable[..., Answer]
    key: str = field(default="", repr=False)
    temperature: float = 0.0
    max_retries: int = 2

    def chat(self, messages: Sequence[dict[str, str]], **options: Any) -> Answer:
        return self.respond(messages, **options)

    async def chat_async(self, messages: Sequence[dict[str, str]], **options: Any) -> Answer:
        return self.respond(messages, **options)


@dataclass
class Embedder:
    """An embedding model that blocks."""

    name: str
    vector: Callable[[str], list[float]]

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.vector(text) for text in texts]


@dataclass
class Case:
    """What Acme calls a row."""

    question: str | None = None
    answer: str | None = None
    expected: str | None = None
    passages: list[str] | None = None
    extras: dict[str, Any] = field(default_factory=dict)


@dataclass
class Result:
    name: str
    value: float | None
    why: str
    evidence: dict[str, Any]


class Evaluator:
    """What Acme runs over its cases."""

    name: str

    def evaluate(self, case: Case) -> Result:
        raise NotImplementedError

    async def evaluate_async(self, case: Case) -> Result:
        return self.evaluate(case)
