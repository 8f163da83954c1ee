"""Whether a metric is being computed, so that a handler does not evaluate the calls of a judge.

A context variable follows the work of a metric into the threads and tasks that the core and the frameworks start for it. All
adapters share it, because a handler of one framework may observe a judge of another.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_judging: ContextVar[bool] = ContextVar("ragmetrics_judging", default=False)


@contextmanager
def judging() -> Iterator[None]:
    """Mark everything in this block as the work of a metric."""
    token = _judging.set(True)
    try:
        yield
    finally:
        _judging.reset(token)


def is_judging() -> bool:
    """Whether this code runs as the work of a metric."""
    return _judging.get()
