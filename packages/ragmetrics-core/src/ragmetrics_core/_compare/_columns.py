"""Pair the rows of two runs in Parquet files by their columns, without reading any row.

Rows are paired by digests: those of ids, if all rows of both runs have one, or those of question and reference, if no row has an
id. If both runs have their rows in the same order, they are read side by side; otherwise they are joined. A digest has 64 bits,
so that the probability that any two of 10 million rows have the same digest by chance is 3e-6; such rows would be paired falsely.

Some comparisons cannot be made from columns, and then rows are read: repeats of a row and several judgements of a row; ids that
only some rows have; slices by labels of a metric; slices and clusters by other things than plain values of the metadata; texts
that no column can hold; metrics that read some of the references if others differ; calibrations; and files that do not say
which versions of prompts were used. Rows are also read if the comparison ends with an error, for its message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .._run._columns import REFERENCES, Run, Scale
from .._run._counted_columns import column_name, usable
from .._run._scored_rows import ScoredRows
from .._run._slices import RowNames, name_of
from .._store._parquet import ParquetRecords, Tables, quoted
from .._store._records import Record
from .._values._score import NOT_ASKED
from ..statistics._numbers import Numbers
from ..statistics._pairs import PairedNumbers, near_zero
from ._outcomes import AsNumbers, Cell, Outcomes, Part, RowCounts, numbers_of, outcomes_of
from ._pairs import Paired, Pairing, fields_of, paired_rows, parts_of

MOST_DIFFERENT = 20_000
"""The largest number of different pairs of values among the first rows that are counted one by one."""

FIRST = 100_000
"""The number of these first rows."""

ORDER = "ORDER BY i IS NULL OR j IS NULL, i, j"
"""The order of ``Pairing.units``."""


class QueriedNumbers(Numbers):
    """Numbers in a table, of which there are too many different ones to count each.

    Args:
        tables: has the table.
        source: the SQL of a query whose column ``value`` has the numbers.
        given: the values of its parameters.
    """

    def __init__(self, tables: Tables, source: str, given: Sequence[object]) -> None:
        super().__init__(())
        self._tables, self._source, self._given = tables, source, tuple(given)
        sums = "count(*), fsum(value), min(value), max(value), fsum(abs(value)), count(*) FILTER (value <> 0)"
        ((self._count, total, self.low, self.high, self.size, self.changed),) = self._query(sums)
        self.mean = total / self._count if self._count else 0.0

    def _query(self, select: str, more: str = "", *given: object) -> list[Any]:
        return self._tables.query(f"SELECT {select} FROM ({self._source}) {more}", *self._given, *given)

    def __len__(self) -> int:
        return self._count

    def __reduce__(self) -> tuple[type[Numbers], tuple[list[float]]]:
        """Copies and pickles have the numbers, not the table."""
        return Numbers, ([value for (value,) in self._query("value")],)

    def squares(self, about: float, sign: int = 0) -> float:
        """As in the base class."""
        where, given = ("WHERE ? * (value - ?) >= 0", (sign, about)) if sign else ("", ())
        ((total,),) = self._query(f"fsum((value - {_double(about)}) * (value - {_double(about)}))", where, *given)
        return total or 0.0

    def at_ends(self, scale: tuple[float, float]) -> bool:  # noqa: ARG002  as in the base class
        """False: there are more different values than a scale has ends."""
        return False

    def within(self, sign: int, centre: float, most: float) -> Numbers:
        """As in the base class."""
        source = f"SELECT value FROM ({self._source}) WHERE ? * (? - value) <= ?"
        return QueriedNumbers(self._tables, source, (*self._given, sign, centre, most))

    def ends(self, sign: int, most: int) -> list[float]:
        """As in the base class."""
        order = f"ORDER BY value {'ASC' if sign > 0 else 'DESC'} LIMIT {most}"
        return [value for (value,) in self._query("value", order)]


def _names(records: Any, count: int, tables: Tables, source: str, given: Sequence[object] = ()) -> RowNames:
    """Return the names of so many rows of a run; ``source`` is the SQL of their positions, ``given`` its parameters."""

    def read(most: int) -> list[str]:
        rows = [row for (row,) in tables.query(f"{source} {ORDER} LIMIT {most}", *given)]
        named = {row: name_of(records[row]) for row in sorted(rows)}  # in order, as rows are read in groups
        return [named[row] for row in rows]

    return RowNames(count, read)


STATES = ("absent", "not asked", "unscored", "failed")
"""Why a metric gave no value, by its number in a table."""


@dataclass
class PairedColumns(Paired):
    """Two runs, paired by their columns.

    Attributes:
        tables: both runs, and for each metric that was asked for a table of its outcomes in all rows, with the positions of a
            row in both runs (i, j), its values (old, new), why there is no value (s, t), its slice and its cluster.
        join: the SQL of all rows of both runs, with the columns of both sides.
        shared: the metrics of both runs.
        differ: number of pairs with another reference, and with any other field of ``REFERENCES``.
        arguments: what ``paired_rows`` takes.
    """

    tables: Tables
    join: str
    shared: Sequence[str]
    differ: tuple[int, int]
    arguments: tuple[tuple[ScoredRows, ScoredRows], tuple[str, str], str | None, str | None]

    def other_references(self, metric: str) -> int:
        """As in the base class."""
        fields = fields_of(self.before, self.after, metric)
        return self.differ[1] if len(fields) == len(REFERENCES) else self.differ[0] if REFERENCES[0] in fields else 0

    def read(self) -> Pairing:
        """As in the base class."""
        return paired_rows(*self.arguments)

    def _table(self, metric: str) -> str:
        """Return the name of the table of a metric, made when it is first asked for."""
        number = self.shared.index(metric)
        name = f"metric_{number}"
        states = ", ".join(
            f"CAST(CASE WHEN {row} IS NULL THEN 0 WHEN {side}.label_{number} = '{NOT_ASKED}' THEN 1 "
            f"WHEN {side}.error_{number} IS NULL THEN 2 ELSE 3 END AS UTINYINT) AS {state}"
            for side, row, state in (("a", "i", "s"), ("b", "j", "t"))
        )
        values = f"a.value_{number} AS old, b.value_{number} AS new"
        groups = "coalesce(a.slice, b.slice) AS slice, coalesce(a.cluster, b.cluster) AS cluster"
        self.tables.query(
            f"CREATE TABLE IF NOT EXISTS {name} AS SELECT i, j, {values}, {states}, {groups} FROM {self.join}"
        )
        return name

    def outcomes(self, metric: str) -> Sequence[Outcomes]:
        """As in the base class."""
        table = self._table(metric)
        sample = f"SELECT old, new FROM {table} WHERE old IS NOT NULL AND new IS NOT NULL LIMIT {FIRST}"
        ((different,),) = self.tables.query(f"SELECT count(*) FROM (SELECT DISTINCT * FROM ({sample}))")
        few = different <= MOST_DIFFERENT
        values = "old, new" if few else "CASE WHEN old IS NOT NULL THEN 0 END, CASE WHEN new IS NOT NULL THEN 0 END"
        groups = self.tables.query(f"SELECT slice, {values}, s, t, count(*) FROM {table} GROUP BY ALL")
        wholes = [self._outcomes(metric, table, groups, "true", (), few=few)]
        for part in self.parts[1:]:
            own = [group for group in groups if group[0] == part.label]
            wholes.append(self._outcomes(metric, table, own, "slice IS NOT DISTINCT FROM ?", (part.label,), few=few))
        return wholes

    def _outcomes(
        self, metric: str, table: str, groups: Sequence[Any], where: str, given: Sequence[object], *, few: bool
    ) -> Outcomes:
        """Return the outcomes in one part, whose rows are ``groups`` and meet a condition with parameters."""
        cells: Counter[Cell] = Counter()
        for _, old, new, _, state, number in groups:
            if old is not None:
                cells[Cell(old, new, state < 2)] += number
        columns = self.before.columns[metric].metric, self.after.columns[metric].metric
        scales = {(columns[0].scale, columns[1].scale)} if any(cell.new is not None for cell in cells) else set()
        counts = tuple(self._counts(side, groups, f"FROM {table} WHERE {where}", given) for side in (0, 1))
        unasked = sum(number for _, old, _, _, state, number in groups if old is not None and state == 1)
        found = outcomes_of(cells, (counts[0], counts[1]), scales, (self.before.name, self.after.name), unasked)
        if few and self.arguments[3] is None:
            return found
        counted = numbers_of(cells, found.scale) if few else None
        return replace(found, numbers=self._numbers(table, where, given, found.scale, counted))

    def _counts(self, side: int, groups: Sequence[Any], source: str, given: Sequence[object]) -> RowCounts:
        """Return the counts of one run, with the names of its rows without a value."""
        own, other, state = (("old", "new", "s"), ("new", "old", "t"))[side]
        rows, names = Counter[str](), {}
        for _, *values, one, two, number in groups:
            rows[STATES[(one, two)[side]]] += number if values[side] is None else 0
            rows["lost"] += number if values[side] is None is not values[1 - side] and (one, two)[side] > 1 else 0
            rows["all"] += number if (one, two)[side] > 1 else 0
        for name, condition in (
            ("unscored", f"{state} = 2 AND {own} IS NULL"),
            ("failed", f"{state} = 3 AND {own} IS NULL"),
            ("lost", f"{state} > 1 AND {own} IS NULL AND {other} IS NOT NULL"),
        ):
            records = self.arguments[0][side].records
            where = f"SELECT {'ij'[side]} {source} AND {condition}"
            names[name] = _names(records, rows[name], self.tables, where, given)
        return RowCounts(rows["all"], **names)

    def _numbers(
        self, table: str, where: str, given: Sequence[object], scale: Scale, counted: AsNumbers | None
    ) -> AsNumbers:
        """Return the function ``Outcomes.numbers`` for a part; ``counted``: that of its cells, None if there are too many."""

        def numbers(worst: float | None, absent: bool) -> PairedNumbers | None:
            used = "new IS NOT NULL" if worst is None else "true" if absent else "(new IS NOT NULL OR t >= 2)"
            new = "new" if worst is None else f"coalesce(new, {_double(worst)})"
            source = (
                f"FROM (SELECT i, cluster, old, {new} AS new FROM {table} WHERE {where} AND old IS NOT NULL AND {used})"
            )
            found = counted(worst, absent) if counted else _queried(self.tables, source, given, scale)
            if found is None or self.arguments[3] is None:
                return found
            rows = f"SELECT fsum({_change(found.near)}) AS total, count(*) AS rows, bool_or({_change(found.near)} <> 0)"
            rows = f"{rows} AS moved {source} GROUP BY cluster, CASE WHEN cluster IS NULL THEN i END"
            units = self.tables.query(
                f"SELECT total, rows, count(*), count(*) FILTER (moved) FROM ({rows}) GROUP BY ALL", *given
            )
            clusters = Counter({(total, size): number for total, size, number, _ in units})
            return replace(found, clusters=clusters, changed_clusters=sum(moved for *_, moved in units))

        return numbers

    def most_changed(self, metric: str, most: int, near: float) -> Iterator[tuple[list[Record], list[Record]]]:
        """As in the base class."""
        size = "abs(new - old)"
        rows = self.tables.query(
            f"SELECT i, j FROM {self._table(metric)} WHERE {size} > {_double(near)} ORDER BY {size} DESC, i LIMIT {most}"
        )
        before, after = (run.evaluation.records for run in (self.before, self.after))
        return (([before[one]], [after[two]]) for one, two in rows)


def _queried(tables: Tables, source: str, given: Sequence[object], scale: Scale) -> PairedNumbers | None:
    """Return the values old and new of rows; ``source`` is the SQL of these rows, from FROM on."""
    before, after = (QueriedNumbers(tables, f"SELECT {side} AS value {source}", given) for side in ("old", "new"))
    if not len(before):
        return None
    change = _change(near_zero(before, after, scale))
    return PairedNumbers(before, after, QueriedNumbers(tables, f"SELECT {change} AS value {source}", given), scale)


def _double(value: float) -> str:
    """Return a number for SQL, in which a number with a point is a decimal number."""
    return f"CAST('{value!r}' AS DOUBLE)"


def _change(near: float) -> str:
    return f"CASE WHEN abs(new - old) > {_double(near)} THEN new - old ELSE 0 END"


def paired_columns(
    runs: tuple[ScoredRows, ScoredRows], names: tuple[str, str], by: str | None, cluster: str | None
) -> PairedColumns | None:
    """Pair the rows of two runs by their columns; None if rows must be read.

    Raises:
        InvalidInput: there are too many slices.
    """
    before, after = (_columns(run, name) for run, name in zip(runs, names, strict=True))
    shared = [name for name in before.columns if name in after.columns]
    records = [_usable(run, shared, by, cluster) for run in runs]
    one, two = records
    if not shared or one is None or two is None:
        return None
    tables = Tables(before=one, after=two)
    ids = [tables.query(f"SELECT count(_id), count(*) FROM {view}")[0] for view in ("before", "after")]
    by_id = all(number == rows for number, rows in ids)
    if not by_id and any(number for number, _ in ids):
        return None
    side = partial(_side, metrics=shared, by=by, cluster=cluster, by_id=by_id)
    sides = side(one, "before", "i"), side(two, "after", "j")
    join, counts = _joined(tables, sides, same_length=ids[0][1] == ids[1][1])
    pairs, other_texts, unchecked, questions, reference, references, other_slices, labels, clusters, _ = counts
    read = (fields_of(before, after, name) for name in shared)
    # which other field differs is not known
    partly = references and any(fields - {REFERENCES[0]} and len(fields) < len(REFERENCES) for fields in read)
    if not pairs or questions or partly or (by and not labels) or (cluster and clusters < pairs):
        return None
    for run, view in ((before, "before"), (after, "after")):
        _ask_for_calls(tables, run, view, shared)
    return PairedColumns(
        before=before,
        after=after,
        rows=(ids[0][1], ids[1][1]),
        pairs=pairs,
        words="id" if by_id else "question and reference",
        only=(
            _names(one, ids[0][1] - pairs, tables, f"SELECT i FROM {join} WHERE j IS NULL"),
            _names(two, ids[1][1] - pairs, tables, f"SELECT j FROM {join} WHERE i IS NULL"),
        ),
        other_texts=other_texts,
        unchecked=unchecked,
        parts=_parts(tables, join, by, ids[0][1] - pairs),
        other_slices=other_slices,
        tables=tables,
        join=join,
        shared=shared,
        differ=(reference, references),
        arguments=(runs, names, by, cluster),
    )


def _joined(tables: Tables, sides: tuple[str, str], *, same_length: bool) -> tuple[str, Sequence[int]]:
    """Return the SQL of all rows of both runs, and the ``COUNTS`` of these rows."""
    if same_length:
        join = f"({sides[0]}) a POSITIONAL JOIN ({sides[1]}) b"
        counts = tables.query(f"SELECT {COUNTS} FROM {join}")[0]
        if not counts[-1]:
            return join, counts
    join = f"({sides[0]}) a FULL JOIN ({sides[1]}) b ON a.key = b.key"
    return join, tables.query(f"SELECT {COUNTS} FROM {join}")[0]


def _parts(tables: Tables, join: str, by: str | None, gone: int) -> list[Part]:
    """Return all rows, then the slices."""
    if by is None:
        return parts_of(None, {}, {None: gone})
    counts = "count(*), count(*) FILTER (j IS NULL)"
    slices = tables.query(f"SELECT coalesce(a.slice, b.slice), {counts} FROM {join} GROUP BY 1")
    return parts_of(by, {label: rows for label, rows, _ in slices}, {label: alone for label, _, alone in slices})


def _ask_for_calls(tables: Tables, run: Run, view: str, metrics: Sequence[str]) -> None:
    """Set whether any model was asked for the metrics of a run."""
    calls = ", ".join(f"max({quoted(name + '_calls')})" for name in metrics)
    for name, most in zip(metrics, tables.query(f"SELECT {calls} FROM {view}")[0], strict=True):
        run.columns[name].asked = bool(most)


PAIR = "i IS NOT NULL AND j IS NOT NULL"

COUNTS = ", ".join(
    f"count(*) FILTER ({condition})"
    for condition in (
        PAIR,
        f"{PAIR} AND a.question IS NOT DISTINCT FROM b.question AND a.reference IS DISTINCT FROM b.reference",
        f"{PAIR} AND (a.question IS NULL) <> (b.question IS NULL)",
        "a.question <> b.question",
        f"{PAIR} AND a.reference IS DISTINCT FROM b.reference",
        f"{PAIR} AND a.refs IS DISTINCT FROM b.refs",
        f"{PAIR} AND a.slice IS NOT NULL AND a.slice IS DISTINCT FROM b.slice",
        "coalesce(a.slice, b.slice) IS NOT NULL",
        f"{PAIR} AND coalesce(a.cluster, b.cluster) IS NOT NULL",
        "a.key IS DISTINCT FROM b.key OR a.key IS NULL",
    )
)
"""What is counted in all rows; the last is 0 if rows that are read side by side are pairs."""


def _columns(run: ScoredRows, name: str) -> Run:
    """Return a run without rows, whose metrics have the prompts that were used."""
    found = Run.empty(run, name)
    prompts = run.records.prompts if isinstance(run.records, ParquetRecords) else None
    for metric, versions in (prompts or {}).items():
        found.columns[metric].prompts = {prompt: set(each) for prompt, each in versions.items()}
    return found


def _usable(run: ScoredRows, metrics: Sequence[str], *paths: str | None) -> ParquetRecords | None:
    """Return the rows of a run if these metrics and these columns of the metadata can be read from columns; else None."""
    records = run.records
    if not usable(records, metrics, *paths) or not records.unique or records.prompts is None:
        return None
    return records


def _side(
    records: ParquetRecords,
    view: str,
    row: str,
    *,
    metrics: Sequence[str],
    by: str | None,
    cluster: str | None,
    by_id: bool,
) -> str:
    """Return the SQL of the rows of one run, with their positions as the column ``row``."""
    columns = [f"CAST(row_number() OVER () - 1 AS UINTEGER) AS {row}", "_question AS question"]
    columns += ["_reference AS reference", "_references AS refs"]
    texts = "CASE WHEN coalesce(_question, _reference) IS NOT NULL THEN concat(_question, '/', _reference) END"
    columns.append(f"{'_id' if by_id else texts} AS key")
    for path, name in ((by, "slice"), (cluster, "cluster")):
        column = column_name(path or "")
        nothing = f"CAST(NULL AS {'UTINYINT' if path is None else 'VARCHAR'})"
        columns.append(f"{quoted(column) if path and column in records.metadata_columns() else nothing} AS {name}")
    for number, metric in enumerate(metrics):
        for part, name in (("", "value"), ("_label", "label"), ("_error", "error")):
            columns.append(f"{quoted(metric + part)} AS {name}_{number}")
    return f"SELECT {', '.join(columns)} FROM {view}"
