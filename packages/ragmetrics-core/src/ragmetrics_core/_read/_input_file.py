"""An input file: its bytes, its encoding, its lines, and what the user says about it.

Strategy. The user is never asked for facts that follow from the bytes: a byte order mark proves the encoding, and if the name
does not show the format, the first line does. Facts that the bytes do not show, such as CP1252 instead of Latin-1, are an option
and are never guessed. If a text is not UTF-8, it is usually the encoding of Windows in Western Europe and America, and a person
can see at once whether it is. So the message shows the text in this encoding. Standard input is first copied to a temporary file.
Then its rows can be counted, and all readers work as with any other file.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar, cast

from .._values._errors import InvalidInput, Setting

MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",  # before UTF-16, whose mark is the beginning of this one
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""Byte order marks, each with the encoding that it proves."""

LONGEST_MARK = 4
"""The length of the longest byte order mark, in bytes."""

AROUND = 12
"""The number of characters that a message shows on either side of a wrong byte."""


STDIN = "-"
"""The path that means standard input."""

MOST_DEEP = 100
"""The largest number of nested lists and mappings."""

GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class FileOptions:
    """What the user says about a file because its name and its bytes do not show it. Each option is None if it is not needed.

    Attributes:
        encoding: the encoding of a text file, as Python names it; None: UTF-8, or the encoding of a byte order mark.
        at: where in the file the rows are: the sheet of a workbook, or the path to the list in a JSON file; None: it is searched.

    Raises:
        InvalidInput: an option has a value that is not allowed.
    """

    encoding: str | None = None
    at: str | None = None

    def __post_init__(self) -> None:
        try:
            is_known = self.encoding is None or (isinstance(self.encoding, str) and "a".encode(self.encoding) != b"")
        except (LookupError, ValueError):
            is_known = False
        if not is_known:
            cure = "must be one such as cp1252, latin-1, utf-16 or utf-8"
            raise InvalidInput(Setting("encoding"), f" {cure}, got {self.encoding!r}")
        if self.at is not None and not (isinstance(self.at, str) and self.at.strip()):
            raise InvalidInput(Setting("at"), f" must name a sheet, or the path to a list in JSON, got {self.at!r}")

    def refuse(self, what: str, *names: str) -> None:
        """Refuse the named options, which do not apply to ``what``; without names, refuse all options.

        Raises:
            InvalidInput: one of them is given.
        """
        for name in names or tuple(item.name for item in fields(self)):
            if (value := getattr(self, name)) is not None:
                raise InvalidInput(Setting(name, value), f" does not apply to {what}: leave it out")


@dataclass(frozen=True)
class InputFile:
    """An existing file.

    Attributes:
        path: the path of its bytes.
        name: its name in messages.
        options: what the user says about the file; None: the user cannot give options, so messages do not ask for them.
        zipped: whether the bytes are gzipped.
    """

    path: Path
    name: str
    options: FileOptions | None = None
    zipped: bool = False

    @classmethod
    def of(cls, path: Path, options: FileOptions | None = None) -> InputFile:
        """Return the file of that path. The name shows whether the file is gzipped."""
        return cls(path, path.name, options, path.suffix.lower() == ".gz")

    def open(self) -> BinaryIO:
        """Open the file for reading its unzipped bytes.

        Raises:
            InvalidInput: the file cannot be read.
        """
        try:
            return cast("BinaryIO", gzip.open(self.path, "rb")) if self.zipped else self.path.open("rb")
        except OSError as error:
            raise InvalidInput(f"{self.name} cannot be read: {error.strerror}") from None


def copy_stream(stream: BinaryIO, name: str, options: FileOptions | None) -> InputFile:
    """Copy a stream, which can be read only once, to a temporary file."""
    number, copy = tempfile.mkstemp(prefix="ragmetrics-")
    path = Path(copy)
    try:
        with os.fdopen(number, "wb") as there:
            shutil.copyfileobj(stream, there)
    except BaseException as error:  # such as a full disk, or Ctrl-C while the stream is waiting
        path.unlink()
        if not isinstance(error, OSError):
            raise
        raise InvalidInput(f"{name} cannot be copied to {path.parent}, to be read there: {error.strerror}") from None
    with path.open("rb") as there:
        zipped = there.read(len(GZIP)) == GZIP
    file = InputFile(path, name, options, zipped)
    weakref.finalize(file, path.unlink, missing_ok=True)
    return file


RawRow = tuple[str, Any]
"""The place of a row, and its value: a mapping, or the ``InvalidInput`` that says why there is no value."""

T = TypeVar("T")


