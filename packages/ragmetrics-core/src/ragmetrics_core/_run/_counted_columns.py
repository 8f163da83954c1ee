"""Count the scores of a run in Parquet files by SQL, without making an object for any row.

Equal scores are counted together. A metric with few different values, as most have, is then no more than a few numbers with their
counts. Of the values of other metrics, sums are computed.

The results are the same as if the rows were read one by one, in their order. Three things cannot be counted from columns, and then
rows are read: several judgements of a row, slices by other things than plain values of the metadata, and texts that no column
can hold.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from heapq import nsmallest
from typing import Any, NamedTuple, TypeGuard

from .._store._parquet import METADATA, ParquetRecords, Tables, quoted
from .._store._run_settings import MetricColumn
from .._values._errors import Setting
from .._values._requests import Usage
from .._values._sample import ALIASES, FIELD_NAMES
from .._values._score import NOT_ASKED
from ..statistics._numbers import Numbers
from ._judgements import JuryTally
from ._slices import no_label, ordered_slices, row_name_of

MOST_DIFFERENT = 4096
"""The largest number of different values of a metric that are counted one by one."""

LOOKED_AT = 100_000
"""The number of rows that show how many different values a metric has."""

MOST_WORST = 3
"""The number of worst rows that are found."""

COSTS = ("_calls", "_prompt_tokens", "_tokens", "_cached_calls", "_seconds")

BITS = 96
"""The binary digits after the point in sums of numbers up to 1. A sum of 2**30 of them fits into 128 bits."""


def _sums(value: str, exponent: int) -> str:
    """Return the SQL of the number of values below 2**exponent, the lowest, the highest, their sum and the sum of their squares.

    The sums are whole numbers, so they are exact, and do not depend on the order of rows and threads. What is cut off is 2**-73
    of the largest value at most, for ten million rows. A sum of floats would do for an interval, whose ends are shown with three
    digits and are never round numbers. It would not do for a mean: if it lies exactly between two numbers with three digits, as
    1/16 does, its last bit decides which of them is shown.
    """
    digits, half = math.ldexp(1.0, BITS - exponent), math.ldexp(1.0, BITS // 2 - exponent)
    sums = (f"{value} * {digits}", f"({value} * {half}) * ({value} * {half})")
    return f"count({value}), min({value}), max({value}), " + ", ".join(f"sum(CAST({each} AS HUGEINT))" for each in sums)


class ColumnNumbers(Numbers):
    """Numbers in a column, of which the sums are known. Parts of them are queried when they are asked for.

    Args:
        tables: the run.
        source: the SQL of a query whose column ``value`` has the numbers.
        given: the values of its parameters.
        exponent: a power of two that is larger than every number.
        sums: the results of ``_sums``; None: they are queried.
    """

    def __init__(
        self, tables: Tables, source: str, given: Sequence[object], exponent: int, sums: Sequence[Any] | None = None
    ) -> None:
        self._tables, self._source, self._given, self._exponent = tables, source, given, exponent
        found = self._query(_sums("value", exponent))[0] if sums is None else sums
        self._count, self.low, self.high, self._sum_of_values, self._sum_of_squares = found
        if self._count:
            self._total = math.ldexp(self._sum_of_values / 2**BITS, exponent)
            self.mean = self._total / self._count

    def __len__(self) -> int:
        return self._count

    def __reduce__(self) -> tuple[type[Numbers], tuple[list[float]]]:
        """Copies and pickles have the numbers, not the table."""
        return Numbers, ([value for (value,) in self._query("value")],)

    def _query(self, columns: str, more: str = "") -> list[Any]:
        return self._tables.query(f"SELECT {columns} FROM ({self._source}) {more}", *self._given)

    def _where(self, condition: str, *given: object) -> ColumnNumbers:
        source = f"SELECT value FROM ({self._source}) WHERE {condition}"
        return ColumnNumbers(self._tables, source, [*self._given, *given], self._exponent)

    def pairs(self) -> Iterator[tuple[float, int]]:
        """Yield each value with its count."""
        return ((value, count) for value, count in self._query("value, count(*)", "GROUP BY value"))

    def squares(self, about: float, sign: int = 0) -> float:
        """Return the sum of the squared distances from a number; with ``sign`` only of the numbers on this side of it."""
        if sign:
            part = self._where("? * (value - ?) >= 0", float(sign), about)
            return part.squares(about) if len(part) else 0.0
        unit = Fraction(2) ** self._exponent
        centre = Fraction(about) / unit
        sums = self._sum_of_squares - 2 * centre * self._sum_of_values
        return max(float((sums / 2**BITS + self._count * centre**2) * unit**2), 0.0)

    @cached_property
    def size(self) -> float:
        """The sum of the distances from 0."""
        return ColumnNumbers(
            self._tables, f"SELECT abs(value) AS value FROM ({self._source})", self._given, self._exponent
        )._total

    @cached_property
    def changed(self) -> int:
        """How many are not 0."""
        return int(self._query("count(*)", "WHERE value <> 0")[0][0])

    def at_ends(self, scale: tuple[float, float]) -> bool:
        """Whether every number is an end of the scale. That is possible if most numbers belong to rows of one run alone."""
        return {self.low, self.high} <= {*scale} and not len(self._where("value <> ? AND value <> ?", *scale))

    def within(self, sign: int, centre: float, most: float) -> Numbers:
        """Return the numbers that lie at most ``most`` below a centre (``sign`` 1), or above it (-1)."""
        return self._where("? * (? - value) <= ?", float(sign), centre, most)

    def ends(self, sign: int, most: int) -> list[float]:
        """Return at most so many of the lowest numbers (``sign`` 1), or of the highest (-1), in order."""
        order = f"ORDER BY value {'ASC' if sign > 0 else 'DESC'} LIMIT {most}"
        return [value for (value,) in self._query("value", order)]

    def plus(self, value: float, count: int) -> Numbers:
        """Return these numbers, and a value so many times."""
        source = f"{self._source} UNION ALL SELECT CAST(? AS DOUBLE) FROM range(?)"
        exponent = max(self._exponent, math.frexp(value)[1])
        return ColumnNumbers(self._tables, source, [*self._given, value, count], exponent) if count else self


Outcome = tuple[str | None, bool | None, bool, bool]
"""The label of a score, whether it passes, whether it failed, and whether it has a value."""


@dataclass
class Counts:
    """The scores of a metric in all rows, or in one slice of them. Rows that the metric was not asked about are left out.

    Attributes:
        outcomes: the number of rows with each outcome.
        usage: the calls and tokens of all rows.
        values: the values.
        worst: the rows with the worst values, the worst first: the key by which they are sorted, and the name of the row.
        scales: the scales of the values; empty from columns, whose values have the scale of the metric.
        clusters: for gates, the cluster label of each value; None if they are independent.
        spreads: for each row that was judged several times, the standard deviation of its judgements.
        jury: the votes of jurors.
    """

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)
    values: Any = ()
    worst: list[tuple[float, Any]] = field(default_factory=list)
    scales: set[tuple[float, float] | None] = field(default_factory=set)
    clusters: Sequence[Hashable] | None = None
    spreads: array[float] = field(default_factory=lambda: array("d"))
    jury: JuryTally = field(default_factory=JuryTally)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.outcomes.total()

    @property
    def failed(self) -> int:
        """The number of rows whose scoring failed."""
        return sum(rows for (_, _, failed, _), rows in self.outcomes.items() if failed)


@dataclass
class ColumnCounts:
    """The scores of a run, counted from columns.

    Attributes:
        whole: for each metric its scores in all rows.
        parts: for each slice the same for its rows; empty without slices.
        rows: the number of rows of each slice, the slices in their order; None: the rows without a value.
    """

    whole: dict[str, Counts]
    parts: dict[str | None, dict[str, Counts]]
    rows: dict[str | None, int]


def usable(records: object, metrics: Sequence[str], *paths: object) -> TypeGuard[ParquetRecords]:
    """Whether these metrics of a run, and the slices or clusters at these paths, can be read from columns. A path may be None.

    A value that is no finite number cannot: reading its row raises the error that names it.
    """
    given = [path for path in paths if path is not None]
    if any(
        not isinstance(path, str) or ALIASES.get(path, path) in FIELD_NAMES or not path.strip(". ") for path in given
    ):
        return False
    flags = ["_unusual", *(f"{name}_unusual" for name in metrics), *(["_nested"] if given else [])]
    return isinstance(records, ParquetRecords) and records.is_plain(flags, metrics)


def column_name(path: str) -> str:
    """Return the name of the column of the metadata at a path."""
    return f"{METADATA}{path.removeprefix(METADATA)}"


def different_values(tables: Tables, view: str, metrics: Sequence[str]) -> tuple[int, ...]:
    """Return for each metric how many different values its first rows have."""
    values = ", ".join(map(quoted, metrics))
    counts = ", ".join(f"count(DISTINCT {quoted(metric)})" for metric in metrics)
    (numbers,) = tables.query(f"SELECT {counts} FROM (SELECT {values} FROM {view} LIMIT {LOOKED_AT})")
    return tuple(numbers)


def count_columns(
    records: object, metrics: Sequence[MetricColumn], by: str | None, *, costs: bool = False, unique: bool = False
) -> ColumnCounts | None:
    """Return the scores of metrics, in all rows and in each slice; None if rows must be read.

    Args:
        records: the rows of a run.
        metrics: the metrics.
        by: the path of the column that defines the slices; None: there are none.
        costs: whether costs and worst rows are to be found too.
        unique: whether no two rows may be repeats of one.

    Raises:
        InvalidInput: no row has a value at the path, or there are too many different ones.
    """
    if not usable(records, [item.name for item in metrics], by) or (unique and not records.unique):
        return None
    rows = {} if by is None else _slices(records, by)
    column = "NULL" if by is None else quoted(column_name(by))
    numbers = different_values(records.tables, "run", [item.name for item in metrics])
    found = ColumnCounts({}, {label: {} for label in rows}, rows)
    for item, number in zip(metrics, numbers, strict=True):
        scores = ScoreColumns(records, item, column, few=number <= MOST_DIFFERENT, costs=costs)
        found.whole[item.name] = scores.counts(scores.groups)
        for label, part in found.parts.items():
            part[item.name] = scores.counts([group for group in scores.groups if group.slice == label], label)
    if costs:
        _name_worst(records, [counts for part in (found.whole, *found.parts.values()) for counts in part.values()])
    return found


def _name_worst(records: ParquetRecords, found: Sequence[Counts]) -> None:
    """Replace the numbers of the worst rows by their names."""
    rows = {row for counts in found for _, row in counts.worst}
    sql = f"SELECT _row, id, _place FROM run WHERE _row IN ({', '.join('?' * len(rows))})"
    names = {row: row_name_of(*name) for row, *name in records.tables.query(sql, *rows)} if rows else {}
    for counts in found:
        counts.worst = [(key, names[row]) for key, row in counts.worst]


def _slices(records: ParquetRecords, path: str) -> dict[str | None, int]:
    """Return the number of rows of each slice, the slices in their order."""
    columns = records.metadata_columns()
    rows: dict[str | None, int] = {}
    if column_name(path) in columns:
        rows = dict(records.tables.query(f"SELECT {quoted(column_name(path))}, count(*) FROM run GROUP BY 1"))
    if not rows.keys() - {None}:
        raise no_label(Setting("by", path), [key.removeprefix(METADATA) for key in columns])
    return {label: rows[label] for label in ordered_slices(list(rows), len(records), path)}


class Group(NamedTuple):
    """Scores of one slice with the same outcome, and with the same value if values are counted one by one.

    Attributes:
        slice: the slice; None also without slices.
        outcome: the outcome.
        value: the value; None also if values are not counted one by one.
        rows: the number of rows.
        usage: what the scores cost.
        first: the first rows; if values are not counted one by one, the worst values.
        sums: the results of ``_sums``; empty if values are counted one by one.
    """

    slice: str | None
    outcome: Outcome
    value: float | None
    rows: int
    usage: Usage
    first: Sequence[Any]
    sums: tuple[Any, ...]

    @classmethod
    def of(cls, row: Sequence[Any]) -> Group:
        """Return the group in a row of a query."""
        part, label, passing, failed, scored, value, rows, calls, prompt, tokens, cached, seconds, first, *sums = row
        usage = Usage(calls, prompt, tokens - prompt, cached, seconds or 0.0)
        return cls(part, (label, passing, failed, scored), value, rows, usage, first or (), tuple(sums))


class ScoreColumns:
    """The columns of the scores of one metric.

    Args:
        records: the run.
        item: the metric.
        column: the slices in SQL.
        few: whether the values are counted one by one.
        costs: whether costs and worst rows are found.

    Attributes:
        groups: all scores.
    """

    def __init__(self, records: ParquetRecords, item: MetricColumn, column: str, *, few: bool, costs: bool) -> None:
        self._tables, self._column, self._value = records.tables, column, quoted(item.name)
        self._sign = -1 if item.higher_is_better is False else 1
        label, passing, error, *used = (
            quoted(f"{item.name}{part}") for part in ("_label", "_passing", "_error", *COSTS)
        )
        value, more, self._exponent = self._value, "", 0
        first = f"min(_row, {MOST_WORST})"
        if not few:
            largest = max(map(abs, item.scale)) if item.scale else 0.0
            if not largest:
                ((largest,),) = self._tables.query(f"SELECT max(abs({value})) FROM run")
            self._exponent = math.frexp(largest)[1]
            first = f"{'min' if self._sign > 0 else 'max'}({value}, {MOST_WORST})"
            value, more = "NULL", f", {_sums(value, self._exponent)}"
        extra = [f"sum({each})" for each in used] + [first] if costs else ["0"] * len(used) + ["NULL"]
        sql = (
            f"SELECT {column}, {label}, {passing}, {error} IS NOT NULL, {self._value} IS NOT NULL, {value}, count(*), "
            f"{', '.join(extra)}{more} FROM run WHERE {label} IS DISTINCT FROM ? GROUP BY 1, 2, 3, 4, 5, 6"
        )
        self.groups = [Group.of(row) for row in self._tables.query(sql, NOT_ASKED)]
        self._first = [(each.slice, each.value, each.first) for each in self.groups if each.value is not None]
        ends = [] if few else list({end for each in self.groups for end in each.first})
        if ends:
            among = f"{self._value} IN ({', '.join('?' * len(ends))})"
            sql = f"SELECT {column}, {self._value}, min(_row, {MOST_WORST}) FROM run WHERE {among} GROUP BY 1, 2"
            self._first = self._tables.query(sql, *ends)

    def counts(self, groups: Sequence[Group], *part: str | None) -> Counts:
        """Return the scores in these groups, which together have all rows or one slice."""
        outcomes: Counter[Outcome] = Counter()
        values: Counter[float] = Counter()
        for group in groups:
            outcomes[group.outcome] += group.rows
            if group.value is not None:
                values[group.value] += group.rows
        numbers = Numbers(list(values), list(values.values()))
        sums = [group.sums for group in groups if group.outcome[-1] and group.sums]
        if sums:
            count, low, high, total, squares = zip(*sums, strict=True)
            totals = (sum(count), min(low), max(high), sum(total), sum(squares))
            where = f" AND {self._column} IS NOT DISTINCT FROM ?" if part else ""
            source = f"SELECT {self._value} AS value FROM run WHERE {self._value} IS NOT NULL{where}"
            numbers = ColumnNumbers(self._tables, source, part, self._exponent, totals)
        rows = [(value, first) for label, value, first in self._first if not part or label == part[0]]
        worst = nsmallest(MOST_WORST, ((self._sign * value, row) for value, first in rows for row in first))
        return Counts(outcomes, sum((group.usage for group in groups), Usage()), numbers, worst)


Missing = tuple[str, str, str]
"""A metric that gave a row no value, ``failed`` or ``unscored``, and the cause."""


def _lacks(item: MetricColumn) -> str:
    """Return the SQL of the condition that a row was asked about and has no value."""
    return f"({quoted(item.name)} IS NULL AND {quoted(f'{item.name}_label')} IS DISTINCT FROM '{NOT_ASKED}')"


def causes_of_columns(records: ParquetRecords, metrics: Sequence[MetricColumn]) -> Iterator[tuple[list[Missing], int]]:
    """Yield which metrics gave no value for which causes, with the number of rows; what occurs in the first row comes first."""
    lacks = list(map(_lacks, metrics))
    causes = (f"CASE WHEN {quoted(f'{item.name}_error')} IS NULL THEN 'unscored' ELSE 'failed' END" for item in metrics)
    shown = (
        f"CASE WHEN {lack} THEN {state} END, {quoted(f'{item.name}_reason')}"
        for item, lack, state in zip(metrics, lacks, causes, strict=True)
    )
    where = f"WHERE {' OR '.join(lacks)} GROUP BY ALL ORDER BY min(_row)"
    for *found, number in records.tables.query(f"SELECT {', '.join(shown)}, count(*) FROM run {where}"):
        each = zip(metrics, found[::2], found[1::2], strict=True)
        yield [(item.name, state, cause) for item, state, cause in each if state is not None], number


def names_without_value(
    records: ParquetRecords, metrics: Sequence[MetricColumn], state: str, cause: str, most: int
) -> list[str]:
    """Return the names of the first rows to which any of these metrics gave no value for this cause."""
    failed = "IS NULL" if state == "unscored" else "IS NOT NULL"
    lacks = (
        f"({_lacks(item)} AND {quoted(f'{item.name}_error')} {failed} AND {quoted(f'{item.name}_reason')} = ?)"
        for item in metrics
    )
    sql = f"SELECT id, _place FROM run WHERE {' OR '.join(lacks)} ORDER BY _row LIMIT {most}"
    return [row_name_of(*row) for row in records.tables.query(sql, *[cause] * len(metrics))]


CONTRADICTED = "contradicted"
"""The verdict on a claim that a context contradicts and none supports."""


def count_contradictions(records: ParquetRecords, metrics: Sequence[MetricColumn]) -> int:
    """Return the number of rows with such a verdict in the evidence of any of these metrics; in texts of data, the quotation
    marks of JSON would be escaped.
    """
    found = [f"contains({quoted(f'{item.name}_evidence')}, ?)" for item in metrics]
    if not found:
        return 0
    sql = f"SELECT count(*) FROM run WHERE {' OR '.join(found)}"
    ((rows,),) = records.tables.query(sql, *[f'"verdict": "{CONTRADICTED}"'] * len(found))
    return int(rows)


def count_verdicts(records: ParquetRecords, metrics: Sequence[MetricColumn]) -> int:
    """Return the number of rows with text in the form of a verdict that a model was asked about."""
    asked = " OR ".join(f"{quoted(f'{item.name}_calls')} > 0" for item in metrics)
    ((rows,),) = records.tables.query(f"SELECT count(*) FROM run WHERE _holds_verdict AND ({asked})")
    return int(rows)
