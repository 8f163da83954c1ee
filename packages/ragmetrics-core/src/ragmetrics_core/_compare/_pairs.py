"""Pair the rows of two runs, and collect the values that a metric gave to each pair.

Rows are paired by their id if both runs have ids, otherwise by a digest of question and reference. Rows of one run that cannot be
distinguished in this way are repeats of one row. Rows paired by an id must have the same question. Ids that count the lines of a
file move to other rows as soon as a line is added, and then the whole comparison would be meaningless.

The slice of a pair is that of the first run; if the first run has no value, that of the second. Metadata do not depend on the
outcome, but labels that a metric gave may. Rows that are chosen because the first run did badly on them do better in any second
run, and the other way round (regression to the mean, Galton 1886, Journal of the Anthropological Institute 15:246). So if labels
differ between the runs, slices show their means, and no conclusion is drawn from them.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from .._run._columns import REFERENCES, Column, Run, RunRow, Scale
from .._run._slices import no_cluster, slices_of
from .._show._tables import cut_middle
from .._values._counts import count_of, grouped
from .._values._errors import InvalidInput, Setting
from .._values._plain import plain
from .._values._sample import ALIASES
from .._values._score import NOT_ASKED
from ..statistics import PairedDifference, paired_difference
from ..statistics._pairs import rows_to_meet_losses

T = TypeVar("T")
Unit = tuple[int | None, int | None]
"""The position of a row in each of the two runs; None if a run does not have the row."""

LONGEST_QUESTION, LONGEST_NAME = 60, 40
"""The number of characters of a question and of an id that a message shows."""

EXAMPLES = 3
"""The number of rows of each run that a message names."""


@dataclass(frozen=True)
class Pairing:
    """Two runs, paired row by row.

    Attributes:
        before: the first run, with each row once.
        after: the second run, with each row once.
        pairs: positions of each pair in the two runs, in the order of the first run.
        only_before: positions of rows that only the first run has.
        only_after: positions of rows that only the second run has.
        by_id: whether rows were paired by ids.
        by_labels: whether the slices are labels that a metric gave.
    """

    before: Run
    after: Run
    pairs: Sequence[tuple[int, int]]
    only_before: Sequence[int]
    only_after: Sequence[int]
    by_id: bool
    by_labels: bool = False

    def labels(self) -> list[str | None]:
        """One slice label per row of ``units``: that of the first run; if it has none, that of the second run.

        Labels that a metric gave are taken from the second run only for rows that the first run does not have.
        """
        found = []
        for one, two in self.units():
            own = _at(self.before.slices, one)
            found.append(_at(self.after.slices, two) if own is None and (one is None or not self.by_labels) else own)
        return found

    def units(self) -> list[Unit]:
        """Every row once: pairs, then the rows that only the first run has, then the rows that only the second run has."""
        before: list[Unit] = [(row, None) for row in self.only_before]
        after: list[Unit] = [(None, row) for row in self.only_after]
        return [*self.pairs, *before, *after]

    def other_references(self, metric: str) -> int:
        """Count the pairs in which the two runs differ in a field that the metric compares responses or contexts with."""
        columns = [run.columns[metric].metric for run in (self.before, self.after)]
        inputs = next((item.inputs for item in columns if item.inputs is not None), REFERENCES)
        names = set(REFERENCES) & {ALIASES.get(each, each) for each in inputs}
        rows = ((self.before.rows[one].references, self.after.rows[two].references) for one, two in self.pairs)
        return sum(one != two and any(one.get(name) != two.get(name) for name in names) for one, two in rows)

    @property
    def words(self) -> str:
        """The fields that rows are paired by, in words."""
        if not self.by_id:
            return "question and reference"
        rows = (run.rows[pair[side]] for pair in self.pairs for side, run in enumerate((self.before, self.after)))
        return "id" if all(row.id is not None for row in rows) else "id, else by question and reference"


def paired(before: Run, after: Run) -> Pairing:
    """Pair the rows of two runs.

    Raises:
        InvalidInput: a run has no row; an id has several questions, in one run or in both; or the runs share no row.
    """
    for run in (before, after):
        if not run.rows:
            raise InvalidInput(f"{run.name} has no finished row: there is nothing to compare")
    by_id = before.has_ids and after.has_ids
    before, after = (run.merged(_gathered(run, by_id=by_id)) for run in (before, after))
    pairs = list(_matches(before, after, by_id=by_id))
    if not pairs:
        raise InvalidInput(_nothing_shared(before, after, by_id=by_id))
    _check_questions(before, after, pairs)
    left = [set(range(len(run.rows))) - {pair[side] for pair in pairs} for side, run in enumerate((before, after))]
    return Pairing(before, after, pairs, sorted(left[0]), sorted(left[1]), by_id)


def _gathered(run: Run, *, by_id: bool) -> list[RunRow]:
    """Return the run with all repeats of a row merged into the first of them."""
    rows: dict[object, RunRow] = {}
    for position, row in enumerate(run.rows):
        has_id = by_id and row.id is not None
        key = row.id if has_id else row.texts or position
        if key not in rows:
            rows[key] = replace(row, records=list(row.records))
            continue
        if has_id:
            _check_repeat(run, rows[key], row)
        rows[key].records += row.records
    return list(rows.values())


def _check_repeat(run: Run, there: RunRow, row: RunRow) -> None:
    """Check that two rows with the same id are the same row."""
    where = f"{run.name}: the id {_quoted(row.id, LONGEST_NAME)} stands in {there.place} and in {row.place}"
    if there.question != row.question:
        questions = " and ".join(_quoted(item.question) for item in (there, row))
        raise InvalidInput(f"{where}, with different questions ({questions}): give each row its own id")
    if row.question is None and (row.texts is None or row.texts != there.texts):
        raise InvalidInput(
            f"{where}, and without a question it is not known whether they are the same row: give each row its own id"
        )


def _matches(before: Run, after: Run, *, by_id: bool) -> Iterator[tuple[int, int]]:
    """Return the pairs, in the order of the first run: first by id, then by texts. Two rows that both have an id are never
    paired by texts.
    """
    ids = {row.id: at for at, row in enumerate(after.rows) if by_id and row.id is not None}
    known = {row.id for row in before.rows}
    left = ((at, row) for at, row in enumerate(after.rows) if not (row.id in ids and row.id in known))
    places = grouped((row.texts, at) for at, row in left if row.texts is not None)
    for at, row in enumerate(before.rows):
        if row.id in ids:
            yield at, ids[row.id]
            continue
        there = places.get(row.texts, []) if row.texts is not None else []
        other = next((item for item in there if not by_id or row.id is None or after.rows[item].id is None), None)
        if other is not None:
            there.remove(other)
            yield at, other


def _check_questions(before: Run, after: Run, pairs: Iterable[tuple[int, int]]) -> None:
    rows = ((before.rows[mine], after.rows[other]) for mine, other in pairs)
    wrong = [(one, two) for one, two in rows if one.question and two.question and one.question != two.question]
    if wrong:
        one, two = wrong[0]
        more = f" (and {count_of(len(wrong) - 1, 'more id')})" if len(wrong) > 1 else ""
        raise InvalidInput(
            f"the id {_quoted(one.id, LONGEST_NAME)} has a different question in each run: {_quoted(one.question)} in "
            f"{before.name}, {_quoted(two.question)} in {after.name}{more}: compare runs of the same questions; "
            "if ids only count the rows, leave them out of the data, and rows will be paired by question and reference"
        )


def _nothing_shared(before: Run, after: Run, *, by_id: bool) -> str:
    """Say why no row was paired, with examples from both runs."""
    there, here = (_examples(run, by_id=by_id) for run in (before, after))
    text = f"{before.name} and {after.name} share no row: {there} there, {here} here"
    known = {row.texts for row in before.rows if row.texts is not None}
    same = sum(row.texts in known for row in after.rows)
    if same:
        rows = f"{same:,} row{' has' if same == 1 else 's have'}"
        return (
            f"{text}. But {rows} the same question and reference: leave the ids out of the data of one run, and rows are paired "
            "by these"
        )
    if not by_id and not all(any(row.texts for row in run.rows) for run in (before, after)):
        return f"{text}. It is not known which rows are the same: give each row an id"
    return f"{text}: compare runs of the same questions"


def _examples(run: Run, *, by_id: bool) -> str:
    """Return a few rows, shown by the id or the texts that rows are paired by."""
    names = [row.id if by_id else row.question for row in run.rows]
    shown = [_quoted(name, LONGEST_NAME if by_id else LONGEST_QUESTION) for name in names if name]
    if not shown:
        return f"{count_of(len(run.rows), 'row')} without id and question"
    what = f"{'id' if by_id else 'question'}{'s' * (len(shown) > 1)}"
    return f"{what} {'such as ' * (len(shown) > EXAMPLES)}{', '.join(shown[:EXAMPLES])}"


def _quoted(text: str | None, longest: int = LONGEST_QUESTION) -> str:
    return "none" if text is None else f"'{cut_middle(text, longest)}'"


OUTCOME = (
    "rows are chosen by a label that differs between the runs: those that did badly in the first by chance do better in any "
    "second one, so nothing can be concluded from their difference"
)


@dataclass(frozen=True)
class Part:
    """Rows of both runs: all of them, or one slice.

    Attributes:
        by: the path of the column that defines the slices; None for all rows.
        label: the value of that column; None for the slice of rows without a value.
        units: the rows.
        clusters: the cluster label of each row, by its position in the first run; None if rows are taken to be independent.
        chosen: why rows selected in this way allow no conclusion; empty if they allow one.
    """

    by: str | None
    label: str | None
    units: Sequence[Unit]
    clusters: Sequence[str | None] | None
    chosen: str = ""


def parts_of(pairing: Pairing, by: str | None, cluster: str | None) -> tuple[list[Part], str]:
    """Return all rows of paired runs, then their slices, and a note on pairs whose slice differs between the runs.

    Args:
        pairing: the runs.
        by: the path of the column that defines the slices.
        cluster: the path of the column that defines the clusters.

    Raises:
        InvalidInput: there are too many slices, or a pair has no cluster.
    """
    units, before, after = pairing.units(), pairing.before, pairing.after
    clusters = None if cluster is None else _clusters(pairing, cluster)
    whole = Part(None, None, units, clusters)
    if by is None:
        return [whole], ""
    labels = ((_at(before.slices, one), _at(after.slices, two)) for one, two in pairing.pairs)
    other = sum(one != two and (pairing.by_labels or one is not None) for one, two in labels)
    chosen = OUTCOME if pairing.by_labels and other else ""
    slices = [
        Part(by, label, [units[index] for index in indexes], clusters, chosen)
        for label, indexes in slices_of(pairing.labels(), by).items()
    ]
    note = f"{count_of(other, 'pair')} with another {by} in {after.name}: that of {before.name} counts"
    return [whole, *slices], note if other else ""


def _clusters(pairing: Pairing, path: str) -> list[str | None]:
    """Return the cluster label of each row of the first run, in order. A row without a label takes that of its partner in the
    second run.

    Raises:
        InvalidInput: neither run gives a pair exactly one cluster label.
    """
    before, after = pairing.before, pairing.after
    found = [_at(before.clusters, row) for row in range(len(before.rows))]
    for one, two in pairing.pairs:
        if found[one] is None:
            found[one] = _at(after.clusters, two)
    without = [before.rows[one].name for one, _ in pairing.pairs if found[one] is None]
    if without:
        raise no_cluster(Setting("cluster", path), without, f"{len(pairing.pairs):,} pairs", "none, or several")
    return found


def _at(column: Sequence[T | None] | None, row: int | None) -> T | None:
    return None if column is None or row is None else column[row]


@dataclass(frozen=True)
class PairedValues:
    """The values of the same rows in two runs; ``clusters`` has the cluster of each row, None if rows are independent."""

    before: Sequence[float] = ()
    after: Sequence[float] = ()
    clusters: Sequence[Hashable] | None = None
    scale: tuple[float, float] | None = None

    def difference(self, confidence: float = 0.95) -> PairedDifference | None:
        """Return the mean difference with its uncertainty; None if there are no pairs."""
        if not self.before:
            return None
        return paired_difference(self.before, self.after, self.clusters, self.scale, confidence)

    def enough(self, sign: int, most: float) -> int:
        """Return how many pairs are needed so that rare losses that the sample missed cannot add up to more than ``most``.

        A missed loss is taken to be a row whose second value is the worst of the scale. The result is 1 if no scale is known.

        Args:
            sign: 1 if a rise is good, -1 if a fall is good.
            most: the largest mean loss allowed.
        """
        if self.scale is None or not self.before:
            return 1
        changes = [new - old for old, new in zip(self.before, self.after, strict=True)]
        farthest = self.scale[0 if sign > 0 else 1] - math.fsum(self.before) / len(self.before)
        return rows_to_meet_losses(changes, sign, -sign * most, farthest)

    def moved(self, found: PairedDifference) -> int:
        """Return the number of pairs that changed; with clusters, the number of clusters whose rows changed in sum."""
        if self.clusters is None or not found.changed:
            return found.changed
        changes = (new - old for old, new in zip(self.before, self.after, strict=True))
        changes_of = grouped(zip(self.clusters, changes, strict=True))
        return sum(abs(math.fsum(each)) > 1e-9 for each in changes_of.values())


@dataclass(frozen=True)
class RowCounts:
    """The rows of one run, or of a slice of it, counted by the outcome of a metric. Repeats of a row count as one row.

    Attributes:
        rows: number of all rows, including rows that the other run does not have.
        unscored: names of the rows that had nothing to score.
        failed: names of the rows whose scoring failed.
        lost: names of the rows without a value in this run that have a value in the other run.
    """

    rows: int
    unscored: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    @property
    def scored(self) -> int:
        """The number of rows with a value."""
        return self.rows - len(self.unscored) - len(self.failed)

    @property
    def coverage(self) -> float | None:
        """The share of the rows that have a value, 0 to 1; None if there are no rows."""
        return self.scored / self.rows if self.rows else None

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON values."""
        return plain({**vars(self), "scored": self.scored, "coverage": self.coverage})


