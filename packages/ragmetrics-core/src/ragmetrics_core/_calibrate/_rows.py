"""What the judge says of every row of a run, by metric: read in one pass, numbers only.

What people say of each row of a run, of one metric: several annotators become one label, and their agreement is kept.

A row that most annotators pass is a pass; one on which they are split counts as half a pass in a mean, and is left out where only a
verdict can be used. Grades have their mean.

Which labels still say something about a run: those of rows that have not changed since people read them.

Why labels may mislead: rows that somebody chose, annotators who had seen the score, a metric of which nothing is known.

Nothing in a label tells how its row was chosen, but rows that were picked give themselves away: they are the first of the file, or
the judge's scores of them, or how sure it is of them, differ from those of all rows by more than a draw explains.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from .._kernel._counts import count_of
from .._kernel._errors import InvalidInput
from .._kernel._evidence import findings_of
from .._kernel._score import Score, is_asked
from .._run._columns import common_scale
from .._run._slices import RowGroups, name_of
from .._store._labels import Label, quoted
from .._store._run_settings import MetricColumn, row_digest
from ..statistics._labelled import SURE, effective_count, uncertainty, uneven, weight_problem

if TYPE_CHECKING:
    from .._run._scored_rows import ScoredRows


Claim = tuple[str, bool]
"""The text of a claim, its spaces made single ones, and whether the judge says that it holds."""


@dataclass
class JudgedMetric:
    """One metric over the rows that it was asked about.

    Attributes:
        column: the metric.
        rows: those with a value, as indices of ``JudgedRows.names``.
        values: of those rows.
        passing: of those rows, whether the metric passes them; None where it does not say.
        unscored: rows without a value.
        scales: of those that have a value.
        claims: by row, the claims that were looked for.
        digests: by the name of the row, those of what the metric reads that were looked for.
    """

    column: MetricColumn
    rows: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    passing: list[bool | None] = field(default_factory=list)
    unscored: list[int] = field(default_factory=list)
    scales: set[tuple[float, float] | None] = field(default_factory=set)
    claims: dict[int, list[Claim]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)

    @property
    def scale(self) -> tuple[float, float] | None:
        """Lowest and highest possible value; None where it is not known, or differs."""
        return common_scale(self.column.scale, self.scales)

    @property
    def lower_is_better(self) -> bool:
        """Whether a pass is a low value."""
        return self.column.higher_is_better is False

    def good(self, value: float) -> float:
        """The value turned so that high is good; turning it once more gives it back."""
        if not self.lower_is_better:
            return value
        return self.scale[0] + self.scale[1] - value if self.scale else -value

    @property
    def verdicts(self) -> list[float] | None:
        """1 for each row that the metric passes, 0 for others; None where it does not say so of every row."""
        return None if None in self.passing else [float(bool(passed)) for passed in self.passing]

    def add(self, row: int, score: Score, *, with_claims: bool) -> None:
        """Note the score of a row."""
        if not is_asked(score):
            return
        if with_claims:
            self.claims[row] = claims_of(score)
        if score.value is None:
            self.unscored.append(row)
            return
        self.rows.append(row)
        self.values.append(score.value)
        self.passing.append(score.passing)
        self.scales.add(score.scale)


@dataclass(frozen=True)
class JudgedRows:
    """The rows of a run.

    Attributes:
        names: by which labels call them: their ids, or where they stand.
        metrics: by name.
        slices: what they are sliced by; None where they are not.
        clusters: what they share with others; None where they are independent.
    """

    names: Sequence[str]
    metrics: Mapping[str, JudgedMetric]
    slices: Sequence[str | None] | None
    clusters: Sequence[str | None] | None


def judged_rows(
    run: ScoredRows,
    metrics: Collection[str],
    by: str | None = None,
    cluster: str | None = None,
    *,
    claims: Mapping[str, Collection[str]] | None = None,
    digests: Mapping[str, Collection[str]] | None = None,
) -> JudgedRows:
    """Read a run.

    Args:
        run: its rows.
        metrics: names of those that are looked at.
        by: the path of a column that rows are sliced by.
        cluster: the path of a column with what rows share.
        claims: by metric, the names of the rows whose claims are kept.
        digests: by metric, the names of the rows of which a digest is kept.

    Raises:
        InvalidInput: a path names nothing that rows have in common, or a row has nothing at that of ``cluster``.
    """
    groups = RowGroups(by, cluster)
    found = {item.name: JudgedMetric(_known(item)) for item in run.metrics if item.name in metrics}
    names = []
    for row, record in enumerate(run.records):
        names.append(name_of(record))
        groups.add(record.sample, record.place)
        for name, metric in found.items():
            metric.add(row, record.scores[name], with_claims=names[-1] in (claims or {}).get(name, ()))
            if metric.column.inputs is not None and names[-1] in (digests or {}).get(name, ()):
                metric.digests[names[-1]] = row_digest(record.sample, metric.column.inputs)
    groups.check()
    return JudgedRows(names, found, groups.slices, groups.clusters)


def _known(column: MetricColumn) -> MetricColumn:
    """A metric of which nothing is known is taken to have good values at its high end; `_label_doubts` says so."""
    return column if column.higher_is_better is not None else replace(column, higher_is_better=True)


def claims_of(score: Score) -> list[Claim]:
    """The claims in the evidence, in their order; of several judgements most decide, and a draw does not hold."""
    votes: dict[str, list[bool]] = {}
    for item in findings_of(score.details).items:
        if item.text is not None and item.verdict:
            votes.setdefault(" ".join(item.text.split()), []).append(item.holds is True)
    return [(text, 2 * sum(said) > len(said)) for text, said in votes.items()]


HALF = 0.5
HEAVIEST = 2.0
"""The weight of a drawn row beside one drawn uniformly: half of each draw is uniform."""


@dataclass(frozen=True)
class LabelledRow:
    """One row, as people see it.

    Attributes:
        label: 1 or 0 for a pass or a fail, 0.5 where annotators are split; of grades their mean.
        given: what each annotator said.
        weight: how many rows it stands for, beside others; None where that is not told.
        place: where its first label stands.
    """

    label: float
    given: tuple[float, ...]
    weight: float | None
    place: str


@dataclass(frozen=True)
class MetricLabels:
    """The labels of the rows of one metric; those of its claims are elsewhere.

    Attributes:
        rows: by the name of the row.
        verdicts: whether labels are passes and fails, not grades.
        annotators: the names of those who labelled; labels without a name are of one who is not named.
        not_blind: how many labels were given by people who had seen the score.
        lines: how many labels there are, of all annotators.
    """

    rows: Mapping[str, LabelledRow]
    verdicts: bool
    annotators: tuple[str | None, ...]
    not_blind: int
    lines: int

    @cached_property
    def ratings(self) -> list[tuple[float, ...]]:
        """What each row was given, for the agreement between annotators."""
        return [row.given for row in self.rows.values()]

    @cached_property
    def weighted(self) -> bool:
        """Whether any row has a weight."""
        return any(row.weight is not None for row in self.rows.values())


def metric_labels(labels: Sequence[Label]) -> MetricLabels:
    """The labels of one metric, row by row.

    Args:
        labels: of rows, not of claims; either all are passes and fails, or none is.

    Raises:
        InvalidInput: a row has two weights, one weight decides alone, or labels with and without weights do not go together.
    """
    by_row: defaultdict[str, list[Label]] = defaultdict(list)
    for item in labels:
        by_row[item.id].append(item)
    verdicts = all(isinstance(item.label, bool) for item in labels)
    rows = {name: _row(items, verdicts=verdicts) for name, items in by_row.items()}
    return MetricLabels(
        rows=_one_kind_of_weights(rows),
        verdicts=verdicts,
        annotators=tuple(dict.fromkeys(item.annotator for item in labels)),
        not_blind=sum(item.blind is False for item in labels),
        lines=len(labels),
    )


def _row(items: Sequence[Label], *, verdicts: bool) -> LabelledRow:
    given = tuple(float(item.label) for item in items)
    mean = math.fsum(given) / len(given)
    label = mean if not verdicts else HALF if mean == HALF else float(mean > HALF)
    return LabelledRow(label, given, _weight(items), items[0].place)


def _weight(items: Iterable[Label]) -> float | None:
    """The weight of a row, which every annotator's line may repeat."""
    told = [item for item in items if item.weight is not None]
    for item in told[1:]:
        if item.weight != told[0].weight:
            raise InvalidInput(
                f"{item.place}: the row {item.id!r} has the weight {item.weight:g}, and {told[0].weight:g} in {told[0].place}: "
                "give a row one weight"
            )
    return told[0].weight if told else None


