"""The journal of a run: every reply that was paid for, on disk before it is used.

Strategy. A run that was killed must not ask again for a reply that it has. So a reply is written in the step in which it arrives,
by its own commit. SQLite in WAL mode makes that an append to a file, in some 40 microseconds, and data that the operating
system holds outlives the process. (A power cut may lose the last moments, but leaves the file in order.) A reply is found by a
digest of everything that can change it. The raw reply is kept and not its reading, so a better parser reads old replies anew.

Errors are never written, and replies that proved unreadable are deleted. A reply that the disk has damaged does not match its
digest and is asked for again.

No file is made or changed before the first reply is kept. Files of the first version have no digests; their replies are read as
they are, and replies that are added have one.
"""

from __future__ import annotations

import sqlite3
import time
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from .._values._errors import InvalidInput, RagmetricsError
from .._values._requests import Reply, Usage, counted
from ._files import ANOTHER, make_directory

WITHOUT_DIGESTS, VERSION = 1, 2
PATIENCE = 30.0
"""Seconds to wait for another process that writes at this moment."""

OPEN = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA wal_autocheckpoint = 2000;
PRAGMA cache_size = -16000;
"""
MAKE = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS replies (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL, width INTEGER, value BLOB NOT NULL,
    prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, truncated INTEGER NOT NULL, digest BLOB, question BLOB
);
CREATE UNIQUE INDEX IF NOT EXISTS by_key ON replies (key);
PRAGMA user_version = {VERSION};
COMMIT;
"""
# A table in the order of writing with an index beside it: keys are random, and pages of replies written in random order would make
# every commit slower than the last.

