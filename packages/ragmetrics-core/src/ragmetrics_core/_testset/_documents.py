"""What questions are written from: texts with an id, checked before the first call costs anything."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .._errors import InvalidInput
from .._read import open_source
from .._read._text import lines_of
from .._sample import Document

__all__ = ["TEXT_FILES", "Source", "documents_of"]

TEXT_FILES = frozenset({".txt", ".md", ".markdown", ".rst"})
"""Suffixes of files that are one document each."""

ROW_FILES = frozenset({".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".gz", ".parquet", ".pq"})
"""Suffixes of files that hold one document per row."""

TEXT_COLUMNS = ("content", "text", "page_content", "document")
"""Columns that hold the text of a document, by preference."""


class Source(NamedTuple):
    """A document to write questions about."""

    id: str
    text: str


def documents_of(documents: Any) -> list[Source]:
    """The documents in any accepted form, all with different ids.

    Raises:
        InvalidInput: there are none, one has no text or the id of another one, or the form is none of those accepted.
    """
    sources = list(_from_path(Path(documents)) if isinstance(documents, os.PathLike) else _from_memory(documents))
    if not sources:
        raise InvalidInput("documents is empty: give at least one")
    seen: set[str] = set()
    for source in sources:
        if source.id in seen:
            raise InvalidInput(
                f"two documents have the id {source.id!r}: questions could not be told apart by their document"
            )
        seen.add(source.id)
    return sources


def _from_memory(documents: Any) -> Iterator[Source]:
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
        yield Source(f"document-{index + 1}" if document.id is None else str(document.id), document.content)


def _from_path(path: Path) -> Iterator[Source]:
    if path.is_dir():
        files = sorted(item for item in path.rglob("*") if item.is_file() and item.suffix.lower() in TEXT_FILES)
        if not files:
            raise InvalidInput(
                f"there is no text in the folder {str(path)!r}: it needs files {', '.join(sorted(TEXT_FILES))}"
            )
        yield from (Source(item.relative_to(path).as_posix(), _text(item)) for item in files)
    elif path.is_file() and path.suffix.lower() in TEXT_FILES:
        yield Source(path.name, _text(path))
    elif path.exists() and path.suffix.lower() not in ROW_FILES:
        raise InvalidInput(
            f"{path.name!r} is no file of documents: give a folder of text files, a text file ({', '.join(sorted(TEXT_FILES))}), "
            "or rows with a column 'content' (.jsonl, .json, .csv, .parquet)"
        )
    else:
        yield from _rows(path)


def _rows(path: Path) -> Iterator[Source]:
    """One document per row of a file of rows."""
    for row in open_source(path).rows:
        if row.problem is not None:
            raise row.problem
        texts = (row.sample.metadata.get(column) for column in TEXT_COLUMNS)
        text = next((text for text in texts if text is not None), None)
        if not isinstance(text, str):
            raise InvalidInput(f"{row.place}: no text to write questions about: give it in a column 'content'")
        yield Source(f"document-{row.index + 1}" if row.sample.id is None else str(row.sample.id), text)


def _text(path: Path) -> str:
    return "".join(line for _, line in lines_of(path))
