"""Servers that limit what they take, and a client that asks them as the engine does. All in virtual time."""

from __future__ import annotations

import asyncio
import math
import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from core.engine.virtual_time import run
from ragmetrics_core._engine._gate import Gate, Pace

__all__ = [
    "Counting",
    "Noise",
    "Outcome",
    "Places",
    "Refused",
    "Server",
    "TokenBucket",
    "ask",
    "constant",
    "lognormal",
    "retried",
    "simulate",
]

Latency = Callable[[random.Random], float]


def constant(seconds: float) -> Latency:
    return lambda _chance: seconds


def lognormal(mean: float, sigma: float = 0.5) -> Latency:
    """As language models answer: most near the median, some three times later."""
    return lambda chance: chance.lognormvariate(math.log(mean) - sigma**2 / 2, sigma)


@dataclass(frozen=True)
class Refused:
    retry_after: float | None


class Noise:
    """Refusals that have nothing to do with the load: a gateway, or a key that others use too.

    Args:
        share: of all calls; or (until, share), in seconds, one after the other.
        retry_after: what they say.
        seed: of the chance.
    """

    def __init__(
        self, share: float | tuple[tuple[float, float], ...], retry_after: float | None = None, seed: int = 0
    ) -> None:
        self._phases = ((math.inf, share),) if isinstance(share, float) else share
        self._retry_after = retry_after
        self._chance = random.Random(seed)
        self.refusals = 0

    def refusal(self, now: float) -> Refused | None:
        share = next(share for until, share in self._phases if now < until)
        if self._chance.random() >= share:
            return None
        self.refusals += 1
        return Refused(self._retry_after)


class Server:
    """Takes all; others refuse some.

    Args:
        latency: seconds until an answer.
        refusal_time: seconds until a refusal is back.
        refuses: (from, to), in seconds: refuses everything in between.
        fails: (from, to), in seconds: loses everything in between (5xx), after a tenth of a second.

    Attributes:
        noise: what else refuses calls, before the server itself sees them.
    """

    def __init__(
        self,
        latency: Latency,
        *,
        refusal_time: float = 0.1,
        refuses: tuple[float, float] = (0.0, 0.0),
        fails: tuple[float, float] = (0.0, 0.0),
        retry_after: float | None = None,
        seed: int = 0,
    ) -> None:
        self.noise: Noise | None = None
        self._latency = latency
        self._refusal_time = refusal_time
        self._refuses, self._fails = refuses, fails
        self._retry_after = retry_after
        self._chance = random.Random(seed)
        self.in_flight = self.deepest = self.requests = self.refusals = 0

    async def call(self) -> Refused | bool:
        """One request: True for an answer, False for a loss."""
        now = asyncio.get_running_loop().time()
        self.requests += 1
        self.in_flight += 1
        self.deepest = max(self.deepest, self.in_flight)
        try:
            if self._fails[0] <= now < self._fails[1]:
                await asyncio.sleep(0.1)
                return False
            refusal = Refused(self._retry_after) if self._refuses[0] <= now < self._refuses[1] else self._disturbed(now)
            if refusal:
                self.refusals += 1
                await asyncio.sleep(self._refusal_time)
                return refusal
            await asyncio.sleep(self._latency(self._chance))
            self.finished()
            return True
        finally:
            self.in_flight -= 1

    def _disturbed(self, now: float) -> Refused | None:
        return (self.noise.refusal(now) if self.noise else None) or self.refusal(now)

    def refusal(self, now: float) -> Refused | None:
        return None

    def finished(self) -> None:
        """A call that was taken is over."""


