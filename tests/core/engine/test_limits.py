"""``evaluate`` against servers that limit calls, in virtual time: what a limit costs, and that nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from core.engine.simulated import Places, Refused, Server, TokenBucket, constant, lognormal
from core.engine.virtual_time import run
from core.evaluate.doubles import Rated
from ragmetrics_core import Ask, Evaluation, ModelError, aevaluate

pytestmark = pytest.mark.slow

SLOW = lognormal(1.5)


class Client:
    """A model behind a simulated server."""

    def __init__(self, server: Server) -> None:
        self.server = server

    async def agenerate(self, ask: Ask) -> str:
        refused = await self.server.call()
        if isinstance(refused, Refused):
            raise ModelError("too many", transient=True, rate_limited=True, retry_after=refused.retry_after)
        return "0.5"


def scored(server: Server, rows: int, max_concurrency: int) -> tuple[Evaluation, float]:
    async def main() -> tuple[Evaluation, float]:
        clock: Any = asyncio.get_running_loop().time
        started = clock()
        samples = ({"user_input": str(number)} for number in range(rows))
        result = await aevaluate(samples, Rated(), llm=Client(server), max_concurrency=max_concurrency, progress=False)
        return result, clock() - started

    return run(main())


@pytest.mark.parametrize(
    ("server", "rows", "max_concurrency", "goodput", "refused"),
    [
        (lambda: TokenBucket(2, SLOW, retry_after="exact", seed=3), 480, 16, 0.82, 0.25),
        (lambda: TokenBucket(2, SLOW, seed=3), 480, 64, 0.82, 0.25),
        (lambda: TokenBucket(10, SLOW, retry_after="exact", seed=3), 2400, 32, 0.82, 0.35),
        (lambda: TokenBucket(40, SLOW, retry_after="rounded", seed=3), 2400, 96, 0.82, 0.35),
        (lambda: TokenBucket(40, SLOW, seed=4), 2400, 96, 0.82, 0.35),
        (lambda: TokenBucket(40, SLOW, retry_after="rounded", seed=3), 2400, 128, 0.82, 0.35),
        (lambda: TokenBucket(40, SLOW, phases=((80, 40), (80, 8)), seed=3), 7000, 128, 0.82, 0.35),
    ],
    ids=["2/s", "2/s, silent", "10/s", "40/s, 96 at once", "40/s, silent", "40/s", "40-8-40/s"],
)
def test_a_limit_of_calls_a_second(
    server: Callable[[], TokenBucket], rows: int, max_concurrency: int, goodput: float, refused: float
) -> None:
    limited = server()
    result, seconds = scored(limited, rows, max_concurrency)
    assert result.summary()["rated"].scored == rows
    assert limited.ideal(rows) / seconds >= goodput
    assert limited.refusals / limited.requests <= refused
    assert limited.deepest <= max_concurrency


@pytest.mark.parametrize(("latency", "mean"), [(constant(0.05), 0.05), (lognormal(0.2), 0.2)])
def test_a_limit_of_calls_at_once(latency: Any, mean: float) -> None:
    limited = Places(16, latency, seed=2)
    result, seconds = scored(limited, 1000, 32)
    assert result.summary()["rated"].scored == 1000
    assert seconds <= 1.2 * 1000 * mean / 16


@pytest.mark.parametrize(("latency", "in_flight", "rows", "most"), [(0.05, 32, 1000, 1.06), (0.5, 256, 2560, 1.11)])
def test_no_limit(latency: float, in_flight: int, rows: int, most: float) -> None:
    free = Server(constant(latency))
    result, seconds = scored(free, rows, in_flight)
    assert result.summary()["rated"].scored == rows
    assert free.deepest == in_flight
    assert seconds <= most * rows * latency / in_flight
