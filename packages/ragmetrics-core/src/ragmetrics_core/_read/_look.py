"""Reports how the rows of a file are understood, counted over all rows, without a metric or a model.

Strategy. Every row is read as ``evaluate`` reads it. The data that is kept does not grow with the file: counts, the first rows,
the first problems. Values are checked as metrics check them, because a number in the place of a response can be read but is not a
valid response.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._kernel._inputs import CHECKS, FIELD_KINDS
from .._values._errors import InvalidInput
from .._values._sample import ALIASES, FIELD_NAMES, Sample, fields_of, plain_name
from ._cells import CONTENTS, literal
from ._columns import Columns, Doubts, Understood
from ._input_file import BadShape, FileOptions
from ._plan import is_empty
from ._rows import check_row, open_raw

MOST_PROBLEMS = 20
"""The largest number of problems that are kept; further problems are only counted."""

MOST_NAMES = 1000
"""The largest number of different columns that are counted, because the keys of objects may differ in every row."""


@dataclass
class Look:
    """The content of a file.

    Attributes:
        name: the name of the file.
        form: a function that says how the file is read.
        rows: the number of rows.
        good: the number of rows without a problem.
        fields: for each field, the columns that it was read from, with the number of rows.
        filled: for each field, the number of rows in which it is not empty.
        unused: for each column that no field was read from, the number of rows with this column.
        inside: for some of these columns, the keys of the first object in the column.
        values: for each field, its first value that is not empty.
        doubts: values that were read literally but may have another meaning.
        first: the first good rows, with their places.
        problems: the first problems, each with its place.
    """

    name: str
    form: Callable[[], str]
    rows: int = 0
    good: int = 0
    fields: dict[str, Counter[tuple[str, ...]]] = field(default_factory=dict)
    filled: Counter[str] = field(default_factory=Counter)
    unused: Counter[str] = field(default_factory=Counter)
    inside: dict[str, list[str]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    doubts: Doubts = field(default_factory=Doubts)
    first: list[tuple[str, Sample]] = field(default_factory=list)
    problems: list[InvalidInput] = field(default_factory=list)

    @property
    def sample(self) -> Sample:
        """A sample with the first value of every field."""
        return Sample(**self.values)

    @property
    def bad(self) -> int:
        """The number of rows with a problem."""
        return self.rows - self.good

    def add(self, found: Understood) -> None:
        """Count a row."""
        for name, columns in found.fields.items():
            self._count(self.fields.setdefault(name, Counter()), columns)
            value = getattr(found.sample, name)
            if not is_empty(value):
                self.filled[name] += 1
                self.values.setdefault(name, value)
        for name in found.unused:
            self._count(self.unused, name)
            if name in self.unused and name not in self.inside and (keys := keys_of(found.sample.metadata.get(name))):
                self.inside[name] = keys

    def _count(self, counter: Counter[Any], name: Any) -> None:
        if name in counter or len(counter) < MOST_NAMES:
            counter[name] += 1


def look_at(
    samples: Any, shown: int, columns: Columns | None = None, options: FileOptions | None = None
) -> tuple[Look, InvalidInput | None]:
    """Read all rows and report how they are understood. The first ``shown`` good rows are kept.

    Returns:
        The report, and the error that ended the reading early; None if the whole file was read.

    Raises:
        InvalidInput: there is no such file, or its format is unknown.
    """
    reading = columns or Columns()
    file = open_raw(samples, options)
    look = Look(file.name, file.form, doubts=reading.doubts)
    try:
        for place, value in reading.after_named_columns(file.rows):
            try:
                row = reading.understand(value)
                check_row(place, value, row.sample, reading)
                look.add(row)
                _check_fields(row.sample)
            except InvalidInput as error:
                problem = InvalidInput(f"{place}: ", *error.args)
                if isinstance(error, BadShape) and not look.rows:
                    return look, problem  # a run would not begin either
                look.problems += [problem] if len(look.problems) < MOST_PROBLEMS else []
            else:
                look.good += 1
                look.first += [(place, row.sample)] if len(look.first) < shown else []
            look.rows += 1
    except InvalidInput as error:
        return look, error
    return look, None


def keys_of(value: Any) -> list[str]:
    """Return the keys of an object, which may be written as a text; empty if the value is not an object."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = literal(value)
    return [str(key) for key in value] if isinstance(value, Mapping) else []


def likely(keys: Sequence[str], name: str) -> str:
    """Return the key of an object that most likely contains a field."""
    named = [key for key in keys if fields_of((key,)).get(key) == name]
    return [*named, *(key for key in keys if key in CONTENTS), *keys][0]


def rule(name: str, columns: tuple[str, ...], mapped: Mapping[str, Any]) -> str:
    """Say why a field is read from these columns."""
    if name in mapped:
        return "as given"
    column, *others = columns
    common = [ALIASES.get(plain_name(column), plain_name(column)) in FIELD_NAMES for column in columns]
    if others:
        return "common names" if all(common) else "gathered"
    if column == name:
        return "its name"
    if common[0]:
        return "a common name"
    return "found inside" if "." in column else "gathered"


def _check_fields(sample: Sample) -> None:
    for name, kind in FIELD_KINDS.items():
        value = getattr(sample, name)
        # a column of texts that is named history may be something else, and does no harm
        is_other = kind == "turns" and isinstance(value, str) and not value.lstrip().startswith("[")
        if not is_empty(value) and not is_other:
            CHECKS[kind](name, value)
