"""The journal of a run: every reply that was paid for and its messages, on disk before it is used.

A run that was killed must not ask again for a reply that it has. So a reply is written in the step in which it arrives, with its
own commit. In WAL mode, SQLite makes that an append to a file, in about 40 microseconds, and data that the operating system has
outlives the process. (A power cut may lose the last moments, but leaves the file intact.) The key of a reply is a digest of
everything that can change it. The raw reply is kept, not its reading, so a better parser can read old replies again.

Messages are stored with the reply, except system messages: many replies share them, so their text is stored once, by its digest.

Errors are never written. A reply that proved unreadable loses its digest, so it is asked for again. So is a reply that no longer
matches its digest, because the disk has damaged it. No file is made or changed before the first reply is kept.

A run directory has one writer, but processes of one machine may share a file of ``SQLiteReplies``: the earliest reply counts.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from .._kernel._wording import encode
from .._values._errors import InvalidInput, RagmetricsError, Setting
from .._values._requests import Ask, Reply, Request
from ._files import ANOTHER, OWNER_ONLY_FILE, explain_errors, make_directory, sync_to_disk
from ._reply_bytes import digest_of, parts_of, reply_of

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
STRIKE = "UPDATE replies SET value = x'', digest = NULL WHERE key = ?"
FIND_TEXT = "SELECT text FROM texts WHERE digest = ?"
COLUMNS = (
    "INTO replies (key, width, value, prompt_tokens, completion_tokens, truncated, digest, messages) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)

MOST_TEXTS = 1000
"""The number of texts whose digests are remembered: far more than a run has prompts, unless a metric makes a prompt for each
row.
"""


class SQLiteReplies:
    """A ``ReplyStore`` in one SQLite file, like the one that ``evaluate(run_dir=...)`` makes.

    Each reply is on its way to the disk before it is used, so a process that is killed loses none. Any number of processes of one
    machine may share the file. Use it on a local disk: over a network, ``SegmentReplies`` works.

    Args:
        path: the file; made, with its directory, when the first reply is kept, so that only its owner can read it.

    Raises:
        InvalidInput: the file is something else, or of another version.
        RagmetricsError: (here and later) it cannot be written.
    """

    _cure: tuple[str | Setting, ...] = ("give another path",)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._db: sqlite3.Connection | None = None
        self._columns: set[str] = set()
        self._texts: dict[str, str] = {}
        self._readable()

    def find(self, key: bytes) -> Reply[Any] | None:
        """The reply under this key, as it was when it was paid for; None if it is missing, damaged or was struck."""
        row = self._row(FIND, key)
        if row is None:
            return None
        *parts, digest = row
        return reply_of(tuple(parts)) if digest == digest_of(key, *parts) else None

    def messages(self, key: bytes) -> list[dict[str, str]] | None:
        """The messages that the reply with this key answers; None if they are missing or damaged."""
        row = self._row(FIND_MESSAGES, key)
        if row is None or row[0] is None:
            return None
        try:
            return [
                {"role": role, "content": self._text(text) if role == "system" else text}
                for role, text in json.loads(row[0])
            ]
        except (LookupError, TypeError, ValueError):
            return None

    def keep(self, key: bytes, reply: Reply[Any], request: Request | None = None) -> Reply[Any]:
        """Write a reply with the messages that it answers. Returns the reply that the file then has: the earliest one."""
        parts = parts_of(reply)
        database = self._writable()
        with self._explain_errors():
            messages = self._packed_messages(database, request) if isinstance(request, Ask) else None
            row = (key, *parts, digest_of(key, *parts), messages)
            if database.execute(f"INSERT OR IGNORE {COLUMNS}", row).rowcount:  # the command holds no value
                return reply
        if (existing := self.find(key)) is not None:
            return Reply(existing.value, reply.usage, existing.truncated)
        with self._explain_errors():
            database.execute(f"INSERT OR REPLACE {COLUMNS}", row)  # the one in the file is damaged or of no use
        return reply

    def strike(self, keys: Iterable[bytes]) -> None:
        """Blank replies that turned out to be unusable, so that a later run asks again. The messages of the questions are kept."""
        database = self._writable()
        with self._explain_errors():
            database.executemany(STRIKE, ((key,) for key in keys))

    def sync(self) -> None:
        """Make the replies so far survive a power cut, too; without this they only survive the end of the process."""
        log = self._path.with_name(f"{self._path.name}-wal")  # SQLite has no locks on it that closing it would end
        with explain_errors(log), suppress(FileNotFoundError), log.open("r+b") as file:
            sync_to_disk(file)

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
            with suppress(OSError):  # SQLite explains it
                self._path.touch(OWNER_ONLY_FILE)
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
            database = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            try:
                (version,) = database.execute("PRAGMA user_version").fetchone()
                if version not in (0, VERSION):
                    raise InvalidInput(f"{self._path} was written by another version of ragmetrics: ", *self._cure)
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

    def _text(self, digest: str) -> str:
        text: bytes = self._row(FIND_TEXT, digest)[0]
        return text.decode("utf-8", "surrogatepass")

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
        except (sqlite3.OperationalError, sqlite3.ProgrammingError) as error:  # the second if it is closed
            raise RagmetricsError(f"the replies in {self._path} cannot be used: {error}") from None
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # the second if names of tables are damaged
            what = f"{self._path} has no replies of ragmetrics ({error}): "
            raise InvalidInput(what, *self._cure, ", or move the file away") from None


class Journal(SQLiteReplies):
    """The replies of a run directory."""

    _cure = ANOTHER


def _columns_of(database: sqlite3.Connection) -> set[str]:
    """The columns of the table of replies; none without the table."""
    return {row[1] for row in database.execute("PRAGMA table_info(replies)")}
