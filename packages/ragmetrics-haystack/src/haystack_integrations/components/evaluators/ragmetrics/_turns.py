"""Calls on threads that begin in the order of their rows, as long as they may be those of a script.

Strategy. Threads that are started one after the other begin in any order, but a generator that plays a script, a log and a reader
of either expect the order of the rows. So a call waits until the one before it is done, which a script is at once. What takes
time is a model: the first call that takes long, or the first three that take some time, end all waiting, for then the calls are
to overlap.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Turns"]

LONG = 0.05
"""Seconds that only a model takes; no call waits longer for another."""

QUICK = 0.005
"""Seconds in which a script has answered."""

ENOUGH = 3
"""Calls that took longer than a script, and none that did not, before nobody waits."""


class Turns:
    """The order in which the calls of one run begin."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._done = -1
        self._slow = 0
        self._is_script = False
        self._overlap = False

    @contextmanager
    def turn(self, number: int) -> Iterator[None]:
        """A block that begins after those with lower numbers, unless they take as long as a model."""
        with self._changed:
            came = self._changed.wait_for(lambda: self._overlap or self._done >= number - 1, LONG)
            self._overlap = self._overlap or not came
        started = time.monotonic()
        try:
            yield
        finally:
            with self._changed:
                self._done = max(self._done, number)
                self._note(time.monotonic() - started)
                self._changed.notify_all()

    def _note(self, seconds: float) -> None:
        if seconds < QUICK:
            self._is_script = True
        self._slow += 1
        self._overlap = self._overlap or seconds > LONG or (self._slow >= ENOUGH and not self._is_script)
