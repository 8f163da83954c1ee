"""Locks between processes, as every platform has them: in a database, which lets go of them when a process dies."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SCORING = "lock.sqlite"
"""Who has it scores the rows of marked tests."""

JOINING = "joining.sqlite"
"""Who has it makes one run of all parts."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes out, until the end or the death of this one: a lock that every platform has, in a database."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=1.0, isolation_level=None)
    try:
        while not _begun(connection):
            pass  # each try waits a second, so that Ctrl-C is heard
        yield
    finally:
        connection.close()


def _begun(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        return False
    return True
