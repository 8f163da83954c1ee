"""Which column of a row is which field of a sample.

Strategy. The question is answered once for all rows of the same columns: a plan says for each field where its value stands. A field
is read from, in this order: the columns that the user names for it; a column of its name or of another common name, the very name
before one that only resembles it; numbered columns such as ``context_1``, ``context_2``; what the columns of traces hold, such as
``outputs.answer``. Columns of the same rank must agree. What no field is read from becomes metadata.

The user names columns as ``columns={"question": "prompt"}`` or ``--map question=prompt``. The field stands first, as RAGAS'
``column_map`` has it. Where only the second name can be a field, it is meant the other way round; a name with a ``*`` can only be
columns. A column is found under its very name, then without regard to case, then as a path into what a column holds
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

from .._values._errors import InvalidInput, Setting
from .._values._sample import ALIASES, FIELD_NAMES, fields_of, plain_name, without_arrays
from ._cells import ITEMS, literal
from ._input_file import MOST_DEEP

ABSENT: Any = object()
"""What stands where a row has nothing, not even None."""


MOST_SHOWN = 20
"""Columns that a message names; the rest is counted."""

Step = Any
"""A key, or the pattern of several."""


@dataclass(frozen=True)
class Source:
    """Where in a row a value stands.

    Attributes:
        name: as users see it: ``answer``, ``outputs.answer``, ``context_1``.
        paths: keys, from the row inwards; several paths are gathered into one list, without what is empty.
        gathered: whether the values become a list, even where there is only one path.
    """

    name: str
    paths: tuple[tuple[Step, ...], ...]
    gathered: bool = False

    def value(self, row: Any) -> Any:
        """What stands there; ``ABSENT`` if nothing does."""
        if not self.gathered:
            path = self.paths[0]
            return row.get(path[0], ABSENT) if len(path) == 1 else _walk(row, path)
        return _without_empty(_walk(row, path) for path in self.paths)

    @property
    def is_column(self) -> bool:
        """Whether the value is all that one column holds."""
        return not self.gathered and len(self.paths[0]) == 1

    def columns(self, row: Any) -> tuple[str, ...]:
        """The columns, and the places inside of them, that the value is read from in such a row."""
        found = [keys for path in self.paths for keys in _without_pattern(path, row)]
        return tuple(".".join(map(str, keys)) for keys in found)


@dataclass(frozen=True)
class Mapped:
    """One column, or a pattern of columns, that a field is read from.

    Attributes:
        field: the field of a sample.
        column: the column as the user named it.
        setting: both names as the user put them.
    """

    field: str
    column: str
    setting: Setting

    def source(self, columns: Iterable[Any]) -> Source:
        """Where it is in rows of these columns."""
        keys = {str(column): column for column in columns}
        plain = plain_name(self.column)
        if "*" in self.column:
            found = _matching(self.column, keys) or _matching(plain, keys, plain_name)
            if found:
                return Source(self.column, tuple((keys[name],) for name in found), gathered=True)
        else:
            similar = [name for name in keys if plain_name(name) == plain]
            if self.column in keys or len(similar) == 1:
                name = self.column if self.column in keys else similar[0]
                return Source(name, ((keys[name],),))
        return Source(self.column, (_path(self.column, keys),))

    def stands_in(self, row: Mapping[str, Any]) -> bool:
        """Whether the row has anything there, be it None."""
        try:
            return any(_walk(row, path) is not ABSENT for path in self.source(row).paths)
        except InvalidInput:  # there is something, and the row tells in its turn what is wrong with it
            return True


def mapped_columns(columns: object) -> tuple[Mapped, ...]:
    """What ``columns=`` says.

    Raises:
        InvalidInput: it is no mapping of names to names, or two names of which none is a field.
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
    given = [str(name).strip() for name in (first, second)]
    setting = Setting("columns", {given[0]: given[1]})
    for name, column in (given, reversed(given)):
        field = "" if "*" in name else fields_of((name,)).get(name, "")
        if field and "*" in column and field not in ITEMS:
            raise InvalidInput(setting, f": {column!r} may be several columns, and {field} is one value: name one")
        if field:
            return Mapped(field, column, setting)
    close = [match for name in given for match in difflib.get_close_matches(name, [*FIELD_NAMES, *ALIASES], n=1)]
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise InvalidInput(setting, f": neither name is a field{hint} (the fields are {', '.join(sorted(FIELD_NAMES))})")


