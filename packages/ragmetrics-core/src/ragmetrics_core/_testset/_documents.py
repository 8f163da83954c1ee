"""Reads the documents that questions are written from: texts with an id. They are checked before the first model call.

Files are read as their reader sees them: without markup, with the offsets of headings and pages. HTML needs beautifulsoup4 and
PDF needs pypdf (the extra ``documents``). A file that cannot be read raises an ``InvalidInput`` or a ``MissingExtra`` with the
reason.
"""

from __future__ import annotations

import logging
import os
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .._read._cells import document_of
from .._read._input_file import NOT_UTF8, InputFile, lines_of
from .._read._rows import open_rows
from .._show._tables import first_of
from .._values._counts import count_of, grouped
from .._values._errors import InvalidInput, MissingExtra
from .._values._layout import readable
from .._values._sample import Document
from ._markup import FileText, Heading, text_of_html, text_of_markdown

logging.getLogger("pypdf").addHandler(logging.NullHandler())  # otherwise its warnings about files go to stderr

DAMAGED = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""Errors that a parser raises on damaged files, apart from its own errors."""

LONGEST = 100
"""The number of characters shown of a pypdf message, which may contain any part of the file."""


def text_of_pdf(path: Path) -> FileText:
    """Return the text of the pages, in order.

    Raises:
        InvalidInput: the file is encrypted or damaged, or there is no text in it.
        MissingExtra: pypdf is not installed.
    """
    try:
        from pypdf import PdfReader  # noqa: PLC0415  an extra
        from pypdf.errors import DependencyError, PyPdfError  # noqa: PLC0415
    except ImportError:
        raise MissingExtra('the pypdf package is not installed: pip install "ragmetrics-core[documents]"') from None
    try:
        with PdfReader(path) as reader:
            # many encrypted files are only protected against changes and can be read with an empty password
            if reader.is_encrypted and not reader.decrypt(""):
                raise InvalidInput(f"{path.name} is encrypted: save it without its password")
            pages = [page.extract_text().strip() for page in reader.pages]
    except InvalidInput:
        raise
    except DependencyError as error:
        raise InvalidInput(f"{path.name} is encrypted ({error}): save it without encryption") from None
    except (PyPdfError, struct.error, zlib.error, *DAMAGED) as error:
        reason = f"{type(error).__name__}: {str(error)[:LONGEST]}"
        raise InvalidInput(f"{path.name} is not a readable PDF ({reason})") from None
    if not any(pages):
        count = count_of(len(pages), "page")
        raise InvalidInput(f"{path.name}: no text on {count}, perhaps only pictures: recognise the text (OCR) first")
    return _joined(pages)


def _joined(pages: list[str]) -> FileText:
    """Join the pages to one text, as sentences may continue on the next page. A page without text begins where the next page
    begins.
    """
    starts, parts, length = [], [], 0
    for page in pages:
        starts.append(length)
        if page:
            parts.append(page)
            length += len(page) + 1
    return FileText("\n".join(parts), pages=tuple(starts))


MOST_BYTES = 50_000_000
"""The largest size of a file in bytes; a larger file could fill the memory."""

CHARSET = re.compile(rb"<meta[^>]{0,200}?\bcharset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
WHERE_CHARSET = 1024
"""The number of bytes at the beginning of an HTML page in which its encoding may be declared, as in browsers."""


def text_of_file(path: Path) -> FileText:
    """Return the text of a file with one of the suffixes ``DOCUMENT_FILES``.

    Raises:
        InvalidInput: the file cannot be read.
        MissingExtra: the package that reads such files is not installed.
    """
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise InvalidInput(f"{path.name} has {size:,} bytes, more than {MOST_BYTES:,}: split it")
        file_text = READERS[path.suffix.lower()](path)
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror or error}") from None
    if "\0" in file_text.text:
        raise InvalidInput(f"{path.name} is not a text file: it contains NUL characters")
    return file_text


def _plain(path: Path) -> FileText:
    return FileText("".join(line for _, line in lines_of(InputFile.of(path))))


def _markdown(path: Path) -> FileText:
    return text_of_markdown(_plain(path).text)


def _html(path: Path) -> FileText:
    raw = path.read_bytes()
    named = CHARSET.search(raw[:WHERE_CHARSET])
    for encoding in ("utf-8-sig", named[1].decode() if named else "utf-8"):
        try:
            page = raw.decode(encoding)
        except (UnicodeError, LookupError):  # LookupError: the page declares an unknown encoding
            continue
        return text_of_html(page)
    raise InvalidInput(f"{path.name}: {NOT_UTF8}")


READERS: Mapping[str, Callable[[Path], FileText]] = {
    **dict.fromkeys((".txt", ".rst"), _plain),
    **dict.fromkeys((".md", ".markdown"), _markdown),
    **dict.fromkeys((".html", ".htm", ".xhtml"), _html),
    ".pdf": text_of_pdf,
}

DOCUMENT_FILES = frozenset(READERS)
"""Suffixes of files that contain one document."""


ROW_FILES = frozenset({".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".gz", ".parquet", ".pq"})
"""Suffixes of files that contain one document per row."""

KINDS = ", ".join(sorted(DOCUMENT_FILES))

TEXT_COLUMNS = ("content", "text", "page_content", "document")
"""Names of columns with the text of a document, in order of preference."""


class GivenDocument(NamedTuple):
    """A document to write questions about.

    Attributes:
        id: its id, or the name of its file.
        text: all of its text.
        headings: one tuple per heading, in order: its offset in the text, its level (1 is the highest) and its words.
        pages: the offset in the text at which each page begins, in order; empty if the document has no pages.
    """

    id: str
    text: str
    headings: tuple[Heading, ...] = ()
    pages: tuple[int, ...] = ()


class Skipped(NamedTuple):
    """A file or a folder from which no questions are written.

    Attributes:
        name: its path within the folder that was given.
        reason: why, in words.
    """

    name: str
    reason: str

    def __str__(self) -> str:
        return readable(f"{self.name}: {self.reason}")


def documents_of(documents: Any) -> tuple[list[GivenDocument], list[Skipped]]:
    """Read documents in any accepted form. Return the documents, which have different ids, and the files of a folder that were
    skipped.

    Raises:
        InvalidInput: there are no documents, a document has no text, two have the same id, or their form is not accepted.
    """
    items = list(_from_path(Path(documents)) if isinstance(documents, os.PathLike) else _from_memory(documents))
    readable = [item for item in items if isinstance(item, GivenDocument)]
    skipped = [item for item in items if isinstance(item, Skipped)]
    if not readable and skipped:
        more = f" (and {len(skipped) - 1} more)" if len(skipped) > 1 else ""
        raise InvalidInput(f"there is no text to write questions from: {skipped[0]}{more}")
    if not readable:
        raise InvalidInput("documents is empty: give at least one")
    seen: set[str] = set()
    for document in readable:
        if document.id in seen:
            raise InvalidInput(
                f"two documents have the id {document.id!r}, so their questions could not be distinguished: give each its own id"
            )
        seen.add(document.id)
    return readable, skipped


def _from_memory(documents: Any) -> Iterator[GivenDocument]:
    is_single = isinstance(documents, str | Mapping | Document)
    if is_single or hasattr(documents, "iloc") or not isinstance(documents, Iterable):
        raise InvalidInput(
            "documents must be a list of texts, Documents or mappings with 'content', or the Path of a file or a folder, "
            f"got {type(documents).__name__}"
        )
    for index, item in enumerate(documents):
        document = Document.of(item if isinstance(item, str) else document_of(item), f"documents[{index}]")
        document = Document(document) if isinstance(document, str) else document
        if document.content is None:
            raise InvalidInput(f"documents[{index}] has no content to write questions about")
        yield GivenDocument(f"document-{index + 1}" if document.id is None else str(document.id), document.content)


def by_reason(skipped: Iterable[Skipped]) -> list[str]:
    """Return one line per reason, with the names of the first few files that were skipped for this reason."""
    names = grouped((item.reason, item.name) for item in skipped)
    return [f"{first_of(files)}: {reason}" for reason, files in names.items()]


def _from_path(path: Path) -> Iterator[GivenDocument | Skipped]:
    if path.is_dir():
        yield from _from_folder(path)
    elif path.is_file() and path.suffix.lower() in DOCUMENT_FILES:
        yield GivenDocument(path.name, *text_of_file(path))
    elif path.exists() and path.suffix.lower() not in ROW_FILES:
        raise InvalidInput(
            f"{path.name!r} is not a file of documents: give a folder of documents, a document ({KINDS}), "
            "or rows with a column 'content' (.jsonl, .json, .csv, .parquet)"
        )
    else:
        yield from _rows(path)


def _from_folder(folder: Path) -> Iterator[GivenDocument | Skipped]:
    """Read every document in the folder and its subfolders. A file that cannot be read is skipped, with a reason.

    Links to folders are not followed, because they could lead in a circle.
    """
    problems: list[OSError] = []
    paths: list[Path] = []
    for place, folders, files in os.walk(folder, onerror=problems.append):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [Path(place, name) for name in files if not name.startswith(".")]
    if not any(path.suffix.lower() in DOCUMENT_FILES for path in paths):
        raise InvalidInput(f"there is no text in the folder {str(folder)!r}: it needs files {KINDS}")
    locked = {Path(error.filename): f"the folder cannot be read: {error.strerror}" for error in problems}
    for path in sorted([*paths, *locked]):
        name = path.relative_to(folder).as_posix()
        yield Skipped(name, locked[path]) if path in locked else _from_file(path, name)


def _from_file(path: Path, name: str) -> GivenDocument | Skipped:
    if path.suffix.lower() not in DOCUMENT_FILES:
        return Skipped(name, f"only {KINDS} are read")
    if path.exists() and not path.is_file():  # reading a pipe would never end
        return Skipped(name, "not a regular file")
    try:
        document = GivenDocument(name, *text_of_file(path))
    except (InvalidInput, MissingExtra) as error:
        return Skipped(name, str(error))
    return document if document.text.strip() else Skipped(name, "the document has no text")


def _rows(path: Path) -> Iterator[GivenDocument]:
    """Read a file of rows, one document per row."""
    for row in open_rows(path).rows:
        if row.problem is not None:
            raise row.problem
        texts = (row.sample.metadata.get(column) for column in TEXT_COLUMNS)
        text = next((text for text in texts if text is not None), None)
        if not isinstance(text, str):
            raise InvalidInput(f"{row.place}: no text to write questions about: give it in a column 'content'")
        yield GivenDocument(f"document-{row.index + 1}" if row.sample.id is None else str(row.sample.id), text)
