"""A span of any export in the words of OpenInference, and the spans of one trace as a tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from .._values._errors import InvalidInput
from ._json import parsed_json, parsed_or_none


@dataclass(frozen=True)
class UnreadableTrace:
    """A trace, or a turn of it, that is no sample.

    Attributes:
        reason: why, in words that are the same for all traces with this problem, such as ``no answer``.
        trace_id: the id of the trace; None for a line of a file that cannot be read.
        span_id: the id of the span of the turn; None if the trace has no turn.
        detail: more about this trace, such as the message of an error; "" if there is none.
    """

    reason: str
    trace_id: str | None = None
    span_id: str | None = None
    detail: str = ""


class Unread(Exception):
    """A part of a turn is not in its spans. The message is the reason of an ``UnreadableTrace``."""


class Damaged(InvalidInput):
    """A record of an export that cannot be read."""


@dataclass(slots=True, eq=False)
class Span:
    """One span.

    Attributes:
        trace_id: the id of the trace.
        span_id: the id of the span.
        parent_id: the id of the span above it; None for the root of a trace.
        name: the name of the operation.
        kind: ``CHAIN``, ``AGENT``, ``LLM``, ``RETRIEVER``, ``TOOL``, another kind of OpenInference, or "" if it is not known.
        start: seconds since 1970; 0 if it is not known.
        end: likewise; None if it is not known.
        attributes: the attributes that samples are made of, under the names of OpenInference. ``input.value`` and ``output.value``
            are texts, or values that a text of JSON contained.
        error: why the operation failed; None if it did not.
        parsed: the values of texts of JSON that were read, by attribute.
    """

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    kind: str
    start: float
    end: float | None
    attributes: Mapping[str, Any]
    error: str | None = None
    parsed: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Turn:
    """A call of the application.

    Attributes:
        root: its span; if the span itself is missing, the first one below it.
        last: the span whose output is that of the call: the root, or the last one below a missing root.
        spans: all its spans, by their start, without those of judges.
        above: for each of its spans, by id, the spans above it in this turn, from its parent up.
    """

    root: Span
    last: Span
    spans: list[Span]
    above: dict[str, Sequence[Span]] = field(default_factory=dict)

    def of_kind(self, *kinds: str) -> list[Span]:
        """Return the spans of these kinds that are not below another one of them."""
        return [
            span
            for span in self.spans
            if span.kind in kinds and all(above.kind not in kinds for above in self.above[span.span_id])
        ]


HANDED = "langgraph.handed"
"""The attribute with the command by which a step of LangGraph handed over to the graph above, as Python shows it."""

MOST_DEEP = 200
"""The most spans above a span that count; deeper ones belong to no turn."""

TURNS = frozenset({"CHAIN", "AGENT"})
KNOWN = TURNS | {"LLM", "RETRIEVER", "TOOL", "RERANKER", "PROMPT", "GUARDRAIL"}
"""The kinds of spans that belong to an answer. Embeddings are not among them: they also index documents."""


class Tree:
    """The spans of a trace, without those of judges."""

    def __init__(self, spans: Iterable[Span]) -> None:
        by_id: dict[str, Span] = {}
        for span in sorted(spans, key=lambda span: span.start):
            by_id.setdefault(span.span_id, span)  # exporters that retry send a span twice
        judges = {span.span_id for span in by_id.values() if in_metadata(span, "ragmetrics")}
        self._above = {span.span_id: list(_ancestors(span, by_id)) for span in by_id.values()}
        self.spans = [
            span
            for span in by_id.values()
            if span.span_id not in judges and not any(above.span_id in judges for above in self._above[span.span_id])
        ]

    def turns(self) -> list[Turn]:
        """Return the turns, by their start."""
        top_of: dict[str, str] = {}
        groups: dict[tuple[str, bool], list[Span]] = {}
        for span in self.spans:
            above = [span, *self._above[span.span_id]]
            top = next((item for item in reversed(above) if item.kind in KNOWN), span)
            top_of[span.span_id] = top.span_id
            if top is span and span.kind in KNOWN:
                is_lost = above[-1].parent_id is not None
                groups.setdefault((above[-1].parent_id or above[-1].span_id, is_lost), []).append(span)
        lost = [_parts(group, is_lost=True) for (_, is_lost), group in groups.items() if is_lost]
        parts = [part for (_, is_lost), group in groups.items() if not is_lost for part in _parts(group, is_lost=False)]
        if len(parts) == 1:  # spans whose parents are missing, such as those of a stream, belong to the only call
            root, last, tops = parts[0]
            parts = [(root, last, [*tops, *(span for more in lost for _, _, others in more for span in others)])]
        else:
            parts += [part for more in lost for part in more]
        found = [Turn(root, last, []) for root, last, _ in parts]
        turn_of = {top.span_id: turn for turn, (_, _, tops) in zip(found, parts, strict=True) for top in tops}
        for span in self.spans:
            if (turn := turn_of.get(top_of[span.span_id])) is not None:
                turn.spans.append(span)
        for turn in found:
            ids = {span.span_id for span in turn.spans}
            for span in turn.spans:
                turn.above[span.span_id] = [item for item in self._above[span.span_id] if item.span_id in ids]
        return found


Part = tuple[Span, Span, list[Span]]
"""The first and the last span of a turn, and its outermost spans."""


def _parts(group: list[Span], *, is_lost: bool) -> list[Part]:
    """Return the turns among outermost spans that have one root.

    If the root is missing and steps of a chain or of a graph are left, they are one turn. Otherwise every chain is one, and model
    calls and searches beside a single chain, or without one, belong together.
    """
    calls = [span for span in group if span.kind in TURNS]
    are_steps = is_lost and (len(calls) < len(group) or any(in_metadata(span, "langgraph_node") for span in calls))
    if are_steps or not calls:
        return [(group[0], group[-1], group)]
    return [(span, span, group if len(calls) == 1 else [span]) for span in calls]


def _ancestors(span: Span, by_id: Mapping[str, Span]) -> Iterator[Span]:
    """Yield the spans above a span, from its parent up. A span may be above itself in a damaged trace."""
    for _ in range(MOST_DEEP):
        above = by_id.get(span.parent_id or "")
        if above is None:
            return
        span = above
        yield span


def metadata_of(span: Span) -> Mapping[str, Any]:
    """Return the metadata that the application gave the span."""
    if "metadata" not in span.parsed:
        found = parsed_or_none(span.attributes.get("metadata"))
        span.parsed["metadata"] = found if isinstance(found, Mapping) else {}
    known: Mapping[str, Any] = span.parsed["metadata"]
    return known


def in_metadata(span: Span, name: str) -> bool:
    """Whether the metadata of the span have this name; usually they need not be parsed for that."""
    found = span.attributes.get("metadata")
    return found is not None and not (isinstance(found, str) and name not in found) and name in metadata_of(span)


FRACTION = re.compile(r"\.(\d+)")


def seconds(value: Any) -> float | None:
    """Return a time as seconds since 1970. It is given as nanoseconds, as a text of ISO 8601, or as a datetime.

    Raises:
        Damaged: it is none of these.
    """
    if value is None or value == "":
        return None
    try:
        if isinstance(value, str) and value.isdecimal():
            return int(value) / 1e9
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=timezone.utc)).timestamp()
        if isinstance(value, str):
            text = value.replace("Z", "+00:00")  # Python 3.10 reads no Z, and only three or six digits of a second
            if (found := FRACTION.search(text)) is not None:
                text = f"{text[: found.start()]}.{found[1][:6]:0<6}{text[found.end() :]}"
            return seconds(datetime.fromisoformat(text))
        return int(value) / 1e9
    except (ValueError, TypeError, OverflowError):
        raise Damaged(f"{str(value)[:40]!r} is no time") from None


def value_of(span: Span, side: str) -> Any:
    """Return the ``input`` or the ``output`` of a span as plain values; None if there is none.

    Raises:
        Unread: it is JSON that was cut off.
    """
    if side in span.parsed:
        return span.parsed[side]
    value = span.attributes.get(f"{side}.value")
    if value == "null":  # a call that returns None has this output
        value = None
    is_json = span.attributes.get(f"{side}.mime_type") == "application/json"
    if isinstance(value, str) and (is_json or (side == "input" and value.lstrip()[:1] in ("{", "["))):
        try:
            value = parsed_json(value)
        except ValueError:
            if is_json:
                raise Unread("its values are cut off") from None
    span.parsed[side] = value
    return value


def readable(span: Span, side: str) -> Any:
    """Return a value of a span below the root; None if it is cut off."""
    try:
        return value_of(span, side)
    except Unread:
        return None


def having(span: Span, side: str, name: str) -> Mapping[str, Any]:
    """Return a value of a span that is a mapping with a name like this; an empty one if not, usually without parsing it."""
    written = span.attributes.get(f"{side}.value")
    value = None if isinstance(written, str) and name not in written else readable(span, side)
    return value if isinstance(value, dict) else {}


def unflattened(attributes: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the list of mappings that OpenInference writes as ``name.0.key``, or that Phoenix made of it."""
    whole = attributes.get(name)
    if isinstance(whole, list):
        return [item for item in whole if isinstance(item, dict)]
    found: dict[int, dict[str, Any]] = {}
    start = f"{name}."
    for key, value in attributes.items():
        if key.startswith(start):
            number, _, rest = key[len(start) :].partition(".")
            if number.isdigit():
                found.setdefault(int(number), {})[rest] = value
                if ".tool_calls." in key:
                    found[int(number)]["tool_calls"] = True
    return [found[number] for number in sorted(found)]
