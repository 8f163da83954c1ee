"""What the readers of text files share: numbered lines, and what a row is before it has a sample."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from .._kernel._errors import InvalidInput
from ._encodings import Codec, codec_of, not_text
from ._input_file import InputFile

RawRow = tuple[str, Any]
"""The place of a row, and its value: a mapping, or the ``InvalidInput`` that says why there is none."""

NOT_UTF8 = "not UTF-8 text: save the file as UTF-8"

LONGEST_MARK = 4
"""Bytes of the longest byte order mark."""


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
            raise InvalidInput(f"{file.name}, line {number}: {line}")
        yield number, line


def text_lines(file: InputFile) -> Iterator[tuple[int, str | BadShape]]:
    """The same, with what is wrong with a line in the place of one that cannot be decoded."""
    for number, raw, codec in _coded_lines(file):
        yield number, _decoded(raw, codec, file)


def raw_lines(file: InputFile) -> Iterator[tuple[int, bytes]]:
    """The same, not decoded; line ends and separators are those of ASCII whatever the encoding."""
    return ((number, raw) for number, raw, _ in _coded_lines(file))


def encoding_of(file: InputFile) -> str:
    """The encoding, as messages name it, and how it is known where it is not UTF-8."""
    with file.open() as handle:
        codec = codec_of(_start(handle), file.encoding, file.name)
    known = " (its byte order mark says so)" if codec.mark and codec.name != "utf-8" else ""
    return f"{codec.name.upper() if codec.name.startswith('utf') else codec.name}{known}"


def _decoded(raw: bytes, codec: str, file: InputFile) -> str | BadShape:
    try:
        return raw.decode(codec)
    except UnicodeDecodeError as error:
        return BadShape(not_text(error, file.encoding) if file.has_options else NOT_UTF8)


def _coded_lines(file: InputFile) -> Iterator[tuple[int, bytes, str]]:
    """Every line, and the encoding that it is in: UTF-8, where a line of the file does not end as one of ASCII does."""
    number = 0
    try:
        with file.open() as handle:
            codec = codec_of(_start(handle), file.encoding, file.name)
            handle.read(len(codec.mark))
            name = "utf-8" if codec.is_wide else codec.name
            lines: Iterable[bytes] = _narrow(handle, codec) if codec.is_wide else handle
            for raw in lines:
                number += 1
                yield number, raw, name
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidInput(f"{file.name}, after line {number}: the gzip data is damaged ({error})") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file.name}, after line {number}: not text in {error.encoding} ({error.reason})") from None
    except OSError as error:
        raise InvalidInput(f"{file.name} cannot be read: {error.strerror}") from None


def _narrow(handle: BinaryIO, codec: Codec) -> Iterator[bytes]:
    with io.TextIOWrapper(handle, codec.name, newline="\n") as lines:
        for line in lines:
            yield line.encode()


def _start(handle: Any) -> bytes:
    return handle.peek(LONGEST_MARK)[:LONGEST_MARK]
