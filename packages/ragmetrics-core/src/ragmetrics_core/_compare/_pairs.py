"""Which rows of two runs are the same row, and the values that a metric gave them.

Rows are paired by their id where both runs have ids, and by a digest of question and reference where they do not. Rows of a run
that cannot be distinguished in this way are repeats of one row. What is paired by an id must ask the same question: ids that count
the lines of a file name other rows as soon as a line is added, and then all that follows would be nonsense.

What a pair is sliced by is what the first run says; where it says nothing, what the second one does. Metadata do not depend on the
outcome. Labels that a metric gave may: rows that are chosen because the first run did badly on them do better in any second
run, and the other way round (regression to the mean, Galton 1886, Journal of the Anthropological Institute 15:246). So where labels
differ between the runs, slices show their means, and nothing is concluded from them.
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
"""A row by its position in either run; None where that run does not have it."""

LONGEST_QUESTION, LONGEST_NAME = 60, 40
"""Characters of a question and of an id that a message shows."""

EXAMPLES = 3
"""Rows that a message names of each run."""


@dataclass(frozen=True)
class Pairing:
    """Two runs, row by row.

    Attributes:
        before: the first run, with each row once.
        after: the second one.
        pairs: positions of the rows that are the same, in the order of the first run.
        only_before: positions of rows that only the first run has.
        only_after: positions of rows that only the second run has.
        by_id: whether ids were looked at.
        by_labels: whether rows are sliced by the labels of a metric.
    """

    before: Run
    after: Run
    pairs: Sequence[tuple[int, int]]
    only_before: Sequence[int]
    only_after: Sequence[int]
    by_id: bool
    by_labels: bool = False

    def labels(self) -> list[str | None]:
        """What each of ``units`` is sliced by: what the first run says, else, but for labels, what the second one does."""
        found = []
        for one, two in self.units():
            own = _at(self.before.slices, one)
            found.append(_at(self.after.slices, two) if own is None and (one is None or not self.by_labels) else own)
        return found

    def units(self) -> list[Unit]:
        """Every row once: pairs, then the rows that only the first run has, then those that only the second has."""
        before: list[Unit] = [(row, None) for row in self.only_before]
        after: list[Unit] = [(None, row) for row in self.only_after]
        return [*self.pairs, *before, *after]

    def other_references(self, metric: str) -> int:
        """How many pairs have something else in either run that the metric holds responses or contexts against."""
        columns = [run.columns[metric].metric for run in (self.before, self.after)]
        inputs = next((item.inputs for item in columns if item.inputs is not None), REFERENCES)
        names = set(REFERENCES) & {ALIASES.get(each, each) for each in inputs}
        rows = ((self.before.rows[one].references, self.after.rows[two].references) for one, two in self.pairs)
        return sum(one != two and any(one.get(name) != two.get(name) for name in names) for one, two in rows)

    @property
    def words(self) -> str:
        """What rows are paired by."""
        if not self.by_id:
            return "question and reference"
        rows = (run.rows[pair[side]] for pair in self.pairs for side, run in enumerate((self.before, self.after)))
        return "id" if all(row.id is not None for row in rows) else "id, else by question and reference"


def paired(before: Run, after: Run) -> Pairing:
    """Pair the rows of two runs.

    Raises:
        InvalidInput: a run has no row; an id stands for several questions, in one run or in both; or the runs share no row.
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
    """The rows of a run, repeats gathered in the first of them."""
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
    """Two rows with one id must be the same row."""
    where = f"{run.name}: the id {_quoted(row.id, LONGEST_NAME)} stands in {there.place} and in {row.place}"
    if there.question != row.question:
        questions = " and ".join(_quoted(item.question) for item in (there, row))
        raise InvalidInput(f"{where}, with different questions ({questions}): give each row its own id")
    if row.question is None and (row.texts is None or row.texts != there.texts):
        raise InvalidInput(
            f"{where}, and nothing tells whether these are one row, as they have no question: give each row its own id"
        )


