"""What the readers of text files share: numbered lines, and what a row is before it has a sample."""

from __future__ import annotations

import gzip
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from .._kernel._errors import InvalidInput

__all__ = ["NOT_UTF8", "BadShape", "RawRow", "lines_of", "raw_lines"]

RawRow = tuple[str, Any]
"""The place of a row, and its value: a mapping, or the ``InvalidInput`` that says why there is none."""


NOT_UTF8 = "not UTF-8 text: save the file as UTF-8"


class BadShape(InvalidInput):
    """A row that is not even of the right kind, such as a line of a JSONL file that is not JSON."""


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """The lines as ``raw_lines`` gives them, decoded.

    Raises:
        InvalidInput: a line is not UTF-8, the gzip data is damaged, or the file cannot be opened.
    """
    for number, raw in raw_lines(path):
        try:
            line = raw.decode()
        except UnicodeDecodeError:
            raise InvalidInput(f"{path.name}, line {number}: {NOT_UTF8}") from None
        yield number, line


def raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a text file, gzipped or not, numbered from 1, with their line ends; a byte order mark is dropped.

    Raises:
        InvalidInput: the gzip data is damaged, or the file cannot be opened.
    """
    number = 0
    try:
        with _open(path) as handle:
            for raw in handle:
                number += 1
                yield number, raw.removeprefix(BOM_UTF8) if number == 1 else raw
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidInput(f"{path.name}, after line {number}: the gzip data is damaged ({error})") from None
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror}") from None


def _open(path: Path) -> BinaryIO:
    return cast("BinaryIO", gzip.open(path, "rb")) if path.suffix.lower() == ".gz" else path.open("rb")
