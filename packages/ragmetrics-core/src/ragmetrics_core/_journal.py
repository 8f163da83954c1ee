"""The journal of a run: every reply that was paid for, on disk before anybody works with it.

Strategy. A killed run must not ask again what it has been answered. So a reply is written in the very step in which it arrives,
by a commit of its own: SQLite in WAL mode makes that an append to a file, some 40 microseconds, and what the operating system
holds outlives the process. (A power cut may lose the last moments, never the order of the file.) Replies are found by a digest
of everything that can change them; the raw reply is kept, not its reading, so a better parser reads old replies anew.

Failures are not replies: errors are never written, and replies that proved unreadable to the end are struck out again.
"""

from __future__ import annotations

import sqlite3
import time
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ._errors import InvalidInput, RagmetricsError
from ._requests import Reply, Usage

__all__ = ["Journal"]

VERSION = 1
PATIENCE = 30.0
"""Seconds to wait for another process that writes at this moment."""

SETUP = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA wal_autocheckpoint = 2000;
PRAGMA cache_size = -16000;
CREATE TABLE IF NOT EXISTS replies (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL, width INTEGER, value BLOB NOT NULL,
    prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, truncated INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS by_key ON replies (key);
"""
# A table in the order of writing with an index beside it: keys are random, and pages of replies written in random order would make
# every commit dearer than the last.

FIND = "SELECT width, value, prompt_tokens, completion_tokens, truncated FROM replies WHERE key = ?"
WRITE = "INSERT OR IGNORE INTO replies (key, width, value, prompt_tokens, completion_tokens, truncated) VALUES (?, ?, ?, ?, ?, ?)"

TEXT, NUMBERS = None, -1
"""What stands in the column ``width`` of texts and of lists of numbers; vectors have their length there."""


class Journal:
    """Replies by key. For one thread; any number of processes may share the file.

    Args:
        path: the file; made if it is missing.

    Raises:
        InvalidInput: the file is something else, or of another version.
        RagmetricsError: (here and later) it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._worded():
            self._db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
            try:
                self._set_up()
            except BaseException:
                self._db.close()
                raise

    def _set_up(self) -> None:
        latest = time.monotonic() + PATIENCE
        while True:
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version not in (0, VERSION):
                raise InvalidInput(f"{self._path} was written by another version of ragmetrics: give another run_dir")
            try:
                self._db.executescript(SETUP)
                if version != VERSION:
                    self._db.execute(f"PRAGMA user_version = {VERSION}")
            except sqlite3.OperationalError as error:
                # SQLite does not wait for others by itself while it changes to WAL
                if "locked" not in str(error) or time.monotonic() > latest:
                    raise
                time.sleep(0.05)
            else:
                return

    def find(self, key: bytes) -> Reply[Any] | None:
        """The reply under this key, as it was when it was paid for, or None."""
        with self._worded():
            row = self._db.execute(FIND, (key,)).fetchone()
        if row is None:
            return None
        width, value, prompt_tokens, completion_tokens, truncated = row
        return Reply(_unpacked(width, value), Usage(1, prompt_tokens, completion_tokens), bool(truncated))

    def keep(self, key: bytes, reply: Reply[Any]) -> Reply[Any]:
        """Write a reply; the one that stands in the end is returned, which is another process's if that came first."""
        width, value = _packed(reply.value)
        usage = reply.usage
        row = (key, width, value, usage.prompt_tokens, usage.completion_tokens, reply.truncated)
        with self._worded():
            if self._db.execute(WRITE, row).rowcount:
                return reply
        standing = self.find(key)
        return reply if standing is None else Reply(standing.value, usage, standing.truncated)

    def strike(self, keys: Iterable[bytes]) -> None:
        """Forget replies that turned out to be of no use, so that a later run asks again."""
        with self._worded():
            self._db.executemany("DELETE FROM replies WHERE key = ?", ((key,) for key in keys))

    def close(self) -> None:
        """Close the file; nothing is left to be written."""
        self._db.close()

    @contextmanager
    def _worded(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise RagmetricsError(f"the journal {self._path} cannot be used: {error}") from None
        except sqlite3.DatabaseError as error:
            raise InvalidInput(
                f"{self._path} is no journal of ragmetrics ({error}): give another run_dir, or move the file away"
            ) from None


def _packed(value: Any) -> tuple[int | None, bytes]:
    if isinstance(value, str):
        return TEXT, value.encode("utf-8", "surrogatepass")
    if len(value) and not isinstance(value[0], float | int):
        flat = array("d")
        for vector in value:
            flat.extend(vector)
        return len(value[0]), (flat or array("d", [0.0] * len(value))).tobytes()  # empty vectors must be counted too
    return NUMBERS, array("d", value).tobytes()


def _unpacked(width: int | None, value: bytes) -> Any:
    if width is TEXT:
        return value.decode("utf-8", "surrogatepass")
    numbers = array("d", value).tolist()
    if width == NUMBERS:
        return numbers
    return [numbers[at : at + width] for at in range(0, len(numbers), width)] if width else [[] for _ in numbers]