def _matches(before: Run, after: Run, *, by_id: bool) -> Iterator[tuple[int, int]]:
    """The pairs, in the order of the first run: by id, then by texts; two rows that both have an id are different rows."""
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
            f"the id {_quoted(one.id, LONGEST_NAME)} is another question in each run: {_quoted(one.question)} in {before.name}, "
            f"{_quoted(two.question)} in {after.name}{more}: compare runs of the same questions; where ids only count the rows, "
            "leave them out of the data, and rows are paired by question and reference"
        )


def _nothing_shared(before: Run, after: Run, *, by_id: bool) -> str:
    """Why no row was paired, with examples of both sides."""
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
        return f"{text}. Nothing tells which rows are the same: give each an id"
    return f"{text}: compare runs of the same questions"


def _examples(run: Run, *, by_id: bool) -> str:
    """A few rows by what they would be paired by."""
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
    """Rows of both runs: all, or a slice.

    Attributes:
        by: the path that rows are sliced by; None for all rows.
        label: the value there; None for rows without a value there.
        units: the rows.
        clusters: by the position in the first run, what a row shares with others; None if rows are taken to be independent.
        chosen: why nothing can be concluded from rows that are chosen so; empty where that is no obstacle.
    """

    by: str | None
    label: str | None
    units: Sequence[Unit]
    clusters: Sequence[str | None] | None
    chosen: str = ""


def parts_of(pairing: Pairing, by: str | None, cluster: str | None) -> tuple[list[Part], str]:
    """All rows of paired runs, then their slices; and a note on pairs whose slice differs between the runs.

    Args:
        pairing: the runs.
        by: the path that rows are sliced by.
        cluster: the path of what they share.

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
    """By the position in the first run, what each row shares with others; pairs must share something."""
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
    """Values in one order of rows; ``clusters`` is what rows share, if anything."""

    before: Sequence[float] = ()
    after: Sequence[float] = ()
    clusters: Sequence[Hashable] | None = None
    scale: tuple[float, float] | None = None

    def difference(self, confidence: float = 0.95) -> PairedDifference | None:
        """How sure their difference is; None if there are no pairs."""
        if not self.before:
            return None
        return paired_difference(self.before, self.after, self.clusters, self.scale, confidence)

    def enough(self, sign: int, most: float) -> int:
        """The pairs with which unseen losses, of rows whose second value is the worst, cannot add up to the largest loss allowed.

        It is 1 where no scale is known.

        Args:
            sign: 1 if a rise is good, -1 if a fall is.
            most: the largest loss allowed, on average.
        """
        if self.scale is None or not self.before:
            return 1
        changes = [new - old for old, new in zip(self.before, self.after, strict=True)]
        farthest = self.scale[0 if sign > 0 else 1] - math.fsum(self.before) / len(self.before)
        return rows_to_meet_losses(changes, sign, -sign * most, farthest)

    def moved(self, found: PairedDifference) -> int:
        """Pairs that changed; with clusters, clusters whose rows changed in sum."""
        if self.clusters is None or not found.changed:
            return found.changed
        changes = (new - old for old, new in zip(self.before, self.after, strict=True))
        changes_of = grouped(zip(self.clusters, changes, strict=True))
        return sum(abs(math.fsum(each)) > 1e-9 for each in changes_of.values())


@dataclass(frozen=True)
class RowCounts:
    """The rows of one run, or of a slice of it, by what a metric made of them. Repeats of a row are one row.

    Attributes:
        rows: all of them, also those that the other run does not have.
        unscored: names of those in which there was nothing to score.
        failed: names of those where something went wrong.
        lost: names of those without a value here that have one in the other run.
    """

    rows: int
    unscored: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    @property
    def scored(self) -> int:
        """Rows with a value."""
        return self.rows - len(self.unscored) - len(self.failed)

    @property
    def coverage(self) -> float | None:
        """Share of the rows that have a value, 0 to 1; None if there are no rows."""
        return self.scored / self.rows if self.rows else None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return plain({**vars(self), "scored": self.scored, "coverage": self.coverage})


@dataclass(frozen=True)
class MetricPairs:
    """One metric in one part of two runs: its pairs of values, and the rows that are in no pair.

    Attributes:
        name: name of the metric.
        part: the rows.
        rows: by position in either run, the rows that have a value in both.
        values: their values.
        counts: the rows of either run, by what became of them.
        lost: of rows in both runs with a value in the first one alone, that value; by the position in the first run.
        absent: the same of rows that the second run does not have, or did not ask this metric about.
        short: of rows with a value in both runs of which more repeats are without one in the second, the share of these; by the
            position among ``rows``.
        scale_problem: in words, that the two runs do not measure on one scale; empty if they do.
        higher_is_better: None: neither end is better, or it is not known which one is.
        knows_better: whether that is known.
        margin: the largest difference that does not matter, on the scale of the metric.
        warnings: what differs in who scored it.
        refusal: why the two runs may not be compared; empty if they may.
        void: why it is not known that both runs measured the same thing; empty if it is.
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
        """Of the pairs, in either run; None without pairs."""
        if not self.rows:
            return None
        count = len(self.rows)
        return math.fsum(self.values.before) / count, math.fsum(self.values.after) / count

    @property
    def usable(self) -> PairedValues:
        """The values that something may be concluded from: none where a comparison is refused."""
        return PairedValues() if self.refusal else self.values

    @property
    def worst(self) -> float | None:
        """The worst value of the scale; None where none is known."""
        scale = self.values.scale
        return None if scale is None or self.higher_is_better is None else scale[0 if self.higher_is_better else 1]

    def with_lost(self, *, absent: bool = False) -> PairedValues | None:
        """The values, with rows and repeats that the second run has lost counted as the worst value; None where there are none.

        With ``absent`` rows that the second run does not have count in the same way.
        """
        values, worst = self.values, self.worst
        lost = [*self.lost, *(self.absent if absent else ())]
        if self.refusal or worst is None or not (lost or self.short):
            return None
        shared: list[Hashable] | None = None
        if values.clusters is not None and self.part.clusters is not None:
            # a row that is in no pair need not say what it shares: it is a cluster alone then
            names = (self.part.clusters[first] for first, _ in lost)
            shared = [*values.clusters, *(place if name is None else name for place, name in enumerate(names))]
        before = [*values.before, *(value for _, value in lost)]
        after = [*values.after, *(worst for _ in lost)]
        for place, share in self.short:
            after[place] = (1 - share) * after[place] + share * worst
        return PairedValues(before, after, shared, values.scale)


