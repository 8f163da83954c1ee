"""Evidence that is too large for a page loses the contexts that no claim cites, each replaced by a note of its length
with its beginning and its end.

A context is cited if a judge says that it supports or contradicts a claim, or is useful, or if the response cites it. Such contexts
are never cut: without them a verdict cannot be checked. The messages that models were asked contain the contexts too, so they get
the same notes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from .._values._findings import findings_of

SHORTEST, BEGINNING, END = 300, 80, 20
"""The number of characters of the shortest context that is cut; of its beginning and its end, which its note has."""


def without_uncited(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the evidence of a row, of one run or of two, without the contexts that no claim cites; ``cut`` is their number.

    A context that is cited in one of two runs is kept in both, so that the page still shows that both have it.
    """
    records = [record for side in evidence["sides"] for record in side] if "sides" in evidence else [evidence]
    kept = {text for record in records for number, text in _contexts(record["sample"]) if number in cited(record)}
    if "sides" not in evidence:
        return _shortened(evidence, kept)
    sides = [[_shortened(record, kept) for record in side] for side in evidence["sides"]]
    return {**evidence, "sides": sides, "cut": sum(record.pop("cut") for side in sides for record in side)}


def _shortened(record: Mapping[str, Any], kept: Collection[str]) -> dict[str, Any]:
    uncited = [text for _, text in _contexts(record["sample"]) if text not in kept and len(text) >= SHORTEST]
    notes = {text: note_of(text) for text in uncited}
    parts = {
        "sample": _replaced(record["sample"], lambda text: notes.get(text, text)),
        "exchanges": _replaced(record.get("exchanges", {}), lambda text: _in_message(text, notes)),
    }
    return {**record, **{name: part for name, part in parts.items() if name in record}, "cut": len(uncited)}


def _contexts(sample: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return the contexts of a row that are texts, with their numbers from 1."""
    contexts = sample.get("retrieved_contexts")
    if contexts is None:
        documents = sample.get("retrieved_documents") or ()
        contexts = [item.get("content") if isinstance(item, Mapping) else item for item in documents]
    return [(number, item) for number, item in enumerate(contexts, 1) if isinstance(item, str)]


def cited(record: Mapping[str, Any]) -> frozenset[int]:
    """Return the numbers of the contexts that any score of the record cites."""
    found: set[int] = set()
    for score in record["scores"].values():
        details = score.get("details") or {}
        for item in findings_of(details).items:
            found.update(item.passages, item.against)
            if item.text is None and item.holds:  # a verdict on a passage itself
                found.add(item.number)
        found.update(_in_citations(details))
    return frozenset(found)


def _in_citations(value: Any, inside: bool = False) -> Iterator[int]:
    """Yield the numbers of passages in the citations of a response, wherever the details have them."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _in_citations(item, inside or name == "citations")
    elif isinstance(value, list):
        for item in value:
            yield from _in_citations(item, inside)
    elif inside and type(value) is int:
        yield value


def note_of(text: str) -> str:
    """Return the note in the place of a context, with its beginning and its end."""
    return f"{text[:BEGINNING]} [{len(text):,} characters, cited by no claim: left out of this file] {text[-END:]}"


def _in_message(text: str, notes: Mapping[str, str]) -> str:
    """Return a message with the notes; contexts travel in it as JSON, or as they are."""
    for context, note in notes.items():
        text = text.replace(context, note).replace(_escaped(context), _escaped(note))
    return text


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _replaced(value: Any, of: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return of(value)
    if isinstance(value, Mapping):
        return {name: _replaced(item, of) for name, item in value.items()}
    return [_replaced(item, of) for item in value] if isinstance(value, list) else value
