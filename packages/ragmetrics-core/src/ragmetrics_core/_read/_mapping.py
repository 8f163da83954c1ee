"""Which columns a user says that fields are read from: ``columns={"question": "prompt"}``, ``--map question=prompt``.

Strategy. The field stands first, as RAGAS' ``column_map`` has it: ``{"user_input": "question"}``. Where only the second name can be
a field, it is meant the other way round; a name with a ``*`` can only be columns. A column is found under its very name, then
without regard to case, then as a path into what a column holds (``outputs.answer``).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._kernel._errors import InvalidInput
from .._kernel._sample import ALIASES, FIELD_NAMES, fields_of, plain_name, without_arrays
from ._bounds import MOST_DEEP
from ._cells import literal

ABSENT: Any = object()
"""What stands where a row has nothing, not even None."""

LISTS = frozenset({"retrieved_contexts", "reference_contexts", "retrieved_documents", "reference_documents"})

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
        gathered: whether they are, as also a single one may be.
    """

    name: str
    paths: tuple[tuple[Step, ...], ...]
    gathered: bool = False

    def value(self, row: Any) -> Any:
        """What stands there; ``ABSENT`` if nothing does."""
        if not self.gathered:
            return _walk(row, self.paths[0])
        return _filled(_walk(row, path) for path in self.paths)

    def stands_in(self, row: Any) -> bool:
        """Whether the row has anything there, be it None."""
        return any(_walk(row, path) is not ABSENT for path in self.paths)

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
        said: both names as the user put them.
    """

    field: str
    column: str
    said: tuple[str, str]

    def source(self, columns: Iterable[Any]) -> Source:
        """Where it is in rows of these columns."""
        keys = {str(column): column for column in columns}
        if "*" in self.column:
            found = _matching(self.column, keys) or _matching(plain_name(self.column), keys, plain_name)
            if found:
                return Source(self.column, tuple((keys[name],) for name in found), gathered=True)
        elif self.column in keys:
            return Source(self.column, ((keys[self.column],),))
        else:
            plain = plain_name(self.column)
            similar = [name for name in keys if plain_name(name) == plain]
            if len(similar) == 1:
                return Source(similar[0], ((keys[similar[0]],),))
        return Source(self.column, (_path(self.column, keys),))


def mapped_columns(columns: object) -> tuple[Mapped, ...]:
    """What ``columns=`` says.

    Raises:
        InvalidInput: it is no mapping of names to names, or two names of which none is a field.
    """
    if columns is None:
        return ()
    if not isinstance(columns, Mapping):
        raise InvalidInput(f"columns must map fields to columns, as {{'question': 'prompt'}} does, got {columns!r}")
    return tuple(_mapped(*pair) for pair in columns.items())


def _mapped(first: object, second: object) -> Mapped:
    for name in (first, second):
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput(f"columns must map names to names, got {first!r}: {second!r}")
    given = [str(name).strip() for name in (first, second)]
    pairs = [(field_named(field), column) for field, column in (given, reversed(given)) if "*" not in field]
    found = next(((field, column) for field, column in pairs if field), None)
    if found is None:
        close = [match for name in given for match in difflib.get_close_matches(name, [*FIELD_NAMES, *ALIASES], n=1)]
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise InvalidInput(
            f"columns: neither {given[0]!r} nor {given[1]!r} is a field{hint} (the fields are {', '.join(sorted(FIELD_NAMES))})"
        )
    field, column = found
    if "*" in column and field not in LISTS:
        raise InvalidInput(f"columns: {column!r} may be several columns, and {field} is one value: name one column")
    return Mapped(field, column, (given[0], given[1]))


def field_named(name: str) -> str:
    """The field of this name, or of which it is another common name; an empty text where there is none."""
    return fields_of((name,)).get(name, "")


def missing_column(mapped: Mapped, columns: Iterable[str], where: str) -> InvalidInput:
    """What to tell a user of a column that is in no row."""
    names = list(columns)
    first, second = mapped.said
    turned = first in names and bool(field_named(second))
    close = [first] if turned else difflib.get_close_matches(mapped.column, names, n=3)
    meant = [f"{second}={first}"] if turned else [repr(name) for name in close]
    hint = f"; did you mean {' or '.join(meant)}?" if meant else ""
    listed = [*close, *(name for name in names if name not in close)]
    others = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return InvalidInput(
        f"columns: {first}={second} reads {mapped.field!r} from the column {mapped.column!r}, which is in no row{where}{hint} "
        f"(there are: {', '.join(listed[:MOST_SHOWN])}{others})"
    )


def _walk(value: Any, path: tuple[Step, ...], lists: int = 0) -> Any:
    """What stands at the end of a path; a list is gone through item by item, unless the next key is a number.

    Raises:
        InvalidInput: there are too many lists inside each other.
    """
    if lists > MOST_DEEP:
        raise InvalidInput(
            f"{'.'.join(map(str, path))} is looked for in lists nested more than {MOST_DEEP} levels deep"
        )
    for depth, step in enumerate(path):
        value = literal(value) if isinstance(value, str) else without_arrays(value)
        if isinstance(value, Mapping) and isinstance(step, re.Pattern):
            keys = in_order(key for key in value if step.fullmatch(str(key)))
            value = _filled(value[key] for key in keys) if keys else ABSENT
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


def _filled(values: Iterable[Any]) -> list[Any]:
    """Those that are not empty."""
    return [item for item in values if not _is_empty(item)]


def _is_empty(item: Any) -> bool:
    """Nothing, None, a blank text, or NaN, which data frames hold for an empty cell."""
    if isinstance(item, str | float):
        return item != item if isinstance(item, float) else not item.strip()  # noqa: PLR0124
    return item is None or item is ABSENT


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
    return sorted(names, key=lambda name: [_size(digits) for digits in re.findall(r"\d+", str(name), re.ASCII)])


def _size(digits: str) -> tuple[int, str]:
    """What sorts as the number does; Python makes no number of very many digits."""
    digits = digits.lstrip("0")
    return len(digits), digits