class TokenBucket(Server):
    """Takes ``rate`` calls a second.

    Args:
        burst: capacity of the bucket in seconds of ``rate``; it is full at the start, and holds one call at least.
        phases: (length in seconds, rate) before ``rate`` itself holds.
        retry_after: ``Retry-After`` is "exact", "rounded" up to whole seconds, or "none".
    """

    def __init__(
        self,
        rate: float,
        latency: Latency,
        *,
        burst: float = 1.0,
        phases: tuple[tuple[float, float], ...] = (),
        retry_after: str = "none",
        refusal_time: float = 0.1,
        fails: tuple[float, float] = (0.0, 0.0),
        refuses: tuple[float, float] = (0.0, 0.0),
        seed: int = 0,
    ) -> None:
        super().__init__(latency, refusal_time=refusal_time, fails=fails, refuses=refuses, seed=seed)
        self._phases = (*phases, (math.inf, rate))
        self._burst = burst
        self._how = retry_after
        self._filled = 0.0
        self._tokens = max(1.0, self.rate(0.0) * burst)

    def rate(self, now: float) -> float:
        for length, rate in self._phases:
            if now < length:
                return rate
            now -= length
        raise AssertionError("the last phase has no end")

    def refusal(self, now: float) -> Refused | None:
        while self._filled < now:
            until = min(now, self._filled + 0.5)
            rate = self.rate(self._filled)
            self._tokens = min(max(1.0, rate * self._burst), self._tokens + rate * (until - self._filled))
            self._filled = until
        if self._tokens >= 1 - 1e-9:
            self._tokens -= 1
            return None
        exact = (1 - self._tokens) / self.rate(now)
        return Refused({"exact": exact, "rounded": float(math.ceil(exact)), "none": None}[self._how])

    def ideal(self, calls: int) -> float:
        """Seconds that so many calls need at the limit."""
        left, spent = float(calls), 0.0
        for length, rate in self._phases:
            if left <= length * rate:
                return spent + left / rate
            left -= length * rate
            spent += length
        raise AssertionError("the last phase has no end")


class Counting(Server):
    """Takes ``rate`` calls in any one second (a sliding window), or in each second of the clock."""

    def __init__(self, rate: int, latency: Latency, *, sliding: bool, refusal_time: float = 0.1, seed: int = 0) -> None:
        super().__init__(latency, refusal_time=refusal_time, seed=seed)
        self._rate = rate
        self._sliding = sliding
        self._taken: deque[float] = deque()

    def refusal(self, now: float) -> Refused | None:
        since = now - 1 if self._sliding else math.floor(now) - 1e-9
        while self._taken and self._taken[0] <= since:
            self._taken.popleft()
        if len(self._taken) >= self._rate:
            return Refused(None)
        self._taken.append(now)
        return None


class Places(Server):
    """Takes so many calls at once, and refuses beyond."""

    def __init__(
        self,
        places: int,
        latency: Latency,
        *,
        retry_after: float | None = None,
        refusal_time: float = 0.002,
        seed: int = 0,
    ) -> None:
        super().__init__(latency, refusal_time=refusal_time, retry_after=retry_after, seed=seed)
        self._free = places

    def refusal(self, now: float) -> Refused | None:
        if self._free == 0:
            return Refused(self._retry_after)
        self._free -= 1
        return None

    def finished(self) -> None:
        self._free += 1


@dataclass(frozen=True)
class Outcome:
    """Of one run: its seconds, when each call was answered, and what the server counted."""

    seconds: float
    answers: list[float]
    requests: int
    refusals: int
    deepest: int

    @property
    def share(self) -> float:
        """Refusals among all requests."""
        return self.refusals / self.requests


async def ask(server: Server, pace: Pace, calls: int, workers: int) -> Outcome:
    """Ask until every call is answered."""
    loop = asyncio.get_running_loop()
    begin = loop.time()
    todo = iter(range(calls))
    answers: list[float] = []

    async def work(todo: Iterator[int]) -> None:
        for _ in todo:
            again = False
            while True:
                started = await pace.enter(again=again)
                reply = await server.call()
                if reply is True:
                    pace.answered(started)
                    answers.append(loop.time())
                    break
                if reply is False:
                    pace.lost(started)
                else:
                    pace.refused(started, reply.retry_after)
                again = True

    await asyncio.gather(*(work(todo) for _ in range(workers)))
    return Outcome(loop.time() - begin, answers, server.requests, server.refusals, server.deepest)


def retried(server: Server, calls: int, places: int) -> float:
    """Seconds that a plain client needs: it makes each refused call again as soon as its ``Retry-After`` is over."""

    async def work() -> float:
        loop = asyncio.get_running_loop()
        todo = iter(range(calls))

        async def one(todo: Iterator[int]) -> None:
            for _ in todo:
                reply = await server.call()
                while isinstance(reply, Refused):
                    await asyncio.sleep(reply.retry_after or 0.0)
                    reply = await server.call()

        await asyncio.gather(*(one(todo) for _ in range(places)))
        return loop.time()

    return run(work())


def simulate(server: Server, calls: int, max_concurrency: int) -> Outcome:
    """One run against one server; nothing is lost, and never more in flight than allowed."""

    async def work() -> Outcome:
        return await ask(server, Pace(Gate(max_concurrency)), calls, max_concurrency)

    outcome = run(work())
    assert len(outcome.answers) == calls
    assert outcome.deepest <= max_concurrency
    return outcome
