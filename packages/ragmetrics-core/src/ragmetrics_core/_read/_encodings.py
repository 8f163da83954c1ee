"""Which encoding the bytes of a text file are in: what a byte order mark proves, else what the user says, else UTF-8.

Most encodings cannot be told from each other by their bytes, so none is guessed. But where text is not UTF-8, it is mostly what
Windows writes in Western Europe and America, and a person sees at once whether it is: so the message shows what would stand there.
"""

from __future__ import annotations

import codecs
from typing import NamedTuple

from .._kernel._errors import InvalidInput

MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before the mark that it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks and what they prove."""

WITHOUT_MARK = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
"""Encodings whose name promises a mark, and what they are where none is."""

AROUND = 12
"""Characters of a line that are shown on either side of the byte in question."""


class Codec(NamedTuple):
    """How the bytes of a file become text.

    Attributes:
        name: the encoding, as Python names it.
        mark: the byte order mark at the beginning.
        is_wide: whether a line does not end in the byte that ends it in ASCII, as in UTF-16.
    """

    name: str
    mark: bytes = b""
    is_wide: bool = False


def check_encoding(name: object) -> None:
    """The name of an encoding of text that Python knows, or None.

    Raises:
        InvalidInput: it is none.
    """
    try:
        if name is None or (isinstance(name, str) and "a".encode(name)):
            return
    except (LookupError, ValueError):
        pass
    raise InvalidInput(f"encoding must be one such as cp1252, latin-1, utf-16 or utf-8, got {name!r}")


def codec_of(start: bytes, told: str | None, file: str) -> Codec:
    """The codec of a file that starts with these bytes, of which the user has told the encoding or not.

    Raises:
        InvalidInput: the byte order mark says another encoding, or the text looks like UTF-16 and nothing says so.
    """
    mark, proven = next(((mark, name) for mark, name in MARKS if start.startswith(mark)), (b"", ""))
    if told is None:
        likely = "" if proven else _likely(start[::2], start[1::2])
        if likely:
            raise InvalidInput(f'{file} looks like UTF-16 text without a byte order mark: give encoding="{likely}"')
        return _codec(proven or "utf-8", mark)
    name = codecs.lookup(told).name
    if proven and not (proven.startswith(name) or name.startswith(proven)):  # utf-16 or utf-8-sig are no contradiction
        raise InvalidInput(
            f'{file} begins with the byte order mark of {proven.upper()}: it is not in encoding="{told}", leave that out'
        )
    return _codec(proven or WITHOUT_MARK.get(name, name), mark)


def _likely(odd: bytes, even: bytes) -> str:
    """UTF-16, where every second byte is zero, as it is in text of Latin letters; else nothing."""
    if odd and even and not any(even) and all(odd):
        return "utf-16-le"
    return "utf-16-be" if odd and even and not any(odd) and all(even) else ""


def _codec(name: str, mark: bytes) -> Codec:
    return Codec(name, mark, "\n".encode(name) != b"\n")


def not_text(error: UnicodeDecodeError, told: str | None) -> str:
    """What is wrong with a line that cannot be decoded, and what to do."""
    line: bytes = error.object
    where = f"(byte 0x{line[error.start]:02X} at position {error.start + 1})"
    if told is not None:
        return f"not text in {told} {where}: name another encoding with encoding=..., or save the file as UTF-8"
    try:
        before = line[: error.start].decode("cp1252", "replace")[-AROUND:].lstrip()
        after = line[error.start :].decode("cp1252")[:AROUND].rstrip()
    except UnicodeDecodeError:
        return f"not UTF-8 text {where}: name its encoding with encoding=..., or save the file as UTF-8"
    return (
        f'not UTF-8 text {where}: if {before + after!r} is right there, give encoding="cp1252"; '
        "else name its encoding, or save the file as UTF-8"
    )
