"""Calls on many threads that begin in the order of their numbers, for models that play a script.

Strategy. Such a model replies in the order in which it is called, and is at its end at once: so each call waits for the one before
it. What takes longer is a model, whose calls are to overlap, so the waiting ends for good when its time is used up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

QUICK = 0.01
"""Seconds that a model may take for each call and still be one that plays a script."""


class BeginInOrder:
    """Calls that begin in order, until they have taken longer than those of a script.

    Args:
        spare: seconds that all calls together may take longer than those of a script.
    """

    def __init__(self, spare: float) -> None:
        self._changed = threading.Condition()
        self._next = 0
        self._most = self._spare = spare

    @contextmanager
    def call(self, number: int) -> Iterator[None]:
        """The block in which the call of this number, from 0, is made."""
        with self._changed:
            while self._next < number and self._spare > 0:
                if not self._changed.wait(QUICK + self._spare):
                    self._spare = 0.0
        begun = time.monotonic()
        try:
            yield
        finally:
            with self._changed:
                self._next = max(self._next, number + 1)
                if self._spare > 0:
                    self._spare = min(self._most, self._spare + QUICK - (time.monotonic() - begun))
                self._changed.notify_all()
