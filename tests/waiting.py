"""How tests wait for other threads, on machines that may be busy: with patience, and with a clock that only they move."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

__all__ = ["PATIENCE", "Crowd", "HeldClock", "until", "until_async"]

PATIENCE = 60.0
"""Seconds after which something is taken to hang: far more than a busy machine takes, and spent only where a test fails."""


def until(condition: Callable[[], bool]) -> bool:
    """Wait until a condition is true; False if it never came true."""
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


async def until_async(condition: Callable[[], bool]) -> bool:
    """The same without blocking the running loop."""
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:  # noqa: ASYNC110  what is waited for happens in threads
        await asyncio.sleep(0.005)
    return condition()


class Crowd:
    """Lets callers through only when so many are there at the same time, and then all of them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._there = 0
        self._complete = threading.Event()

    def wait(self) -> bool:
        """Wait for the others; whether they came."""
        with self._lock:
            self._there += 1
            if self._there >= self._size:
                self._complete.set()
        came = self._complete.wait(PATIENCE)
        with self._lock:
            self._there -= 1
        return came


class HeldClock:
    """Replaces the module ``time``, and stands still until it is moved: nothing is late but what a test means to be."""

    def __init__(self) -> None:
        self._now = 0.0
        self._moved = threading.Condition()
        self._seen = threading.local()

    def monotonic(self) -> float:
        self._seen.last = self._now
        return self._now

    def sleep(self, seconds: float) -> None:
        """Wait until the clock has been moved so far since this thread has looked at it."""
        end = getattr(self._seen, "last", self._now) + seconds
        with self._moved:
            self._moved.wait_for(lambda: self._now >= end)

    def move(self, seconds: float) -> None:
        with self._moved:
            self._now += seconds
            self._moved.notify_all()


def given_up(spool: Path) -> int:
    """Leave the calls in a spool to any process; how many there are."""
    if not (spool / "spool.sqlite").exists():
        return 0
    with closing(sqlite3.connect(spool / "spool.sqlite", timeout=60)) as database, database:
        if not database.execute("SELECT * FROM sqlite_master WHERE name = 'calls'").fetchone():
            return 0
        return database.execute("UPDATE calls SET owner = 'left by a process'").rowcount
