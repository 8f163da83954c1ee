"""Calls of an application that are kept on disk until they are judged: one SQLite file, which several processes share.

A call belongs to the process that will judge it. Each process holds a lock of the operating system as long as it lives, so the
calls of a process that was killed are found, and the next process takes them over. A call in the file survives a kill of the
process. After a loss of power the latest calls may be missing.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .._values._errors import InvalidInput, RagmetricsError
from .._values._settings import check_whole
from ._files import check_directory, make_directory
from ._lock import only_writer

if TYPE_CHECKING:
    import sqlite3

FILE = "spool.sqlite"
PATIENCE = 10.0
"""Seconds to wait for another process that writes."""

MAKE = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS calls (id TEXT PRIMARY KEY, owner TEXT, at REAL, data BLOB);
CREATE INDEX IF NOT EXISTS owners ON calls (owner, at);
"""

SIZE = """
SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""

Call = tuple[str, bytes]
"""A call: its id, and everything that is known about it."""


class Spool:
    """The directory in which live evaluation keeps calls until they are judged: ``spool=Spool("spool", max_bytes=...)``.

    Only its owner can read it. Any number of processes of one machine may share it. Each process judges what it saw itself, and
    what processes that were killed have left.

    Args:
        path: the directory; made when the first call is kept.
        max_bytes: further calls are not kept when the file holds so many bytes.
        max_age: seconds after which a call is no longer judged.

    Raises:
        InvalidInput: a limit is impossible, or the path cannot be a directory.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, max_bytes: int = 1_000_000_000, max_age: float = 7 * 86400.0
    ) -> None:
        check_whole("max_bytes", max_bytes, least=1)
        if isinstance(max_age, bool) or not isinstance(max_age, int | float) or not max_age > 0:
            raise InvalidInput(f"max_age must be a positive number of seconds, got {max_age!r}")
        self.path = Path(path).absolute()
        check_directory(self.path)
        self.max_bytes, self.max_age = max_bytes, max_age
        self._owner = ""
        self._process: int | None = None
        self._database: sqlite3.Connection | None = None
        self._life = ExitStack()

    def write(self, kept: Iterable[Call], released: Iterable[str] = (), done: Iterable[str] = ()) -> int:
        """Keep calls that this process will judge, let any process judge those ``released``, and remove those that are ``done``.
        Return how many could not be kept, because the file is full.
        """
        now, lost = time.time(), 0
        with self._transaction() as database:
            database.executemany("DELETE FROM calls WHERE id = ?", [(name,) for name in done])
            (size,) = database.execute(SIZE).fetchone()
            for name, data in kept:
                size += len(data)
                if size > self.max_bytes:
                    lost += 1
                else:
                    database.execute("INSERT INTO calls VALUES (?, ?, ?, ?)", (name, self._owner, now, data))
            database.executemany("UPDATE calls SET owner = '' WHERE id = ?", [(name,) for name in released])
        return lost

    def claim(self, most: int) -> tuple[Sequence[Call], int]:
        """Return calls that were released, or whose process has ended, the oldest first, and how many had become too old. They
        belong to this process now.
        """
        if not (self.path / FILE).exists():
            return [], 0
        with self._transaction() as database:
            owners = [owner for (owner,) in database.execute("SELECT DISTINCT owner FROM calls")]
        ended = ["", *(owner for owner in owners if owner not in ("", self._owner) and self._has_ended(owner))]
        marks = ", ".join("?" * len(ended))
        with self._transaction() as database:
            old = database.execute(
                f"DELETE FROM calls WHERE owner IN ({marks}) AND at < ?",
                [*ended, time.time() - self.max_age],
            ).rowcount
            found = database.execute(
                f"SELECT id, data FROM calls WHERE owner IN ({marks}) ORDER BY at LIMIT ?",
                [*ended, most],
            ).fetchall()
            mine = [(self._owner, name) for name, _ in found]
            database.executemany("UPDATE calls SET owner = ? WHERE id = ?", mine)
        return found, old

    def _has_ended(self, owner: str) -> bool:
        try:
            with only_writer(self.path / owner):
                pass
        except InvalidInput:  # it is locked
            return False
        with suppress(OSError):  # the file of the lock is gone; another process removes the directory too
            (self.path / owner).rmdir()
        return True

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Open the file if this process has not done so, and write everything in the block, or nothing.

        Raises:
            RagmetricsError: the file cannot be written.
        """
        import sqlite3  # noqa: PLC0415  only needed with a spool

        try:
            database = self._opened()
            database.execute("BEGIN IMMEDIATE")
            with database:  # commits, or rolls back after an error
                yield database
        except (OSError, sqlite3.Error) as error:
            raise RagmetricsError(f"{self.path / FILE} cannot be written: {error}") from error

    def _opened(self) -> sqlite3.Connection:
        import sqlite3  # noqa: PLC0415  only needed with a spool

        if self._process != os.getpid():  # the first use, also after a fork
            _of_parent.append((self._database, self._life))
            self._owner, self._life = f"process-{uuid.uuid4().hex}", ExitStack()
            make_directory(self.path)
            (self.path / FILE).touch(0o600)
            self._life.enter_context(only_writer(self.path / self._owner))
            database = sqlite3.connect(
                self.path / FILE, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            self._life.enter_context(closing(database))
            latest = time.monotonic() + PATIENCE
            while True:
                try:
                    database.executescript(MAKE)
                    break
                except sqlite3.OperationalError:  # SQLite does not wait while another process changes the mode
                    if time.monotonic() > latest:
                        raise
                    time.sleep(0.05)
            self._process, self._database = os.getpid(), database
        assert self._database is not None
        return self._database


_of_parent: list[object] = []
"""Connections and locks of the parent process, which a child must not close."""