@dataclass(frozen=True)
class MetricPairs:
    """One metric in one part of two runs: its pairs of values, and the rows without a pair.

    Attributes:
        name: name of the metric.
        part: the rows.
        rows: positions, in both runs, of the rows that have a value in both.
        values: the values of these rows.
        counts: the row counts of the first and of the second run.
        lost: values of rows of both runs that only the first run scored, by position in the first run.
        absent: values of rows that the second run does not have, or did not score with this metric, by position in the first run.
        short: for rows with a value in both runs of which the second run has more repeats without a value: the share of these
            repeats, by position in ``rows``.
        scale_problem: in words, how the scales of the two runs differ; empty if they agree.
        higher_is_better: whether high values are good; None: neither end is better, or it is not known.
        knows_better: whether the better end is known.
        margin: the largest difference that does not matter, on the scale of the metric.
        warnings: the differences in judges, prompts or settings.
        refusal: why the two runs may not be compared; empty if they may.
        void: why it is not known that both runs measured the same thing; empty if it is known.
    """

    name: str
    part: Part
    rows: Sequence[tuple[int, int]]
    values: PairedValues
    counts: tuple[RowCounts, RowCounts]
    lost: Sequence[tuple[int, float]] = ()
    absent: Sequence[tuple[int, float]] = ()
    short: Sequence[tuple[int, float]] = ()
    scale_problem: str = ""
    higher_is_better: bool | None = None
    knows_better: bool = False
    margin: float = 0.0
    warnings: tuple[str, ...] = ()
    refusal: str = ""
    void: str = ""

    @property
    def means(self) -> tuple[float, float] | None:
        """The mean of the pairs in each of the two runs; None without pairs."""
        if not self.rows:
            return None
        count = len(self.rows)
        return math.fsum(self.values.before) / count, math.fsum(self.values.after) / count

    @property
    def usable(self) -> PairedValues:
        """The values that conclusions may be drawn from; empty if the comparison is refused."""
        return PairedValues() if self.refusal else self.values

    @property
    def worst(self) -> float | None:
        """The worst value of the scale; None if it is not known."""
        scale = self.values.scale
        return None if scale is None or self.higher_is_better is None else scale[0 if self.higher_is_better else 1]

    def with_lost(self, *, absent: bool = False) -> PairedValues | None:
        """Return the values, in which rows and repeats that the second run has lost count as the worst value; None if there are
        no such rows.

        With ``absent``, rows that the second run does not have count in the same way.
        """
        values, worst = self.values, self.worst
        lost = [*self.lost, *(self.absent if absent else ())]
        if self.refusal or worst is None or not (lost or self.short):
            return None
        shared: list[Hashable] | None = None
        if values.clusters is not None and self.part.clusters is not None:
            # a row without a pair and without a cluster label is a cluster by itself
            names = (self.part.clusters[first] for first, _ in lost)
            shared = [*values.clusters, *(place if name is None else name for place, name in enumerate(names))]
        before = [*values.before, *(value for _, value in lost)]
        after = [*values.after, *(worst for _ in lost)]
        for place, share in self.short:
            after[place] = (1 - share) * after[place] + share * worst
        return PairedValues(before, after, shared, values.scale)


