"""What questions are written from: texts with an id, checked before the first call costs anything."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .._kernel._errors import InvalidInput
from .._kernel._sample import Document
from .._read import open_rows
from .._read._input_file import InputFile
from .._read._text import lines_of
from .._report._reasons import first_of

__all__ = ["TEXT_FILES", "GivenDocument", "Skipped", "documents_of"]

TEXT_FILES = frozenset({".txt", ".md", ".markdown", ".rst"})
"""Suffixes of files that are one document each."""

ROW_FILES = frozenset({".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".gz", ".parquet", ".pq"})
"""Suffixes of files that hold one document per row."""

TEXT_COLUMNS = ("content", "text", "page_content", "document")
"""Columns that hold the text of a document, by preference."""


class GivenDocument(NamedTuple):
    """A document to write questions about.

    Attributes:
        id: its id, or the name of its file.
        text: all of its text.
        headings: where in the text each heading begins, its level (1 is the highest) and its words, in order.
        pages: where in the text each page begins, in order; empty where a document has no pages.
    """

    id: str
    text: str
    headings: tuple[tuple[int, int, str], ...] = ()
    pages: tuple[int, ...] = ()


class Skipped(NamedTuple):
    """Files of a folder from which no questions are written, and why."""

    files: str
    why: str


def documents_of(documents: Any) -> tuple[list[GivenDocument], list[Skipped]]:
    """The documents in any accepted form, all with different ids, and the files of a folder that were left aside.

    Raises:
        InvalidInput: there are no documents, one has no text or the id of another, or their form is not accepted.
    """
    found = list(_from_path(Path(documents)) if isinstance(documents, os.PathLike) else _from_memory(documents))
    given = [item for item in found if isinstance(item, GivenDocument)]
    skipped = [item for item in found if isinstance(item, Skipped)]
    if not given and skipped:
        raise InvalidInput(f"there is no text to write questions from: {skipped[0].files}: {skipped[0].why}")
    if not given:
        raise InvalidInput("documents is empty: give at least one")
    seen: set[str] = set()
    for document in given:
        if document.id in seen:
            raise InvalidInput(
                f"two documents have the id {document.id!r}: questions could not be told apart by their document"
            )
        seen.add(document.id)
    return given, skipped


def _from_memory(documents: Any) -> Iterator[GivenDocument]:
    if isinstance(documents, str):
        raise InvalidInput(
            "documents must be several documents, got one str: write [text], or Path(...) for a file or a folder"
        )
    if isinstance(documents, Mapping | Document) or hasattr(documents, "iloc") or not isinstance(documents, Iterable):
        raise InvalidInput(
            "documents must be a list of texts, Documents or mappings with 'content', or the Path of a file or a folder, "
            f"got {type(documents).__name__}"
        )
    for index, item in enumerate(documents):
        document = Document.of(item, f"documents[{index}]")
        if isinstance(document, str):
            document = Document(document)
        if document.content is None:
            raise InvalidInput(f"documents[{index}] has no content to write questions about")
        yield GivenDocument(f"document-{index + 1}" if document.id is None else str(document.id), document.content)


def _from_path(path: Path) -> Iterator[GivenDocument | Skipped]:
    if path.is_dir():
        yield from _from_folder(path)
    elif path.is_file() and path.suffix.lower() in TEXT_FILES:
        yield GivenDocument(path.name, _text(path))
    elif path.exists() and path.suffix.lower() not in ROW_FILES:
        raise InvalidInput(
            f"{path.name!r} is no file of documents: give a folder of text files, a text file ({', '.join(sorted(TEXT_FILES))}), "
            "or rows with a column 'content' (.jsonl, .json, .csv, .parquet)"
        )
    else:
        yield from _rows(path)


def _from_folder(folder: Path) -> Iterator[GivenDocument | Skipped]:
    """Every text file. A file that cannot be read, or that is of another kind, is named and does not stop the others."""
    files = sorted(item for item in folder.rglob("*") if item.is_file())
    if not any(item.suffix.lower() in TEXT_FILES for item in files):
        raise InvalidInput(
            f"there is no text in the folder {str(folder)!r}: it needs files {', '.join(sorted(TEXT_FILES))}"
        )
    others = []
    for item in files:
        name = item.relative_to(folder).as_posix()
        if item.suffix.lower() not in TEXT_FILES:
            if not any(part.startswith(".") for part in Path(name).parts):  # hidden files are not documents
                others.append(name)
            continue
        try:
            yield GivenDocument(name, _text(item))
        except InvalidInput as error:
            yield Skipped(name, f"skipped: {error}")
    if others:
        yield Skipped(first_of(others), f"skipped: only {', '.join(sorted(TEXT_FILES))} are read as text")


def _rows(path: Path) -> Iterator[GivenDocument]:
    """One document per row of a file of rows."""
    for row in open_rows(path).rows:
        if row.problem is not None:
            raise row.problem
        texts = (row.sample.metadata.get(column) for column in TEXT_COLUMNS)
        text = next((text for text in texts if text is not None), None)
        if not isinstance(text, str):
            raise InvalidInput(f"{row.place}: no text to write questions about: give it in a column 'content'")
        yield GivenDocument(f"document-{row.index + 1}" if row.sample.id is None else str(row.sample.id), text)


def _text(path: Path) -> str:
    return "".join(line for _, line in lines_of(InputFile.of(path)))
