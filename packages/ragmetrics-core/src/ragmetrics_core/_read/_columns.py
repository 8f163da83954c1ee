"""Reads the sample that a row describes, and reports which columns it was read from.

Strategy. A plan says how rows with certain columns are read, and is made once (`_plan`). So a usual row needs one look-up and one
pass over its fields. If the user names a column that does not exist, every row would suffer from this mistake. So rows are held
back until each named column was seen. Rows may also be dataclasses or pydantic models, as RAGAS, LangSmith and LlamaIndex have
them.

Some values may not be meant literally: words for a missing value, and lists written as one text. Nothing is
guessed: an answer may really be "None", and a text may contain a semicolon. So the texts stay unchanged, and a
sentence per field says how many rows have such a text, and where the first of these rows are.
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
"""Texts that pandas, R, SQL and spreadsheets write for a missing value; case is ignored."""

LONGEST = 2 * max(map(len, PLACEHOLDERS))
"""The largest length of a text that may be one of these words, with blanks around it."""

SEPARATED = re.compile(r"\|\||(?<=[^\s|;])[|;](?=[^\s|;])")
"""A separator of texts in a cell. A semicolon in prose is followed by a space."""

ENTITY = re.compile(r"&#?\w{1,8};")
"""An HTML character reference, whose semicolon is not a separator."""

CONTEXTS = ("retrieved_contexts", "reference_contexts")
WORDED = ("user_input", "response", "reference", *CONTEXTS)
WORDS = attrgetter(*WORDED)
MOST_PLACES = 3


@dataclass
class Doubt:
    """Rows with the same possible misunderstanding: their number, the places of the first of them, and the words in question."""

    column: str
    rows: int = 0
    places: list[str] = dataclasses.field(default_factory=list)
    words: dict[str, None] = dataclasses.field(default_factory=dict)
    parts: int = 0

    def add(self, place: str, word: str) -> None:
        """Add a row."""
        self.rows += 1
        self.words[word] = None
        if len(self.places) < MOST_PLACES:
            self.places.append(place)

    def where(self) -> str:
        """Describe which rows these are."""
        more = "; ..." if self.rows > len(self.places) else ""
        return f"in {count_of(self.rows, 'row')} (column {self.column!r}: {'; '.join(self.places)}{more})"


class Doubts:
    """Possible misunderstandings of the rows that were read.

    Attributes:
        single: for each field of lists, the number of rows whose list has exactly one item.
        missing: for each field, the rows with a text that may mean a missing value.
        lists: for each field, the rows with a text that may be a list.
    """

    def __init__(self) -> None:
        self.single: Counter[str] = Counter()
        self.missing: dict[str, Doubt] = {}
        self.lists: dict[str, Doubt] = {}

    def sentences(self) -> Iterator[str]:
        """Yield sentences that warn the user. If less than half of a field's texts contain a separator, the separator counts as
        part of the texts, and there is no warning.
        """
        for name, doubt in self.missing.items():
            words = " or ".join(map(repr, doubt.words))
            yield (
                f"{name} is {words} {doubt.where()} and is judged as text: where that means a missing value, write \\N in a "
                "CSV file or a sheet, and null elsewhere"
            )
        for name, doubt in self.lists.items():
            if doubt.rows * 2 >= self.single[name]:
                separator = next(iter(doubt.words))
                yield (
                    f"{name} looks like a list of {doubt.parts} {doubt.where()} and is read as one text: if it is a list, give "
                    f"separator=\"{separator}\" (command line: --separator '{separator}')"
                )


def placeholders(sample: Sample) -> Iterator[tuple[str, str]]:
    """Yield each field that has a word for a missing value, with the word."""
    for name, value in zip(WORDED, WORDS(sample), strict=True):
        if value is None or (type(value) is str and len(value) > LONGEST):
            continue
        for item in (value,) if isinstance(value, str) else value if isinstance(value, list | tuple) else ():
            if isinstance(item, str) and len(item) <= LONGEST and item.strip().casefold() in PLACEHOLDERS:
                yield name, item.strip()
                break


def lone_list(text: str) -> tuple[str, int]:
    """Return the separator in a text that looks like a list, and the number of its parts; ("", 1) if the text does not look like
    a list.
    """
    plain = ENTITY.sub("", text)
    found = SEPARATED.search(plain)
    return (found[0], sum(not part.isspace() and part != "" for part in plain.split(found[0]))) if found else ("", 1)


def is_model(value: Any) -> bool:
    """Whether a value is a pydantic model. Iterating over a model gives pairs of a name and a value."""
    return callable(getattr(value, "model_dump", None)) and not isinstance(value, type)


MOST_HELD = 10_000
"""The number of rows that are searched for a column that the user named."""

MOST_KEPT = 200
"""The largest number of columns of rows of whose plans a thousand are cached; of plans for wider rows, only four are cached."""


@dataclass(frozen=True)
class Understood:
    """How one row was understood.

    Attributes:
        sample: the sample that was read.
        fields: for each field, the columns that it was read from; ``outputs.answer`` is the path to a value inside a column.
        unused: the columns, and parts of columns, that no field was read from; they are kept as metadata.
    """

    sample: Sample
    fields: Mapping[str, tuple[str, ...]]
    unused: tuple[str, ...]


class Columns:
    """Reads rows. The meaning of the columns follows from their names, or is given by the user.

    Args:
        columns: the columns that fields are read from, as ``evaluate`` takes them.
        separator: the text between the items of a list that is written as one text; None: such texts are not split.

    Raises:
        InvalidInput: an argument has a value that is not allowed.

    Attributes:
        doubts: values that were read literally but may have another meaning.
    """

    def __init__(self, columns: Mapping[str, str] | None = None, separator: str | None = None) -> None:
        self.mapped = mapped_columns(columns)
        if separator is not None and not (isinstance(separator, str) and separator):
            raise InvalidInput(Setting("separator"), f" must be a text such as '||', got {separator!r}")
        self._fields = {item.field for item in self.mapped}
        self._separator = separator
        self.doubts = Doubts()
        # lru_cache on a method would keep the object alive
        self._plan = lru_cache(1000)(partial(plan_for, self.mapped))
        self._wide_plan = lru_cache(4)(partial(plan_for, self.mapped))

    def sample(self, value: Any) -> Sample:
        """Read the sample that a raw row describes.

        Raises:
            InvalidInput: the value is not a row, a cell cannot be read, or two columns of the same rank disagree.
        """
        row = value if type(value) is dict else self._row(value)
        return row if isinstance(row, Sample) else self._read(self._plan_of(row), row)

    def _row(self, value: Any) -> Mapping[str, Any] | Sample:
        """Return the row as a mapping. A sample is returned unchanged, unless the user named columns.

        Raises:
            InvalidInput: the value cannot be a row, or the value is itself the error of a reader.
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
                return Sample(**row)  # the usual case: columns and values need no conversion
        values = {field: self._value(field, sources, row) for field, sources in plan.fields}
        metadata = values.pop("metadata", None)
        if not isinstance(metadata, Mapping | None):
            raise InvalidInput(f"metadata must be a mapping, got {type(metadata).__name__}")
        unused = {column: _clean(row[column]) for column in plan.unused}
        return Sample(**values, metadata={**metadata, **unused} if metadata else unused)

    def understand(self, value: Any) -> Understood:
        """Read the sample that a raw row describes, and report which columns it was read from.

        Raises:
            InvalidInput: as in ``sample``.
        """
        row = self._row(value)
        if isinstance(row, Sample):
            return Understood(row, {}, ())
        plan = self._plan_of(row)
        fields = {
            field: tuple(name for source in sources for name in source.columns(row)) for field, sources in plan.fields
        }
        # a column of which only a part was read is unused in its other parts
        used_names = [f"{name}." for names in fields.values() for name in names]
        entered = {path[0] for _, sources in plan.fields for source in sources for path in source.paths}
        names = [name for column in plan.unused for name in _parts(column, row[column], column in entered)]
        unused = (name for name in names if not any(other.startswith(f"{name}.") for other in used_names))
        return Understood(self._read(plan, row), fields, tuple(unused))

    def note(self, place: str, value: Any, sample: Sample) -> None:
        """Count values of the sample that may have another meaning. ``value`` is the raw row of the sample."""
        for field, word in placeholders(sample):
            self.doubts.missing.setdefault(field, Doubt(self._column_of(field, value))).add(place, word)
        for field in CONTEXTS if self._separator is None else ():
            items = getattr(sample, field)
            if type(items) is not list or len(items) != 1:
                continue
            self.doubts.single[field] += 1
            separator, parts = lone_list(items[0]) if isinstance(items[0], str) else ("", 1)
            if parts > 1:
                column, row = self._column_of(field, value), self._columns_of(value)
                if row.get(column) == items[0]:  # the cell was a text, not a list with one text
                    self.doubts.lists.setdefault(field, Doubt(column, parts=parts)).add(place, separator)

    def _column_of(self, field: str, value: Any) -> str:
        return ", ".join(self.understand(value).fields.get(field, (field,)))

    def after_named_columns(self, raw_rows: Iterable[RawRow]) -> Iterator[RawRow]:
        """Yield the same rows, but only after every column that the user named was seen in a row.

        Raises:
            InvalidInput: a column is in no row, or in none of the first ``MOST_HELD`` rows.
        """
        buffered: list[RawRow] = []
        names: dict[str, None] = {}
        missing = self.mapped
        raw_rows = iter(raw_rows)
        for raw_row in raw_rows if missing else ():
            buffered.append(raw_row)
            row = self._columns_of(raw_row[1])
            names.update((name, None) for column in row for name in _parts(column, row[column], inner=True))
            missing = tuple(item for item in missing if not item.is_in(row))
            if not missing or len(buffered) == MOST_HELD:
                break
        if missing and names:
            where = f" of the first {MOST_HELD:,}" if len(buffered) == MOST_HELD else ""
            raise missing_column(missing[0], names, where)
        yield from buffered
        yield from raw_rows

    def _columns_of(self, value: Any) -> Mapping[str, Any]:
        """Return the row as a mapping. A value that is not a row has no columns; it is reported when it is read."""
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
        """Return the value of a field. An empty cell of a table is an empty response, but a missing value of any other field."""
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
    """Return the value with arrays as lists, and None for an empty cell or NaN, which data frames use for an empty cell."""
    if value is ABSENT or value is EMPTY_CELL or (isinstance(value, float) and value != value):  # noqa: PLR0124
        return None
    return without_arrays(value)


def _parts(column: Any, value: Any, inner: bool) -> list[str]:
    """Return the name of the column, or the paths to the values inside it."""
    if inner and isinstance(value, Mapping) and value:
        return [f"{column}.{key}" for key in value]
    return [str(column)]
