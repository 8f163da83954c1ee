"""Decides which column of a row is which field of a sample.

Strategy. The decision is made once for all rows with the same columns: a plan says for each field where its value is. A field is
read from the first of these sources that exists: the columns that the user names for the field; a column with the name of the
field or another common name, an exact name before a similar one; numbered columns such as ``context_1``, ``context_2``; values
inside the columns of traces, such as ``outputs.answer``. Columns of the same rank must agree. Columns that no field is read from
become metadata.

The user names columns as ``columns={"question": "prompt"}`` or ``--map question=prompt``. The field comes first, as in RAGAS'
``column_map``. If only the second name can be a field, the pair is read the other way round. A name with a ``*`` can only be
columns. A column is found by its exact name, then by a similar name, then as a path into the value of a column
(``outputs.answer``).
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from .._values._counts import grouped
from .._values._errors import InvalidInput, Setting
from .._values._sample import ALIASES, FIELD_NAMES, fields_of, plain_name, without_arrays
from ._cells import ITEMS, literal
from ._input_file import MOST_DEEP

ABSENT: Any = object()
"""The value of a place that does not exist in a row, unlike a place with the value None."""


MOST_SHOWN = 20
"""The largest number of columns that a message names; further columns are only counted."""

Step = Any
"""A key, or a pattern that matches several keys."""


@dataclass(frozen=True)
class Source:
    """The place of a value in a row.

    Attributes:
        name: the name for users: ``answer``, ``outputs.answer``, ``context_1``.
        paths: each path is a sequence of keys, from the row inwards. The values of several paths are collected into one list,
            without empty values.
        gathered: whether the values become a list, even if there is only one path.
    """

    name: str
    paths: tuple[tuple[Step, ...], ...]
    gathered: bool = False

    def value(self, row: Any) -> Any:
        """Return the value at this place; ``ABSENT`` if there is no value."""
        if not self.gathered:
            path = self.paths[0]
            return row.get(path[0], ABSENT) if len(path) == 1 else _walk(row, path)
        return _without_empty(_walk(row, path) for path in self.paths)

    @property
    def is_column(self) -> bool:
        """Whether the value is the whole value of one column."""
        return not self.gathered and len(self.paths[0]) == 1

    def columns(self, row: Any) -> tuple[str, ...]:
        """Return the columns, or the paths inside columns, that the value is read from in this row."""
        found = [keys for path in self.paths for keys in _without_pattern(path, row)]
        return tuple(".".join(map(str, keys)) for keys in found)


@dataclass(frozen=True)
class Mapped:
    """A column, or a pattern of columns, that the user named for a field.

    Attributes:
        field: the field of a sample.
        column: the column as the user named it.
        setting: the pair of names as the user gave it, for messages.
    """

    field: str
    column: str
    setting: Setting

    def source(self, columns: Iterable[Any]) -> Source:
        """Return the place of the value in rows with these columns."""
        keys = {str(column): column for column in columns}
        plain = plain_name(self.column)
        if "*" in self.column:
            if matching := _matching(self.column, keys) or _matching(plain, keys, plain_name):
                return Source(self.column, tuple((keys[name],) for name in matching), gathered=True)
        else:
            similar = [name for name in keys if plain_name(name) == plain]
            if self.column in keys or len(similar) == 1:
                name = self.column if self.column in keys else similar[0]
                return Source(name, ((keys[name],),))
        return Source(self.column, (_path(self.column, keys),))

    def is_in(self, row: Mapping[str, Any]) -> bool:
        """Whether the row has this column, even if its value is None."""
        try:
            return any(_walk(row, path) is not ABSENT for path in self.source(row).paths)
        except InvalidInput:  # the column exists; the error is reported when the row is read
            return True


def mapped_columns(columns: object) -> tuple[Mapped, ...]:
    """Parse the argument ``columns``.

    Raises:
        InvalidInput: it is not a mapping of names to names, or neither name of a pair is a field.
    """
    if columns is None:
        return ()
    if not isinstance(columns, Mapping):
        raise InvalidInput(f"columns must map fields to columns, as {{'question': 'prompt'}} does, got {columns!r}")
    return tuple(_parse_pair(*pair) for pair in columns.items())


def _parse_pair(first: object, second: object) -> Mapped:
    for name in (first, second):
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput(f"columns must map names to names, got {first!r}: {second!r}")
    names = [str(name).strip() for name in (first, second)]
    setting = Setting("columns", {names[0]: names[1]})
    for name, column in (names, reversed(names)):
        field = "" if "*" in name else fields_of((name,)).get(name, "")
        if field and "*" in column and field not in ITEMS:
            raise InvalidInput(setting, f": {column!r} may be several columns, but {field} is one value: name one")
        if field:
            return Mapped(field, column, setting)
    close = [match for name in names for match in difflib.get_close_matches(name, [*FIELD_NAMES, *ALIASES], n=1)]
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise InvalidInput(setting, f": neither name is a field{hint} (the fields are {', '.join(sorted(FIELD_NAMES))})")


def missing_column(mapped: Mapped, columns: Iterable[str], where: str) -> InvalidInput:
    """Return the error about a named column that is in no row."""
    names = list(columns)
    close = difflib.get_close_matches(mapped.column, names, n=3)
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
    others = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return InvalidInput(
        mapped.setting,
        f" reads {mapped.field!r} from the column {mapped.column!r}, which is in no row{where}{hint} "
        f"(there are: {', '.join(names[:MOST_SHOWN])}{others})",
    )


def _walk(value: Any, path: tuple[Step, ...], lists: int = 0) -> Any:
    """Return the value at the end of a path. In a list, the rest of the path is followed in every item, unless the next key is a
    number.

    Raises:
        InvalidInput: too many lists are nested.
    """
    if lists > MOST_DEEP:
        raise InvalidInput(f"{'.'.join(map(str, path))} leads through lists nested more than {MOST_DEEP} deep")
    for depth, step in enumerate(path):
        value = literal(value) if isinstance(value, str) else without_arrays(value)
        if isinstance(value, Mapping) and isinstance(step, re.Pattern):
            keys = in_order(key for key in value if step.fullmatch(str(key)))
            value = _without_empty(value[key] for key in keys) if keys else ABSENT
        elif isinstance(value, Mapping):
            value = value.get(step, ABSENT)
        elif isinstance(value, list | tuple) and str(step).isdecimal():
            value = value[int(step)] if int(step) < len(value) else None
        elif isinstance(value, list | tuple):
            inner = [item for item in (_walk(item, path[depth:], lists + 1) for item in value) if item is not ABSENT]
            return inner if inner or not value else ABSENT
        else:
            return ABSENT
    return value


def _without_pattern(path: tuple[Step, ...], row: Any) -> list[tuple[Step, ...]]:
    """Return the path, or if it contains a pattern, one path for each key that the pattern matches."""
    depth = next((depth for depth, step in enumerate(path) if isinstance(step, re.Pattern)), None)
    if depth is None:
        return [path]
    outer = _walk(row, path[:depth])
    keys = [key for key in outer if path[depth].fullmatch(str(key))] if isinstance(outer, Mapping) else []
    return [(*path[:depth], key) for key in in_order(keys)]


def _without_empty(values: Iterable[Any]) -> list[Any]:
    """Return the values that are not empty."""
    return [item for item in values if not is_empty(item)]


def is_empty(item: Any) -> bool:
    """Whether a value is missing, None, a blank text, a list or an object without items, or NaN, which data frames use for an
    empty cell.
    """
    if isinstance(item, str | list | tuple | Mapping):
        return not item or (isinstance(item, str) and item.isspace())
    return item is None or item is ABSENT or (isinstance(item, float) and item != item)  # noqa: PLR0124


def _path(name: str, columns: Mapping[str, Any]) -> tuple[Step, ...]:
    """Return the keys of a dotted name. The first key is a column, whose own name may contain dots."""
    steps = name.split(".")
    starts = (".".join(steps[:count]) for count in range(len(steps), 0, -1))
    head = next((start for start in starts if start in columns), steps[0])
    rest = name[len(head) + 1 :].split(".") if len(name) > len(head) else []
    return (columns.get(head, head), *(_pattern(step) if "*" in step else step for step in rest))


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, text.split("*"))), re.DOTALL)


def _matching(pattern: str, names: Iterable[str], named: Callable[[str], str] = str) -> list[str]:
    matches = _pattern(pattern).fullmatch
    return in_order(name for name in names if matches(named(name)))


def in_order(names: Iterable[Any]) -> list[Any]:
    """Sort names by the numbers in them, 10 after 9; names without numbers keep their order."""

    def numbers(name: Any) -> list[tuple[int, str]]:
        found = (digits.lstrip("0") for digits in re.findall(r"\d+", str(name), re.ASCII))
        return [(len(digits), digits) for digits in found]  # not int(): Python refuses numbers with very many digits

    return sorted(names, key=numbers)


NUMBERED = {
    re.compile(r"((?:retriev(?:ed|al)_)?(?:context|document|doc|chunk|passage)s?)_?([0-9]{1,3})"): "retrieved_contexts",
    re.compile(r"(reference_(?:context|document|doc|chunk|passage)s?)_?([0-9]{1,3})"): "reference_contexts",
}
"""Patterns of normalized column names for one context each, with the field that the contexts are collected into."""

LONGEST_NUMBERED = 60
"""The largest length of the name of such a column, in characters, including blanks."""

PARTS = {"inputs": "user_input", "vars": "user_input", "outputs": "response", "reference_outputs": "reference"}
"""Columns of traces and examples that are not fields, with the field whose value they may contain. Columns that are fields may
also contain values of fields.
"""

RETRIEVED = ("retrieved_contexts", "retrieved_documents")

INSIDE: dict[str, dict[str, str]] = {
    "user_input": {name: name for name in ("user_input", "reference", "reference_contexts", *RETRIEVED)},
    "response": {name: name for name in ("response", "reference", *RETRIEVED)},
    "reference": {
        **dict.fromkeys(("response", "reference"), "reference"),
        **dict.fromkeys(("retrieved_contexts", "reference_contexts"), "reference_contexts"),
    },
}
"""For each such column, the fields that are searched inside it, with their meaning there: an answer among expected outputs is
the expected answer.
"""

TEXTS = frozenset(INSIDE)
"""Fields with a single text."""

Sources = dict[str, list[Source]]
"""For each field, the places of its value."""


@dataclass(frozen=True)
class Plan:
    """How rows with certain columns are read.

    Attributes:
        fields: each field with the places of its value.
        unused: the columns that no field is read from.
        traces: the columns that may contain an object with values of fields.
        usual: set only if every column is a field under its own name: each column with the function that checks its items, or
            None if the column is not a list.
    """

    fields: tuple[tuple[str, tuple[Source, ...]], ...]
    unused: tuple[Any, ...]
    traces: tuple[Any, ...]
    usual: tuple[tuple[Any, Callable[[Any], bool] | None], ...] | None


def plan_for(mapped: tuple[Mapped, ...], columns: tuple[Any, ...], inside: tuple[tuple[Any, ...], ...] = ()) -> Plan:
    """Plan how rows with these columns are read.

    Args:
        mapped: the columns that the user named.
        columns: the columns of the rows.
        inside: the keys of the objects in the ``traces`` of the plan, one tuple per column; empty if these contain no objects.
    """
    traces = tuple(name for name in columns if _part(name, columns))
    keys = {name: inner_keys for name, inner_keys in zip(traces, inside, strict=False) if inner_keys}
    mapped_sources: Sources = grouped((item.field, item.source(columns)) for item in mapped)
    claimed = _whole_columns(mapped_sources)
    unclaimed = tuple(column for column in columns if column not in claimed)
    inner = _inside(unclaimed, keys)
    opened = {path[0] for sources in inner.values() for source in sources for path in source.paths}
    fields = fields_of(tuple(column for column in unclaimed if column not in opened))
    named_sources: Sources = grouped((field, Source(str(column), ((column,),))) for column, field in fields.items())
    # a field is read from the first of these: columns with its name, numbered columns, values inside columns
    for rank in (named_sources, _numbered({name: (name,) for name in unclaimed}), inner):
        mapped_sources.update({field: sources for field, sources in rank.items() if field not in mapped_sources})
    used_columns = _whole_columns(mapped_sources)
    are_usual = not mapped and ITEMS.keys() | TEXTS | {"id"} >= set(columns)
    return Plan(
        tuple((field, tuple(sources)) for field, sources in mapped_sources.items()),
        tuple(column for column in columns if column not in used_columns),
        traces,
        tuple((column, ITEMS.get(column)) for column in columns) if are_usual else None,
    )


def _whole_columns(found: Sources) -> set[Any]:
    """Return the columns whose whole value is read."""
    return {path[0] for sources in found.values() for source in sources for path in source.paths if len(path) == 1}


def _numbered(paths: Mapping[Any, tuple[Any, ...]], prefix: str = "") -> Sources:
    """Return the fields that are spread over numbered columns, such as ``context_1`` and ``context_2``, with their sources.

    Columns with different words before the number (``context_1``, ``doc_1``) are different sources of a field. So are two columns
    with the same word and the same number (``context_1``, ``Context 1``).

    Args:
        paths: for each column, the path to its value in a row.
        prefix: put before the names of the columns in messages.
    """
    matches = [
        (int(match[2]), match[1], field, name)
        for name in paths
        if len(text := str(name)) <= LONGEST_NUMBERED and text.rstrip(" _-")[-1:].isdigit()
        for pattern, field in NUMBERED.items()
        if (match := pattern.fullmatch(plain_name(name)))
    ]
    # columns with the same word and number (``context_1``, ``Context 1``) go to the first, second ... source of the field
    columns_of: dict[tuple[str, str, int], list[Any]] = {}
    repeats: Counter[tuple[str, int]] = Counter()
    for number, word, field, name in sorted(matches, key=itemgetter(0)):
        columns_of.setdefault((field, word, repeats[word, number]), []).append(name)
        repeats[word, number] += 1
    sources: Sources = {}
    for (field, _, _), columns in columns_of.items():
        name = ", ".join(f"{prefix}{column}" for column in columns)
        sources.setdefault(field, []).append(Source(name, tuple(paths[column] for column in columns), gathered=True))
    return sources


def _inside(columns: tuple[Any, ...], keys: Mapping[Any, tuple[Any, ...]]) -> Sources:
    """Return the fields whose values are inside columns of traces, or in columns whose names are such paths."""
    insides: dict[str, dict[Any, tuple[Any, ...]]] = {}
    for column in columns:
        if column in keys:
            insides.setdefault(str(column), {}).update({key: (column, key) for key in keys[column]})
        elif isinstance(column, str) and "." in column:
            head, _, rest = column.partition(".")
            insides.setdefault(head, {})[rest] = (column,)
    sources_found: Sources = {}
    for head, places in insides.items():
        part = _part(head, columns)
        if not part:
            continue
        field_of = fields_of(tuple(places))
        if {"role", "content"}.issubset(places):  # a chat message
            field_of = {**field_of, "content": part}
        for key, field in field_of.items():
            if field in INSIDE[part]:
                sources_found.setdefault(INSIDE[part][field], []).append(Source(f"{head}.{key}", (places[key],)))
        for field, sources in _numbered(places, f"{head}.").items():
            if field in INSIDE[part]:
                sources_found.setdefault(INSIDE[part][field], sources)
    return sources_found


def _part(name: Any, columns: Iterable[Any]) -> str:
    """Return the field whose value may be inside a column of this name; an empty text if the column is not a column of traces."""
    plain = plain_name(name)
    if plain == "outputs" and _are_examples(columns):
        return "reference"
    field = PARTS.get(plain, ALIASES.get(plain, plain))
    return field if field in INSIDE else ""


def _are_examples(columns: Iterable[Any]) -> bool:
    """Whether rows are examples of a LangSmith data set, whose outputs are the expected ones, and not runs."""
    names = {plain_name(str(column).partition(".")[0]) for column in columns}
    return "dataset_id" in names and names.isdisjoint({"run_type", "trace_id", "session_id", "reference_outputs"})
