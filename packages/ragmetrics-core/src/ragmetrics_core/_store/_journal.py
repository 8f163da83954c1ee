"""The journal of a run: every reply that was paid for and its messages, on disk before it is used.

A run that was killed must not ask again for a reply that it has. So a reply is written in the step in which it arrives, with its
own commit. In WAL mode, SQLite makes that an append to a file, in about 40 microseconds, and data that the operating system has
outlives the process. (A power cut may lose the last moments, but leaves the file intact.) The key of a reply is a digest of
everything that can change it. The raw reply is kept, not its reading, so a better parser can read old replies again.

Messages are stored with the reply, except system messages: many replies share them, so their text is stored once, by its digest.

Errors are never written. A reply that proved unreadable loses its digest, so it is asked for again. So is a reply that no longer
matches its digest, because the disk has damaged it. No file is made or changed before the first reply is kept.
"""

from __future__ import annotations

import json
import sqlite3
import time
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from .._kernel._wording import encode
from .._values._errors import InvalidInput, RagmetricsError
from .._values._requests import Ask, Reply, Request, Usage, counted
from ._files import ANOTHER, make_directory

VERSION = 2
PATIENCE = 30.0
"""Seconds to wait for another process that is writing."""

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
    prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, truncated INTEGER NOT NULL, digest BLOB, messages BLOB
);
CREATE UNIQUE INDEX IF NOT EXISTS by_key ON replies (key);
CREATE TABLE IF NOT EXISTS texts (digest TEXT PRIMARY KEY, text BLOB NOT NULL) WITHOUT ROWID;
PRAGMA user_version = {VERSION};
COMMIT;
"""
# A table in the order of writing with an index beside it: keys are random, and pages of replies written in random order would make
# every commit slower than the last.

FIND = "SELECT width, value, prompt_tokens, completion_tokens, truncated, digest FROM replies WHERE key = ?"
FIND_MESSAGES = "SELECT messages FROM replies WHERE key = ?"
FIND_TEXT = "SELECT text FROM texts WHERE digest = ?"
COLUMNS = (
    "INTO replies (key, width, value, prompt_tokens, completion_tokens, truncated, digest, messages) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)

DIGEST_SIZE = 8
"""Bytes of a digest: about one in 2**64 damaged replies would count as undamaged."""

MOST_TEXTS = 1000
"""The number of texts whose digests are remembered: far more than a run has prompts, unless a metric makes a prompt for each
row.
"""

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
        self._columns: set[str] = set()
        self._texts: dict[str, str] = {}
        self._readable()

    def find(self, key: bytes) -> Reply[Any] | None:
        """The reply with this key, as it was when it was paid for; None if it is missing, damaged or was struck."""
        row = self._row(FIND, key)
        if row is None:
            return None
        *parts, digest = row
        if digest != _digest(key, *parts):
            return None
        width, value, prompt_tokens, completion_tokens, truncated = parts
        return Reply(_unpacked(width, value), Usage(1, prompt_tokens, completion_tokens), bool(truncated))

    def messages(self, key: bytes) -> list[dict[str, str]] | None:
        """The messages that the reply with this key answers; None if they are missing or damaged."""
        row = self._row(FIND_MESSAGES, key)
        if row is None or row[0] is None:
            return None
        try:
            sent = json.loads(row[0])
            return [
                {
                    "role": role,
                    "content": self._row(FIND_TEXT, text)[0].decode("utf-8", "surrogatepass")
                    if role == "system"
                    else text,
                }
                for role, text in sent
            ]
        except (LookupError, TypeError, ValueError):
            return None

    def keep(self, key: bytes, reply: Reply[Any], request: Request | None = None) -> Reply[Any]:
        """Write a reply with the messages that it answers.

        Returns the reply that the file then has. It is another process's reply if that came first.
        """
        width, value = _packed(reply.value)
        usage = reply.usage
        parts = (width, value, counted(usage.prompt_tokens), counted(usage.completion_tokens), int(reply.truncated))
        database = self._writable()
        with self._explain_errors():
            messages = self._packed_messages(database, request) if isinstance(request, Ask) else None
            row = (key, *parts, _digest(key, *parts), messages)
            if database.execute(f"INSERT OR IGNORE {COLUMNS}", row).rowcount:  # the command holds no value
                return reply
        standing = self.find(key)
        if standing is not None:
            return Reply(standing.value, usage, standing.truncated)
        with self._explain_errors():
            database.execute(f"INSERT OR REPLACE {COLUMNS}", row)  # the one in the file is damaged or of no use
        return reply

    def strike(self, keys: Iterable[bytes]) -> None:
        """Strike replies that turned out to be unusable, so that a later run asks again. Their messages stay."""
        database = self._writable()
        with self._explain_errors():
            database.executemany(
                "UPDATE replies SET value = x'', digest = NULL WHERE key = ?", ((key,) for key in keys)
            )

    def close(self) -> None:
        """Close the file."""
        if self._db is not None:
            self._db.close()

    def _row(self, query: str, key: bytes | str) -> Any:
        """The row that the query finds for a key; None if there is none."""
        database = self._readable()
        if database is None or (query is FIND_MESSAGES and "messages" not in self._columns):
            return None
        with self._explain_errors():
            return database.execute(query, (key,)).fetchone()

    def _readable(self) -> sqlite3.Connection | None:
        """The open database; None if there is no file, or no table in it yet."""
        if self._db is None and self._path.exists():
            self._open()
        if self._db is not None and not self._columns:
            with self._explain_errors():
                self._columns = _columns_of(self._db)
        return self._db if self._columns else None

    def _writable(self) -> sqlite3.Connection:
        """The open database, ready for writing; it is made if there is none."""
        if self._db is None:
            make_directory(self._path.parent)
        database = self._db or self._open()
        if "messages" not in self._columns:
            self._patiently(database, MAKE)
            with self._explain_errors():
                database.execute("BEGIN IMMEDIATE")
                if "messages" not in _columns_of(database):  # an earlier version made the table
                    database.execute("ALTER TABLE replies ADD COLUMN messages BLOB")
                database.execute("COMMIT")
                self._columns = _columns_of(database)
        return database

    def _open(self) -> sqlite3.Connection:
        with self._explain_errors():
            database = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None)
            try:
                (version,) = database.execute("PRAGMA user_version").fetchone()
                if version not in (0, VERSION):
                    raise InvalidInput(f"{self._path} was written by another version of ragmetrics: ", *ANOTHER)
                self._patiently(database, OPEN)
            except BaseException:
                database.close()
                raise
        self._db = database
        return database

    def _patiently(self, database: sqlite3.Connection, commands: str) -> None:
        """Run the commands. Try again while another process locks the file, because SQLite does not wait while it changes to WAL
        mode.
        """
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

    def _packed_messages(self, database: sqlite3.Connection, ask: Ask) -> bytes:
        sent = [
            (message.role, self._kept(database, message.content) if message.role == "system" else message.content)
            for message in ask.messages
        ]
        return encode(sent).encode("utf-8", "surrogatepass")

    def _kept(self, database: sqlite3.Connection, text: str) -> str:
        """The digest of a text that many messages share; the file has the text once."""
        found = self._texts.get(text)
        if found is None:
            if len(self._texts) >= MOST_TEXTS:
                self._texts.clear()
            data = text.encode("utf-8", "surrogatepass")
            found = self._texts[text] = blake2b(data, digest_size=16).hexdigest()
            database.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (found, data))
        return found

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


def _columns_of(database: sqlite3.Connection) -> set[str]:
    """The columns of the table of replies; none without the table."""
    return {row[1] for row in database.execute("PRAGMA table_info(replies)")}


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
