"""Replies in segment files. Each writer has its own files, so processes on many machines can share a folder without a lock.

A segment is a file of JSON lines, each a reply or a list of struck replies with its digest. A process appends to a segment with a
name that no other process has, and reads the segments of all others up to the last whole line. A line that a kill has cut short or
a disk has damaged is skipped, so its reply is asked for again. Lines are chosen before a binary form because damage to one leaves
the next ones readable, and because people can read and search them; numbers are written in base64, as exact as in memory and half
as long as decimal digits.

Segments have no order among each other, and none is needed: a struck reply is named by its place (segment and position), and counts
as struck wherever that is said. A question that is asked again gets a new reply at a new place. If two processes ask the same at
the same time, both replies are there, and the first segment by name counts, which was begun first.

The index, from keys to places, is a temporary SQLite file: 84 bytes a reply, of which 16 MB are in memory however many there are.

Object stores write a file once and whole. So with a URL, segments are written to a temporary folder, which is a copy of the
remote one, and each is uploaded when it has enough replies or is old enough.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import time
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, TypeVar
from uuid import uuid4

from .._kernel._wording import encode
from .._support._secrets import Kept, conceal
from .._values._errors import InvalidInput, MissingExtra, RagmetricsError
from .._values._requests import Reply, Request
from .._values._settings import check_seconds, check_whole
from ._files import explain_errors, make_directory, sync_to_disk, write_all
from ._reply_bytes import TEXT, Parts, digest_of, parts_of, reply_of

NAME = re.compile(r"replies-[0-9a-f]{16}-[0-9a-f]{16}\.jsonl")
"""The name of a segment: when it was begun, and a number that no other one has."""

MAKE = """
PRAGMA journal_mode = MEMORY;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -16000;
CREATE TABLE places (key BLOB, segment TEXT, start INTEGER, PRIMARY KEY (key, segment, start)) WITHOUT ROWID;
BEGIN;
"""
# One transaction without an end: each commit would look through all pages that have changed since the file was made.

PLACE = "INSERT OR IGNORE INTO places VALUES (?, ?, ?)"

T = TypeVar("T")
Struck = list[tuple[bytes, str, int]]
"""The key, the segment and the position of each struck reply."""


class SegmentReplies:
    """A ``ReplyStore`` in a folder of files that are only appended to, or only written whole. It needs no lock and no server.

    Any number of processes, on any number of machines, may share the folder. Each sees the replies of the others some seconds after
    they are written. Messages are not kept.

    What a process loses when it is killed: in a local or mounted folder, at most the reply that it is just writing (a power cut
    may lose the last moments). With a URL, all replies since the last upload, so up to ``records`` of them. Their age is checked
    whenever a reply is kept or looked up, so those before a long pause may be older than ``seconds``.

    Args:
        place: a folder, or the URL of one for fsspec: ``s3://bucket/replies``. It is made when the first reply is kept.
        records: with a URL, the number of replies after which they are uploaded.
        seconds: how old a reply may be before it is uploaded, and how long others' segments are not looked for again.
        storage_options: arguments of the file system, as in pandas. Keys are better left to its own configuration.

    Raises:
        InvalidInput: the place is no folder, or fsspec does not know its protocol.
        MissingExtra: fsspec, or what it needs for this protocol, is not installed.
        RagmetricsError: (here and later) the place cannot be read or written.
    """

    def __init__(
        self,
        place: str | os.PathLike[str],
        *,
        records: int = 1000,
        seconds: float = 10.0,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        check_whole("records", records, least=1)
        check_seconds("seconds", seconds)
        self._records, self._seconds = records, seconds
        self._remote: RemoteFolder | None = None
        if isinstance(place, str) and "://" in place:
            self._remote = RemoteFolder(place, storage_options or {})
            self._copy = TemporaryDirectory(prefix="ragmetrics-")
            place = self._copy.name
        self._folder = Path(place)
        if self._folder.exists() and not self._folder.is_dir():
            raise InvalidInput(f"{self._folder} is not a folder: give another place")
        self._index = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._index.executescript(MAKE)
        self._ends: Counter[str] = Counter()  # up to where each segment is in the index
        self._struck: set[tuple[str, int]] = set()
        self._file: IO[bytes] | None = None  # the own segment
        self._name, self._waiting, self._since = "", 0, 0.0
        try:
            self._look()
        except BaseException:
            self.close()
            raise

    def find(self, key: bytes) -> Reply[Any] | None:
        """The reply under this key, as it was when it was paid for; None if it is missing, damaged or was struck."""
        found = self._known(key)
        if found is None and time.monotonic() - self._looked >= self._seconds:
            self._look()
            found = self._known(key)
        self._upload_if_due()
        return found

    def keep(self, key: bytes, reply: Reply[Any], request: Request | None = None) -> Reply[Any]:  # noqa: ARG002  no messages
        """Write a reply. Returns the reply that is then known: an earlier one counts."""
        if (existing := self._known(key)) is not None:
            return Reply(existing.value, reply.usage, existing.truncated)
        self._append(_line_of_reply(key, parts_of(reply)), key)
        return reply

    def strike(self, keys: Iterable[bytes]) -> None:
        """Strike replies that turned out to be unusable, for all processes."""
        if struck := [(key, name, start) for key in keys for name, start in self._places(key)]:
            self._append(_line_of_struck(struck))
            self._forget(struck)

    def close(self) -> None:
        """Write what is not written yet, and close all files."""
        try:
            self._end_segment()
        finally:
            self._index.close()
            if self._remote is not None:
                self._copy.cleanup()

    def _known(self, key: bytes) -> Reply[Any] | None:
        for name, start in self._places(key):
            path = self._folder / name
            with _reading(path), path.open("rb") as file:
                file.seek(start)
                found = _read(file.readline())
                if isinstance(found, tuple) and found[0] == key:
                    return reply_of(found[1])
        return None

    def _places(self, key: bytes) -> list[tuple[str, int]]:
        """The segment and the position of each reply under this key, those that count first."""
        return self._query("SELECT segment, start FROM places WHERE key = ? ORDER BY segment, start", key)

    def _query(self, command: str, *values: Any) -> list[Any]:
        try:
            return self._index.execute(command, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise RagmetricsError(f"the index of {self._folder}, a temporary file, cannot be used: {error}") from None

    def _look(self) -> None:
        """Read what is new in the folder."""
        if self._remote is not None:
            self._remote.fetch(self._folder)
        for name in sorted(path.name for path in self._folder.glob("replies-*.jsonl")):
            if NAME.fullmatch(name):
                self._scan(name)
        self._looked = time.monotonic()

    def _scan(self, name: str) -> None:
        """Put the replies of a segment into the index, from where it ended at the last look to its last whole line."""
        path, start = self._folder / name, self._ends[name]
        with _reading(path):
            if path.stat().st_size == start:
                return
            with path.open("rb") as file:
                file.seek(start)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    found = _read(line)
                    if isinstance(found, list):
                        self._forget(found)
                    elif found is not None and (name, start) not in self._struck:
                        self._query(PLACE, found[0], name, start)
                    start += len(line)
            self._ends[name] = start

    def _forget(self, struck: Struck) -> None:
        for key, name, start in struck:
            self._struck.add((name, start))  # the reply itself may be read later
            self._query("DELETE FROM places WHERE key = ? AND segment = ? AND start = ?", key, name, start)

    def _append(self, line: bytes, key: bytes | None = None) -> None:
        """Write a line, and put it into the index if it is a reply."""
        if self._file is None:
            self._begin_segment()
        assert self._file is not None
        try:
            with explain_errors(self._folder / self._name):
                write_all(self._file, line)
        except RagmetricsError:
            self._file.close()
            self._file = None  # a line that was cut short is the last one of its segment
            raise
        start = self._ends[self._name]
        self._ends[self._name] += len(line)
        if key is not None:
            self._query(PLACE, key, self._name, start)
        self._since = self._since if self._waiting else time.monotonic()
        self._waiting += 1
        self._upload_if_due()

    def _begin_segment(self) -> None:
        self._end_segment()
        make_directory(self._folder)
        name = self._name = f"replies-{time.time_ns():016x}-{uuid4().hex[:16]}.jsonl"
        with explain_errors(self._folder / name):
            self._file = (self._folder / name).open("xb", buffering=0)

    def _upload_if_due(self) -> None:
        is_due = self._waiting >= self._records or time.monotonic() - self._since >= self._seconds
        if self._remote is not None and self._waiting and is_due:
            self._end_segment()

    def _end_segment(self) -> None:
        if self._file is not None:
            with self._file as file, explain_errors(self._folder / self._name):
                sync_to_disk(file)
            self._file = None
        if self._remote is not None and self._waiting:
            self._remote.send(self._folder / self._name)
        self._waiting = 0


class RemoteFolder:
    """A folder of segments that fsspec reaches. Segments there are whole, and never change.

    Args:
        url: its URL.
        options: arguments of the file system.
    """

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        try:
            from fsspec.core import url_to_fs  # noqa: PLC0415  heavy
        except ImportError:
            raise MissingExtra('replies at a URL need fsspec: pip install "ragmetrics-core[fsspec]"') from None
        self._url = conceal(url)
        self._files, self._root = self._try(lambda: url_to_fs(url, **options))

    def fetch(self, folder: Path) -> None:
        """Copy the segments that are new there."""
        here = {path.name: path.stat().st_size for path in folder.iterdir()}
        if new := [name for name, size in self._try(self._sizes).items() if size > here.get(name, 0)]:
            remote, local = [f"{self._root}/{name}" for name in new], [str(folder / name) for name in new]
            self._try(lambda: self._files.get(remote, local))

    def send(self, segment: Path) -> None:
        """Write a segment."""
        self._try(lambda: self._files.makedirs(self._root, exist_ok=True))
        self._try(lambda: self._files.pipe_file(f"{self._root}/{segment.name}", segment.read_bytes()))

    def _sizes(self) -> dict[str, int]:
        """The size of each segment there."""
        self._files.invalidate_cache()
        try:
            found = {item["name"].rpartition("/")[2]: item["size"] for item in self._files.ls(self._root, detail=True)}
        except FileNotFoundError:
            return {}
        return {name: size for name, size in found.items() if NAME.fullmatch(name)}

    def _try(self, act: Callable[[], T]) -> T:
        """Return what a file system returns. It may raise any exception, also the exceptions of its libraries."""
        attempt = Kept()
        with attempt:
            return act()
        kind = MissingExtra if isinstance(attempt.error, ImportError) else RagmetricsError
        raise kind(f"{self._url} cannot be used: {conceal(str(attempt.error))}")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Read a segment. One that is gone has no replies."""
    try:
        yield
    except FileNotFoundError:
        return
    except OSError as error:
        raise RagmetricsError(f"{path} cannot be read: {error.strerror}") from None


