"""Counters that many threads use."""

from __future__ import annotations

import threading
from collections import Counter


class Counts:
    """How often things happened."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.RLock()  # a stream that is collected meanwhile counts too, on the same thread

    def __getitem__(self, what: str) -> int:
        """How often it has happened."""
        return self._counts[what]

    def add(self, what: str, number: int = 1) -> int:
        """It happened once more, or so many times more: how often that makes."""
        with self._lock:
            self._counts[what] += number
            return self._counts[what]

    def now(self) -> dict[str, int]:
        """The counts up to now, of what has happened."""
        with self._lock:
            return {what: count for what, count in self._counts.items() if count}
