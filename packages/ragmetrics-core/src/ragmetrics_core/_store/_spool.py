"""Calls of an application that are kept on disk until they are judged: one SQLite file, which several processes share.

A call belongs to the process that will judge it. Each process holds a lock of the operating system as long as it lives, so the
calls of a process that was killed are found, and the next process takes them over. A call in the file survives a kill of the
process. After a loss of power the latest calls may be missing.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
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
CREATE TABLE IF NOT EXISTS calls (id TEXT PRIMARY KEY, kind TEXT, owner TEXT, at REAL, data BLOB);
CREATE INDEX IF NOT EXISTS owners ON calls (owner, at);
"""

SIZE = """
SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""

Call = tuple[str, bytes]
"""A call: its id, and everything that is known about it."""

LEFT = "left by "
"""Before the name of an owner: a call that any process may judge."""


@dataclass(frozen=True)
class Claimed:
    """What a process has taken over.

    Attributes:
        calls: the oldest calls.
        own: how many of them this process had left itself.
        expired: how many calls were removed, because they had become too old.
        others: how many calls without a living process are of another kind, and stay.
    """

    calls: Sequence[Call] = ()
    own: int = 0
    expired: int = 0
    others: int = 0


class Spool:
    """The directory in which live evaluation keeps calls until they are judged: ``spool=Spool("spool", max_bytes=...)``.

    Only its owner can read it. Any number of processes of one machine may share it. Each process judges what it saw itself, and
    what processes that were killed have left, if they recorded calls in the same way and had metrics of the same names.

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
        self._lock = threading.Lock()

    def write(
        self, kind: str, kept: Iterable[Call], released: Iterable[str] = (), done: Iterable[str] = ()
    ) -> tuple[int, int]:
        """Keep calls that this process will judge, let any process judge those ``released``, and remove those that are ``done``.
        Return how many could not be kept, because the file is full, and how many of those released are not in the file.
        """
        now, lost, missing = time.time(), 0, 0
        with self._transaction() as database:
            database.executemany("DELETE FROM calls WHERE id = ?", [(name,) for name in done])
            (size,) = database.execute(SIZE).fetchone()
            for name, data in kept:
                if size + len(data) > self.max_bytes:
                    lost += 1
                else:
                    size += len(data)
                    database.execute(
                        "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?)", (name, kind, self._owner, now, data)
                    )
            for name in released:
                change = "UPDATE calls SET owner = ? WHERE id = ?"
                missing += not database.execute(change, (LEFT + self._owner, name)).rowcount
        return lost, missing

    def claim(self, kind: str, most: int) -> Claimed:
        """Take over calls of this kind that were released, or whose process has ended."""
        if not (self.path / FILE).exists():
            return Claimed()
        with self._transaction() as database:
            owners = [owner for (owner,) in database.execute("SELECT DISTINCT owner FROM calls")]
        ended = [owner for owner in owners if owner != self._owner and self._has_ended(owner)]
        marks = ", ".join("?" * len(ended))
        with self._transaction() as database:
            expired = database.execute(
                f"DELETE FROM calls WHERE owner IN ({marks}) AND at < ?",
                [*ended, time.time() - self.max_age],
            ).rowcount
            found = database.execute(
                f"SELECT id, data, owner FROM calls WHERE owner IN ({marks}) AND kind = ? ORDER BY at LIMIT ?",
                [*ended, kind, most],
            ).fetchall()
            mine = [(self._owner, name) for name, *_ in found]
            database.executemany("UPDATE calls SET owner = ? WHERE id = ?", mine)
            (others,) = database.execute(
                f"SELECT count(*) FROM calls WHERE owner IN ({marks}) AND kind != ?", [*ended, kind]
            ).fetchone()
        own = sum(owner == LEFT + self._owner for *_, owner in found)
        return Claimed([(name, data) for name, data, _ in found], own, expired, others)

    def _has_ended(self, owner: str) -> bool:
        if owner.startswith(LEFT):
            return True
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

        if self._process not in (None, os.getpid()):  # after a fork
            _of_parent.append((self._database, self._life))
            self._database, self._lock = None, threading.Lock()
        with self._lock:  # several live evaluations may share this object
            try:
                if self._database is None:
                    self._open()
                assert self._database is not None
                self._database.execute("BEGIN IMMEDIATE")
                with self._database:  # commits, or rolls back after an error
                    yield self._database
            except (OSError, sqlite3.Error) as error:
                raise RagmetricsError(f"{self.path / FILE} cannot be written: {error}") from error

    def _open(self) -> None:
        import sqlite3  # noqa: PLC0415  only needed with a spool

        make_directory(self.path)
        (self.path / FILE).touch(0o600)
        owner = f"process-{uuid.uuid4().hex}"
        with ExitStack() as life:
            life.enter_context(only_writer(self.path / owner))
            database = sqlite3.connect(
                self.path / FILE, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            life.enter_context(closing(database))
            latest = time.monotonic() + PATIENCE
            while True:
                try:
                    database.executescript(MAKE)
                    break
                except sqlite3.OperationalError:  # SQLite does not wait while another process changes the mode
                    if time.monotonic() > latest:
                        raise
                    time.sleep(0.05)
            self._process, self._owner, self._database, self._life = os.getpid(), owner, database, life.pop_all()
        # not at the exit of the program, because calls are still written then
        weakref.finalize(self, _close, self._life, os.getpid()).atexit = False


def _close(life: ExitStack, process: int) -> None:
    """Close the file, and let other processes have the calls, when the spool is no longer needed."""
    if process == os.getpid():
        life.close()
    else:
        _of_parent.append(life)


_of_parent: list[object] = []
"""Connections and locks of the parent process, which a child must not close."""