def _line_of_reply(key: bytes, parts: Parts) -> bytes:
    width, value, *counts = parts
    text = value.decode("utf-8", "surrogatepass") if width is TEXT else b64encode(value).decode()
    named = dict(zip(("prompt_tokens", "completion_tokens", "truncated"), counts, strict=True))
    return _line({"key": key.hex(), "width": width, "value": text, **named, "digest": digest_of(key, *parts).hex()})


def _line_of_struck(struck: Struck) -> bytes:
    places = [[key.hex(), name, start] for key, name, start in struck]
    return _line({"struck": places, "digest": digest_of(b"struck", places).hex()})


def _line(data: Mapping[str, Any]) -> bytes:
    return f"{encode(data)}\n".encode("utf-8", "surrogatepass")


def _read(line: bytes) -> tuple[bytes, Parts] | Struck | None:
    """What a line says: a key with the parts of its reply, or replies that are struck; None if it is damaged."""
    try:
        data = json.loads(line.decode("utf-8", "surrogatepass"))
        digest = bytes.fromhex(data["digest"])
        if "struck" in data:
            struck = [(bytes.fromhex(key), name, start) for key, name, start in data["struck"]]
            return struck if digest == digest_of(b"struck", data["struck"]) else None
        key, width, value = bytes.fromhex(data["key"]), data["width"], data["value"]
        packed = value.encode("utf-8", "surrogatepass") if width is TEXT else b64decode(value)
        parts = (width, packed, data["prompt_tokens"], data["completion_tokens"], data["truncated"])
        return (key, parts) if digest == digest_of(key, *parts) else None
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return None
