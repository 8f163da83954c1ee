"""Which sentence of a response cites which passages: markers are found, taken out of the text, and given to their sentences.

Markers come in the forms that models write; ``markers.find`` says which. All rests on the text and on the names of the passages,
so the same response always gives the same citations, and no model is asked.

Rules where a text leaves it open: a number in brackets is a marker wherever it stands, except in code, in footnotes, in a list of
sources at the end, and where it is a year that no passage has as its number. A marker after a full stop belongs to the sentence
before, one at the start of a line or before a small letter to the sentence that follows. Numbers in parentheses are none: ``(1)``
counts things as often as it cites. Questions, headings, and lines that end in a colon claim nothing, unless they cite.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ragmetrics_core import Document, InvalidInput
from ragmetrics_core.metrics.markers import Found, Meanings, find, find_by
from ragmetrics_core.metrics.sentences import sentences

__all__ = ["Citation", "Statement", "names_of", "prose", "statements"]

NAMING = ("url", "source", "link", "uri", "file_path", "file_name", "doc_id")
"""Entries of the metadata by which frameworks name where a passage comes from."""

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
    """One thing that a marker cites; ``[1, 9]`` are two.

    Attributes:
        marker: the number, id or address as it is written.
        passages: the numbers of the passages that it names, from 1; several where they come from one document, none if the marker
            is fabricated.
        span: the place of the marker in the response, as offsets of characters, the end exclusive.
    """

    marker: str
    passages: tuple[int, ...]
    span: tuple[int, int]


class Statement(NamedTuple):
    """A sentence of a response that claims something, or cites.

    Attributes:
        text: the sentence without its markers.
        citations: what it cites, in order.
        span: its place in the response.
    """

    text: str
    citations: tuple[Citation, ...]
    span: tuple[int, int]

    @property
    def cited(self) -> frozenset[int]:
        """The numbers of the passages that it cites."""
        return frozenset(number for citation in self.citations for number in citation.passages)

    @property
    def fabricated(self) -> tuple[str, ...]:
        """The markers that no passage has."""
        return tuple(citation.marker for citation in self.citations if not citation.passages)


def names_of(documents: Sequence[Document | str] | None, passages: int, metric: str) -> dict[str, tuple[int, ...]]:
    """The ids, addresses and file names of passages, each with the numbers of the passages that have it.

    Args:
        documents: the documents of the passages, in the same order; None where there are none.
        passages: how many passages there are.
        metric: who asks, for the message.

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
            given = [document.id, *(document.meta.get(key) for key in NAMING)]
            for name in {str(item) for item in given if isinstance(item, str | int) and str(item).strip()}:
                names[name] = (*names.get(name, ()), number)
    return names


def statements(
    response: str, passages: int, names: Mapping[str, Sequence[int]] | None = None, pattern: str | None = None
) -> list[Statement]:
    """The sentences of a response that claim something, with what they cite.

    Args:
        response: what was answered.
        passages: how many passages there are.
        names: ids, addresses and other names of passages, with the numbers of those that have them; see ``names_of``.
        pattern: a regular expression with one group that finds markers, in the place of the built-in forms. The group holds numbers
            or names, with commas between them.

    Raises:
        InvalidInput: the pattern is no regular expression, or has not one group.
    """
    shown = prose(response)
    meanings, without_code = Meanings(passages, names or {}), CODE.sub(_blank, shown) if "`" in shown else shown
    found = list(find(without_code, meanings) if pattern is None else find_by(pattern, without_code, meanings))
    plain = _without(shown, found)
    spans = [span for span in sentences(plain, frozenset(item.span[0] for item in found)) if WORD.search(plain, *span)]
    owned: list[list[Found]] = [[] for _ in spans]
    starts = [start for start, _ in spans]
    for item in found if spans else ():
        owned[_owner(plain, item.span[0], spans, starts)].append(item)
    made = (_statement(shown, place, own) for place, own in zip(spans, owned, strict=True))
    return [said for said in made if said.citations or not (HEADING.match(said.text) or SILENT_END.search(said.text))]


def prose(text: str) -> str:
    """The text with blanks in the places of blocks of code, footnotes, and a list of sources; all else stands where it stood."""
    return LEFT_OUT.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    """Blanks in the place of all characters but line ends."""
    return re.sub(r"[^\n]", " ", match[0])


def _without(text: str, found: Sequence[Found]) -> str:
    """The text with blanks in the places of the markers."""
    pieces, at = [], 0
    for item in found:
        (start, end), (first, last) = item.span, item.kept
        pieces += [text[at:start], " " * max(0, first - start), text[first:last], " " * (end - max(start, last))]
        at = end
    return "".join([*pieces, text[at:]])


def _owner(plain: str, place: int, spans: Sequence[tuple[int, int]], starts: Sequence[int]) -> int:
    """The index of the sentence that a marker at this place belongs to."""
    after = bisect_right(starts, place)
    if after in (0, len(spans)):
        return max(0, after - 1)
    end, start = spans[after - 1][1], spans[after][0]
    opens = "\n" in plain[end:place] or plain[start].islower()
    return after if end <= place and opens and "\n" not in plain[place:start] else after - 1


def _statement(shown: str, place: tuple[int, int], own: Sequence[Found]) -> Statement:
    """A sentence with what it cites; its markers are cut out, with the blanks before them."""
    start, end = place
    pieces, at = [], start
    for item in own:
        if item.span[1] > start and item.span[0] < end:
            kept = shown[slice(*item.kept)]
            before = shown[at : item.span[0]]
            pieces += [before if kept else before.rstrip(" \t"), kept]
            at = item.span[1]
    text = "".join([*pieces, shown[at:end]])
    if own and ("(" in text or "[" in text or "<" in text):
        text = EMPTY.sub("", text)
    if "  " in text or "\t" in text:
        text = SPACE.sub(" ", text)
    citations = tuple(Citation(marker, to, item.span) for item in own for marker, to in item.cited)
    around = [start, end, *(edge for item in own for edge in item.span)]
    return Statement(text.strip(), citations, (min(around), max(around)))
