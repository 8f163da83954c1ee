"""The sample that a row describes, and what it was read from.

Strategy. How rows of certain columns are read is worked out once (`_plan`), so that a usual row costs one look-up and one pass over
its fields. A user who names a column that is nowhere has made a mistake that would cost every row, so rows are held back until
each such column was seen. Rows may also be pydantic models, as RAGAS, LangSmith and LlamaIndex have them, and dataclasses.

Some values may mean something else than what they say: words for a missing value, lists written as one text. Nothing is guessed: an
answer may well be "None", and a text may hold a semicolon. So the texts stay as they are, and the user reads once per field
how many rows have such a text, and where the first of them are.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any

from .._values._counts import count_of
from .._values._errors import InvalidInput, Setting
from .._values._sample import Sample, agreed, without_arrays
from ._cells import one_text, read_cell
from ._input_file import EMPTY_CELL, BadShape, RawRow
from ._plan import ABSENT, TEXTS, Plan, Source, mapped_columns, missing_column, plan_for

PLACEHOLDERS = frozenset({"nan", "none", "null", "na", "n/a", "#n/a", "<na>", "\\n"})
"""What pandas, R, SQL and spreadsheets write where there is nothing, without regard to case."""

LONGEST = 2 * max(map(len, PLACEHOLDERS))
"""Characters of a text that may be one of these words, with blanks around it."""

SEPARATED = re.compile(r"\|\||(?<=[^\s|;])[|;](?=[^\s|;])")
"""What separates texts in a cell; a semicolon in prose has a blank behind it."""

ENTITY = re.compile(r"&#?\w{1,8};")
"""A character as HTML writes it, whose semicolon separates nothing."""

CONTEXTS = ("retrieved_contexts", "reference_contexts")
WORDED = ("user_input", "response", "reference", *CONTEXTS)
WORDS = attrgetter(*WORDED)
MOST_PLACES = 3


@dataclass
class Doubt:
    """Rows that share a doubt: how many, the first places, and what stands there."""

    column: str
    rows: int = 0
    places: list[str] = dataclasses.field(default_factory=list)
    words: dict[str, None] = dataclasses.field(default_factory=dict)
    parts: int = 0

    def add(self, place: str, word: str) -> None:
        """Count a row."""
        self.rows += 1
        self.words[word] = None
        if len(self.places) < MOST_PLACES:
            self.places.append(place)

    def where(self) -> str:
        """In which rows."""
        more = "; ..." if self.rows > len(self.places) else ""
        return f"in {count_of(self.rows, 'row')} (column {self.column!r}: {'; '.join(self.places)}{more})"


class Doubts:
    """The doubts about the rows that were read.

    Attributes:
        lone: by field, how many rows hold one text only where a list may stand.
        missing: by field, the texts that are words that may stand for a missing value.
        lists: by field, the texts that may be lists.
    """

    def __init__(self) -> None:
        self.lone: Counter[str] = Counter()
        self.missing: dict[str, Doubt] = {}
        self.lists: dict[str, Doubt] = {}

    def sentences(self) -> Iterator[str]:
        """What the user should know. A separator in few texts of many is part of these texts."""
        for name, doubt in self.missing.items():
            words = " or ".join(map(repr, doubt.words))
            yield (
                f"{name} is {words} {doubt.where()} and is judged as text: where that means a missing value, write \\N in a "
                "CSV file or a sheet, and null elsewhere"
            )
        for name, doubt in self.lists.items():
            if doubt.rows * 2 >= self.lone[name]:
                separator = next(iter(doubt.words))
                yield (
                    f"{name} looks like a list of {doubt.parts} {doubt.where()} and is read as one text: if it is a list, give "
                    f"separator=\"{separator}\" (command line: --separator '{separator}')"
                )


def placeholders(sample: Sample) -> Iterator[tuple[str, str]]:
    """The fields that hold a word for a missing value, and the word."""
    for name, value in zip(WORDED, WORDS(sample), strict=True):
        if value is None or (type(value) is str and len(value) > LONGEST):
            continue
        for item in (value,) if isinstance(value, str) else value if isinstance(value, list | tuple) else ():
            if isinstance(item, str) and len(item) <= LONGEST and item.strip().casefold() in PLACEHOLDERS:
                yield name, item.strip()
                break


def lone_list(text: str) -> tuple[str, int]:
    """What separates the texts that a text seems to hold, and how many they are; ("", 1) where it seems to hold one."""
    plain = ENTITY.sub("", text)
    found = SEPARATED.search(plain)
    return (found[0], sum(not part.isspace() and part != "" for part in plain.split(found[0]))) if found else ("", 1)


def is_model(value: Any) -> bool:
    """Whether it is a pydantic model; such a model can be iterated over, and gives pairs of a name and a value."""
    return callable(getattr(value, "model_dump", None)) and not isinstance(value, type)


MOST_HELD = 10_000
"""Rows that are looked through for a column that the user names."""

MOST_KEPT = 200
"""Columns of rows whose plans are kept by the thousand."""


@dataclass(frozen=True)
class Understood:
    """How one row was understood.

    Attributes:
        sample: what it holds.
        fields: the columns that each field was read from, by the name of the field; ``outputs.answer`` is the path to a value
            inside of a column.
        unused: columns, and parts of columns, that no field was read from; they are kept as metadata.
    """

    sample: Sample
    fields: Mapping[str, tuple[str, ...]]
    unused: tuple[str, ...]


class Columns:
    """Reads rows: which columns mean what, as their names tell or as the user says.

    Args:
        columns: the columns that fields are read from, as ``evaluate`` takes them.
        separator: what stands between the texts of a list that is written as one text.

    Raises:
        InvalidInput: one of them may not be so.

    Attributes:
        doubts: what was read as it stands and may mean something else.
    """

    def __init__(self, columns: Mapping[str, str] | None = None, separator: str | None = None) -> None:
        self.mapped = mapped_columns(columns)
        if separator is not None and not (isinstance(separator, str) and separator):
            raise InvalidInput(Setting("separator"), f" must be a text such as '||', got {separator!r}")
        self._fields = {item.field for item in self.mapped}
        self._separator = separator
        self.doubts = Doubts()
        # a cached method would refer to its own object
        self._plan = lru_cache(1000)(partial(plan_for, self.mapped))
        self._wide_plan = lru_cache(4)(partial(plan_for, self.mapped))

    def sample(self, value: Any) -> Sample:
        """The sample that a raw row describes.

        Raises:
            InvalidInput: the value is no row, a cell cannot be read, or two columns of the same rank disagree.
        """
        row = value if type(value) is dict else self._row(value)
        return row if isinstance(row, Sample) else self._read(self._plan_of(row), row)

    def _row(self, value: Any) -> Mapping[str, Any] | Sample:
        """The row as a mapping; a sample stays as it is, unless the user says what its columns mean.

        Raises:
            InvalidInput: it cannot be a row, or it is the reason why a reader could not make one.
        """
        if isinstance(value, Sample) and self.mapped:
            return {**{name: item for name, item in value.to_dict().items() if name != "metadata"}, **value.metadata}
        if isinstance(value, Sample | Mapping):
            return value
        if isinstance(value, InvalidInput):
            raise value
        if is_model(value):
            return dict(value.model_dump(exclude_none=True))
        if is_dataclass(value) and not isinstance(value, type):
            return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
        raise BadShape(f"a row must be a Sample or a mapping from column names to values, got {type(value).__name__}")

    def _read(self, plan: Plan, row: Mapping[str, Any]) -> Sample:
        if plan.usual is not None:
            for column, is_usual in plan.usual:
                value = row[column]
                if is_usual is None:
                    fits = value is None or type(value) in (str, int)
                else:
                    fits = value is None or (type(value) is list and all(map(is_usual, value)))
                if not fits:
                    break
            else:
                return Sample(**row)  # as nearly always: nothing to name and nothing to read
        values = {field: self._value(field, sources, row) for field, sources in plan.fields}
        given = values.pop("metadata", None)
        if not isinstance(given, Mapping | None):
            raise InvalidInput(f"metadata must be a mapping, got {type(given).__name__}")
        unused = {column: _clean(row[column]) for column in plan.unused}
        return Sample(**values, metadata={**given, **unused} if given else unused)

    def understand(self, value: Any) -> Understood:
        """The sample that a raw row describes, and what it was read from.

        Raises:
            InvalidInput: see ``sample``.
        """
        row = self._row(value)
        if isinstance(row, Sample):
            return Understood(row, {}, ())
        plan = self._plan_of(row)
        fields = {
            field: tuple(name for source in sources for name in source.columns(row)) for field, sources in plan.fields
        }
        used = [f"{name}." for names in fields.values() for name in names]
        entered = {path[0] for _, sources in plan.fields for source in sources for path in source.paths}
        names = [name for column in plan.unused for name in _parts(column, row[column], column in entered)]
        unused = (name for name in names if not any(other.startswith(f"{name}.") for other in used))
        return Understood(self._read(plan, row), fields, tuple(unused))

    def note(self, place: str, value: Any, sample: Sample) -> None:
        """Count what the sample holds that may mean something else; ``value`` is the raw row that it was made of."""
        for field, word in placeholders(sample):
            self.doubts.missing.setdefault(field, Doubt(self._column_of(field, value))).add(place, word)
        for field in CONTEXTS if self._separator is None else ():
            items = getattr(sample, field)
            if type(items) is not list or len(items) != 1:
                continue
            self.doubts.lone[field] += 1
            separator, parts = lone_list(items[0]) if isinstance(items[0], str) else ("", 1)
            if parts > 1:
                column, row = self._column_of(field, value), self._columns_of(value)
                if row.get(column) == items[0]:  # no list of one text, which says what it is
                    self.doubts.lists.setdefault(field, Doubt(column, parts=parts)).add(place, separator)

    def _column_of(self, field: str, value: Any) -> str:
        return ", ".join(self.understand(value).fields.get(field, (field,)))

    def found(self, raw_rows: Iterable[RawRow]) -> Iterator[RawRow]:
        """The same rows, once every column that the user names was seen in one of them.

        Raises:
            InvalidInput: a column is in no row, or not in the first so many.
        """
        held: list[RawRow] = []
        names: dict[str, None] = {}
        missing = self.mapped
        raw_rows = iter(raw_rows)
        for raw_row in raw_rows if missing else ():
            held.append(raw_row)
            row = self._columns_of(raw_row[1])
            names.update((name, None) for column in row for name in _parts(column, row[column], inner=True))
            missing = tuple(item for item in missing if not item.stands_in(row))
            if not missing or len(held) == MOST_HELD:
                break
        if missing and names:
            raise missing_column(missing[0], names, f" of the first {MOST_HELD:,}" if len(held) == MOST_HELD else "")
        yield from held
        yield from raw_rows

    def _columns_of(self, value: Any) -> Mapping[str, Any]:
        """The row as a mapping; what is no row has no columns, and is reported in its turn."""
        try:
            row = self._row(value)
        except InvalidInput:
            return {}
        return row if isinstance(row, Mapping) else {}

    def _plan_of(self, row: Mapping[str, Any]) -> Plan:
        names = tuple(row)
        planned = self._plan if len(names) <= MOST_KEPT else self._wide_plan
        plan = planned(names)
        values = [row[column] for column in plan.traces]
        if any(type(value) is not str and isinstance(value, Mapping) for value in values):
            plan = planned(names, tuple(tuple(value) if isinstance(value, Mapping) else () for value in values))
        return plan

    def _value(self, field: str, sources: tuple[Source, ...], row: Mapping[str, Any]) -> Any:
        """What the row holds of a field; an empty cell of a table is an empty answer, and a missing value of any other field."""
        value = self._cell(field, sources[0], row) if len(sources) == 1 else self._agreed(field, sources, row)
        if value is None and field == "response" and any(source.value(row) is EMPTY_CELL for source in sources):
            return ""
        return value

    def _cell(self, field: str, source: Source, row: Mapping[str, Any]) -> Any:
        value = _clean(source.value(row))
        if field in TEXTS and isinstance(value, list | tuple):
            return one_text(value, source.name, field, mapped=not source.is_column or field in self._fields)
        return read_cell(field, value, source.name, self._separator)

    def _agreed(self, field: str, sources: Iterable[Source], row: Mapping[str, Any]) -> Any:
        values = {source.name: self._cell(field, source, row) for source in sources}
        try:
            return agreed(field, values)
        except InvalidInput as error:
            first = next(name for name in values if values[name] is not None)
            choice = () if "," in first else (", or choose: ", Setting("columns", {field: first}))
            raise InvalidInput(*error.args, *choice) from None


def _clean(value: Any) -> Any:
    """The value without arrays, and None in the place of NaN, which data frames hold for an empty cell."""
    if value is ABSENT or value is EMPTY_CELL or (isinstance(value, float) and value != value):  # noqa: PLR0124
        return None
    return without_arrays(value)


def _parts(column: Any, value: Any, inner: bool) -> list[str]:
    """The column by its name, or the paths to what it holds."""
    if inner and isinstance(value, Mapping) and value:
        return [f"{column}.{key}" for key in value]
    return [str(column)]
