"""Find out which sentence of a response cites which passages: find the markers, remove them from the text, assign them to
sentences.

``markers.find`` lists the forms of markers. Only the text and the names of the passages count, and no model is asked, so the same
response always has the same citations.

Rules for ambiguous cases. A number in brackets is a marker, except in code, in footnotes, in a list of sources at the end, and if
it is a year that is not the number of a passage. A marker after a full stop belongs to the sentence before it. A marker at the
start of a line, or before a small letter, belongs to the sentence that follows. A number in parentheses is not a marker: ``(1)``
counts items as often as it cites. Questions, headings and lines that end in a colon claim nothing, unless they cite.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ragmetrics_core import Document, InvalidInput
from ragmetrics_core.metrics.markers import Found, Meanings, find, find_by
from ragmetrics_core.metrics.matching import DocumentList
from ragmetrics_core.metrics.sentences import sentences

__all__ = ["Citation", "Statement", "names_of", "prose", "statements"]

NAMING = ("url", "source", "link", "uri", "file_path", "file_name", "doc_id")
"""Keys of metadata in which frameworks keep the origin of a passage."""

LEFT_OUT = re.compile(
    r"^[ \t]*(?P<fence>```|~~~)[\s\S]*?(?:^[ \t]*(?P=fence)[^\n]*$|\Z)"  # code
    r"|^[ \t]*\[\^?[^\]\n]{1,40}\]:[^\n]*$"  # a footnote, or the target of a link
    r"|^[ \t#*_]{0,9}(?:sources?|references?|citations?|bibliography|quellen|quellenangaben|literatur|einzelnachweise|références|"
    r"notes|来源|参考文献|参考资料|引用)[ \t]{0,9}[:：]?[ \t*_]{0,9}\n"
    r"(?:[ \t]*\n|[ \t]*(?:[-*+•]|\d+[.)])?[ \t]*(?:[\[［【]|https?://|[-*+•]|\d+[.)])[^\n]*(?:\n|\Z))+",
    re.MULTILINE | re.IGNORECASE,
)
CODE = re.compile(r"(`{1,3})[^`\n]+\1")
HEADING = re.compile(r"#{1,6}[ \t]|(\*\*|__)[^*_]*\1[:：]?$")
SILENT_END = re.compile(r"[?？:：][\"'”’»)*_]*$")
WORD = re.compile(r"\w")
SPACE = re.compile(r"[ \t]+")
EMPTY = re.compile(r"[ \t]?(?:\([ \t]?\)|\[[ \t]?\]|<>)")


class Citation(NamedTuple):
    """One item that a marker cites; ``[1, 9]`` makes two citations.

    Attributes:
        marker: the number, id or address as it is written.
        passages: the numbers of the passages that it names, from 1. Several if they come from one document; none if the marker is
            fabricated.
        span: the place of the marker in the response: character offsets, end exclusive.
    """

    marker: str
    passages: tuple[int, ...]
    span: tuple[int, int]


class Statement(NamedTuple):
    """A sentence of a response that makes a claim or cites.

    Attributes:
        text: the sentence without its markers.
        citations: its citations, in order.
        span: its place in the response: character offsets, end exclusive.
    """

    text: str
    citations: tuple[Citation, ...]
    span: tuple[int, int]

    @property
    def cited(self) -> frozenset[int]:
        """The numbers of the passages that the sentence cites."""
        return frozenset(number for citation in self.citations for number in citation.passages)

    @property
    def fabricated(self) -> tuple[str, ...]:
        """The markers that name no passage."""
        return tuple(citation.marker for citation in self.citations if not citation.passages)


def names_of(documents: DocumentList | None, passages: int, metric: str) -> dict[str, tuple[int, ...]]:
    """Collect the ids, addresses and file names of passages, each with the numbers of the passages that have it.

    Args:
        documents: the documents of the passages, in the same order; None if there are none.
        passages: the number of passages.
        metric: the name of the metric, for the message.

    Raises:
        InvalidInput: there are more or fewer documents than passages.
    """
    if not documents:
        return {}
    if len(documents) != passages:
        raise InvalidInput(
            f"{metric}: retrieved_documents has {len(documents)} items, but retrieved_contexts has {passages}: to tell what a "
            "citation by id or address means, give one document for each context, in the same order, or none at all"
        )
    names: dict[str, tuple[int, ...]] = {}
    for number, document in enumerate(documents, 1):
        if isinstance(document, Document):
            names_of_document = [document.id, *(document.meta.get(key) for key in NAMING)]
            for name in {str(item) for item in names_of_document if isinstance(item, str | int) and str(item).strip()}:
                names[name] = (*names.get(name, ()), number)
    return names


def statements(
    response: str, passages: int, names: Mapping[str, Sequence[int]] | None = None, pattern: str | None = None
) -> list[Statement]:
    """Split a response into the sentences that make a claim or cite, each with its citations.

    Args:
        response: the response.
        passages: the number of passages.
        names: ids, addresses and other names of passages, with the numbers of the passages that have them; see ``names_of``.
        pattern: a regular expression that finds markers, instead of the built-in forms. Its one group holds numbers or names,
            separated by commas.

    Raises:
        InvalidInput: the pattern is not a regular expression, or does not have exactly one group.
    """
    visible = prose(response)
    meanings = Meanings(passages, names or {})
    without_code = CODE.sub(_blank, visible) if "`" in visible else visible
    markers = list(find(without_code, meanings) if pattern is None else find_by(pattern, without_code, meanings))
    plain = _without(visible, markers)
    after_markers = frozenset(marker.span[0] for marker in markers)
    spans = [span for span in sentences(plain, after_markers) if WORD.search(plain, *span)]
    starts = [start for start, _ in spans]
    markers_of: list[list[Found]] = [[] for _ in spans]
    for marker in markers if spans else ():
        markers_of[_sentence_of(plain, marker.span[0], spans, starts)].append(marker)
    found = [_statement(visible, *sentence) for sentence in zip(spans, markers_of, strict=True)]
    return [item for item in found if item.citations or not (HEADING.match(item.text) or SILENT_END.search(item.text))]


def prose(text: str) -> str:
    """Replace blocks of code, footnotes and a list of sources by blanks. All other characters keep their places."""
    return LEFT_OUT.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    """Replace all characters but line ends by blanks."""
    return re.sub(r"[^\n]", " ", match[0])


def _without(text: str, found: Sequence[Found]) -> str:
    """Replace the markers by blanks."""
    pieces, at = [], 0
    for item in found:
        (start, end), (first, last) = item.span, item.kept
        pieces += [text[at:start], " " * max(0, first - start), text[first:last], " " * (end - max(start, last))]
        at = end
    return "".join([*pieces, text[at:]])


def _sentence_of(plain: str, marker: int, spans: Sequence[tuple[int, int]], starts: Sequence[int]) -> int:
    """Return the index of the sentence to which the marker belongs that starts at the offset ``marker``."""
    following = bisect_right(starts, marker)  # the first sentence that starts after the marker
    previous = following - 1
    if following in (0, len(spans)):
        return max(0, previous)
    end, start = spans[previous][1], spans[following][0]
    begins_line = "\n" in plain[end:marker]
    if end <= marker and "\n" not in plain[marker:start] and (begins_line or plain[start].islower()):
        return following
    return previous


def _statement(text: str, sentence: tuple[int, int], markers: Sequence[Found]) -> Statement:
    """Return the statement that a sentence makes, without its markers and the blanks before them.

    Args:
        text: the response, with blanks instead of code, footnotes and lists of sources.
        sentence: the start and the end of the sentence in the text.
        markers: the markers that belong to the sentence, in order; some may stand before or after it.
    """
    start, end = sentence
    parts, done = [], start  # done: the offset up to which the text was copied
    for marker in markers:
        first, last = marker.span
        if last > start and first < end:
            before, link_text = text[done:first], text[slice(*marker.kept)]
            parts += [before if link_text else before.rstrip(" \t"), link_text]
            done = last
    words = "".join([*parts, text[done:end]])
    if markers and ("(" in words or "[" in words or "<" in words):
        words = EMPTY.sub("", words)
    if "  " in words or "\t" in words:
        words = SPACE.sub(" ", words)
    citations = tuple(Citation(cited, passages, marker.span) for marker in markers for cited, passages in marker.cited)
    edges = [start, end, *(edge for marker in markers for edge in marker.span)]
    return Statement(words.strip(), citations, (min(edges), max(edges)))
