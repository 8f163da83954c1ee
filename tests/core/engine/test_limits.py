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

SLOW = lognormal(1.5)


class Client:
    """A model behind a simulated server, which may be on this machine."""

    def __init__(self, server: Server, on_this_machine: bool = False) -> None:
        self.server = server
        self.on_this_machine = on_this_machine

    async def agenerate(self, ask: Ask) -> str:
        refused = await self.server.call()
        if isinstance(refused, Refused):
            raise ModelError("too many", transient=True, rate_limited=True, retry_after=refused.retry_after)
        return "0.5"


def scored(server: Server, rows: int, max_concurrency: int, near: bool = False) -> tuple[Evaluation, float]:
    async def main() -> tuple[Evaluation, float]:
        clock: Any = asyncio.get_running_loop().time
        started = clock()
        samples = ({"user_input": str(number)} for number in range(rows))
        result = await aevaluate(
            samples, Rated(), llm=Client(server, near), max_concurrency=max_concurrency, progress=False
        )
        return result, clock() - started

    return run(main())


@pytest.mark.parametrize(
    ("server", "rows", "max_concurrency", "goodput", "refused"),
    [
        (lambda: TokenBucket(2, SLOW, told="exact", seed=3), 480, 16, 0.92, 0.04),
        (lambda: TokenBucket(2, SLOW, seed=3), 480, 64, 0.92, 0.04),
        (lambda: TokenBucket(10, SLOW, told="exact", seed=3), 2400, 32, 0.92, 0.02),
        (lambda: TokenBucket(40, SLOW, told="rounded", seed=3), 2400, 96, 0.92, 0.02),
        (lambda: TokenBucket(40, SLOW, seed=4), 2400, 96, 0.92, 0.02),
        (lambda: TokenBucket(40, SLOW, told="rounded", seed=3), 2400, 128, 0.92, 0.02),
        (lambda: TokenBucket(40, SLOW, phases=((80, 40), (80, 8)), seed=3), 7000, 128, 0.92, 0.02),
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
    assert seconds <= 1.15 * 1000 * mean / 16


@pytest.mark.parametrize(("latency", "in_flight", "rows", "most"), [(0.05, 32, 1000, 1.04), (0.5, 256, 2560, 1.03)])
def test_no_limit(latency: float, in_flight: int, rows: int, most: float) -> None:
    free = Server(constant(latency))
    result, seconds = scored(free, rows, in_flight)
    assert result.summary()["rated"].scored == rows
    assert free.deepest == in_flight
    assert seconds <= most * rows * latency / in_flight


def test_a_server_on_this_machine_need_not_be_waited_for() -> None:
    """Its refusals would be there within milliseconds, so all go before the first answer."""
    near, far = Server(constant(0.5)), Server(constant(0.5))
    assert scored(near, 32, 32, near=True)[1] == pytest.approx(0.5 + 3 * 0.004)  # 8 at a time
    assert scored(far, 32, 32)[1] == pytest.approx(0.5 + 2 * 0.15)  # 8, 16, 32
    assert near.deepest == far.deepest == 32
