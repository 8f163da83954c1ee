"""What judge and people say of the rows of a run, metric by metric, and why labels may mislead.

A row that most annotators pass is a pass; one on which they are split counts as half a pass in a mean, and is left out where only a
verdict can be used. Grades have their mean. Labels of rows that changed since people read them are left out.

Nothing in a label tells how its row was chosen, but rows that were picked give themselves away: they are the first of the file, or
the judge's scores of them, or how sure it is of them, differ from those of all rows by more than a draw explains.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from .._run._columns import Run, common_scale
from .._store._labels import Label, quoted
from .._store._run_settings import MetricColumn, row_digest
from .._values._counts import count_of
from .._values._errors import InvalidInput
from .._values._findings import findings_of
from .._values._score import Score
from ..statistics._labelled import SURE, effective_count, uncertainty, uneven, weight_problem

Claim = tuple[str, bool]
"""The text of a claim, its spaces made single ones, and whether the judge says that it holds."""


@dataclass(frozen=True)
class JudgedMetric:
    """One metric over the rows that have a score.

    Attributes:
        column: the metric; where it is not known which of its values are good, high ones are taken to be, and `doubts` says so.
        scale: lowest and highest possible value; None where it is not known, or differs.
        rows: the rows with a score.
        names: what labels call them.
        values: their values.
        passing: whether the metric passes them; None where it does not say.
    """

    column: MetricColumn
    scale: tuple[float, float] | None
    rows: Sequence[int]
    names: Sequence[str]
    values: Sequence[float]
    passing: Sequence[bool | None]

    @classmethod
    def of(cls, run: Run, name: str) -> JudgedMetric:
        """One metric of a run."""
        found = run.columns[name]
        scored = {row: value for row, value in enumerate(found.values) if value is not None}
        metric = found.metric
        return cls(
            column=metric if metric.higher_is_better is not None else replace(metric, higher_is_better=True),
            scale=common_scale(metric.scale, (found.scales[row] for row in scored)),
            rows=list(scored),
            names=[run.rows[row].name for row in scored],
            values=list(scored.values()),
            passing=[found.passing[row] for row in scored],
        )

    @property
    def lower_is_better(self) -> bool:
        """Whether a pass is a low value."""
        return self.column.higher_is_better is False

    @property
    def good(self) -> Sequence[float]:
        """The values, turned so that high is good."""
        if not self.lower_is_better:
            return self.values
        ends = sum(self.scale) if self.scale else 0.0
        return [ends - value for value in self.values]

    @property
    def verdicts(self) -> list[float] | None:
        """1 for each row that the metric passes, 0 for others; None where it does not say so of every row."""
        return None if None in self.passing else [float(bool(passed)) for passed in self.passing]


def claims_by_row(run: Run, metric: str, names: Container[str]) -> dict[str, list[Claim]]:
    """The claims in the evidence of these rows."""
    return {
        row.name: claims_of(run.evaluation.records[position].scores[metric])
        for position, row in enumerate(run.rows)
        if row.name in names
    }


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
        weight: how many rows it stands for, beside others; None where that is not known.
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
        not_blind: how many labels were given by people who had seen the score.
        lines: how many labels there are, of all annotators.
    """

    rows: Mapping[str, LabelledRow]
    verdicts: bool
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
    known = [item for item in items if item.weight is not None]
    for item in known[1:]:
        if item.weight != known[0].weight:
            raise InvalidInput(
                f"{item.place}: the row {item.id!r} has the weight {item.weight:g}, and {known[0].weight:g} in {known[0].place}: "
                "give a row one weight"
            )
    return known[0].weight if known else None


def _one_kind_of_weights(rows: Mapping[str, LabelledRow]) -> Mapping[str, LabelledRow]:
    """Where some rows have weights, those without were drawn uniformly, and count as 1."""
    known = [row for row in rows.values() if row.weight is not None]
    problem = weight_problem([row.weight or 0.0 for row in known]) if known else None
    if problem is not None:
        row = known[problem[0]]
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


def stale_labels(labels: Iterable[Label], run: Run) -> list[Label]:
    """The labels of rows that have changed since people read them, as far as that can be checked."""
    rows = {row.name: position for position, row in enumerate(run.rows)}
    stale = []
    for item in labels:
        inputs = run.columns[item.metric].metric.inputs
        if item.digest is not None and inputs is not None and item.id in rows:
            sample = run.evaluation.records[rows[item.id]].sample
            if row_digest(sample, inputs) != item.digest:
                stale.append(item)
    return stale


def labels_in_force(labels: Sequence[Label], run: Run) -> tuple[list[Label], tuple[str, ...]]:
    """The labels of rows that are as they were, and those that cannot be checked; and what must be known of labels and rows.

    Raises:
        InvalidInput: every label is of a row that has changed.
    """
    stale = stale_labels(labels, run)
    notes = tuple(_notes(labels, stale, run))
    if len(stale) == len(labels):
        raise InvalidInput(f"no label is left: {'; '.join(notes)}: label these rows again")
    gone = set(map(id, stale))
    return [item for item in labels if id(item) not in gone], notes


def _notes(labels: Sequence[Label], stale: Sequence[Label], run: Run) -> Iterator[str]:
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
    of = {item.metric for item in labels}
    unread = [name for name, column in run.columns.items() if name in of and column.metric.inputs is None]
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
