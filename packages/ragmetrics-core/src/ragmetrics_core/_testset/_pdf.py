"""The text of a PDF, page by page, read with pypdf (the extra ``documents``)."""

from __future__ import annotations

import logging
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._kernel._errors import InvalidInput, MissingExtra
from ._text import FileText

# What a parser of damaged files meets besides its own errors; a program that reads strangers' files has to expect all of them.
DAMAGED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)

LONGEST = 100
"""Characters of a message of pypdf that are told: it can hold any part of the file."""


def text_of_pdf(path: Path) -> FileText:
    """The text of the pages, in order.

    Raises:
        InvalidInput: the file is encrypted or damaged, or there is no text in it.
        MissingExtra: pypdf is not installed.
    """
    try:
        from pypdf.errors import DependencyError, PyPdfError  # noqa: PLC0415  an extra
    except ImportError:
        raise MissingExtra('the pypdf package is not installed: pip install "ragmetrics-core[documents]"') from None
    try:
        pages = _pages(path)
    except InvalidInput:
        raise
    except DependencyError as error:
        raise InvalidInput(f"{path.name} is encrypted ({error}): save it without encryption") from None
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror or error}") from None
    except (PyPdfError, *DAMAGED) as error:
        raise InvalidInput(
            f"{path.name} is no PDF that can be read ({type(error).__name__}: {str(error)[:LONGEST]})"
        ) from None
    if not any(pages):
        count = "its page" if len(pages) == 1 else f"its {len(pages)} pages"
        raise InvalidInput(
            f"{path.name}: there is no text on {count}, perhaps only pictures of it: recognise the text (OCR) first"
        )
    return _joined(pages)


def _pages(path: Path) -> list[str]:
    from pypdf import PdfReader  # noqa: PLC0415  an extra

    with _no_last_resort("pypdf"), PdfReader(path) as reader:
        if reader.is_encrypted and not reader.decrypt(
            ""
        ):  # many are, so that they are not changed, and open for everybody
            raise InvalidInput(f"{path.name} is encrypted: save it without its password")
        return [page.extract_text().strip() for page in reader.pages]


@contextmanager
def _no_last_resort(name: str) -> Iterator[None]:
    """What a package logs goes to the handlers that the user has set up, and not to stderr where there are none."""
    handler = logging.NullHandler()
    logging.getLogger(name).addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger(name).removeHandler(handler)


def _joined(pages: list[str]) -> FileText:
    """One text, since sentences run over pages; a page without text begins where the next one does."""
    starts, parts, length = [], [], 0
    for page in pages:
        starts.append(length)
        if page:
            parts.append(page)
            length += len(page) + 1
    return FileText("\n".join(parts), pages=tuple(starts))