def missing_column(mapped: Mapped, columns: Iterable[str], where: str) -> InvalidInput:
    """The error about a named column that is in no row."""
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
    """What stands at the end of a path; a list is gone through item by item, unless the next key is a number.

    Raises:
        InvalidInput: there are too many lists inside each other.
    """
    if lists > MOST_DEEP:
        raise InvalidInput(f"{'.'.join(map(str, path))} is looked for in lists nested more than {MOST_DEEP} deep")
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
    """The path, or one for each key that its pattern matches."""
    depth = next((depth for depth, step in enumerate(path) if isinstance(step, re.Pattern)), None)
    if depth is None:
        return [path]
    outer = _walk(row, path[:depth])
    keys = [key for key in outer if path[depth].fullmatch(str(key))] if isinstance(outer, Mapping) else []
    return [(*path[:depth], key) for key in in_order(keys)]


def _without_empty(values: Iterable[Any]) -> list[Any]:
    """Those that are not empty."""
    return [item for item in values if not is_empty(item)]


def is_empty(item: Any) -> bool:
    """Nothing, None, a blank text, a list or an object without items, or NaN, which data frames hold for an empty cell."""
    if isinstance(item, str | list | tuple | Mapping):
        return not item or (isinstance(item, str) and item.isspace())
    return item is None or item is ABSENT or (isinstance(item, float) and item != item)  # noqa: PLR0124


def _path(name: str, columns: Mapping[str, Any]) -> tuple[Step, ...]:
    """The keys that a dotted name means; the first one is a column, whose own name may have dots."""
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
    """By the numbers in them, 10 after 9; names without numbers keep their order."""

    def numbers(name: Any) -> list[tuple[int, str]]:
        found = (digits.lstrip("0") for digits in re.findall(r"\d+", str(name), re.ASCII))
        return [(len(digits), digits) for digits in found]  # Python makes no number of very many digits

    return sorted(names, key=numbers)


NUMBERED = {
    re.compile(r"((?:retriev(?:ed|al)_)?(?:context|document|doc|chunk|passage)s?)_?([0-9]{1,3})"): "retrieved_contexts",
    re.compile(r"(reference_(?:context|document|doc|chunk|passage)s?)_?([0-9]{1,3})"): "reference_contexts",
}
"""Plain names of columns that hold one context each, and the field that they are gathered into."""

LONGEST_NUMBERED = 60
"""Characters of a column that may be one of these, blanks included."""

PARTS = {"inputs": "user_input", "vars": "user_input", "outputs": "response", "reference_outputs": "reference"}
"""Columns of traces and examples that are no field, and the field whose value they may hold; columns that are fields may too."""

RETRIEVED = ("retrieved_contexts", "retrieved_documents")

INSIDE: dict[str, dict[str, str]] = {
    "user_input": {name: name for name in ("user_input", "reference", "reference_contexts", *RETRIEVED)},
    "response": {name: name for name in ("response", "reference", *RETRIEVED)},
    "reference": {
        **dict.fromkeys(("response", "reference"), "reference"),
        **dict.fromkeys(("retrieved_contexts", "reference_contexts"), "reference_contexts"),
    },
}
"""Which fields are looked for inside of such a column, and what they mean there: an answer among expected outputs is expected."""

TEXTS = frozenset(INSIDE)
"""Fields that hold one text."""

Sources = dict[str, list[Source]]
"""Where the value of each field stands."""


@dataclass(frozen=True)
class Plan:
    """How rows of certain columns are read.

    Attributes:
        fields: where the values of each field stand.
        unused: columns that no field is read from.
        traces: columns that may hold an object with values of fields inside.
        usual: where all columns are fields under their own names: each column with the check of its items, None where it holds no
            list. Else None.
    """

    fields: tuple[tuple[str, tuple[Source, ...]], ...]
    unused: tuple[Any, ...]
    traces: tuple[Any, ...]
    usual: tuple[tuple[Any, Callable[[Any], bool] | None], ...] | None


