"""Passages of documents. They are as long as what a retriever finds, and are cut where a reader would pause.

A chunk is a slice of the text of its document, so its offsets are always known. It ends at the last sentence end within its size.
If the second half of the chunk has no sentence end, it ends at a line end, or else at a word end. The next chunk begins with the
last sentences of the previous chunk that fit the overlap. A heading never stands at the end of a chunk, separated from the text
below it.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .._lexical._claims import sentence_ends
from .._values._errors import InvalidInput, Setting
from .._values._sample import Document
from .._values._settings import check_whole
from ._documents import GivenDocument

CHUNK_SIZE = 1000
"""The largest number of characters of a chunk."""

CHUNK_OVERLAP = 200
"""The largest number of characters that a chunk repeats from the previous chunk."""

PARAGRAPH = re.compile(r"\n[^\S\n]*(?:\n|(?=(?:[-*•·–#|]|\(?\d{1,3}[.)])[^\S\n]))")
"""The line break before a blank line or a list item. It ends a sentence even without a punctuation mark. Any other line break
may only wrap a line.
"""

SHORT_WORD = re.compile(r"(?<![\w.,])(?:\d{1,2}|[^\W\d_]{1,4})$")
"""A word before a full stop that may not end a sentence: an ordinal (``3. Tag``), or an abbreviation before a number (``Sec``,
``pp``, ``Abb``).
"""

NOT_BLANK = re.compile(r"\S")

NEVER_FIRST = frozenset("、。，．！？：；）］｝」』】〉》〕”’ー々…")
"""Punctuation marks that must not be separated from the character before them."""

UNSPACED = re.compile("[\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
"""Characters of scripts that put no spaces between words."""


@dataclass(frozen=True)
class Chunk:
    """A passage of a document. Questions are written about it and answered from it.

    Attributes:
        text: the passage, ``document_text[start:end]``.
        document: the id of the document, or the name of its file.
        index: the number of the chunk within the document, from 0.
        start: the offset in the document's text at which the chunk begins, in characters.
        end: the offset at which the chunk ends.
        headings: the headings above the chunk, the highest level first; empty if none are known.
        page: the page on which the chunk begins, from 1; None if the document has no pages.
        only: whether the document has no other chunk.
    """

    text: str
    document: str
    index: int
    start: int
    end: int
    headings: tuple[str, ...] = ()
    page: int | None = None
    only: bool = False

    @property
    def id(self) -> str:
        """The document's id and the number of the chunk, from 1. If the document has only one chunk, just the document's id."""
        return self.document if self.only else f"{self.document}#{self.index + 1}"

    @property
    def place(self) -> dict[str, Any]:
        """The position of the chunk, for JSON: ``source``, ``start``, ``end``, and ``headings`` and ``page`` if they are known.

        Empty for the only chunk of a document without headings and pages.
        """
        headings = {"headings": list(self.headings)} if self.headings else {}
        page = {"page": self.page} if self.page else {}
        if self.only and not headings and not page:
            return {}
        return {"source": self.document, "start": self.start, "end": self.end, **headings, **page}

    def to_document(self) -> Document:
        """Return the chunk as a retriever would find it: its text, its id, and its ``place`` as ``meta``."""
        return Document(self.text, self.id, meta=self.place)


def check_sizes(size: int, overlap: int) -> None:
    """Check the size and the overlap of chunks.

    Raises:
        InvalidInput: one of them is not a whole number in its range, or the overlap is not less than the size.
    """
    check_whole("chunk_size", size, least=1)
    check_whole("chunk_overlap", overlap, least=0)
    if overlap >= size:
        given = f", got {overlap} and {size}"
        raise InvalidInput(Setting("chunk_overlap"), " must be less than ", Setting("chunk_size"), given)


def chunks_of(document: GivenDocument, size: int = CHUNK_SIZE, overlap: int = CHUNK_OVERLAP) -> list[Chunk]:
    """Cut a document into chunks, in order. Every character that is not blank is in at least one chunk.

    Args:
        document: the document. A text of at most ``size`` characters becomes one unchanged chunk; a blank text has no chunks.
        size: the largest number of characters of a chunk; only a single word may be longer.
        overlap: the largest number of characters that a chunk shares with the previous one; less than ``size``.
    """
    text = document.text
    if not text.strip():
        return []
    spans = [(0, len(text))] if len(text) <= size else list(_Cutter(document, size, overlap).spans())
    chunks = []
    for index, (start, end) in enumerate(spans):
        headings, page = _headings_at(document, start), bisect_right(document.pages, start) or None
        chunks.append(Chunk(text[start:end], document.id, index, start, end, headings, page, only=len(spans) == 1))
    return chunks


def _headings_at(document: GivenDocument, position: int) -> tuple[str, ...]:
    """Return the headings above a position of the text, the highest level first."""
    path: list[tuple[int, str]] = []
    for start, level, words in document.headings:
        if start > position:
            break
        path = [*((above, title) for above, title in path if above < level), (level, words)]
    return tuple(words for _, words in path)


class _Cutter:
    """Cuts one text into the spans of its chunks."""

    def __init__(self, document: GivenDocument, size: int, overlap: int) -> None:
        self.text = document.text
        self.size, self.overlap = size, overlap
        self.last = self._without_blanks(len(self.text))
        self.starts = [self._skip_blanks(0)]
        for end in sorted(_sentence_ends(self.text)):
            if self.starts[-1] < end < self.last:  # otherwise the end lies in the blanks before the last start
                self.starts.append(self._skip_blanks(end))
        headings = {start for start, _, _ in document.headings}
        sentences = pairwise([*self.starts, len(self.text)])
        self.ends = [self._without_blanks(following) for start, following in sentences if start not in headings]

    def spans(self) -> Iterator[tuple[int, int]]:
        start, done = self.starts[0], 0
        while done < self.last:
            end = self._end(start, done)
            if end is None:  # the overlap leaves no room for the next word, or that word is longer than a chunk
                start = self._skip_blanks(done)
                edges = filter(self._is_edge, range(start + self.size, self.last + 1))
                end = self._end(start, done) or next(edges)
            yield start, end
            start, done = self._next_start(start, end), end

    def _end(self, start: int, done: int) -> int | None:
        """Return the best end of a chunk that begins at ``start`` and goes beyond ``done``. None if no further word fits."""
        limit, least = start + self.size, max(start, done)
        if limit >= self.last:
            return self.last
        # the best end is the end of a sentence or line in the second half of the chunk, else the end of the last whole word
        late = max(done, start + self.size // 2)
        index = bisect_right(self.ends, limit) - 1
        sentence = self.ends[index] if index >= 0 else 0
        line = self._without_blanks(self.text.rfind("\n", late + 1, limit + 1))
        word = limit
        while word > least and not self._is_edge(word):
            word -= 1
        word = self._without_blanks(word)
        return next((end for end in (sentence, line) if end > late), word if word > least else None)

    def _next_start(self, start: int, end: int) -> int:
        """Return the start of the next chunk: the first sentence within the overlap, or, if this chunk ends within a sentence,
        the first word.
        """
        least = max(end - self.overlap, start + 1)
        sentence = bisect_left(self.starts, least)
        if sentence < len(self.starts) and self.starts[sentence] < end:
            return self.starts[sentence]
        index = bisect_left(self.ends, end)
        if index < len(self.ends) and self.ends[index] == end:
            return self._skip_blanks(end)
        return self._skip_blanks(next((at for at in range(least, end) if self._is_edge(at)), end))

    def _is_edge(self, at: int) -> bool:
        """Whether the text can be cut before the character ``at`` without cutting a word."""
        if at >= len(self.text):
            return True
        before, after = self.text[at - 1], self.text[at]
        if before.isspace() or after.isspace():
            return True
        if after in NEVER_FIRST or unicodedata.combining(after):
            return False
        return bool(UNSPACED.match(before) or UNSPACED.match(after))

    def _skip_blanks(self, at: int) -> int:
        found = NOT_BLANK.search(self.text, at)
        return len(self.text) if found is None else found.start()

    def _without_blanks(self, end: int) -> int:
        while end > 0 and self.text[end - 1].isspace():
            end -= 1
        return end


def _sentence_ends(text: str) -> Iterator[int]:
    """Return the ends of sentences: at punctuation marks, before blank lines and before list items."""
    yield from (end for end in sentence_ends(text) if text[end - 1] != "\n" and _is_end(text, end))
    yield from (match.end() for match in PARAGRAPH.finditer(text))


def _is_end(text: str, end: int) -> bool:
    """Whether the mark before ``end`` ends a sentence. A full stop may also end an abbreviation or an ordinal."""
    if text[end - 1] != ".":
        return True
    following = NOT_BLANK.search(text, end)
    if following is None:
        return True
    if following[0].islower():
        return False
    word = SHORT_WORD.search(text, max(0, end - 7), end - 1)
    return word is None or not (word[0].isdigit() or following[0].isdigit())
