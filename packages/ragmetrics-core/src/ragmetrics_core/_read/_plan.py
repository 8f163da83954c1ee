"""Which column of a row is which field of a sample.

Strategy. The question is answered once for all rows of the same columns, types included: a plan says for each field where its value
stands and what reads it. A field is read from, in this order: the columns that the user names for it; a column of its name or of
another common name, the very name before one that only resembles it; numbered columns such as ``context_1``, ``context_2``; what
the columns of traces hold, such as ``outputs.answer``. Columns of the same rank must agree. What no field is read from becomes
metadata.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from .._kernel._sample import ALIASES, fields_of, plain_name
from ._cells import is_usual, reader_of
from ._mapping import Mapped, Source

NUMBERED = {
    re.compile(r"((?:retriev(?:ed|al)_)?(?:context|document|doc|chunk|passage)s?)_?([0-9]{1,3})"): "retrieved_contexts",
    re.compile(r"(reference_(?:context|document|doc|chunk|passage)s?)_?([0-9]{1,3})"): "reference_contexts",
}
"""Plain names of columns that hold one context each, and the field that they are gathered into."""

LONGEST_NUMBERED = 60
"""Characters of a column that may be one of these, blanks included."""

PARTS = {"inputs": "user_input", "vars": "user_input", "outputs": "response", "reference_outputs": "reference"}
"""Columns of traces and examples that are no field, and the field whose value they may hold; columns that are fields may too."""

INSIDE: dict[str, dict[str, str]] = {
    "user_input": {
        name: name
        for name in ("user_input", "retrieved_contexts", "retrieved_documents", "reference", "reference_contexts")
    },
    "response": {name: name for name in ("response", "retrieved_contexts", "retrieved_documents", "reference")},
    "reference": {
        "response": "reference",
        "reference": "reference",
        "retrieved_contexts": "reference_contexts",
        "reference_contexts": "reference_contexts",
    },
}
"""Which fields are looked for inside of such a column, and what they mean there: an answer among expected outputs is expected."""

TEXTS = frozenset(INSIDE)
"""Fields that hold one text."""

PLAIN = frozenset({str, int, bool, list, dict, tuple, type(None)})
"""Types of values that are what they seem: neither NaN nor arrays."""

Direct = tuple[str, Any, bool, Any]
"""A field that one column is read for: the field, the column, whether its values are to be cleaned, what reads them."""


@dataclass(frozen=True)
class Plan:
    """How rows of certain columns are read.

    Attributes:
        direct: fields that a column of their own is read for, as nearly all are.
        others: the other fields, and where their values stand.
        unused: columns that no field is read from, and whether their values are to be cleaned.
        opened: columns of traces, whose keys decide how the row is read.
        lists: where all columns are fields under their own names and plain values, the lists among them; else None.
    """

    direct: tuple[Direct, ...]
    others: tuple[tuple[str, tuple[Source, ...]], ...]
    unused: tuple[tuple[Any, bool], ...]
    opened: tuple[Any, ...]
    lists: tuple[tuple[Any, Any], ...] | None


Sources = dict[str, list[Source]]
"""Where the value of each field stands."""


def plan_for(
    columns: tuple[Any, ...], kinds: tuple[type, ...], keys: Mapping[Any, tuple[Any, ...]], mapped: tuple[Mapped, ...]
) -> Plan:
    """How rows are read that have these columns, with values of these types.

    Args:
        columns: the columns.
        kinds: the type of the value of each.
        keys: of columns that may be opened, the keys of what they hold.
        mapped: what the user says.
    """
    found: Sources = {}
    for item in mapped:
        found.setdefault(item.field, []).append(item.source(columns))
    claimed = {path[0] for sources in found.values() for source in sources for path in source.paths if len(path) == 1}
    free = tuple(column for column in columns if column not in claimed)
    inner = _inside(free, keys)
    opened = {path[0] for sources in inner.values() for source in sources for path in source.paths}
    meant = fields_of(tuple(column for column in free if column not in opened))
    for rank in (_named(meant), _numbered(free), inner):
        found.update({field: sources for field, sources in rank.items() if field not in found})
    return _plan(columns, kinds, tuple(keys), found)


def may_be_opened(columns: Iterable[Any], kinds: Iterable[type]) -> tuple[Any, ...]:
    """The columns of traces among these that hold mappings."""
    names = tuple(columns)
    return tuple(
        name for name, kind in zip(names, kinds, strict=True) if issubclass(kind, Mapping) and _part(name, names)
    )


def _plan(columns: tuple[Any, ...], kinds: tuple[type, ...], opened: tuple[Any, ...], found: Sources) -> Plan:
    types = dict(zip(columns, kinds, strict=True))
    unclean = {column for column in columns if not PLAIN.issuperset({types[column]})}
    direct: list[Direct] = []
    others = []
    for field, sources in found.items():
        column = sources[0].paths[0][0]
        is_list = issubclass(types.get(column, str), list | tuple)
        if len(sources) > 1 or not sources[0].is_column or column not in types or (field in TEXTS and is_list):
            others.append((field, tuple(sources)))
        else:
            direct.append((field, column, column in unclean, _reader(field, types[column])))
    used = {path[0] for sources in found.values() for source in sources for path in source.paths if len(path) == 1}
    unused = tuple((column, column in unclean) for column in columns if column not in used)
    as_it_is = not others and not unused and not unclean and all(item[0] == item[1] != "metadata" for item in direct)
    lists = [(item[1], is_usual(item[0])) for item in direct if item[3] is not None]
    usual = as_it_is and all(types[column] is list and check for column, check in lists)
    return Plan(tuple(direct), tuple(others), unused, opened, tuple(lists) if usual else None)


def _reader(field: str, kind: type) -> Any:
    return None if kind is type(None) else reader_of(field)


def _named(meant: Mapping[Any, str]) -> Sources:
    """Fields that columns name."""
    found: Sources = {}
    for column, field in meant.items():
        found.setdefault(field, []).append(Source(str(column), ((column,),)))
    return found


def _numbered(names: Iterable[Any]) -> Sources:
    """Fields whose items stand in a numbered column each.

    Columns that are numbered by different words are different sources, and so is a second column of the same number.
    """
    matches = [
        (int(match[2]), match[1], field, name)
        for name in names
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
        name = ", ".join(map(str, members))
        found.setdefault(field, []).append(Source(name, tuple((member,) for member in members), gathered=True))
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
                source = Source(f"{head}.{key}", (places[key],))
                found.setdefault(INSIDE[part][field], []).append(source)
        for field, sources in _numbered(places).items():
            if field in INSIDE[part] and INSIDE[part][field] not in found:
                for source in sources:
                    paths = tuple(places[path[-1]] for path in source.paths)
                    named = Source(", ".join(f"{head}.{path[-1]}" for path in source.paths), paths, gathered=True)
                    found.setdefault(INSIDE[part][field], []).append(named)
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