FIND = "SELECT width, value, prompt_tokens, completion_tokens, truncated, digest FROM replies WHERE key = ?"
FIND_WITHOUT_DIGESTS = FIND.replace(", digest", ", NULL")
COLUMNS = (
    "INTO replies (key, width, value, prompt_tokens, completion_tokens, truncated, digest, question) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)

DIGEST_SIZE = 8
"""Bytes: of a billion billion spoilt replies about one counts as whole."""

TEXT, NUMBERS = None, -1
"""What is in the column ``width`` of texts and of lists of numbers; vectors have their length there."""


class Journal:
    """Replies by key. For one thread; any number of processes may share the file.

    Args:
        path: the file; made, with its directory, when the first reply is kept.

    Raises:
        InvalidInput: the file is something else, or of another version.
        RagmetricsError: (here and later) it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db: sqlite3.Connection | None = None
        self._version = VERSION
        self._find = FIND
        self._has_questions = True
        self._keys: dict[bytes, bytes] | None = None
        self._opened()

    def _opened(self) -> sqlite3.Connection | None:
        """The open database; None where there is no file."""
        if self._db is None and self._path.exists():
            self._open()
        return self._db

    def _made(self) -> sqlite3.Connection:
        """The open database, ready to be written to; made where there is none."""
        if self._db is None:
            make_directory(self._path.parent)
            self._open()
        assert self._db is not None
        if self._version == 0:
            self._patiently(self._db, MAKE)
            self._version = VERSION
        else:
            if self._find is FIND_WITHOUT_DIGESTS:
                self._add_column(self._db, "digest")
                self._find = FIND
            if not self._has_questions:
                self._add_column(self._db, "question")
                self._has_questions = True
        return self._db

    def _open(self) -> None:
        with self._explain_errors():
            database = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None)
            try:
                (self._version,) = database.execute("PRAGMA user_version").fetchone()
                if self._version not in (0, WITHOUT_DIGESTS, VERSION):
                    raise InvalidInput(f"{self._path} was written by another version of ragmetrics: ", *ANOTHER)
                self._patiently(database, OPEN)
                if self._version != 0:
                    columns = {row[1] for row in database.execute("PRAGMA table_info(replies)")}
                    self._find = FIND if "digest" in columns else FIND_WITHOUT_DIGESTS
                    self._has_questions = "question" in columns
            except BaseException:
                database.close()
                raise
        self._db = database

    def _add_column(self, database: sqlite3.Connection, name: str) -> None:
        """Add a column that files of earlier builds do not have."""
        with self._explain_errors():
            try:
                database.execute(f"ALTER TABLE replies ADD COLUMN {name} BLOB")
            except sqlite3.OperationalError as error:
                if "duplicate column" not in str(error):  # another process was faster
                    raise

    def _patiently(self, database: sqlite3.Connection, commands: str) -> None:
        """Run the commands; try again while another process locks the file, as SQLite does not wait while it changes to WAL."""
        latest = time.monotonic() + PATIENCE
        with self._explain_errors():
            while True:
                try:
                    database.executescript(commands)
                except sqlite3.OperationalError as error:  # noqa: PERF203  it waits between the attempts
                    if "locked" not in str(error) or time.monotonic() > latest:
                        raise
                    time.sleep(0.05)
                else:
                    return

    def find(self, key: bytes) -> Reply[Any] | None:
        """The reply under this key, as it was when it was paid for; None where it is missing or damaged."""
        database = self._opened()
        if database is None or (self._version == 0 and not self._is_made(database)):
            return None
        with self._explain_errors():
            row = database.execute(self._find, (key,)).fetchone()
        if row is None:
            return None
        *parts, digest = row
        unsigned = digest is None and self._version == WITHOUT_DIGESTS
        if not unsigned and digest != _digest(key, *parts):
            return None
        width, value, prompt_tokens, completion_tokens, truncated = parts
        try:
            return Reply(_unpacked(width, value), Usage(1, prompt_tokens, completion_tokens), bool(truncated))
        except (ValueError, TypeError):  # damaged, in a row without a digest
            return None

    def answer_to(self, question: bytes) -> Reply[Any] | None:
        """The reply to a question, looked up without its key; None where it is missing, damaged, or of an earlier build."""
        if self._keys is None:
            self._keys = self._all_questions()
        key = self._keys.get(question)
        return None if key is None else self.find(key)

    def _all_questions(self) -> dict[bytes, bytes]:
        database = self._opened()
        if database is None or not self._has_questions or (self._version == 0 and not self._is_made(database)):
            return {}
        with self._explain_errors():
            return dict(database.execute("SELECT question, key FROM replies WHERE question IS NOT NULL ORDER BY id"))

    def _is_made(self, database: sqlite3.Connection) -> bool:
        """Whether another process has made the table by now."""
        with self._explain_errors():
            (self._version,) = database.execute("PRAGMA user_version").fetchone()
        return self._version != 0

    def keep(self, key: bytes, reply: Reply[Any], question: bytes | None = None) -> Reply[Any]:
        """Write a reply; returns the one that the file then holds, which is another process's if that came first."""
        width, value = _packed(reply.value)
        usage = reply.usage
        tokens = map(counted, (usage.prompt_tokens, usage.completion_tokens))
        parts = (width, value, *tokens, int(reply.truncated))
        row = (key, *parts, _digest(key, *parts), question)
        database = self._made()
        with self._explain_errors():
            if database.execute(f"INSERT OR IGNORE {COLUMNS}", row).rowcount:  # the command holds no value
                return reply
        standing = self.find(key)
        if standing is not None:
            return Reply(standing.value, usage, standing.truncated)
        with self._explain_errors():
            database.execute(f"INSERT OR REPLACE {COLUMNS}", row)  # the one in the file is damaged
        return reply

    def strike(self, keys: Iterable[bytes]) -> None:
        """Forget replies that turned out to be of no use, so that a later run asks again."""
        database = self._made()
        with self._explain_errors():
            database.executemany("DELETE FROM replies WHERE key = ?", ((key,) for key in keys))

    def close(self) -> None:
        """Close the file; nothing is left to be written."""
        if self._db is not None:
            self._db.close()

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise RagmetricsError(f"the journal {self._path} cannot be used: {error}") from None
        except (
            sqlite3.DatabaseError,
            UnicodeDecodeError,
        ) as error:  # the second: the names of its tables are damaged
            raise InvalidInput(
                f"{self._path} is no journal of ragmetrics ({error}): ", *ANOTHER, ", or move the file away"
            ) from None


def _digest(key: bytes, *parts: Any) -> bytes:
    digest = blake2b(digest_size=DIGEST_SIZE)
    for part in (key, *parts):
        data = part if isinstance(part, bytes) else repr(part).encode()
        digest.update(b"%d " % len(data))
        digest.update(data)
    return digest.digest()


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
    return (
        [numbers[start : start + width] for start in range(0, len(numbers), width)] if width else [[] for _ in numbers]
    )
