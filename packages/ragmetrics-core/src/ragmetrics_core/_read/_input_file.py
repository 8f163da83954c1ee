"""A file to read rows from: its bytes, its encoding, its lines, and what its user says about it.

Strategy. What follows from the bytes is never asked: a byte order mark is proof, and where no name tells the format, the first line
does. What bytes do not tell, such as CP1252 instead of Latin-1, is an option and never a guess. But where text is not UTF-8, it is
mostly what Windows writes in Western Europe and America, and a person sees at once whether it is: so the message shows what would
stand there. Standard input is copied to a temporary file first: then its rows can be counted, and all readers work as with any
other file.
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
    codecs.BOM_UTF32_LE: "utf-32-le",  # before the mark that it begins with
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""Byte order marks and what they prove."""

LONGEST_MARK = 4
"""Bytes of the longest byte order mark."""

AROUND = 12
"""Characters of a line that are shown on either side of the byte in question."""


STDIN = "-"
"""What is given instead of a path for the rows on standard input."""

MOST_DEEP = 100
"""Levels of lists and mappings inside each other."""

GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class FileOptions:
    """What a user says about a file because its name and its bytes do not: all None where there is nothing to say.

    Attributes:
        encoding: of a text file, as Python names it; None: UTF-8, or what a byte order mark says.
        at: where in the file the rows are: the sheet of a workbook, the path to the list in a JSON file.

    Raises:
        InvalidInput: one of them may not have this value.
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
        """Refuse those of the named options that are given, as they say nothing about ``what``.

        Raises:
            InvalidInput: one of them is given.
        """
        for name in names or tuple(item.name for item in fields(self)):
            value = getattr(self, name)
            if value is not None:
                raise InvalidInput(Setting(name, value), f" says nothing about {what}: leave it out")


@dataclass(frozen=True)
class InputFile:
    """A file that is there.

    Attributes:
        path: where its bytes are.
        name: what messages call it.
        options: what its user says about it; None: the user cannot say more, so that no message asks for that.
        zipped: whether the bytes are gzipped.
    """

    path: Path
    name: str
    options: FileOptions | None = None
    zipped: bool = False

    @classmethod
    def of(cls, path: Path, options: FileOptions | None = None) -> InputFile:
        """A file of that path; the name says whether it is gzipped."""
        return cls(path, path.name, options, path.suffix.lower() == ".gz")

    def open(self) -> BinaryIO:
        """The bytes, unzipped.

        Raises:
            InvalidInput: the file may not be read.
        """
        try:
            return cast("BinaryIO", gzip.open(self.path, "rb")) if self.zipped else self.path.open("rb")
        except OSError as error:
            raise InvalidInput(f"{self.name} cannot be read: {error.strerror}") from None


def copy_stream(stream: BinaryIO, name: str, options: FileOptions | None) -> InputFile:
    """What can be read only once, read to its end."""
    number, copy = tempfile.mkstemp(prefix="ragmetrics-")
    path = Path(copy)
    try:
        with os.fdopen(number, "wb") as there:
            shutil.copyfileobj(stream, there)
    except BaseException as error:  # the disk is full, or Ctrl-C, while nothing comes in
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
"""The place of a row, and its value: a mapping, or the ``InvalidInput`` that says why there is none."""

T = TypeVar("T")


@dataclass(frozen=True)
class Opened(Generic[T]):
    """A file, or rows in memory, open for reading.

    Attributes:
        name: what messages call the file; "" for rows in memory.
        rows: the rows, pulled lazily.
        count: counts the rows to come, up to a limit if one is given; None where their number cannot be known beforehand. A file
            is read for it, without making rows.
        form: says how it is read, such as "CSV with semicolons, UTF-8".
    """

    name: str
    rows: Iterator[T]
    count: Callable[[int | None], int | None]
    form: Callable[[], str]


OpenFile = Opened[RawRow]


def at_most(total: int | None, most: int | None) -> int | None:
    """The smaller of two numbers; None for the limit means that there is none."""
    return total if total is None or most is None else min(total, most)


NOT_UTF8 = "not UTF-8 text: save the file as UTF-8"


class EmptyCell(str):
    """A type for the one value that says which cells of a table are empty; it equals the empty text."""

    __slots__ = ()


EMPTY_CELL = EmptyCell()
"""An empty cell of a format that cannot tell an empty text from a missing value; which one it is depends on the field."""


class BadShape(InvalidInput):
    """A row that is not even of the right kind, such as a line of a JSONL file that is not JSON."""


def first_double(names: Iterable[str]) -> str | None:
    """The first name that stands there twice, found in one pass: hostile files have very many of them."""
    seen: set[str] = set()
    return next((name for name in names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]


def lines_of(file: InputFile) -> Iterator[tuple[int, str]]:
    """The lines of a text file, numbered from 1, with their line ends; a byte order mark is dropped.

    Raises:
        InvalidInput: a line is not in the encoding of the file, the gzip data is damaged, or the file cannot be opened.
    """
    for number, line in text_lines(file):
        if isinstance(line, InvalidInput):
            raise InvalidInput(f"{file.name}, line {number}: ", *line.args)
        yield number, line


def text_lines(file: InputFile) -> Iterator[tuple[int, str | BadShape]]:
    """The same, with what is wrong with a line in the place of one that cannot be decoded."""
    number = 0
    try:
        with file.open() as handle:
            encoding, _ = _encoding(handle, file)
            is_narrow = "\n".encode(encoding) == b"\n"  # a line ends as one of ASCII does
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
    """The encoding, as messages name it, and how it is known where it is not UTF-8."""
    with file.open() as handle:
        name, is_proven = _encoding(handle, file)
    name = codecs.lookup(name).name
    known = " (its byte order mark says so)" if is_proven and name != "utf-8" else ""
    return f"{name.upper() if name.startswith('utf') else name}{known}"


def _encoding(handle: Any, file: InputFile) -> tuple[str, bool]:
    """The encoding of an open file, of which the byte order mark is read; and whether there is such a mark, which is proof."""
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
    """What is wrong with a line that cannot be decoded, and what to do, as the parts of a message."""
    if file.options is None:
        return (NOT_UTF8,)
    line, at, given = error.object, error.start, file.options.encoding
    where = f"(byte 0x{line[at]:02X} at position {at + 1})"
    if given is not None:
        return f"not text in {given} {where}: give another ", Setting("encoding"), ", or save the file as UTF-8"
    cure = f"not UTF-8 text {where}: name its encoding with ", Setting("encoding", ...), ", or save the file as UTF-8"
    try:
        shown = line[:at].decode("cp1252", "replace")[-AROUND:].lstrip() + line[at:].decode("cp1252")[:AROUND].rstrip()
    except UnicodeDecodeError:
        return cure
    hint = f"not UTF-8 text {where}: if {shown!r} is right there, give "
    return hint, Setting("encoding", "cp1252"), "; else name its encoding, or save the file as UTF-8"