def _one_kind_of_weights(rows: Mapping[str, LabelledRow]) -> Mapping[str, LabelledRow]:
    """Where some rows have weights, those without were drawn uniformly, and count as 1."""
    told = [row for row in rows.values() if row.weight is not None]
    problem = weight_problem([row.weight or 0.0 for row in told]) if told else None
    if problem is not None:
        row = told[problem[0]]
        raise InvalidInput(f"{row.place}: the weight is {row.weight:g}, {problem[1]}")
    without = [row for row in rows.values() if row.weight is None]
    if not without or len(without) == len(rows):
        return rows
    for row in rows.values():
        if row.weight is not None and row.weight > HEAVIEST * (1 + 1e-6):
            raise InvalidInput(
                f"{row.place}: the weight {row.weight:g} stands beside labels without a weight, such as that in "
                f"{without[0].place}, which count as 1, as rows drawn uniformly do: give every label its weight, on one scale"
            )
    return {
        name: row if row.weight is not None else LabelledRow(row.label, row.given, 1.0, row.place)
        for name, row in rows.items()
    }


MOST_NAMED = 5
"""Rows that a sentence names; the rest is counted."""

NO_DRAW = "the rows of the remaining labels are no random draw of all rows: label the rows that changed again"


def digested_rows(labels: Iterable[Label]) -> dict[str, set[str]]:
    """By metric, the rows whose labels have a digest."""
    found: dict[str, set[str]] = {}
    for item in labels:
        if item.digest is not None:
            found.setdefault(item.metric, set()).add(item.id)
    return found


