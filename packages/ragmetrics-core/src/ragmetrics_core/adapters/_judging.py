"""The mark that a metric is at work in this context, so that nobody who watches an application takes a judge's call for the user's.

A context variable follows the work into the threads and tasks that the core and the frameworks start for it. There is one for
all adapters, as a judge of one framework may be watched by another.
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
