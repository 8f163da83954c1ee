"""Converts raw rows to rows: columns get their names, missing cells become None, and bad rows get their message.

Strategy. Metadata is only carried along, so it is not examined before it is written. A row that no file can store must not affect
other rows, so a row that is nested too deeply or is too large is found when it is read. Values are traversed without recursion,
and in the usual case the type alone shows that a value is plain.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from functools import partial
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

from .._values._errors import InvalidInput
from .._values._sample import APP_ERROR, Document, Row, Sample
from ._columns import Columns, is_model
from ._files import open_file
from ._frames import frame_rows
from ._input_file import MOST_DEEP, BadShape, FileOptions, Opened, OpenFile, RawRow, at_most

MOST_DIGITS = 4000
"""The largest number of digits of a whole number; Python itself writes at most 4,300 digits."""

MOST_BITS = 13_287
"""The number of bits of a whole number with this many digits."""

MOST_VALUES = 1_000_000
"""The largest number of values in all lists and mappings of a field together. Lists that contain only texts and floats are not
counted; a list that occurs several times is counted each time.
"""

PLAIN = frozenset({str, float, bool, type(None)})
FIELDS = tuple(item.name for item in fields(Sample) if item.name != "metadata")
VALUES = attrgetter(*FIELDS)


def out_of_bounds(sample: Sample) -> str | None:
    """Return why this row cannot be written, such as "metadata['tree'] is nested more than 100 levels deep"; None if it can be
    written.
    """
    for name, value in zip(FIELDS, VALUES(sample), strict=True):
        # texts and lists of texts, the usual case, need no check
        if type(value) not in PLAIN and not (type(value) is list and PLAIN.issuperset(map(type, value))):
            problem = _problem(value)
            if problem is not None:
                return f"{name} {problem}"
    for column, value in sample.metadata.items():
        if type(value) not in PLAIN or type(column) is not str:
            problem = _problem(value) or _problem(column)
            if problem is not None:
                return f"metadata[{str(column)[:80]!r}] {problem}" if isinstance(column, str) else f"metadata {problem}"
    return None


def _problem(value: Any) -> str | None:
    pending = [(value, 0)]
    seen = 0
    while pending:
        item, depth = pending.pop()
        if isinstance(item, int):
            if item.bit_length() > MOST_BITS:
                return f"holds a whole number of more than {MOST_DIGITS:,} digits"
            continue
        parts = _parts(item)
        if not parts:
            continue
        if depth >= MOST_DEEP:
            return f"is nested more than {MOST_DEEP} levels deep"
        seen += len(parts)
        if seen > MOST_VALUES:
            return f"holds more than {MOST_VALUES:,} values"
        pending += [(part, depth + 1) for part in parts if type(part) not in PLAIN]
    return None


def _parts(item: Any) -> list[Any] | tuple[Any, ...]:
    if isinstance(item, list | tuple):
        return () if PLAIN.issuperset(map(type, item)) or _are_plain_documents(item) else item
    if isinstance(item, Document):
        return (item.id, item.score, item.meta) if item.meta else (item.id, item.score)
    if isinstance(item, Mapping):
        return [*item, *item.values()]
    return ()


def _are_plain_documents(items: list[Any] | tuple[Any, ...]) -> bool:
    """Whether all items are documents of plain values. This check is a fast path, because rankings contain very many documents."""
    for item in items:
        if type(item) is not Document or item.meta or type(item.id) not in PLAIN or type(item.score) not in PLAIN:
            return False
    return True


OpenRows = Opened[Row]


def open_rows(
    samples: Any, limit: int | None = None, columns: Columns | None = None, options: FileOptions | None = None
) -> OpenRows:
    """Open samples of any accepted form and return at most ``limit`` rows, which ``columns`` reads.

    ``options`` say how a file is read. None means that the caller has no such options, so messages do not mention them.

    Raises:
        InvalidInput: the samples have no accepted form, or the file is missing or (raised while reading) not of its format.
        MissingExtra: the package that reads a format is not installed.
    """
    file = open_raw(samples, options)
    opened = OpenRows(file.name, rows_of(islice(file.rows, limit), columns), file.count, file.form)
    return opened if limit is None else replace(opened, count=lambda most: file.count(at_most(limit, most)))


def open_raw(samples: Any, options: FileOptions | None) -> OpenFile:
    """Open samples of any accepted form and return their raw rows.

    Raises:
        InvalidInput: as in ``open_rows``.
    """
    if isinstance(samples, str | os.PathLike):
        return open_file(Path(samples), options)
    if options is not None:
        options.refuse("rows in memory")
    total = len(samples) if hasattr(samples, "__len__") else None
    return OpenFile("", _in_memory(samples), partial(at_most, total), lambda: "rows in memory")


def rows_of(raw_rows: Iterable[RawRow], columns: Columns | None = None) -> Iterator[Row]:
    """Convert raw rows to rows.

    If a reader could not read a row, the raw value is the ``InvalidInput`` with the reason. It may carry the known part of the
    row as ``sample``.

    Raises:
        InvalidInput: the first row is of the wrong kind, or no row has a column that the user named.
    """
    reading = columns or Columns()
    for index, (place, value) in enumerate(reading.after_named_columns(raw_rows)):
        yield _row(index, place, value, reading)


def _row(index: int, place: str, value: Any, reading: Columns) -> Row:
    try:
        sample = reading.sample(value)
        check_row(place, value, sample, reading)
    except InvalidInput as error:
        problem = InvalidInput(f"{place}: ", *error.args)
        if index == 0 and isinstance(error, BadShape):
            raise problem from None
        known = getattr(value, "sample", None)
        if not isinstance(known, Sample) or out_of_bounds(known):
            known = Sample(id=_id_of(value))
        return Row(index, place, known, problem)
    return Row(index, place, sample, _failure(place, sample))


def _failure(place: str, sample: Sample) -> InvalidInput | None:
    """Return why the application that was asked has no answer in this row; None if it has one."""
    error = sample.metadata.get(APP_ERROR)
    return InvalidInput(f"{place}: the application failed: {error}") if error and isinstance(error, str) else None


def check_row(place: str, value: Any, sample: Sample, reading: Columns) -> None:
    """Refuse a row that no file can store, and note values that may have another meaning.

    Raises:
        InvalidInput: no file can store the row.
    """
    if (problem := out_of_bounds(sample)) is not None:
        raise InvalidInput(f"{problem}, which no file can hold: shorten it, or leave it out")
    reading.note(place, value, sample)


def _id_of(value: object) -> Any:
    """Return the id of a row that cannot be read; None if it has no usable id."""
    key = value.get("id") if isinstance(value, Mapping) else getattr(value, "id", None)
    return None if out_of_bounds(Sample(id=key)) else key


def _in_memory(samples: Any) -> Iterator[RawRow]:
    if hasattr(samples, "iloc"):
        return frame_rows(samples, "row")
    if isinstance(samples, Mapping) and any(hasattr(split, "column_names") for split in samples.values()):
        splits = ", ".join(map(repr, samples))
        raise InvalidInput(f"samples is a dictionary of data sets: choose one of its splits ({splits})")
    if is_model(samples):  # iterating over a model would give pairs of a name and a value
        samples = getattr(samples, "samples", None) or getattr(samples, "examples", None) or samples
    if isinstance(samples, Sample | Mapping) or is_model(samples):
        raise InvalidInput(f"samples must be several rows, got one {type(samples).__name__}: write [row]")
    if not isinstance(samples, Iterable):
        kind = type(samples).__name__
        raise InvalidInput(f"samples must be a path, mappings or Samples, a DataFrame or a Dataset, got {kind}")
    return ((f"row {number}", value) for number, value in enumerate(samples, 1))


def sampled(opened: OpenRows, count: int, seed: int) -> OpenRows:
    """Draw ``count`` of the rows at random and keep their order. Every choice is equally likely; the same seed makes the same
    choice.

    The rows are read to the end in one pass, and only as many rows are held as are drawn (Vitter 1985, ACM TOMS 11:37, algorithm
    R).
    """
    return replace(opened, rows=_rows(opened.rows, count, seed), count=lambda most: opened.count(at_most(count, most)))


def _rows(rows: Iterator[Row], count: int, seed: int) -> Iterator[Row]:
    generator = random.Random(seed)  # noqa: S311  a choice that can be repeated, not a secret
    kept: list[Row] = []
    for number, row in enumerate(rows):
        if number < count:
            kept.append(row)
        elif (slot := generator.randrange(number + 1)) < count:
            kept[slot] = row
    for index, row in enumerate(sorted(kept, key=lambda row: row.index)):
        yield Row(index, row.place, row.sample, row.problem)
