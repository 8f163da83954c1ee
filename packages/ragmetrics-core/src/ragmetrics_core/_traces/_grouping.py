"""Collects the spans of each trace from records in any order.

Strategy. A file is read twice. The first pass only looks for ids, and notes the last record of every trace. The second pass holds
the spans of a trace until its last record is read. Usually few traces are open at the same time. If too many are, such as in a
shuffled file, half of them are put off to another pass, so the memory stays the same and only the time grows.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from .._read._files import format_named, input_file
from .._read._frames import frame_rows, open_parquet
from .._read._input_file import InputFile, copy_stream
from .._values._errors import InvalidInput
from ._json import parsed_json
from ._records import spans_in
from ._span import Damaged, Span, UnreadableTrace

MOST_HELD = 64_000_000
"""The most bytes of records that are held until their traces are complete."""

PARQUET_ROW = 2000
"""The bytes that a row of a Parquet file is assumed to have."""

# within a JSON string, a quotation mark has a backslash before it, so text under judgement cannot pose as an id
IDS = re.compile(rb'"(?:traceId|trace_id|context\.trace_id)"\s*:\s*"(?:0x)?([^"\\]+)"')

Group: TypeAlias = tuple[str, list[Span]]
"""The id of a trace, and its spans."""


@dataclass(frozen=True)
class Records:
    """An export that can be read several times.

    Attributes:
        read: returns the records with their places.
        ids: returns the ids of the traces that a record mentions.
        spans: returns the spans of a record.
        size: returns the bytes of a record.
    """

    read: Callable[[], Iterator[tuple[str, Any]]]
    ids: Callable[[Any], Iterable[bytes]]
    spans: Callable[[Any], Iterable[Span]]
    size: Callable[[Any], int]


@dataclass(frozen=True)
class Part:
    """The traces of one pass: those whose digest leaves ``rest`` when divided by ``parts``, and that end in record ``since`` or
    later.
    """

    parts: int = 1
    rest: int = 0
    since: int = 0

    def has(self, key: bytes, last: int) -> bool:
        """Whether the trace with this id and this last record is in the part."""
        return last >= self.since and (self.parts == 1 or zlib.crc32(key) % self.parts == self.rest)


@dataclass
class Held:
    """The traces that are not complete yet, and the bytes of their records."""

    traces: dict[bytes, list[Span]] = field(default_factory=dict)
    sizes: dict[bytes, int] = field(default_factory=dict)
    size: int = 0

    def add(self, key: bytes, span: Span, size: int) -> None:
        """Hold a span."""
        self.traces.setdefault(key, []).append(span)
        self.sizes[key] = self.sizes.get(key, 0) + size
        self.size += size

    def pop(self, key: bytes) -> list[Span]:
        """Return the spans of a trace, and hold them no longer."""
        self.size -= self.sizes.pop(key)
        return self.traces.pop(key)


def grouped(records: Records) -> Iterator[Group | UnreadableTrace]:
    """Yield the traces, usually in the order in which they end, and every record that cannot be read."""
    last = {key: number for number, (_, record) in enumerate(records.read()) for key in records.ids(record)}
    waiting = [Part()]
    is_first = True
    while waiting:
        part, held = waiting.pop(), Held()
        for number, (place, record) in enumerate(records.read()):
            keys = list(records.ids(record))
            if not is_first and not any(part.has(key, last[key]) for key in keys):
                continue
            spans = _spans(place, record, records.spans)
            if isinstance(spans, UnreadableTrace):
                if is_first:
                    yield spans
                spans = []
            for span in spans:
                key = span.trace_id.encode()
                if part.has(key, last.setdefault(key, number)):
                    held.add(key, span, records.size(record) // len(spans))
            for key in dict.fromkeys([*keys, *(span.trace_id.encode() for span in spans)]):
                if last[key] == number and key in held.traces:
                    yield key.decode(), held.pop(key)
            while held.size > MOST_HELD and len(held.traces) > 1:
                other = Part(part.parts * 2, part.rest + part.parts, number + 1)
                part = Part(part.parts * 2, part.rest, part.since)
                waiting.append(other)
                for key in [key for key in held.traces if other.has(key, last[key])]:
                    held.pop(key)
        yield from ((key.decode(), spans) for key, spans in held.traces.items())
        is_first = False


def _spans(place: str, record: Any, spans_of: Callable[[Any], Iterable[Span]]) -> list[Span] | UnreadableTrace:
    """Return the spans of a record; if it is not one, or its fields have other types than in any known export, say so."""
    try:
        return list(spans_of(record))
    except (Damaged, ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        kind = "" if isinstance(error, Damaged) else f"{type(error).__name__}: "
        return UnreadableTrace("a damaged record", detail=f"{place}: {kind}{error}")


def file_traces(path: Path) -> Iterator[Group | UnreadableTrace]:
    """Yield the traces in a file: lines of JSON, one JSON document, or Parquet.

    Raises:
        InvalidInput: there is no such file, it cannot be read, or it is not JSON.
        MissingExtra: the package that reads Parquet is not installed.
    """
    file = input_file(path)
    if not file.path.is_file():  # a named pipe
        with file.path.open("rb") as pipe:
            file = copy_stream(pipe, file.name, None)
    if format_named(file.name) == "parquet":
        read: Any = lambda: open_parquet(file).rows  # noqa: E731
        return grouped(Records(read, _ids_in_row, spans_in, lambda _: PARQUET_ROW))
    records = _lines
    if _is_document(file):
        if len(list(islice(_objects(file), 2))) < 2:
            return collected(_document(file))
        records = _objects
    return grouped(Records(lambda: records(file), IDS.findall, lambda text: spans_in(parsed_json(text)), len))


def _ids_in_row(row: Mapping[str, Any]) -> list[bytes]:
    context = row.get("context")
    found = (
        context.get("trace_id") if isinstance(context, Mapping) else row.get("context.trace_id", row.get("trace_id"))
    )
    found = found or row.get("traceId")
    return [str(found).removeprefix("0x").encode()] if found else []


def _lines(file: InputFile) -> Iterator[tuple[str, bytes]]:
    number = 0
    try:
        with file.open() as handle:
            for number, line in enumerate(handle, 1):
                if not line.isspace():
                    yield f"{file.name}, line {number}", line
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(f"{file.name}, after line {number}: it cannot be read further ({error})") from None


def _objects(file: InputFile) -> Iterator[tuple[str, bytes]]:
    """Yield the values in a file that has one after the other, each over several lines, as OpenTelemetry's console exporter writes
    them. No line ``{`` follows a line ``}`` inside a value.
    """
    place, lines = "", list[bytes]()
    for at, line in _lines(file):
        if lines and line[:1] == b"{" and lines[-1].rstrip() == b"}":
            yield place, b"".join(lines)
            lines = []
        place = place if lines else at
        lines.append(line)
    if lines:
        yield place, b"".join(lines)


def _is_document(file: InputFile) -> bool:
    """Whether a file is one JSON value over several lines, or a list, and not one value a line."""
    if format_named(file.name) == "jsonl":
        return False
    start = [line for _, line in islice(_lines(file), 2)]
    return any(line.lstrip()[:1] == b"[" for line in start[:1]) or (len(start) > 1 and not any(map(_is_record, start)))


def _is_record(line: bytes) -> bool:
    try:
        return isinstance(parsed_json(line), dict)
    except ValueError:
        return False


def _document(file: InputFile) -> Iterable[Any]:
    text = b"".join(line for _, line in _lines(file))
    try:
        found = parsed_json(text)
    except ValueError as error:
        raise InvalidInput(f"{file.name}: not JSON ({error})") from None
    return found if isinstance(found, list) else [found]


def collected(source: Any) -> Iterator[Group | UnreadableTrace]:
    """Yield the traces of records in memory, in the order of their first spans, and every record that cannot be read."""
    traces: dict[str, list[Span]] = {}
    if hasattr(source, "iloc"):
        source = (row for _, row in frame_rows(source, "row"))
    if not isinstance(source, Iterable) or isinstance(source, Mapping):
        raise InvalidInput(f"traces must be a path, spans or a data frame, got {type(source).__name__}")
    for number, record in enumerate(source, 1):
        spans = _spans(f"record {number}", record, spans_in)
        if isinstance(spans, UnreadableTrace):
            yield spans
            continue
        for span in spans:
            traces.setdefault(span.trace_id, []).append(span)
    yield from traces.items()
