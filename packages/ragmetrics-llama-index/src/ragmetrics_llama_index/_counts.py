"""Counters that many threads use."""

from __future__ import annotations

import threading
from collections import Counter

__all__ = ["Counts"]


class Counts:
    """How often things happened."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, what: str) -> None:
        """It happened once more."""
        with self._lock:
            self._counts[what] += 1

    def now(self) -> dict[str, int]:
        """The counts up to now."""
        with self._lock:
            return dict(self._counts)
