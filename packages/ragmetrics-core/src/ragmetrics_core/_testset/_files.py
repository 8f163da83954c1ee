"""The text of a file as its reader sees it: no markup, with the places of its headings and pages.

Markdown becomes HTML first, by the library that knows its rules, so that there is one way from markup to text (``_html``). What
cannot be read is an ``InvalidInput`` or a ``MissingExtra`` that says why, and concerns this file alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from .._kernel._errors import InvalidInput
from .._read._input_file import InputFile
from .._read._text import NOT_UTF8, lines_of
from ._html import text_of_html
from ._pdf import text_of_pdf
from ._text import FileText

MOST_BYTES = 50_000_000
"""A file of more is no document to read, and can be meant to fill the memory."""

FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?=[\w-]+[ \t]*:).*?^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
"""Settings at the top of a Markdown file, between lines of dashes."""

CHARSET = re.compile(rb"<meta[^>]{0,200}?\bcharset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
WHERE_CHARSET = 1024
"""Bytes at the beginning of a page that may tell its encoding, as browsers have it."""


def text_of_file(path: Path) -> FileText:
    """The text of a file of one of the ``DOCUMENT_FILES``.

    Raises:
        InvalidInput: it cannot be read.
        MissingExtra: the package that reads files of its kind is not installed.
    """
    try:
        size = path.stat().st_size
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror}") from None
    if size > MOST_BYTES:
        raise InvalidInput(f"{path.name} has {size:,} bytes, more than {MOST_BYTES:,}: divide it")
    found = READERS[path.suffix.lower()](path)
    if "\0" in found.text:
        raise InvalidInput(f"{path.name} is no text: it holds NUL characters")
    return found


def _plain(path: Path) -> FileText:
    return FileText("".join(line for _, line in lines_of(InputFile.of(path))))


def _markdown(path: Path) -> FileText:
    from markdown_it import MarkdownIt  # noqa: PLC0415  only where there is Markdown

    text = _plain(path).text.replace("\r\n", "\n")
    page = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(FRONT_MATTER.sub("", text))
    return text_of_html(page)


def _html(path: Path) -> FileText:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror}") from None
    told = CHARSET.search(raw[:WHERE_CHARSET])
    page = _decoded(raw, "utf-8-sig")
    if page is None and told:
        page = _decoded(raw, told[1].decode())
    if page is None:
        raise InvalidInput(f"{path.name}: {NOT_UTF8}")
    return text_of_html(page)


def _decoded(raw: bytes, encoding: str) -> str | None:
    try:
        return raw.decode(encoding)
    except (UnicodeError, LookupError):  # LookupError: a page may claim any encoding, known or not
        return None


READERS: Mapping[str, Callable[[Path], FileText]] = MappingProxyType(
    {
        **dict.fromkeys((".txt", ".rst"), _plain),
        **dict.fromkeys((".md", ".markdown"), _markdown),
        **dict.fromkeys((".html", ".htm", ".xhtml"), _html),
        ".pdf": text_of_pdf,
    }
)

DOCUMENT_FILES = frozenset(READERS)
"""Suffixes of files that are one document each."""