def is_stale(label: Label, metric: JudgedMetric) -> bool:
    """Whether the row has changed since it was labelled."""
    return label.digest is not None and metric.digests.get(label.id, label.digest) != label.digest


def labels_in_force(labels: Sequence[Label], rows: JudgedRows) -> tuple[list[Label], tuple[str, ...]]:
    """The labels of rows that are as they were, and those that cannot be checked; and what must be known of labels and rows.

    Raises:
        InvalidInput: every label is of a row that has changed.
    """
    stale = [item for item in labels if is_stale(item, rows.metrics[item.metric])]
    notes = tuple(_notes(labels, stale, rows))
    if len(stale) == len(labels):
        raise InvalidInput(f"no label is left: {'; '.join(notes)}: label these rows again")
    gone = set(map(id, stale))
    return [item for item in labels if id(item) not in gone], notes


def _notes(labels: Sequence[Label], stale: Sequence[Label], rows: JudgedRows) -> Iterator[str]:
    for metric in dict.fromkeys(item.metric for item in stale):
        names = list(dict.fromkeys(item.id for item in stale if item.metric == metric))
        count = sum(item.metric == metric for item in stale)
        named = ", ".join(map(quoted, names[:MOST_NAMED])) + (", ..." if len(names) > MOST_NAMED else "")
        yield (
            f"{count_of(count, 'label')} of {metric} left out, as {count_of(len(names), 'row')} changed after "
            f"{'it was' if len(names) == 1 else 'they were'} labelled: {named}"
        )
    if 0 < len(stale) < len(labels):
        yield NO_DRAW
    without = sum(item.digest is None for item in labels)
    if without:
        yield f"{count_of(without, 'label')} without a digest: it is not known whether the rows changed after they were labelled"
    unread = [name for name, metric in rows.metrics.items() if metric.column.inputs is None]
    unchecked = sum(item.digest is not None and item.metric in unread for item in labels)
    if unchecked:
        yield (
            f"{count_of(unchecked, 'label')} not checked: this run does not tell which fields {', '.join(unread)} reads, so it is "
            "not known whether the rows changed after they were labelled"
        )


RARE = 3.0
"""Standard errors that the mean over drawn rows, of scores or of how unsure the judge is, lies from that over all rows in fewer
than 3 of 1,000 draws."""


def doubts(
    judged: JudgedMetric, labels: MetricLabels, places: Sequence[int], weights: Sequence[float] | None
) -> Iterator[str]:
    """What must be known to believe any of it.

    Args:
        judged: the metric.
        labels: of its rows.
        places: which of ``judged.rows`` have a label, in order.
        weights: of these rows; None if all stand for as many.
    """
    if labels.not_blind:
        given = f"{labels.not_blind} of {labels.lines} labels were"
        yield f"{given} given by people who had seen the score or its reasons: they agree with the judge more than they would else"
    if not judged.column.knows_better:
        yield "this file does not tell whether high values of the metric are good: they are taken to be"
    left = None if weights is None else uneven(weights)
    if left is not None:
        yield (
            f"the weights are very unequal: {len(places)} labels tell no more than {left:.0f} of equal weight would, and with "
            f"fewer than {SURE:.0f} the interval is likely to be too narrow: label more rows"
        )
    if len(places) == len(judged.rows):
        return
    if weights is None and list(places) == list(range(len(places))):
        yield (
            f"the rows with a label are the first {len(places)} of the run: the order of rows is rarely random, and if it is not, "
            "the corrected score is wrong; --suggest draws rows at random"
        )
        return
    shift = _shift(judged.values, places, weights)
    if abs(shift) > RARE:
        side = "lower" if shift < 0 else "higher"
        yield _chosen(f"the judge's scores of the rows with a label are {side} than those of all rows", shift)
        return
    shift = _shift(uncertainty(judged.values, judged.scale), places, weights)
    if abs(shift) > RARE:
        yield _chosen(
            f"the judge is {'more' if shift < 0 else 'less'} sure of the rows with a label than of all rows", shift
        )


def _chosen(sign: str, shift: float) -> str:
    """What gives it away that rows were picked, and what follows."""
    return (
        f"{sign}, by {abs(shift):.1f} standard errors: rows that somebody chose look so, and then the corrected score is wrong; "
        "--suggest draws rows at random"
    )


def _shift(values: Sequence[float], places: Sequence[int], weights: Sequence[float] | None) -> float:
    """By how many standard errors the mean over some rows is above that over all of them; 0 where that says nothing."""
    count, own = len(values), [values[place] for place in places]
    masses = [1.0] * len(own) if weights is None else weights
    mean = math.fsum(values) / count
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    drawn = effective_count(masses)
    error = math.sqrt(variance * max(1 / drawn - 1 / count, 0.0)) if drawn else 0.0
    if not error:
        return 0.0
    own_mean = math.fsum(mass * value for mass, value in zip(masses, own, strict=True)) / math.fsum(masses)
    return (own_mean - mean) / error
