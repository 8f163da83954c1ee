"""Embedding models that take 20 ms a call, and rows for them."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from typing import Any

from core.engine.virtual_time import run
from ragmetrics_core import (
    Evaluation,
    Metric,
    ModelError,
    Reply,
    Usage,
    aevaluate,
)
from ragmetrics_core.metrics import SemanticSimilarity


def vector(text: str) -> list[float]:
    """On the unit circle, at an angle that is the text's number in hundredths."""
    angle = int(text.rsplit(maxsplit=1)[-1]) / 100
    return [math.cos(angle), math.sin(angle)]


class Vectors:
    """An embedding model that takes 20 ms a call, whatever its size."""

    def __init__(self, refuses: Sequence[str] = (), error: ModelError | None = None) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.refuses = set(refuses)
        self.error = error
        self.begun = self.now = self.most = 0

    def answer(self, texts: tuple[str, ...]) -> Reply[list[list[float]]]:
        self.calls.append(texts)
        if self.refuses & set(texts):
            raise self.error or ModelError(f"I do not take {min(self.refuses & set(texts))!r}")
        return Reply([vector(text) for text in texts], Usage(1, len(texts)))

    async def aembed(self, texts: tuple[str, ...]) -> Reply[list[list[float]]]:
        self.begun += 1
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.02)
        self.now -= 1
        return self.answer(texts)


class BlockingVectors(Vectors):
    """The same with nothing but a blocking method."""

    aembed = None  # type: ignore[assignment]

    def embed(self, texts: tuple[str, ...]) -> Reply[list[list[float]]]:
        time.sleep(0.02)
        return self.answer(texts)


class Scorer:
    """A pair scorer, as cross-encoders are: it blocks."""

    def __init__(self) -> None:
        self.calls: list[tuple[tuple[str, str], ...]] = []

    def compare(self, pairs: tuple[tuple[str, str], ...]) -> list[float]:
        self.calls.append(pairs)
        time.sleep(0.02)
        return [int(left.split()[-1]) / 1000 for left, _ in pairs]


def samples(count: int) -> list[dict[str, str]]:
    return [
        {"user_input": f"q {n}", "response": f"text {n}", "reference": f"other {2 * n % 150}"} for n in range(count)
    ]


def expected(count: int) -> list[float]:
    return [math.cos(abs(n - 2 * n % 150) / 100) for n in range(count)]


def score(model: Any, count: int, metric: Metric | None = None, **settings: Any) -> tuple[Evaluation, float]:
    async def work() -> tuple[Evaluation, float]:
        clock = asyncio.get_running_loop().time
        begin = clock()
        result = await aevaluate(
            samples(count), metric or SemanticSimilarity(), embeddings=model, progress=False, **settings
        )
        return result, clock() - begin

    return run(work())


def values(evaluation: Evaluation, name: str = "semantic_similarity") -> list[float | None]:
    return [item.value for item in evaluation.scores[name]]