def metric_pairs(pairing: Pairing, metric: str, part: Part) -> MetricPairs:
    """Sort the rows of a part by whether a metric gave them a value in each run; rows that the metric did not score are left
    out.
    """
    columns = one, two = pairing.before.columns[metric], pairing.after.columns[metric]
    sides = [[_asked(column, unit[side]) for unit in part.units] for side, column in enumerate(columns)]
    known = [[_at(column.values, row) for row in rows] for column, rows in zip(columns, sides, strict=True)]
    rows: list[tuple[int, int]] = []
    values: list[tuple[float, float]] = []
    lost: list[tuple[int, float]] = []
    absent: list[tuple[int, float]] = []
    without: tuple[list[int], list[int]] = ([], [])
    for first, second, old, new in zip(*sides, *known, strict=True):
        if first is not None and old is not None:
            if second is None:
                absent.append((first, old))
            elif new is None:
                lost.append((first, old))
                without[1].append(second)
            else:
                rows.append((first, second))
                values.append((old, new))
        elif first is not None and new is not None:
            without[0].append(first)
    scale, problem = _scale(pairing, one, two, rows)
    column = one.metric if one.metric.knows_better else two.metric if two.metric.knows_better else one.metric
    return MetricPairs(
        name=metric,
        part=part,
        rows=rows,
        values=PairedValues(
            before=[old for old, _ in values],
            after=[new for _, new in values],
            clusters=None if part.clusters is None else [part.clusters[first] for first, _ in rows],
            scale=scale,
        ),
        counts=(_counts(pairing.before, one, sides[0], without[0]), _counts(pairing.after, two, sides[1], without[1])),
        lost=lost,
        absent=absent,
        short=[
            (place, two.short_at(second))
            for place, (first, second) in enumerate(rows)
            if two.short_at(second) > one.short_at(first)
        ],
        scale_problem=problem,
        higher_is_better=column.higher_is_better,
        knows_better=column.knows_better,
    )


