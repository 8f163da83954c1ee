"""Group rows by a common value: slices (``by="lang"``) and clusters (``cluster="metadata.document"``).

A path names a column: ``lang`` and ``metadata.lang`` are the same column of the metadata, ``metadata.document.id`` goes into
objects, and the name of a field, such as ``user_input`` or ``id``, is this field. Values are compared as text, so that a
number is the same in JSON and in CSV.

Rows without a value form one more slice, so that they are not overlooked. With clusters, every row needs a value: rows that share
something unknown would count as independent, and intervals would be too narrow.

A row is named by its id, or else by its place in its file.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload

from .._show._tables import cut_middle, first_of
from .._store._parquet import METADATA
from .._store._records import Record
from .._values._counts import grouped
from .._values._errors import InvalidInput, Setting
from .._values._layout import harmless, printable
from .._values._sample import ALIASES, FIELD_NAMES, Row, Sample

MOST_SLICES = 100
"""The largest number of slices. With more, nearly every row would be a slice by itself."""

LONGEST_LABEL = 40
"""The number of characters of a slice's name that are shown."""

T_co = TypeVar("T_co", covariant=True)


class RowLabels:
    """The value of every row in one column, collected while the rows are read.

    Attributes:
        labels: one label per row, in the order of the rows; None for a row without a value.
        path: the path of the column.
    """

    def __init__(self, path: str, argument: str) -> None:
        """Take the path of a column, and the name of the argument that gave it, which error messages use.

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
        """Add the value of this row; ``place`` is the place of the row in the input.

        Raises:
            InvalidInput: the value is a list or an object.
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
        """Check that there are labels.

        Args:
            every_row: whether every row must have a label.
            more: whether more rows follow these first rows.

        Raises:
            InvalidInput: no row has a label; or ``every_row`` is true and a row has none.
        """
        if not self._without:
            return
        if len(self._without) == len(self.labels):
            none = f"none of the first {len(self.labels):,} rows has it" if more else "no row has it"
            raise no_label(Setting(self._argument, self.path), list(self._columns), none)
        if every_row:
            raise no_cluster(Setting(self._argument, self.path), self._without, f"{len(self.labels):,} rows", "none")


def no_label(setting: Setting, columns: Sequence[str], none: str = "no row has it") -> InvalidInput:
    """Return the error for a path at which no row has a value; ``columns`` are the columns of the metadata."""
    there = first_of(list(columns)) or "none"
    why = f": {none}; columns of the metadata: {there}; fields have their own names, such as 'user_input'"
    return InvalidInput(setting, why)


def no_cluster(setting: Setting, without: Sequence[str], of: str, lack: str) -> InvalidInput:
    """Return the error for rows or pairs without a cluster label, of which every one must have one."""
    count = f"{len(without):,} of {of} {'has' if len(without) == 1 else 'have'} {lack}"
    cure = "give each row one; a row that shares nothing with others gets its own"
    return InvalidInput(setting, f": {count} ({first_of(without)}): {cure}")


class RowGroups:
    """The slice and the cluster of every row of a run; each of the two columns is optional.

    Attributes:
        slices: one slice label per row, None for a row without a value; the whole attribute is None if no column to slice by was
            given.
        clusters: one cluster label per row, that is, what the row shares with others; the whole attribute is None if rows are
            taken to be independent.
    """

    def __init__(self, by: str | None, cluster: str | None) -> None:
        """Take the path of the column that defines slices, and the path of the column that defines clusters.

        Raises:
            InvalidInput: a path is empty.
        """
        self._slicing = None if by is None else RowLabels(by, "by")
        self._clustering = None if cluster is None else RowLabels(cluster, "cluster")
        self.slices = self._slicing.labels if self._slicing else None
        self.clusters = self._clustering.labels if self._clustering else None

    def add(self, sample: Sample, place: str) -> None:
        """Add the values of this row; ``place`` is the place of the row in the input.

        Raises:
            InvalidInput: a value is a list or an object.
        """
        for labels in (self._slicing, self._clustering):
            if labels is not None:
                labels.add(sample, place)

    def check(self, *, clusters: bool = True, more: bool = False) -> None:
        """Check that rows have slice labels, and every row a cluster label.

        Args:
            clusters: whether to check cluster labels too.
            more: whether more rows follow these first rows.

        Raises:
            InvalidInput: no row has a slice label, or a row has no cluster label.
        """
        if self._slicing is not None:
            self._slicing.check(more=more)
        if clusters and self._clustering is not None:
            self._clustering.check(every_row=True, more=more)

    def check_first(self, rows: Sequence[Row], *, more: bool) -> None:
        """Check the first rows for errors that would otherwise be found only after all rows were paid for.

        Args:
            rows: the first rows.
            more: whether more rows follow.

        Raises:
            InvalidInput: none of these rows has the column, its values are lists or objects, or a row has no value where every
                row needs one.
        """
        for row in rows:
            self.add(row.sample, row.place)
        self.check(more=more)
        if self._slicing is not None:
            slices_of(self._slicing.labels, self._slicing.path)


