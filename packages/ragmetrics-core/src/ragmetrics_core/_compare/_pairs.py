"""Pair the rows of two runs, and collect the values that a metric gave to each pair.

Rows are paired by their id if both runs have ids, otherwise by a digest of question and reference. Rows of one run that cannot be
distinguished in this way are repeats of one row. Rows paired by an id must have the same question. Ids that count the lines of a
file move to other rows as soon as a line is added, and then the whole comparison would be meaningless.

The slice of a pair is the slice in the first run; if the first run has no value, the slice in the second. Metadata do not depend on
the outcome, but labels that a metric gave may. Rows that are chosen because the first run did badly on them do better in any second
run, and the other way round (regression to the mean, Galton 1886, Journal of the Anthropological Institute 15:246). So if labels
differ between the runs, slices show their means, and no conclusion is drawn from them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from operator import itemgetter
from typing import TypeVar

from .._run._columns import REFERENCES, Column, Run, RunRow
from .._run._scored_rows import ScoredRows
from .._run._slices import RowGroups, no_cluster, ordered_slices
from .._show._tables import cut_middle
from .._store._records import Record
from .._values._counts import count_of, grouped
from .._values._errors import InvalidInput, Setting
from .._values._sample import ALIASES
from .._values._score import NOT_ASKED
from ..statistics._interval import Scale
from ._outcomes import Cell, Outcomes, Part, RowCounts, outcomes_of

T = TypeVar("T")
Unit = tuple[int | None, int | None]
"""The position of a row in each of the two runs; None if a run does not have the row."""

LONGEST_QUESTION, LONGEST_NAME = 60, 40
"""The number of characters of a question and of an id that a message shows."""

EXAMPLES = 3
"""The number of rows of each run that a message names."""

OUTCOME = (
    "rows are chosen by a label that differs between the runs: those that did badly in the first by chance do better in any "
    "second one, so nothing can be concluded from their difference"
)


@dataclass
class Paired(ABC):
    """Two runs, paired row by row.

    Attributes:
        before: the first run.
        after: the second run.
        rows: number of rows of each run; repeats of a row count once.
        pairs: number of pairs.
        words: the fields that rows are paired by, in words.
        only: the names of the rows that only the first run has, and of those that only the second run has.
        other_texts: number of pairs with the same question and with different references.
        unchecked: number of pairs of which only one has a question.
        parts: all rows, then the slices.
        other_slices: number of pairs whose slice differs between the runs; the slice in the first run counts.
    """

    before: Run
    after: Run
    rows: tuple[int, int]
    pairs: int
    words: str
    only: tuple[Sequence[str], Sequence[str]]
    other_texts: int
    unchecked: int
    parts: Sequence[Part]
    other_slices: int

    @abstractmethod
    def other_references(self, metric: str) -> int:
        """Count the pairs in which the runs differ in a field that the metric compares responses or contexts with."""

    @abstractmethod
    def outcomes(self, metric: str) -> Sequence[Outcomes]:
        """Return the outcomes of a metric in each part, in order."""

    @abstractmethod
    def most_changed(self, metric: str, most: int, near: float) -> Iterator[tuple[list[Record], list[Record]]]:
        """Yield the pairs whose values differ most, by more than ``near``: the records of the row in each run, with its repeats.
        Of pairs that differ equally, the earlier pair comes first.
        """

    @abstractmethod
    def count_worse(self, directions: Mapping[str, tuple[int, float]]) -> tuple[int, int]:
        """Count the pairs that got worse in at least one metric, and those that have lost their value in at least one.

        Args:
            directions: for each metric 1 if high values are good, -1 if low ones are, 0 if neither is; and the size of a change
                that is rounding.
        """

    @abstractmethod
    def read(self) -> Pairing:
        """Return the same runs with their rows."""


@dataclass
class Pairing(Paired):
    """Two runs whose rows were read, each row once.

    Attributes:
        positions: positions of each pair in the two runs, in the order of the first run.
        units: every row once: the pairs, then the rows that only the first run has, then the rows that only the second run has.
        labels: the slice of each of these rows; None without slices.
        clusters: the cluster of each row of the first run; None if rows are taken to be independent.
    """

    positions: Sequence[tuple[int, int]]
    units: Sequence[Unit]
    labels: Sequence[str | None] | None
    clusters: Sequence[str | None] | None

    def other_references(self, metric: str) -> int:
        """As in the base class."""
        names = fields_of(self.before, self.after, metric)
        both = ((self.before.rows[one].references, self.after.rows[two].references) for one, two in self.positions)
        return sum(any(one.get(name) != two.get(name) for name in names) for one, two in both)

    def outcomes(self, metric: str) -> Sequence[Outcomes]:
        """As in the base class."""
        units = {} if self.labels is None else grouped(zip(self.labels, self.units, strict=True))
        slices = [self._outcomes(metric, units[part.label]) for part in self.parts[1:]]
        return [self._outcomes(metric, self.units), *slices]

    def _outcomes(self, metric: str, units: Sequence[Unit]) -> Outcomes:
        """Sort rows by the outcome of a metric in each run; rows that the metric did not score are left out."""
        one, two = self.before.columns[metric], self.after.columns[metric]
        asked = [(_if_scored(one, first), _if_scored(two, second)) for first, second in units]
        cells, scales, unasked = Counter[Cell](), set[tuple[Scale, Scale]](), 0
        for (first, second), unit in zip(asked, units, strict=True):
            old, new = _at(one.values, first), _at(two.values, second)
            if first is None or old is None:
                continue
            short = 0.0
            if second is None:
                unasked += unit[1] is not None
            elif new is not None:
                scales.add((one.scales[first], two.scales[second]))
                short = two.short_at(second) if two.short_at(second) > one.short_at(first) else 0.0
            # a row without a pair and without a cluster label is a cluster by itself
            cluster = None if self.clusters is None else self.clusters[first] or (first,)
            cells[Cell(old, new, second is None, short, cluster)] += 1
        counts = (
            _counts(self.before, one, asked, two),
            _counts(self.after, two, [(there, here) for here, there in asked], one),
        )
        return outcomes_of(cells, counts, scales, (self.before.name, self.after.name), unasked)

    def most_changed(self, metric: str, most: int, near: float) -> Iterator[tuple[list[Record], list[Record]]]:
        """As in the base class."""
        columns = self.before.columns[metric], self.after.columns[metric]
        sizes = []
        for pair in self.positions:
            old, new = (column.values[row] for column, row in zip(columns, pair, strict=True))
            if old is not None and new is not None and abs(new - old) > near:
                sizes.append((-abs(new - old), pair))
        for _, (one, two) in nsmallest(most, sizes, key=itemgetter(0)):
            yield self.before.records_of(one), self.after.records_of(two)

    def count_worse(self, directions: Mapping[str, tuple[int, float]]) -> tuple[int, int]:
        """As in the base class."""
        worse, lost = set[int](), set[int]()
        for name, (sign, near) in directions.items():
            before, after = self.before.columns[name], self.after.columns[name]
            for one, two in self.positions:
                old, new = before.values[one], after.values[two]
                if old is not None and new is not None and sign * (old - new) > near:
                    worse.add(one)
                elif old is not None and new is None and _if_scored(after, two) is not None:
                    lost.add(one)
        return len(worse), len(lost)

    def read(self) -> Pairing:
        """As in the base class."""
        return self


def read_run(run: ScoredRows, name: str, by: str | None, cluster: str | None) -> tuple[Run, RowGroups]:
    """Read the rows of a run, with the slice and the cluster of each row; the run is named in messages."""
    groups = RowGroups(by, cluster)
    return Run.of(run, name, groups), groups


Reader = Callable[[ScoredRows, str, "str | None", "str | None"], tuple[Run, RowGroups]]
"""A function like ``read_run``, which may remember runs."""


def paired_rows(
    runs: tuple[ScoredRows, ScoredRows],
    names: tuple[str, str],
    by: str | None,
    cluster: str | None,
    read: Reader = read_run,
) -> Pairing:
    """Read the rows of two runs and pair them, with the slice and the cluster of each row; a run is named in messages.

    Raises:
        InvalidInput: a run has no row; an id has several questions, in one run or in both; the runs share no row; a path names no
            column; there are too many slices, or a pair has no cluster.
    """
    found = [read(run, name, by, cluster) for run, name in zip(runs, names, strict=True)]
    one, two, by_labels = _sliced(found, by)
    before, after, pairs = _matched(one, two)
    alone = [set(range(len(run.rows))) - {pair[at] for pair in pairs} for at, run in enumerate((before, after))]
    units: list[Unit] = [*pairs, *((row, None) for row in sorted(alone[0])), *((None, row) for row in sorted(alone[1]))]
    labels = None if by is None else [_label(before, after, unit, by_labels=by_labels) for unit in units]
    slices = ((_at(before.slices, first), _at(after.slices, second)) for first, second in pairs)
    other = sum(old != new and (by_labels or old is not None) for old, new in slices)
    both = [(before.rows[first], after.rows[second]) for first, second in pairs]
    gone = Counter(None if labels is None else labels[at] for at, (_, second) in enumerate(units) if second is None)
    return Pairing(
        before=before,
        after=after,
        rows=(len(before.rows), len(after.rows)),
        pairs=len(pairs),
        words=_words(both, by_id=one.has_ids and two.has_ids),
        only=(_names(before, sorted(alone[0])), _names(after, sorted(alone[1]))),
        other_texts=sum(old.question == new.question and old.texts != new.texts for old, new in both),
        unchecked=sum((old.question is None) is not (new.question is None) for old, new in both),
        parts=parts_of(by, Counter(labels or ()), gone, OUTCOME if by_labels and other else ""),
        other_slices=other,
        positions=pairs,
        units=units,
        labels=labels,
        clusters=None if cluster is None else _clusters(before, after, pairs, cluster),
    )


def fields_of(before: Run, after: Run, metric: str) -> set[str]:
    """Return the fields that come from the data set and that the metric reads; all of them if its inputs are not known."""
    columns = (run.columns[metric].metric for run in (before, after))
    inputs = next((column.inputs for column in columns if column.inputs is not None), REFERENCES)
    return {ALIASES.get(each, each) for each in inputs} & {*REFERENCES}


def _sliced(found: Sequence[tuple[Run, RowGroups]], by: str | None) -> tuple[Run, Run, bool]:
    """Return both runs with the slice of each row, and whether the slices are labels that a metric gave."""
    (one, _), (two, _) = found
    if by is None or any(label for run in (one, two) for label in run.slices or ()):
        return one, two, False
    one, two = (replace(run, slices=run.columns[by].labels) if by in run.columns else run for run in (one, two))
    if not any(one.slices or ()):
        if by in one.columns:
            what = "this metric gives rows no labels, and no metadata column has this name"
            raise InvalidInput(Setting("by", by), f": {what}")
        for _, groups in found:
            groups.check(clusters=False)
    return one, two, True


def _label(before: Run, after: Run, unit: Unit, *, by_labels: bool) -> str | None:
    """Return the slice of a row in the first run; if it has none there, in the second run.

    Labels that a metric gave are taken from the second run only for rows that the first run does not have.
    """
    own = _at(before.slices, unit[0])
    return _at(after.slices, unit[1]) if own is None and (unit[0] is None or not by_labels) else own


def parts_of(
    by: str | None, labels: Mapping[str | None, int], gone: Mapping[str | None, int], chosen: str = ""
) -> list[Part]:
    """Return all rows of two runs, then their slices.

    Args:
        by: the path of the column that defines the slices; None without slices.
        labels: number of rows of each slice.
        gone: number of these that the second run does not have.
        chosen: why slices allow no conclusion; empty if they allow one.

    Raises:
        InvalidInput: there are too many slices.
    """
    whole = Part(None, None, sum(gone.values()))
    if by is None:
        return [whole]
    ordered = ordered_slices(list(labels), sum(labels.values()), by)
    return [whole, *(Part(by, label, gone.get(label, 0), chosen) for label in ordered)]


def _words(pairs: Iterable[tuple[RunRow, RunRow]], *, by_id: bool) -> str:
    if not by_id:
        return "question and reference"
    all_ids = all(row.id is not None for pair in pairs for row in pair)
    return "id" if all_ids else "id, else by question and reference"


def _names(run: Run, rows: Iterable[int]) -> tuple[str, ...]:
    return tuple(run.rows[row].name for row in rows)


def _clusters(before: Run, after: Run, pairs: Sequence[tuple[int, int]], path: str) -> list[str | None]:
    """Return the cluster label of each row of the first run, in order. A row without a label takes the label of its
    partner in the second run.

    Raises:
        InvalidInput: neither run gives a pair exactly one cluster label.
    """
    found = [_at(before.clusters, row) for row in range(len(before.rows))]
    for one, two in pairs:
        if found[one] is None:
            found[one] = _at(after.clusters, two)
    without = _names(before, [one for one, _ in pairs if found[one] is None])
    if without:
        raise no_cluster(Setting("cluster", path), without, f"{len(pairs):,} pairs", "none, or several")
    return found


def _at(column: Sequence[T | None] | None, row: int | None) -> T | None:
    return None if column is None or row is None else column[row]


def _if_scored(column: Column, row: int | None) -> int | None:
    """Return the row if the metric scored it; otherwise None."""
    return None if row is None or column.labels[row] == NOT_ASKED else row


def _counts(run: Run, column: Column, asked: Iterable[Unit], other: Column) -> RowCounts:
    """Count the rows of a run by the outcome of a metric.

    Args:
        run: the run.
        column: the scores of the metric.
        asked: the rows that it scored, in this run and in the other.
        other: its scores in the other run.
    """
    there = {row: _at(other.values, partner) for row, partner in asked if row is not None}
    without = [row for row in there if column.values[row] is None]
    failed = _names(run, (row for row in without if column.failed[row]))
    unscored = _names(run, (row for row in without if not column.failed[row]))
    return RowCounts(len(there), unscored, failed, _names(run, (row for row in without if there[row] is not None)))


def _matched(before: Run, after: Run) -> tuple[Run, Run, list[tuple[int, int]]]:
    """Return both runs with each row once, and the pairs."""
    for run in (before, after):
        if not run.rows:
            raise InvalidInput(f"{run.name} has no finished row: there is nothing to compare")
    by_id = before.has_ids and after.has_ids
    before, after = (run.merged(_gathered(run, by_id=by_id)) for run in (before, after))
    pairs = list(_matches(before, after, by_id=by_id))
    if not pairs:
        raise InvalidInput(_nothing_shared(before, after, by_id=by_id))
    _check_questions(before, after, pairs)
    return before, after, pairs


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
    where = f"{run.name}: the id {_quoted(row.id, LONGEST_NAME)} is in {there.place} and in {row.place}"
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
