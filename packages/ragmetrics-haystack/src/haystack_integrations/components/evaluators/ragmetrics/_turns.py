"""Calls on threads that begin in the order of their rows.

Strategy. Threads that are started one after the other begin in any order, but a generator that plays a script, a log and a reader
of either expect the order of the rows. So each call waits for the one before it to begin, and then until that one is done or has
had a short head start. No call waits long: one that never comes must not hold up the rest. Once a call took as long as a server
does, nothing plays a script, and no call waits any more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Turns"]

HEAD_START = 0.003
"""Seconds after which the next call begins, if the one before is not done sooner."""

REAL = 0.02
"""Seconds that no script takes to answer."""

LONGEST = 0.2
"""Seconds that a call waits for the one before it to begin."""


class Turns:
    """The order in which the calls of one run begin."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._begun = -1
        self._since = 0.0
        self._done = -1
        self._real = False

    @contextmanager
    def turn(self, number: int) -> Iterator[None]:
        """A block that begins after those with lower numbers have begun."""
        with self._changed:
            self._changed.wait_for(lambda: self._real or self._begun >= number - 1, LONGEST)
            left = self._since + HEAD_START - time.monotonic()
            self._changed.wait_for(lambda: self._real or self._done >= number - 1, max(left, 0.0))
            self._begun, self._since = max(self._begun, number), time.monotonic()
            started = self._since
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._done = max(self._done, number)
                self._real = self._real or time.monotonic() - started > REAL
                self._changed.notify_all()