def _asked(column: Column, row: int | None) -> int | None:
    """Return the row if the metric scored it; otherwise None."""
    return None if row is None or column.labels[row] == NOT_ASKED else row


def _counts(run: Run, column: Column, rows: Sequence[int | None], lost: Sequence[int]) -> RowCounts:
    there = [row for row in rows if row is not None]
    without = [row for row in there if column.values[row] is None]
    failed = tuple(run.rows[row].name for row in without if column.failed[row])
    unscored = tuple(run.rows[row].name for row in without if not column.failed[row])
    return RowCounts(len(there), unscored, failed, tuple(run.rows[row].name for row in lost))


def _scale(pairing: Pairing, one: Column, two: Column, rows: Sequence[tuple[int, int]]) -> tuple[Scale, str]:
    """Return the scale of the pairs if they have one, and a description of the problem if the runs use different scales."""
    found = {(one.scales[first], two.scales[second]) for first, second in rows}
    for left, right in found:
        if left is not None and right is not None and left != right:
            ends = f"{left[0]:g} to {left[1]:g} in {pairing.before.name}, {right[0]:g} to {right[1]:g} in {pairing.after.name}"
            return None, f"the scale is {ends}"
    scales = {scale for pair in found for scale in pair}
    return (scales.pop() if len(scales) == 1 else None), ""
