"""How the time for some work grows with its size, measured without a clock that other programs could slow down."""

from __future__ import annotations

import time
from collections.abc import Callable

TRIES = 4
STEP = 4
"""How much larger the large work is than the small one. A linear rule takes so many times as long, a quadratic one its square."""

ALLOWED = 2.5 * STEP
UNNOTICED = 0.1
"""Seconds on the processor below which growth is no matter."""


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """The work of that size takes little more than so many times the time of a quarter of it, as it must in one try of a few."""
    seen = []
    for _ in range(TRIES):
        small, large = seconds(work, size // STEP), seconds(work, size)
        if large <= ALLOWED * small + UNNOTICED:
            return
        seen.append(f"{small:.3f} s -> {large:.3f} s")
    raise AssertionError(f"{STEP} times the size: {', '.join(seen)}")


USUAL = 0.009
"""Seconds that ``slowness`` took where limits in seconds were set."""


def slowness() -> float:
    """How many times as long as there some work takes here and now, 1 at least; the best of a few tries."""

    def work(size: int) -> int:
        found = {str(number): (number, [number]) for number in range(size)}
        return sum(map(len, found))

    return max(1.0, min(seconds(work, 20_000) for _ in range(5)) / USUAL)


def slowness_on_clock() -> float:
    """The same on the clock on the wall, where other programs take from the processor, of work as long as a page takes."""
    started = time.perf_counter()
    for _ in range(40):
        sum(map(len, {str(number): (number, [number]) for number in range(20_000)}))
    return max(1.0, (time.perf_counter() - started) / (40 * USUAL))


def seconds(work: Callable[[int], object], size: int) -> float:
    """Time on the processor, so that a busy machine does not count."""
    started = time.process_time()
    work(size)
    return time.process_time() - started
