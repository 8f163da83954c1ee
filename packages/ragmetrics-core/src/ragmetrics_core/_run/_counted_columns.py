"""Count the scores of a run in Parquet files from their columns, without making an object for any row.

Columns are read a part at a time, and equal scores of a part are counted together. A metric with few different values, as most
have, is then no more than a few numbers with their counts. The values of other metrics are kept as one column.

The results are those of going through the rows one by one, in their order. Three things cannot be counted from columns, and then
rows are read: several judgements of a row, slices by other things than plain values of the metadata, and texts that no column
can hold.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

from .._store._parquet import METADATA, ParquetRecords
from .._store._run_settings import MetricColumn
from .._values._counts import grouped
from .._values._errors import Setting
from .._values._requests import Usage
from .._values._sample import ALIASES, FIELD_NAMES
from .._values._score import NOT_ASKED
from ..statistics._numbers import Numbers
from ._slices import no_label, ordered_slices

MOST_DIFFERENT = 4096
"""The largest number of different values in the first part of a column that are counted one by one."""

COSTS = ("_calls", "_tokens", "_cached_calls", "_prompt_tokens")


class ColumnNumbers(Numbers):
    """The numbers in an Arrow array without nulls."""

    def __init__(self, array: Any) -> None:
        super().__init__(())
        self._array = array

    def __len__(self) -> int:
        return len(self._array)

    @cached_property
    def mean(self) -> float:
        """The mean, rounded once."""
        return math.fsum(chain.from_iterable(_doubles(self._array))) / len(self)

    @property
    def low(self) -> float:
        """The smallest number."""
        return float(_compute().min(self._array).as_py())

    @property
    def high(self) -> float:
        """The largest number."""
        return float(_compute().max(self._array).as_py())

    def squares(self, about: float, sign: int = 0) -> float:
        """Return the sum of the squared distances from a number; with ``sign`` only of the numbers on this side of it."""
        pc = _compute()
        sums = []
        for chunk in self._array.chunks:  # so that no second column is in memory
            away = pc.subtract(chunk, about)
            if sign:
                away = pc.max_element_wise(pc.multiply(away, float(sign)), 0.0)
            sums.append(pc.sum(pc.multiply(away, away)).as_py() or 0.0)
        return math.fsum(sums)

    def at_ends(self, scale: tuple[float, float]) -> bool:  # noqa: ARG002  as in the base class
        """False: there are more different values than a scale has ends."""
        return False

    def above(self, limit: float) -> int:
        """Return how many are larger than a limit."""
        return int(_compute().sum(_compute().greater(self._array, limit)).as_py())

    def within(self, sign: int, centre: float, most: float) -> Numbers:
        """Return the numbers that lie at most ``most`` below a centre (``sign`` 1), or above it (-1)."""
        pc = _compute()
        below = (pc.multiply(pc.subtract(centre, chunk), float(sign)) for chunk in self._array.chunks)
        kept = [chunk.filter(pc.less_equal(each, most)) for chunk, each in zip(self._array.chunks, below, strict=True)]
        return ColumnNumbers(_arrow().chunked_array(kept, _arrow().float64()))

    def ends(self, sign: int, most: int) -> list[float]:
        """Return at most so many of the lowest numbers (``sign`` 1), or of the highest (-1), in order."""
        pc = _compute()
        places = (pc.bottom_k_unstable if sign > 0 else pc.top_k_unstable)(self._array, most)
        return sorted(self._array.take(places).to_pylist(), key=lambda value: sign * value)

    def plus(self, value: float, count: int) -> Numbers:
        """Return these numbers, and a value so many times."""
        more = _arrow().repeat(float(value), count)
        return ColumnNumbers(_arrow().chunked_array([*self._array.chunks, more])) if count else self


def _arrow() -> Any:
    import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415

    return pa


def _compute() -> Any:
    import pyarrow.compute as pc  # type: ignore[import-untyped]  # noqa: PLC0415

    return pc


def _doubles(array: Any) -> Iterator[Any]:
    """Yield the numbers of each chunk without copying them."""
    for chunk in array.chunks:
        yield memoryview(chunk.buffers()[1]).cast("d")[chunk.offset : chunk.offset + len(chunk)]


@dataclass
class Tied:
    """Scores of a metric that are equal but for their values, and for what they cost.

    Attributes:
        label: their label.
        passing: whether they pass.
        failed: whether they failed.
        scored: whether they have a value.
        rows: their number.
        costs: the sums of their calls, tokens, cached calls and tokens sent.
    """

    label: str | None
    passing: bool | None
    failed: bool
    scored: bool
    rows: int
    costs: tuple[int, ...]

    @property
    def usage(self) -> Usage:
        """The calls and tokens of all of them."""
        calls, tokens, cached, prompt = self.costs
        return Usage(calls, prompt, tokens - prompt, cached)


@dataclass
class Counts:
    """The scores of a metric in all rows, or in one slice of them. Rows that the metric was not asked about are left out.

    Attributes:
        tied: equal scores, in the order in which their first ones stand.
        numbers: the values.
        worst: the rows with the worst values and these values, the worst first.
        values: how often each value occurs; empty if there are too many different ones.
        missing: the rows without a value, with the error or the reason; empty if no rows were to be found.
    """

    tied: dict[Any, Tied] = field(default_factory=dict)
    numbers: Numbers = field(default_factory=lambda: Numbers(()))
    worst: list[tuple[int, float]] = field(default_factory=list)
    values: Counter[float] = field(default_factory=Counter)
    missing: list[tuple[int, str | None, str | None]] = field(default_factory=list)

    def add(self, value: float | None, tied: Tied) -> None:
        """Add equal scores."""
        key = (tied.label, tied.passing, tied.failed, tied.scored)
        there = self.tied.get(key, replace(tied, rows=0, costs=(0,) * len(COSTS)))
        costs = tuple(map(sum, zip(there.costs, tied.costs, strict=True)))
        self.tied[key] = replace(there, rows=there.rows + tied.rows, costs=costs)
        if value is not None:
            self.values[value] += tied.rows

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(item.rows for item in self.tied.values())

    @property
    def failed(self) -> int:
        """The number of rows whose scoring failed."""
        return sum(item.rows for item in self.tied.values() if item.failed)


@dataclass
class Slices:
    """The slice of every row.

    Attributes:
        codes: one number per row.
        labels: the slices by these numbers; None: the rows without a value.
        rows: the number of rows of each slice.
    """

    codes: Any
    labels: list[str | None]
    rows: dict[str | None, int]

    @classmethod
    def of(cls, records: ParquetRecords, path: str) -> Slices | None:
        """Return the slices by a column; None if they can only be found by reading rows.

        Raises:
            InvalidInput: no row has a value there, or there are too many different ones.
        """
        name = f"{METADATA}{path.removeprefix(METADATA)}"
        if ALIASES.get(path, path) in FIELD_NAMES or not path.strip(". ") or records.any("_nested"):
            return None
        if not records.has(name):
            raise no_label(Setting("by", path), [key.removeprefix(METADATA) for key in records.metadata_columns()])
        pa = _arrow()
        column = records.columns(name)[name].unify_dictionaries()
        labels = column.chunk(0).dictionary.to_pylist()
        codes = pa.chunked_array([chunk.indices.fill_null(len(labels)) for chunk in column.chunks])
        counts = {item["values"]: item["counts"] for item in _compute().value_counts(codes).to_pylist()}
        found = [*labels, None]
        rows = {found[code]: count for code, count in counts.items()}
        if rows.keys() == {None}:
            raise no_label(Setting("by", path), [key.removeprefix(METADATA) for key in records.metadata_columns()])
        return cls(codes, found, {label: rows[label] for label in ordered_slices(list(rows), len(records), path)})


def countable(records: object, metrics: Sequence[MetricColumn]) -> ParquetRecords | None:
    """Return the rows if the scores of these metrics can be counted from columns; else None."""
    names = ["_unusual", *(f"{item.name}_unusual" for item in metrics)]
    return records if isinstance(records, ParquetRecords) and not records.any(*names) else None


def count_scores(
    records: ParquetRecords, item: MetricColumn, slices: Slices | None, most_worst: int = 0
) -> tuple[Counts, dict[str | None, Counts]]:
    """Return the scores of one metric, in all rows and in each slice.

    Args:
        records: the rows.
        item: the metric.
        slices: the slice of each row; None: all rows are in one.
        most_worst: how many of the worst rows to find; 0: no rows are to be found, and neither verdicts nor costs.
    """
    whole, parts = Counts(), {label: Counts() for label in slices.rows} if slices else {}
    used = ["_label", "_error", *(("_passing", "_reason", *COSTS) if most_worst else ())]
    few = True
    kept = []
    for start, read in records.parts([f"{item.name}{part}" for part in ("", *used)]):
        table = read.rename_columns(["value", *used])
        if not start:
            few = len(_compute().unique(table["value"])) <= MOST_DIFFERENT
        codes = slices.codes.slice(start, len(table)) if slices else None
        for code, value, tied in _tied(table, codes, few=few):
            for counts in (whole, *([parts[slices.labels[code]]] if slices else ())):
                counts.add(value, tied)
        if most_worst:
            whole.missing += _missing(table, start)
        if most_worst or not few:
            kept.append((start, table["value"]))
    for label, counts in ((None, whole), *parts.items()):
        of = None if counts is whole else slices
        counts.numbers = Numbers(list(counts.values), list(counts.values.values())) if few else _column(kept, of, label)
        if most_worst and len(counts.numbers):
            sign = -1 if item.higher_is_better is False else 1
            counts.worst = list(_worst(kept, of, label, counts.numbers, sign=sign, most=most_worst))
    return whole, parts


def _column(kept: Sequence[tuple[int, Any]], slices: Slices | None, label: str | None) -> Numbers:
    """Return the values in a slice; without slices all of them."""
    column = _arrow().chunked_array(chain.from_iterable(each.chunks for _, each in kept))
    if slices is not None:
        column = column.filter(_compute().equal(slices.codes, slices.labels.index(label)))
    return ColumnNumbers(column.drop_null())


def _tied(table: Any, codes: Any, *, few: bool) -> Iterator[tuple[int, float | None, Tied]]:
    """Yield the equal scores of a part of the rows, in the order of their first rows, each with its slice and its value."""
    pc = _compute()
    sums = [(name, "sum") for name in table.column_names if name in COSTS]
    keys = [name for name in ("_label", "_passing", "_error") if name in table.column_names]
    keys = [name for name in keys if table[name].null_count < len(table)]  # grouping by nothing else is faster
    if "_error" in keys:
        table = table.append_column("failed", pc.is_valid(table["_error"])).drop_columns(["_error"])
        keys = [*keys[:-1], "failed"]
    table = table.append_column("scored", pc.is_valid(table["value"]))
    keys.append("value" if few else "scored")
    if codes is not None:
        table, keys = table.append_column("slice", codes), [*keys, "slice"]
    if len(keys) == 1:
        all_costs = {f"{name}_sum": pc.sum(table[name]).as_py() for name, _ in sums}
        found = [
            {keys[0]: item["values"], "count_all": item["counts"], **({} if place else all_costs)}
            for place, item in enumerate(pc.value_counts(table[keys[0]].combine_chunks()).to_pylist())
        ]
    else:
        groups = table.unify_dictionaries().group_by(keys, use_threads=False)
        found = groups.aggregate([*sums, ([], "count_all")]).to_pylist()
    for row in found:
        value, label = row.get("value"), row.get("_label")
        costs = tuple(row.get(f"{cost}_sum") or 0 for cost in COSTS)
        scored = value is not None if few else row["scored"]
        if label != NOT_ASKED:
            tied = Tied(label, row.get("_passing"), row.get("failed", False), scored, row["count_all"], costs)
            yield row.get("slice", 0), value, tied


def _missing(table: Any, start: int) -> Iterator[tuple[int, str | None, str | None]]:
    pc = _compute()
    rows = pc.indices_nonzero(pc.is_null(table["value"]))
    if len(rows):
        texts = (table[name].take(rows).cast("string").to_pylist() for name in ("_label", "_error", "_reason"))
        for row, label, error, reason in zip(rows.to_pylist(), *texts, strict=True):
            if label != NOT_ASKED:
                yield start + row, error, reason


def _worst(
    kept: Sequence[tuple[int, Any]], slices: Slices | None, label: str | None, numbers: Numbers, *, sign: int, most: int
) -> Iterator[tuple[int, float]]:
    """Yield the rows with the lowest values (``sign`` 1) or the highest, with their values; of equal ones the first."""
    pc = _compute()
    ends = numbers.ends(sign, most)
    beyond = sum(value != ends[-1] for value in ends)
    found: list[tuple[int, float]] = []
    equal: list[tuple[int, float]] = []
    for start, values in kept:
        mine = values
        if slices is not None:
            of_slice = pc.equal(slices.codes.slice(start, len(values)), slices.labels.index(label))
            mine = pc.if_else(of_slice, values, None)
        rows = pc.indices_nonzero((pc.less if sign > 0 else pc.greater)(mine, ends[-1])) if beyond else []
        found += [(start + row.as_py(), values[row.as_py()].as_py()) for row in rows]
        equal += [
            (start + row, ends[-1]) for row in pc.indices_nonzero(pc.equal(mine, ends[-1])).slice(0, most).to_pylist()
        ]
        if len(found) == beyond and len(found) + len(equal) >= most:
            break
    found.sort(key=lambda item: sign * item[1])
    yield from [*found, *equal][:most]


Missing = tuple[str, str | None, str | None]
"""A metric that gave a row no value, with the error, or else the reason."""


def rows_without_value(
    records: ParquetRecords, missing: Mapping[str, Sequence[tuple[int, str | None, str | None]]]
) -> Iterator[tuple[dict[str, str | None], list[Missing]]]:
    """Yield the id and the place of each row that was asked about and lacks a value, with the metrics that gave none.

    Args:
        records: the rows.
        missing: for each metric, ``Counts.missing``.
    """
    found = grouped((row, (name, error, reason)) for name, rows in missing.items() for row, error, reason in rows)
    wanted = sorted(found)
    for row, index in zip(records.take(wanted, "id", "_place"), wanted, strict=True):
        yield row, found[index]


def count_verdicts(records: ParquetRecords, metrics: Sequence[MetricColumn]) -> int:
    """Return the number of rows with text in the form of a verdict that a model was asked about."""
    pc = _compute()
    if not records.any("_holds_verdict"):
        return 0
    table = records.columns("_holds_verdict", *(f"{item.name}_calls" for item in metrics))
    asked = pc.max_element_wise(*table.columns[1:])
    return int(pc.sum(pc.and_(table[0], pc.greater(asked, 0))).as_py() or 0)
