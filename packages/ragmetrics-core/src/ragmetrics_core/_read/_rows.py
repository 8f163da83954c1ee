"""Raw rows become rows: here columns get their names, missing cells become None, and bad rows get their message."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from .._kernel._errors import InvalidInput
from .._kernel._sample import Row, Sample
from ._bounds import out_of_bounds
from ._columns import Columns, Understood
from ._files import Counting, OpenFile, open_file
from ._frame import frame_rows
from ._input_file import FileOptions
from ._objects import is_model
from ._text import BadShape, RawRow


@dataclass(frozen=True)
class OpenRows:
    """Rows that are open for reading, whatever they come from.

    Attributes:
        name: the file name, or "" for rows in memory.
        rows: the rows, pulled lazily.
        count: counts the rows to come, up to a limit; None where their number cannot be known beforehand.
        form: says how a file is read, such as "CSV with semicolons, UTF-8".
    """

    name: str
    rows: Iterator[Row]
    count: Counting
    form: Callable[[], str]

    @property
    def total(self) -> int | None:
        """How many rows will come, where that can be known; a file is read for it, without making rows."""
        return self.count(None)


def open_rows(
    samples: Any, limit: int | None = None, columns: Columns | None = None, options: FileOptions | None = None
) -> OpenRows:
    """The rows of any accepted form of samples, at most ``limit`` of them; ``columns`` reads them.

    ``options`` say how a file is to be read; None where whoever asks for the rows has no such options, so that no message speaks
    of them.

    Raises:
        InvalidInput: the samples have no accepted form, or the file is missing or (raised while reading) not of its format.
        MissingExtra: the package that reads a format is not installed.
    """
    file = _opened(samples, options)
    opened = OpenRows(file.name, rows_of(islice(file.rows, limit), columns), file.count, file.form)
    return opened if limit is None else replace(opened, count=lambda most: file.count(least(limit, most)))


def understood_rows(
    samples: Any, columns: Columns | None = None, options: FileOptions | None = None
) -> tuple[OpenFile, Iterator[tuple[str, Understood | InvalidInput]]]:
    """A file, or rows in memory, and of every row its place and how it was understood: for people who look at their data.

    Where a row cannot be read, what is wrong with it stands in the place of how it was understood.

    Raises:
        InvalidInput: as ``open_rows``.
    """
    file = _opened(samples, options)
    reading = columns or Columns()
    return file, ((place, _understood(place, value, reading)) for place, value in reading.found(file.rows))


def _understood(place: str, value: Any, reading: Columns) -> Understood | InvalidInput:
    try:
        found = reading.understand(value)
        _check_bounds(found.sample)
        reading.note(place, value, found.sample)
    except InvalidInput as error:
        return error
    return found


def _opened(samples: Any, options: FileOptions | None) -> OpenFile:
    if isinstance(samples, str | os.PathLike):
        return open_file(Path(samples), options)
    if options is not None:
        options.refuse("rows in memory")
    total = len(samples) if hasattr(samples, "__len__") else None
    return OpenFile("", _in_memory(samples), partial(_up_to, total), lambda: "rows in memory")


def _up_to(total: int | None, most: int | None) -> int | None:
    return total if most is None or total is None else min(total, most)


def least(limit: int, most: int | None) -> int:
    """The smaller of two limits, where the second one may be None."""
    return limit if most is None else min(limit, most)


def rows_of(raw_rows: Iterable[RawRow], columns: Columns | None = None) -> Iterator[Row]:
    """The rows that were read, with their columns named.

    A reader that could not make a row yields the ``InvalidInput`` that says why instead, with what it knows of the row as
    ``sample``.

    Raises:
        InvalidInput: the first row is of the wrong kind altogether, or no row has a column that the user names.
    """
    reading = columns or Columns()
    for index, (place, value) in enumerate(reading.found(raw_rows)):
        yield _row(index, place, value, reading)


def _row(index: int, place: str, value: Any, reading: Columns) -> Row:
    try:
        sample = reading.sample(value)
        _check_bounds(sample)
        reading.note(place, value, sample)
    except InvalidInput as error:
        problem = InvalidInput(f"{place}: {error}")
        if index == 0 and isinstance(error, BadShape):
            raise problem from None
        known = getattr(value, "sample", None)
        if not isinstance(known, Sample) or out_of_bounds(known):
            known = Sample(id=_id_of(value))
        return Row(index, place, known, problem)
    return Row(index, place, sample)


def _check_bounds(sample: Sample) -> None:
    problem = out_of_bounds(sample)
    if problem is not None:
        raise InvalidInput(f"{problem}, which no file can hold: shorten it, or leave it out")


def _id_of(value: object) -> Any:
    """The id of a row that cannot be read."""
    key = value.get("id") if isinstance(value, Mapping) else getattr(value, "id", None)
    return None if out_of_bounds(Sample(id=key)) else key


def _in_memory(samples: Any) -> Iterator[RawRow]:
    if isinstance(samples, Sample):
        raise InvalidInput("samples must be several samples, got one Sample: write [sample]")
    if isinstance(samples, Mapping):
        if any(hasattr(split, "column_names") for split in samples.values()):
            splits = ", ".join(map(repr, samples))
            raise InvalidInput(f"samples is a dictionary of data sets: choose one of its splits ({splits})")
        raise InvalidInput("samples must be several rows, got one mapping: write [row]")
    if is_model(samples):  # it can be iterated over, and gives pairs of a name and a value
        several = getattr(samples, "samples", None) or getattr(samples, "examples", None)
        if not isinstance(several, list):
            raise InvalidInput(f"samples must be several rows, got one {type(samples).__name__}: write [row]")
        samples = several
    if hasattr(samples, "iloc"):
        return frame_rows(samples, "row")
    if not isinstance(samples, Iterable):
        raise InvalidInput(
            "samples must be a path, an iterable of mappings or Samples, a DataFrame or a Dataset, "
            f"got {type(samples).__name__}"
        )
    return ((f"row {number}", value) for number, value in enumerate(samples, 1))