@dataclass(frozen=True)
class Opened(Generic[T]):
    """An open file, or rows in memory.

    Attributes:
        name: the name of the file in messages; "" for rows in memory.
        rows: the rows, pulled lazily.
        count: a function that counts the rows, up to a limit if a limit is given. It returns None if the number cannot be known
            beforehand. A file is read for counting, but no rows are made.
        form: a function that says how the file is read, such as "CSV with semicolons, UTF-8".
    """

    name: str
    rows: Iterator[T]
    count: Callable[[int | None], int | None]
    form: Callable[[], str]


OpenFile = Opened[RawRow]


def at_most(total: int | None, most: int | None) -> int | None:
    """Return the smaller of two numbers. If the limit is None, there is no limit; an unknown total stays None."""
    return total if total is None or most is None else min(total, most)


NOT_UTF8 = "not UTF-8 text: save the file as UTF-8"


class EmptyCell(str):
    """The type of ``EMPTY_CELL``, which marks the empty cells of a table. ``EMPTY_CELL`` equals the empty text."""

    __slots__ = ()


EMPTY_CELL = EmptyCell()
"""An empty cell of a format that cannot distinguish an empty text from a missing value. The field decides which of the two it
is.
"""


class BadShape(InvalidInput):
    """A row of the wrong kind, such as a line of a JSONL file that is not JSON."""


def first_double(names: Iterable[str]) -> str | None:
    """Return the first name that occurs twice. One pass is enough, because a hostile file may have very many names."""
    seen: set[str] = set()
    return next((name for name in names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]


def lines_of(file: InputFile) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file, numbered from 1, with their line ends. A byte order mark is dropped.

    Raises:
        InvalidInput: a line is not in the encoding of the file, the gzip data is damaged, or the file cannot be opened.
    """
    for number, line in text_lines(file):
        if isinstance(line, InvalidInput):
            raise InvalidInput(f"{file.name}, line {number}: ", *line.args)
        yield number, line


def text_lines(file: InputFile) -> Iterator[tuple[int, str | BadShape]]:
    """Yield numbered lines as ``lines_of`` does, but with the error in place of a line that cannot be decoded."""
    number = 0
    try:
        with file.open() as handle:
            encoding, _ = _encoding(handle, file)
            is_narrow = "\n".encode(encoding) == b"\n"  # line ends are the same bytes as in ASCII
            lines: Any = handle if is_narrow else io.TextIOWrapper(handle, encoding, newline="\n")
            with lines:
                for number, line in enumerate(lines, 1):
                    yield number, _decode(line, encoding, file) if is_narrow else line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidInput(f"{file.name}, after line {number}: the gzip data is damaged ({error})") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file.name}, after line {number}: not text in {error.encoding} ({error.reason})") from None
    except OSError as error:
        raise InvalidInput(f"{file.name} cannot be read: {error.strerror}") from None


def encoding_of(file: InputFile) -> str:
    """Return the name of the encoding for messages. If it is not UTF-8 but follows from a byte order mark, the name says so."""
    with file.open() as handle:
        name, is_proven = _encoding(handle, file)
    name = codecs.lookup(name).name
    known = " (its byte order mark says so)" if is_proven and name != "utf-8" else ""
    return f"{name.upper() if name.startswith('utf') else name}{known}"


def _encoding(handle: Any, file: InputFile) -> tuple[str, bool]:
    """Return the encoding of an open file, and whether a byte order mark proves it. The mark is skipped."""
    start = handle.peek(LONGEST_MARK)
    for mark, proven in MARKS.items():
        if start.startswith(mark):
            handle.read(len(mark))
            return proven, True
    return (file.options and file.options.encoding) or "utf-8", False


def _decode(raw: bytes, encoding: str, file: InputFile) -> str | BadShape:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        return BadShape(*_not_text(error, file))


def _not_text(error: UnicodeDecodeError, file: InputFile) -> tuple[str | Setting, ...]:
    """Return the parts of a message about a line that cannot be decoded, with what to do."""
    if file.options is None:
        return (NOT_UTF8,)
    line, at, encoding = error.object, error.start, file.options.encoding
    where = f"(byte 0x{line[at]:02X} at position {at + 1})"
    if encoding is not None:
        return f"not text in {encoding} {where}: give another ", Setting("encoding"), ", or save the file as UTF-8"
    cure = f"not UTF-8 text {where}: name its encoding with ", Setting("encoding", ...), ", or save the file as UTF-8"
    try:
        before, after = line[:at].decode("cp1252", "replace"), line[at:].decode("cp1252")
    except UnicodeDecodeError:
        return cure
    excerpt = before[-AROUND:].lstrip() + after[:AROUND].rstrip()
    hint = f"not UTF-8 text {where}: if {excerpt!r} is right there, give "
    return hint, Setting("encoding", "cp1252"), "; else name its encoding, or save the file as UTF-8"
