"""Whether a metric is at work, so that a handler does not evaluate the calls of a judge.

Strategy. A context variable follows the work of a metric into the threads and tasks that the core and the frameworks start for it.
All adapters share it, as a handler of one framework may watch a judge of another.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_judging: ContextVar[bool] = ContextVar("ragmetrics_judging", default=False)


@contextmanager
def judging() -> Iterator[None]:
    """Mark what happens in this block as the work of a metric."""
    token = _judging.set(True)
    try:
        yield
    finally:
        _judging.reset(token)


def is_judging() -> bool:
    """Whether a metric is at work here."""
    return _judging.get()