def slices_of(labels: Sequence[str | None], path: str) -> dict[str | None, list[int]]:
    """Return the row indices of each slice. Slices are sorted by name, so that the order of rows does not matter; rows without a
    value come last.

    Raises:
        InvalidInput: there are too many different values for slices.
    """
    groups = grouped((label, index) for index, label in enumerate(labels))
    return {label: groups[label] for label in ordered_slices(list(groups), len(labels), path)}


def ordered_slices(labels: Sequence[str | None], rows: int, path: str) -> list[str | None]:
    """Return the different labels of so many rows, sorted by name; None comes last.

    Raises:
        InvalidInput: there are too many of them for slices.
    """
    if len(labels) > MOST_SLICES:
        raise InvalidInput(
            Setting("by", path),
            f": {len(labels)} different values in {rows} rows are too many for slices (at most {MOST_SLICES}): "
            "name a column that many rows share",
        )
    return sorted(labels, key=lambda label: (label is None, label or ""))


def slice_name(path: str, label: str | None) -> str:
    """Return the printable name of a slice, ``lang=de`` or ``without lang``; long values are cut in the middle."""
    column = cut_middle(path.removeprefix(METADATA), LONGEST_LABEL)
    return f"without {column}" if label is None else f"{column}={cut_middle(label, LONGEST_LABEL)}"


def _value(sample: Sample, path: str) -> Any:
    name = ALIASES.get(path, path)
    if name in FIELD_NAMES:
        return getattr(sample, name)
    return _inside(sample.metadata, path.removeprefix(METADATA))


def _inside(values: Any, path: str) -> Any:
    """Return the value at a path of keys joined by dots. Keys may contain dots themselves, as in flat tables."""
    if not isinstance(values, Mapping) or path in values:
        return values[path] if isinstance(values, Mapping) else None
    keys = path.split(".")
    ways = ((".".join(keys[:cut]), ".".join(keys[cut:])) for cut in range(1, len(keys)))
    return next((found for key, rest in ways if (found := _inside(values.get(key), rest)) is not None), None)


def as_label(value: Any) -> str | None:
    """Return the value as a label; equal values of JSON and of CSV give the same label. None for an empty value."""
    if hasattr(value, "item"):  # a NumPy number
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 3.0 in a data frame is 3 in a CSV file
    # compose letters with separate accents
    return unicodedata.normalize("NFC", str(value).strip()) or None


def name_of(record: Record) -> str:
    """Return the name of a row in labels, comparisons and pages, by which it is found again in another file."""
    return as_label(record.sample.id) or _short_place(record.place)


def row_name(record: Record) -> str:
    """Return the name of a row in tables and terminals: its id unchanged, or else its place."""
    return row_name_of(record.sample.id, record.place)


def row_name_of(row_id: object, place: str) -> str:
    """Return the name of a row with this id (None: it has none) and place in tables and terminals."""
    return str(row_id) if row_id is not None else _short_place(place)


class ReadLater(Sequence[T_co]):
    """The names of rows, or others of their values, which are read when they are used, and then kept.

    Args:
        count: the number of rows.
        read: returns the values of so many rows, the first ones.
    """

    def __init__(self, count: int, read: Callable[[int], Sequence[T_co]]) -> None:
        self._count, self._read = count, read
        self._known: Sequence[T_co] = ()

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> T_co: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[T_co, ...]: ...

    def __getitem__(self, index: int | slice) -> T_co | tuple[T_co, ...]:
        positions = range(self._count)[index]
        if isinstance(positions, int):
            return self._first(positions + 1)[positions]
        known = self._first(max(positions, default=-1) + 1)
        return tuple(known[position] for position in positions)

    def __iter__(self) -> Iterator[T_co]:
        return iter(self[:])  # read at once

    def _first(self, most: int) -> Sequence[T_co]:
        """Return the values of the first rows, at least of so many."""
        if len(self._known) < most:
            self._known = self._read(most)
        return self._known

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self[:] == tuple(other)

    def __hash__(self) -> int:
        return hash(self[:])

    def __repr__(self) -> str:
        return repr(self[:])

    def __reduce__(self) -> tuple[type[tuple[T_co, ...]], tuple[tuple[T_co, ...]]]:
        """Copies and pickles have the values, not the rows."""
        return tuple, (self[:],)

    def tolist(self) -> list[T_co]:
        """Return the values as a list, for ``plain``."""
        return list(self[:])


def cause_of(error: str | None, reason: str | None, metric: str, place: str) -> str:
    """Return why there is no value, without the name of the metric and the place of the row, so that equal causes have equal
    texts.
    """
    if error is None:
        return reason or ""
    if error.startswith("MissingInput: "):  # errors contain the name and the place in their harmless form
        return error.replace(f" {harmless(metric)} needs ", " needs ", 1).replace(f" in {harmless(place)}: ", ": ", 1)
    if error.startswith("InvalidInput: "):
        return error.replace(f"{harmless(place)}: ", "", 1).replace(f" {harmless(metric)}: ", " ", 1)
    return error


def _short_place(place: str) -> str:
    """Return the place of a row in its file, such as ``line 7``."""
    return place.rpartition(", ")[2]
