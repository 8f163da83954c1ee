"""How the rows of a file are understood, counted over all of them, without a metric or a model.

Strategy. Every row is read as ``evaluate`` reads it, and what is kept does not grow with the file: counts, the first rows, the
first problems. Values are checked as metrics check them, for a number in the place of an answer is understood and yet no answer.
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
"""Problems that are kept; the rest is counted."""

MOST_NAMES = 1000
"""Different columns that are counted: the keys of objects may be other ones in every row."""


@dataclass
class Look:
    """What there is in a file.

    Attributes:
        name: of the file.
        form: how it is read.
        rows: how many there are.
        good: how many of them are without a problem.
        fields: by field, which columns it was read from in how many rows.
        filled: by field, in how many rows it holds something.
        unused: by column, in how many rows no field was read from it.
        inside: by column of these, the keys of the object that the first row holds that holds one.
        values: by field, what the first row holds that holds something.
        doubts: what was read as it stands and may mean something else.
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
        """A sample of the fields that any row has."""
        return Sample(**self.values)

    @property
    def bad(self) -> int:
        """Rows with a problem."""
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
    """Look at all rows, of which the first ``shown`` good ones are kept; and what ended the reading before its end.

    Raises:
        InvalidInput: there is no file that could be looked at.
    """
    reading = columns or Columns()
    file = open_raw(samples, options)
    look = Look(file.name, file.form, doubts=reading.doubts)
    try:
        for place, value in reading.found(file.rows):
            try:
                found = reading.understand(value)
                check_row(place, value, found.sample, reading)
                look.add(found)
                _check_fields(found.sample)
            except InvalidInput as error:
                problem = InvalidInput(f"{place}: ", *error.args)
                if isinstance(error, BadShape) and not look.rows:
                    return look, problem  # no run would begin either
                look.rows += 1
                look.problems += [problem] if len(look.problems) < MOST_PROBLEMS else []
                continue
            look.rows += 1
            look.good += 1
            if len(look.first) < shown:
                look.first.append((place, found.sample))
    except InvalidInput as error:
        return look, error
    return look, None


def keys_of(value: Any) -> list[str]:
    """The keys of an object, which may be written as a text."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = literal(value)
    return [str(key) for key in value] if isinstance(value, Mapping) else []


def likely(keys: Sequence[str], name: str) -> str:
    """Of the keys of an object the one that is most likely to hold a field."""
    named = [key for key in keys if fields_of((key,)).get(key) == name]
    return [*named, *(key for key in keys if key in CONTENTS), *keys][0]


def rule(name: str, columns: tuple[str, ...], mapped: Mapping[str, Any]) -> str:
    """Why a field is read from these columns, in words."""
    if name in mapped:
        return "as told"
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
        if not is_empty(value):
            CHECKS[kind](name, value)
