"""Pair the rows of two runs in Parquet files by their columns, without reading any row.

Rows are paired by digests: of their ids, if all rows of both runs have one, or of question and reference, if no row has an id. If
both runs have their rows in the same order, they are read side by side; otherwise they are joined. A digest has 64 bits, so that
the probability that any two of 10 million rows have the same digest by chance is 3e-6; such rows would be paired falsely.

Some comparisons cannot be made from columns, and then rows are read: repeats of a row and several judgements of a row; ids that
only some rows have; slices by labels of a metric; slices and clusters by other things than plain values of the metadata; texts
that no column can hold; metrics that read some of the references if others differ; calibrations; and files that do not say
which versions of prompts were used. Rows are also read if the comparison ends with an error, for its message.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, TypeGuard

from .._run._columns import REFERENCES, Run
from .._run._counted_columns import ColumnNumbers, column_name, different_values, usable
from .._run._scored_rows import ScoredRows
from .._run._slices import ReadLater, name_of
from .._store._parquet import ParquetRecords, Tables, quoted
from .._store._records import Record
from .._values._score import NOT_ASKED
from ..statistics._interval import Scale
from ..statistics._pairs import PairedNumbers, near_zero
from ._outcomes import AsNumbers, Cell, Outcomes, Part, RowCounts, outcomes_of
from ._pairs import Paired, Pairing, fields_of, paired_rows, parts_of
from ._row_changes import MOST_CHANGED

MOST_DIFFERENT = 20_000
"""The largest number of different pairs of the values of the first rows that are counted one by one."""

POSITION = "CAST(row_number() OVER () - 1 AS UINTEGER)"
"""The position of a row in its run."""

POSITIONS = f"coalesce(i, j) * {2**32} + coalesce(j, 0)"
"""The positions of a row in both runs as one number; rows of a group are in the order of these numbers."""

ORDER = "ORDER BY i IS NULL OR j IS NULL, i, j"
"""The order of ``Pairing.units``."""


def _names(
    records: Any, count: int, tables: Tables, sql: str, *, given: Sequence[object] = (), first: Sequence[int] = ()
) -> ReadLater[str]:
    """Return the names of so many rows of a run; ``sql`` queries their positions, of which the ``first`` may be known."""

    def read(most: int) -> list[str]:
        known = len(first) >= most
        rows = first[:most] if known else [row for (row,) in tables.query(f"{sql} LIMIT {most}", *given)]
        named = {row: name_of(records[row]) for row in sorted(rows)}  # in order, as rows are read in groups
        return [named[row] for row in rows]

    return ReadLater(count, read)


UNASKED, UNSCORED = 1, 2
"""Why there is no value, as a number: the run does not have the row (0), or did not ask the metric; the metric had nothing to
score, or failed (3).
"""


class Group(NamedTuple):
    """Rows with the same outcomes.

    Attributes:
        slice: their slice.
        values: their value in each run; if values are not counted one by one, 0 for all values.
        states: why there is no value, in each run.
        rows: their number.
        first: the ``POSITIONS`` of the first ones.
    """

    slice: str | None
    values: tuple[float | None, float | None]
    states: tuple[int, int]
    rows: int
    first: Sequence[int]


@dataclass
class PairedColumns(Paired):
    """Two runs, paired by their columns.

    Attributes:
        tables: both runs.
        join: the SQL of all rows of both runs, with their positions in the runs (i, j) and the columns of both sides (a, b).
        shared: the metrics of both runs.
        differ: number of pairs with another reference, and with any other field of ``REFERENCES``.
        arguments: what ``paired_rows`` takes.
        groups: the rows of each metric that was asked for.
    """

    tables: Tables
    join: str
    shared: Sequence[str]
    differ: tuple[int, int]
    arguments: tuple[tuple[ScoredRows, ScoredRows], tuple[str, str], str | None, str | None]
    groups: dict[str, Sequence[Group]] = field(default_factory=dict)

    def other_references(self, metric: str) -> int:
        """As in the base class."""
        fields = fields_of(self.before, self.after, metric)
        return self.differ[1] if len(fields) == len(REFERENCES) else self.differ[0] if REFERENCES[0] in fields else 0

    def read(self) -> Pairing:
        """As in the base class."""
        return paired_rows(*self.arguments)

    def _rows(self, metric: str) -> str:
        """Return the SQL of the outcomes of a metric in all rows: the positions of a row in both runs (i, j), its values (old,
        new), why there is no value (s, t), its slice and its cluster.
        """
        number = self.shared.index(metric)
        states = ", ".join(
            f"CAST(CASE WHEN {row} IS NULL THEN 0 WHEN {side}_label_{number} = '{NOT_ASKED}' THEN 1 "
            f"WHEN {side}_error_{number} IS NULL THEN 2 ELSE 3 END AS UTINYINT) AS {state}"
            for side, row, state in (("a", "i", "s"), ("b", "j", "t"))
        )
        values = f"a_value_{number} AS old, b_value_{number} AS new"
        groups = "coalesce(a_slice, b_slice) AS slice, coalesce(a_cluster, b_cluster) AS cluster"
        return f"SELECT i, j, {values}, {states}, {groups} FROM {self.join}"

    def _table(self, metric: str) -> str:
        """Return the name of a table with the outcomes of a metric, made when it is first asked for."""
        name = f"metric_{self.shared.index(metric)}"
        self.tables.query(f"CREATE TABLE IF NOT EXISTS {name} AS {self._rows(metric)}")
        return name

    def _few(self, metric: str) -> bool:
        """Whether a metric has so few different values that pairs of them are counted one by one."""
        numbers = [different_values(self.tables, view, [metric])[0] for view in ("before", "after")]
        return math.prod(numbers) <= MOST_DIFFERENT

    def outcomes(self, metric: str) -> Sequence[Outcomes]:
        """As in the base class."""
        few = self._few(metric)
        source = f"({self._rows(metric)})" if few and self.arguments[3] is None else self._table(metric)
        values = "old, new" if few else "CASE WHEN old IS NOT NULL THEN 0 END, CASE WHEN new IS NOT NULL THEN 0 END"
        columns = f"slice, {values}, s, t, count(*), min({POSITIONS}, {MOST_CHANGED})"
        found = self.tables.query(f"SELECT {columns} FROM {source} GROUP BY ALL")
        groups = [Group(part, (old, new), (s, t), *rest) for part, old, new, s, t, *rest in found]
        if few:
            self.groups[metric] = groups
        wholes = [self._outcomes(metric, source, groups, "true", (), few=few)]
        for part in self.parts[1:]:
            own = [group for group in groups if group.slice == part.label]
            wholes.append(self._outcomes(metric, source, own, "slice IS NOT DISTINCT FROM ?", (part.label,), few=few))
        return wholes

    def _outcomes(
        self, metric: str, source: str, groups: Sequence[Group], where: str, given: Sequence[object], *, few: bool
    ) -> Outcomes:
        """Return the outcomes in one part, whose rows are ``groups`` and meet a condition with parameters."""
        cells: Counter[Cell] = Counter()
        unasked = 0
        for (old, new), (_, state), rows in ((group.values, group.states, group.rows) for group in groups):
            if old is not None:
                cells[Cell(old, new, state <= UNASKED)] += rows
                unasked += rows * (state == UNASKED)
        columns = self.before.columns[metric].metric, self.after.columns[metric].metric
        scales = {(columns[0].scale, columns[1].scale)} if any(cell.new is not None for cell in cells) else set()
        before, after = (self._counts(side, groups, f"FROM {source} WHERE {where}", given) for side in (0, 1))
        found = outcomes_of(cells, (before, after), scales, (self.before.name, self.after.name), unasked)
        if few and self.arguments[3] is None:
            return found
        counted = found.numbers if few else None
        return replace(found, numbers=self._numbers(source, where, given, found.scale, counted))

    def _counts(self, side: int, groups: Sequence[Group], source: str, given: Sequence[object]) -> RowCounts:
        """Return the counts of one run, with the names of its rows without a value."""
        asked = [group for group in groups if group.states[side] > UNASKED]
        without = [group for group in asked if group.values[side] is None]
        lists = {
            "unscored": [group for group in without if group.states[side] == UNSCORED],
            "failed": [group for group in without if group.states[side] > UNSCORED],
            "lost": [group for group in without if group.values[1 - side] is not None],
        }
        names = {}
        for name, chosen in lists.items():
            kinds = {(*group.states, *(value is None for value in group.values)) for group in chosen}
            sql = f"{source} AND (s, t, old IS NULL, new IS NULL) IN ({', '.join(map(str, kinds))}) {ORDER}"
            known = sorted((not all(group.states), not group.states[0], at) for group in chosen for at in group.first)
            first = [divmod(at, 2**32)[side] for *_, at in known[:MOST_CHANGED]]
            records, count = self.arguments[0][side].records, sum(group.rows for group in chosen)
            names[name] = _names(records, count, self.tables, f"SELECT {'ij'[side]} {sql}", given=given, first=first)
        return RowCounts(sum(group.rows for group in asked), **names)

    def _numbers(
        self, table: str, where: str, given: Sequence[object], scale: Scale, counted: AsNumbers | None
    ) -> AsNumbers:
        """Return the function ``Outcomes.numbers`` for a part; ``counted`` is the function that its cells give; None if there are
        too many cells.
        """

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

    def count_worse(self, directions: Mapping[str, tuple[int, float]]) -> tuple[int, int]:
        """As in the base class."""
        numbered = [(self.shared.index(name), *direction) for name, direction in directions.items()]
        worse = [f"{sign} * (a_value_{at} - b_value_{at}) > {_double(near)}" for at, sign, near in numbered]
        lost = [
            f"a_value_{at} IS NOT NULL AND b_value_{at} IS NULL AND b_label_{at} IS DISTINCT FROM '{NOT_ASKED}'"
            for at, *_ in numbered
        ]
        counts = (f"count(*) FILTER ({' OR '.join(each)})" for each in (worse, lost))
        (found,) = self.tables.query(f"SELECT {', '.join(counts)} FROM {self.join} WHERE {PAIR}")
        return found[0], found[1]

    def most_changed(self, metric: str, most: int, near: float) -> Iterator[tuple[list[Record], list[Record]]]:
        """As in the base class."""
        rows = [
            (-abs(new - old), *divmod(at, 2**32))
            for (old, new), first in ((group.values, group.first) for group in self.groups.get(metric, ()))
            if old is not None and new is not None and abs(new - old) > near
            for at in first
        ]
        if metric not in self.groups:
            size = "abs(new - old)"
            changed = f"FROM {self._table(metric)} WHERE {size} > {_double(near)} ORDER BY {size} DESC, i LIMIT {most}"
            rows = self.tables.query(f"SELECT -{size}, i, j {changed}")
        before, after = (run.evaluation.records for run in (self.before, self.after))
        return (([before[one]], [after[two]]) for _, one, two in sorted(rows)[:most])


def _queried(tables: Tables, source: str, given: Sequence[object], scale: Scale) -> PairedNumbers | None:
    """Return the values old and new of rows; ``source`` is the SQL of these rows, from FROM on."""
    ((largest,),) = tables.query(f"SELECT max(greatest(abs(old), abs(new))) {source}", *given)
    if largest is None:
        return None
    exponent = math.frexp(largest)[1]
    before, after = (
        ColumnNumbers(tables, f"SELECT {side} AS value {source}", given, exponent) for side in ("old", "new")
    )
    change = _change(near_zero(before, after, scale))
    return PairedNumbers(
        before, after, ColumnNumbers(tables, f"SELECT {change} AS value {source}", given, exponent + 1), scale
    )


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
    metrics = [[item.name for item in run.metrics] for run in runs]
    shared = [name for name in metrics[0] if name in metrics[1]]
    one, two = (run.records for run in runs)
    if not (shared and _usable(one, shared, by, cluster) and _usable(two, shared, by, cluster)):
        return None
    tables = Tables(before=one, after=two)
    ids = [tables.query(f"SELECT count(_id), count(*) FROM {view}")[0] for view in ("before", "after")]
    by_id = all(number == rows for number, rows in ids)
    if not by_id and any(number for number, _ in ids):
        return None
    side = partial(_side, metrics=shared, by=by, cluster=cluster, by_id=by_id)
    join, counts = _joined(tables, side(one, "a"), side(two, "b"), same_length=ids[0][1] == ids[1][1])
    pairs, other_texts, unchecked, questions, reference, references, other_slices, labels, clusters, _ = counts
    before, after = map(partial(_columns, tables, metrics=shared), runs, names, ("before", "after"))
    read = (fields_of(before, after, name) for name in shared)
    # which other field differs is not known
    partly = references and any(fields - {REFERENCES[0]} and len(fields) < len(REFERENCES) for fields in read)
    if not pairs or questions or partly or (by and not labels) or (cluster and clusters < pairs):
        return None
    return PairedColumns(
        before=before,
        after=after,
        rows=(ids[0][1], ids[1][1]),
        pairs=pairs,
        words="id" if by_id else "question and reference",
        only=(
            _names(one, ids[0][1] - pairs, tables, f"SELECT i FROM {join} WHERE j IS NULL ORDER BY i"),
            _names(two, ids[1][1] - pairs, tables, f"SELECT j FROM {join} WHERE i IS NULL ORDER BY j"),
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


def _joined(tables: Tables, one: str, two: str, *, same_length: bool) -> tuple[str, Sequence[int]]:
    """Return the SQL of all rows of both runs, and the ``COUNTS`` of these rows."""
    if same_length:
        # values that are computed before a positional join, as numbers of rows are, make it take twice the time
        rows = f"{POSITION} AS i, {POSITION} AS j"
        join = f"(SELECT {rows}, {one}, {two} FROM before a POSITIONAL JOIN after b)"
        counts = tables.query(f"SELECT {COUNTS} FROM {join}")[0]
        if not counts[-1]:
            return join, counts
    sides = f"(SELECT {POSITION} AS i, {one} FROM before a) FULL JOIN (SELECT {POSITION} AS j, {two} FROM after b)"
    join = f"(SELECT * FROM {sides} ON a_key = b_key)"
    return join, tables.query(f"SELECT {COUNTS} FROM {join}")[0]


def _parts(tables: Tables, join: str, by: str | None, gone: int) -> list[Part]:
    """Return all rows, then the slices."""
    if by is None:
        return parts_of(None, {}, {None: gone})
    counts = "count(*), count(*) FILTER (j IS NULL)"
    slices = tables.query(f"SELECT coalesce(a_slice, b_slice), {counts} FROM {join} GROUP BY 1")
    return parts_of(by, {label: rows for label, rows, _ in slices}, {label: alone for label, _, alone in slices})


PAIR = "i IS NOT NULL AND j IS NOT NULL"

COUNTS = ", ".join(
    f"count(*) FILTER ({condition})"
    for condition in (
        PAIR,
        f"{PAIR} AND a_question IS NOT DISTINCT FROM b_question AND a_reference IS DISTINCT FROM b_reference",
        f"{PAIR} AND (a_question IS NULL) <> (b_question IS NULL)",
        "a_question <> b_question",
        f"{PAIR} AND a_reference IS DISTINCT FROM b_reference",
        f"{PAIR} AND a_refs IS DISTINCT FROM b_refs",
        f"{PAIR} AND a_slice IS NOT NULL AND a_slice IS DISTINCT FROM b_slice",
        "coalesce(a_slice, b_slice) IS NOT NULL",
        f"{PAIR} AND coalesce(a_cluster, b_cluster) IS NOT NULL",
        "a_key IS DISTINCT FROM b_key OR a_key IS NULL",
    )
)
"""What is counted in all rows; the last is 0 if rows that are read side by side are pairs."""


def _columns(tables: Tables, run: ScoredRows, name: str, view: str, metrics: Sequence[str]) -> Run:
    """Return a run without rows, whose metrics have the prompts that were used, and say whether any model was asked."""
    found = Run.empty(run, name)
    assert isinstance(run.records, ParquetRecords)
    for metric, versions in (run.records.prompts or {}).items():
        found.columns[metric].prompts = {prompt: set(each) for prompt, each in versions.items()}
    calls = ", ".join(f"max({quoted(metric + '_calls')})" for metric in metrics)
    for metric, most in zip(metrics, tables.query(f"SELECT {calls} FROM {view}")[0], strict=True):
        found.columns[metric].asked = bool(most)
    return found


def _usable(records: object, metrics: Sequence[str], *paths: str | None) -> TypeGuard[ParquetRecords]:
    """Whether these metrics and these columns of the metadata can be read from columns, to pair the rows of a run."""
    return usable(records, metrics, *paths) and bool(records.unique) and records.prompts is not None


def _side(
    records: ParquetRecords, side: str, *, metrics: Sequence[str], by: str | None, cluster: str | None, by_id: bool
) -> str:
    """Return the SQL of the columns of one run, whose names begin with the name of the side."""
    question, reference = f"{side}._question", f"{side}._reference"
    texts = f"CASE WHEN coalesce({question}, {reference}) IS NOT NULL THEN concat({question}, '/', {reference}) END"
    columns = {"question": question, "reference": reference, "refs": f"{side}._references"}
    columns["key"] = f"{side}._id" if by_id else texts
    for path, name in ((by, "slice"), (cluster, "cluster")):
        column = column_name(path or "")
        nothing = f"CAST(NULL AS {'UTINYINT' if path is None else 'VARCHAR'})"
        columns[name] = f"{side}.{quoted(column)}" if path and column in records.metadata_columns() else nothing
    for number, metric in enumerate(metrics):
        for part, name in (("", "value"), ("_label", "label"), ("_error", "error")):
            columns[f"{name}_{number}"] = f"{side}.{quoted(metric + part)}"
    return ", ".join(f"{value} AS {side}_{name}" for name, value in columns.items())