def metric_pairs(pairing: Pairing, metric: str, part: Part) -> MetricPairs:
    """Sort the rows of a part by whether a metric gave them a value in either run; rows that were not asked about are left out."""
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
    """The row, if the metric was asked about it."""
    return None if row is None or column.labels[row] == NOT_ASKED else row


def _counts(run: Run, column: Column, rows: Sequence[int | None], lost: Sequence[int]) -> RowCounts:
    there = [row for row in rows if row is not None]
    without = [row for row in there if column.values[row] is None]
    failed = tuple(run.rows[row].name for row in without if column.failed[row])
    unscored = tuple(run.rows[row].name for row in without if not column.failed[row])
    return RowCounts(len(there), unscored, failed, tuple(run.rows[row].name for row in lost))


def _scale(pairing: Pairing, one: Column, two: Column, rows: Sequence[tuple[int, int]]) -> tuple[Scale, str]:
    """The scale of the pairs, if they have one; and what is wrong, if the runs measure on different ones."""
    found = {(one.scales[first], two.scales[second]) for first, second in rows}
    for left, right in found:
        if left is not None and right is not None and left != right:
            ends = f"{left[0]:g} to {left[1]:g} in {pairing.before.name}, {right[0]:g} to {right[1]:g} in {pairing.after.name}"
            return None, f"the scale is {ends}"
    scales = {scale for pair in found for scale in pair}
    return (scales.pop() if len(scales) == 1 else None), ""