def plan_for(mapped: tuple[Mapped, ...], columns: tuple[Any, ...], inside: tuple[tuple[Any, ...], ...] = ()) -> Plan:
    """How rows are read that have these columns.

    Args:
        mapped: what the user says.
        columns: the columns.
        inside: the keys of the objects in the ``traces`` of the plan; none where these hold no objects.
    """
    traces = tuple(name for name in columns if _part(name, columns))
    keys = {name: found for name, found in zip(traces, inside, strict=False) if found}
    found: Sources = {}
    for item in mapped:
        found.setdefault(item.field, []).append(item.source(columns))
    claimed = _whole_columns(found)
    free = tuple(column for column in columns if column not in claimed)
    inner = _inside(free, keys)
    opened = {path[0] for sources in inner.values() for source in sources for path in source.paths}
    named: Sources = {}
    for column, field in fields_of(tuple(column for column in free if column not in opened)).items():
        named.setdefault(field, []).append(Source(str(column), ((column,),)))
    for rank in (named, _numbered({name: (name,) for name in free}), inner):
        found.update({field: sources for field, sources in rank.items() if field not in found})
    used = _whole_columns(found)
    as_they_are = not mapped and ITEMS.keys() | TEXTS | {"id"} >= set(columns)
    return Plan(
        tuple((field, tuple(sources)) for field, sources in found.items()),
        tuple(column for column in columns if column not in used),
        traces,
        tuple((column, ITEMS.get(column)) for column in columns) if as_they_are else None,
    )


def _whole_columns(found: Sources) -> set[Any]:
    """The columns of which all that they hold is read."""
    return {path[0] for sources in found.values() for source in sources for path in source.paths if len(path) == 1}


def _numbered(paths: Mapping[Any, tuple[Any, ...]], prefix: str = "") -> Sources:
    """Fields whose items stand in a numbered column each, with these paths; ``prefix`` begins the names of the sources.

    Columns that are numbered by different words are different sources, and so is a second column of the same number.
    """
    matches = [
        (int(match[2]), match[1], field, name)
        for name in paths
        if len(text := str(name)) <= LONGEST_NUMBERED and text.rstrip(" _-")[-1:].isdigit()
        for pattern, field in NUMBERED.items()
        if (match := pattern.fullmatch(plain_name(name)))
    ]
    groups: dict[tuple[str, str, int], list[Any]] = {}
    seen: Counter[tuple[str, int]] = Counter()
    for number, word, field, name in sorted(matches, key=itemgetter(0)):
        groups.setdefault((field, word, seen[word, number]), []).append(name)
        seen[word, number] += 1
    found: Sources = {}
    for (field, _, _), members in groups.items():
        name = ", ".join(f"{prefix}{member}" for member in members)
        found.setdefault(field, []).append(Source(name, tuple(paths[member] for member in members), gathered=True))
    return found


def _inside(columns: tuple[Any, ...], keys: Mapping[Any, tuple[Any, ...]]) -> Sources:
    """Fields whose values stand inside of columns of traces, or in columns that are named as such a place is."""
    insides: dict[str, dict[Any, tuple[Any, ...]]] = {}
    for column in columns:
        if column in keys:
            insides.setdefault(str(column), {}).update({key: (column, key) for key in keys[column]})
        elif isinstance(column, str) and "." in column:
            head, _, rest = column.partition(".")
            insides.setdefault(head, {})[rest] = (column,)
    found: Sources = {}
    for head, places in insides.items():
        part = _part(head, columns)
        if not part:
            continue
        meant = fields_of(tuple(places))
        if {"role", "content"}.issubset(places):  # a chat message
            meant = {**meant, "content": part}
        for key, field in meant.items():
            if field in INSIDE[part]:
                found.setdefault(INSIDE[part][field], []).append(Source(f"{head}.{key}", (places[key],)))
        for field, sources in _numbered(places, f"{head}.").items():
            if field in INSIDE[part]:
                found.setdefault(INSIDE[part][field], sources)
    return found


def _part(name: Any, columns: Iterable[Any]) -> str:
    """The field whose value a column of this name may hold somewhere inside; an empty text where it is no column of a trace."""
    plain = plain_name(name)
    if plain == "outputs" and _are_examples(columns):
        return "reference"
    field = PARTS.get(plain, ALIASES.get(plain, plain))
    return field if field in INSIDE else ""


def _are_examples(columns: Iterable[Any]) -> bool:
    """Whether rows are examples of a LangSmith data set, whose outputs are the expected ones, and no runs."""
    names = {plain_name(str(column).partition(".")[0]) for column in columns}
    return "dataset_id" in names and names.isdisjoint({"run_type", "trace_id", "session_id", "reference_outputs"})
