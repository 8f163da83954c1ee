"""A file to read rows from: where its bytes are, what it is called in messages, and what its user knows about it.

Strategy. What follows from the bytes is never asked: a byte order mark is proof, and where no name tells the format, the first line
does. What bytes do not tell, such as CP1252 instead of Latin-1, is an option and never a guess. Standard input is copied to a
temporary file first: then its rows can be counted, and all readers work as with any other file.
"""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass, fields
from pathlib import Path
from typing import BinaryIO, cast

from .._kernel._errors import InvalidInput
from ._encodings import check_encoding

STDIN = "-"
"""What is given instead of a path for the rows on standard input."""

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
        check_encoding(self.encoding)
        if self.at is not None and not (isinstance(self.at, str) and self.at.strip()):
            raise InvalidInput(f"at must be the name of a sheet or the path to a list in a JSON file, got {self.at!r}")

    def refuse(self, what: str, *names: str) -> None:
        """Refuse those of the named options that are given, as they say nothing about ``what``.

        Raises:
            InvalidInput: one of them is given.
        """
        for name in names or tuple(item.name for item in fields(self)):
            value = getattr(self, name)
            if value is not None:
                raise InvalidInput(f"{name}={value!r} says nothing about {what}: leave it out")


@dataclass(frozen=True)
class InputFile:
    """A file that is there.

    Attributes:
        path: where its bytes are.
        name: what messages call it.
        encoding: of its text, where the user has said so.
        zipped: whether the bytes are gzipped.
        has_options: whether its user can say more about it, so that messages may ask for that.
    """

    path: Path
    name: str
    encoding: str | None = None
    zipped: bool = False
    has_options: bool = False

    @classmethod
    def of(cls, path: Path, options: FileOptions | None = None) -> InputFile:
        """A file of that path; the name says whether it is gzipped."""
        return cls(
            path, path.name, options.encoding if options else None, path.suffix.lower() == ".gz", options is not None
        )

    def open(self) -> BinaryIO:
        """The bytes, unzipped.

        Raises:
            InvalidInput: the file may not be read.
        """
        try:
            return cast("BinaryIO", gzip.open(self.path, "rb")) if self.zipped else self.path.open("rb")
        except OSError as error:
            raise InvalidInput(f"{self.name} cannot be read: {error.strerror}") from None


def copied(stream: BinaryIO, name: str, options: FileOptions | None) -> InputFile:
    """What can be read only once, read to its end."""
    number, copy = tempfile.mkstemp(prefix="ragmetrics-")
    path = Path(copy)
    try:
        with os.fdopen(number, "wb") as there:
            shutil.copyfileobj(stream, there)
        with path.open("rb") as there:
            zipped = there.read(len(GZIP)) == GZIP
    except OSError as error:  # the disk is full
        path.unlink()
        raise InvalidInput(
            f"{name} cannot be copied to {path.parent}, where it is read from: {error.strerror}"
        ) from None
    except BaseException:  # Ctrl-C, while nothing comes in
        path.unlink()
        raise
    file = InputFile(path, name, options.encoding if options else None, zipped, options is not None)
    weakref.finalize(file, path.unlink, missing_ok=True)
    return file
