"""Rows by what they have in common: slices (``by="lang"``) and clusters (``cluster="metadata.document"``).

A path names a column: ``lang`` and ``metadata.lang`` are the same column of the metadata, ``metadata.document.id`` goes into
objects, and the name of a field, such as ``user_input`` or ``id``, is that field. What stands there is compared as text, so that a
number is the same in JSON and in CSV.

Rows without a value are one more slice, so that they are not overlooked. Clusters are refused where a row has none: rows that share
something unknown would pass for independent, and intervals would be too narrow.

A row is named by its id, else by its place in its file.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from .._show._tables import cut_middle, first_of
from .._store._records import Record
from .._values._counts import grouped
from .._values._errors import InvalidInput, Setting
from .._values._layout import printable
from .._values._sample import ALIASES, FIELD_NAMES, Row, Sample

MOST_SLICES = 100
"""More slices than that are refused: nearly each row would be one slice."""

LONGEST_LABEL = 40
"""Characters of a slice's name that is shown."""

METADATA = "metadata."


class RowLabels:
    """What stands at one path in every row, collected while the rows pass by.

    Attributes:
        labels: one per row, in the order of the rows; None where nothing stands there.
        path: the path.
    """

    def __init__(self, path: str, argument: str) -> None:
        """The path, and the argument that it was given for, which errors name.

        Raises:
            InvalidInput: the path is empty.
        """
        if not isinstance(path, str) or not path.strip(". "):
            raise InvalidInput(Setting(argument), f" must name a column, such as 'metadata.lang', got {path!r}")
        self.labels: list[str | None] = []
        self.path, self._argument = path, argument
        self._without: list[str] = []
        self._columns: dict[str, None] = {}

    def add(self, sample: Sample, place: str) -> None:
        """Note the values of this row; ``place`` is its place in the input.

        Raises:
            InvalidInput: what stands there is a list or an object.
        """
        value = _value(sample, self.path)
        if isinstance(value, Mapping) or (isinstance(value, Sequence) and not isinstance(value, str)):
            kind = "an object" if isinstance(value, Mapping) else "a list"
            inside = f", such as {self.path}.{next(iter(value))}" if isinstance(value, Mapping) and value else ""
            raise InvalidInput(
                f"{printable(place)}: ",
                Setting(self._argument, self.path),
                f" is {kind}: name a column with one value per row" + printable(inside),
            )
        label = as_label(value)
        self.labels.append(label)
        if label is None:
            self._without.append(place)
            self._columns.update(dict.fromkeys(map(str, sample.metadata)))

    def check(self, *, every_row: bool = False, more: bool = False) -> None:
        """Refuse labels that are none.

        Args:
            every_row: each row must have one.
            more: there are more rows than these first ones.

        Raises:
            InvalidInput: no row has one; or some have none, where every row must.
        """
        if not self._without:
            return
        if len(self._without) == len(self.labels):
            there = first_of(list(self._columns)) or "none"
            none = f"none of the first {len(self.labels):,} rows has it" if more else "no row has it"
            raise InvalidInput(
                Setting(self._argument, self.path),
                f": {none}; columns of the metadata: {there}; fields have their own names, such as 'user_input'",
            )
        if every_row:
            raise no_cluster(Setting(self._argument, self.path), self._without, f"{len(self.labels):,} rows", "none")


def no_cluster(setting: Setting, without: Sequence[str], of: str, lack: str) -> InvalidInput:
    """The error that some rows or pairs have nothing that they share with others, although every one must."""
    count = f"{len(without):,} of {of} {'has' if len(without) == 1 else 'have'} {lack}"
    cure = "give each row one; a row that shares nothing with others gets its own"
    return InvalidInput(setting, f": {count} ({first_of(without)}): {cure}")


class RowGroups:
    """What the rows of a run are sliced by, and what they share with others; either may be left out.

    Attributes:
        slices: by row what it is sliced by, None for a row without; None where rows are not sliced.
        clusters: by row what it shares with others; None where rows are taken to be independent.
    """

    def __init__(self, by: str | None, cluster: str | None) -> None:
        """The path of a column that rows are sliced by, and of one with what they share.

        Raises:
            InvalidInput: a path is empty.
        """
        self._slicing = None if by is None else RowLabels(by, "by")
        self._clustering = None if cluster is None else RowLabels(cluster, "cluster")
        self.slices = self._slicing.labels if self._slicing else None
        self.clusters = self._clustering.labels if self._clustering else None

    def add(self, sample: Sample, place: str) -> None:
        """Note the values of this row; ``place`` is its place in the input.

        Raises:
            InvalidInput: what stands there is a list or an object.
        """
        for labels in (self._slicing, self._clustering):
            if labels is not None:
                labels.add(sample, place)

    def check(self, *, clusters: bool = True, more: bool = False) -> None:
        """Refuse slices and clusters that are none.

        Args:
            clusters: also these.
            more: there are more rows than these first ones.

        Raises:
            InvalidInput: no row has what rows are sliced by, or one has not got what rows share.
        """
        if self._slicing is not None:
            self._slicing.check(more=more)
        if clusters and self._clustering is not None:
            self._clustering.check(every_row=True, more=more)

    def check_first(self, rows: Sequence[Row], *, more: bool) -> None:
        """Refuse, from the first rows, what all rows would be refused for after they are paid for.

        Args:
            rows: the first rows.
            more: there are more of them.

        Raises:
            InvalidInput: a column is in none of these rows, holds no values to go by, or is missing where every row needs it.
        """
        for row in rows:
            self.add(row.sample, row.place)
        self.check(more=more)
        if self._slicing is not None:
            slices_of(self._slicing.labels, self._slicing.path)


def slices_of(labels: Sequence[str | None], path: str) -> dict[str | None, list[int]]:
    """The indices of the rows of each slice, sorted by name, so that the order of rows does not matter; rows without come last.

    Raises:
        InvalidInput: there are too many for slices.
    """
    found = grouped((label, index) for index, label in enumerate(labels))
    if len(found) > MOST_SLICES:
        raise InvalidInput(
            Setting("by", path),
            f": {len(found)} different values in {len(labels)} rows are no slices (at most {MOST_SLICES}): "
            "name a column that many rows share",
        )
    return dict(sorted(found.items(), key=lambda item: (item[0] is None, item[0] or "")))


def slice_name(path: str, label: str | None) -> str:
    """A slice as a person reads it: ``lang=de``, or ``without lang``; printable, long values cut in the middle."""
    column = cut_middle(path.removeprefix(METADATA), LONGEST_LABEL)
    return f"without {column}" if label is None else f"{column}={cut_middle(label, LONGEST_LABEL)}"


def _value(sample: Sample, path: str) -> Any:
    name = ALIASES.get(path, path)
    if name in FIELD_NAMES:
        return getattr(sample, name)
    return _inside(sample.metadata, path.removeprefix(METADATA))


def _inside(values: Any, path: str) -> Any:
    """The value at a path of keys with dots between; keys may hold dots themselves, as those of flat tables do."""
    if not isinstance(values, Mapping) or path in values:
        return values[path] if isinstance(values, Mapping) else None
    keys = path.split(".")
    ways = ((".".join(keys[:cut]), ".".join(keys[cut:])) for cut in range(1, len(keys)))
    return next((found for key, rest in ways if (found := _inside(values.get(key), rest)) is not None), None)


def as_label(value: Any) -> str | None:
    """The value as a label, in the same text for the same value of JSON and of CSV; None where it says nothing."""
    if hasattr(value, "item"):  # a number of numpy
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 3.0 of a data frame is the 3 of a CSV file
    # an accent that is written apart is the same letter
    return unicodedata.normalize("NFC", str(value).strip()) or None


def name_of(record: Record) -> str:
    """As labels, comparisons and pages call it: a name by which a row is found again in another file."""
    return as_label(record.sample.id) or _short_place(record)


def row_name(record: Record) -> str:
    """As tables and terminals call it: the id to the letter."""
    row_id = record.sample.id
    return str(row_id) if row_id is not None else _short_place(record)


def _short_place(record: Record) -> str:
    """Where it is in its file, such as ``line 7``."""
    return record.place.rpartition(", ")[2]
