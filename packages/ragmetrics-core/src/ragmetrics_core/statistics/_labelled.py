"""Rows that a judge scored, some of which people labelled too: checked once for all who reckon with them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

from .._kernel._errors import InvalidInput
from ._checks import check_clusters, check_scale, checked_values, is_bool, is_finite
from ._interval import ROUNDING

FEWEST_LABELS = 8
"""With fewer labels no number about people's judgement is worth its name: its interval is most of the scale."""

FEWEST_EFFECTIVE = 3.0
"""Labels of equal weight that weights must leave: with fewer one label decides, and nothing tells its error. The weights of a
suggested draw, 0.25 to 2, always leave more."""

FEWEST_FOR_INTERVAL, SURE = 10.0, 50.0
"""Labels of equal weight below which unequal weights leave no interval, and below which they leave one that is too narrow: with
weights of 1 and 50 intervals hold in 0.83 of samples, and with heavy weights on few of 20 labels in 0.72."""

UNEVEN, VERY_UNEVEN = 0.75, 0.5
"""Shares of the labels that weights leave, below which those limits apply: fewer labels of nearly equal weight are only few."""

LIGHTEST = 1e-9
"""Of the heaviest weight: a label that is lighter is lost to rounding."""


@dataclass(frozen=True)
class LabelledRows:
    """What a judge said of every row, and what people said of some.

    Attributes:
        judged: of every row.
        places: the rows with a label, as indices of ``judged``, in order; ``FEWEST_LABELS`` or more.
        labels: of those rows.
        weights: of those rows, 1 on average: how many rows each stands for. None if each of them stands for as many.
        clusters: what each row shares with others; None if all rows are independent.
        scale: lowest and highest possible label; None if they are not known.
    """

    judged: Sequence[float]
    places: Sequence[int]
    labels: Sequence[float]
    weights: Sequence[float] | None
    clusters: Sequence[Hashable] | None
    scale: tuple[float, float] | None

    @cached_property
    def masses(self) -> Sequence[float]:
        """How many rows each label stands for, 1 on average."""
        return [1.0] * len(self.labels) if self.weights is None else self.weights

    @cached_property
    def label_clusters(self) -> Sequence[Hashable] | None:
        """The clusters of the rows with a label."""
        return None if self.clusters is None else [self.clusters[place] for place in self.places]

    @cached_property
    def passes_and_fails(self) -> bool:
        """Whether all labels are ends of their scale."""
        if self.scale is None:
            return False
        low, high = self.scale
        near = ROUNDING * (high - low)
        return all(value - low <= near or high - value <= near for value in self.labels)

    @cached_property
    def verdicts(self) -> bool:
        """Whether the judge gives passes and fails too."""
        return self.passes_and_fails and len(set(self.judged)) == 2


def effective_count(masses: Sequence[float]) -> float:
    """How many rows of equal weight tell as much as these (Kish 1965, Survey Sampling, section 11.7); 0 of none."""
    return math.fsum(masses) ** 2 / math.fsum(mass * mass for mass in masses) if masses else 0.0


def too_uneven(masses: Sequence[float]) -> float | None:
    """How many rows of equal weight tell as much, where that is too few for an interval; else None."""
    count = effective_count(masses)
    return count if count < min(FEWEST_FOR_INTERVAL, UNEVEN * len(masses)) else None


def uneven(masses: Sequence[float]) -> float | None:
    """How many rows of equal weight tell as much, where an interval is likely to be too narrow; else None."""
    count = effective_count(masses)
    return count if count < min(SURE, VERY_UNEVEN * len(masses)) else None


def labelled_rows(
    judged: Sequence[float],
    labels: Sequence[float | None],
    weights: Sequence[float | None] | None = None,
    clusters: Sequence[Hashable] | None = None,
    scale: tuple[float, float] | None = None,
) -> LabelledRows:
    """The rows, once they are checked; arguments as of `corrected_mean`.

    Raises:
        InvalidInput: if lengths differ, if a value is not finite, if a label is not on the scale, if there are fewer than
            ``FEWEST_LABELS``, if a labelled row has no weight or a row no cluster, if weights let one label decide, or if the
            scale is impossible or a single point.
    """
    check_scale(scale)
    if len(labels) != len(judged):
        raise InvalidInput(
            f"labels has {len(labels)} entries for {len(judged)} judged rows: give each row its label, or None if it has none"
        )
    judged = checked_values("judged", judged, None)
    places = [place for place, label in enumerate(labels) if label is not None]
    for place in places:
        label = labels[place]
        assert label is not None
        if not is_finite(label):
            raise InvalidInput(f"labels[{place}] is {label!r}: give a finite number, or None if the row has no label")
        if scale is not None and not _on(scale, label):
            ends = f"{scale[0]:g} to {scale[1]:g}"
            raise InvalidInput(f"labels[{place}] is {label!r}, not on the scale {ends}: give the scale of the labels")
    known = [label for label in labels if label is not None]
    if len(known) < FEWEST_LABELS:
        raise InvalidInput(
            f"{_labels(len(known))}: label at least {FEWEST_LABELS} rows, which say something about others"
        )
    scale = _known_scale(known, judged, scale)
    if scale is not None and scale[0] == scale[1]:
        raise InvalidInput(f"scale is the single point {scale[0]:g}: give the lowest and the highest possible label")
    check_clusters(clusters, len(judged))
    masses = None if weights is None else _masses(weights, places, len(judged))
    return LabelledRows(judged, places, checked_values("labels", known, scale), masses, clusters, scale)


def _labels(count: int) -> str:
    return {0: "no row has a label", 1: "1 row has a label"}.get(count, f"{count} rows have a label")


def _on(scale: tuple[float, float], value: float) -> bool:
    near = ROUNDING * (scale[1] - scale[0])
    return scale[0] - near <= value <= scale[1] + near


def _known_scale(
    labels: Sequence[float], judged: Sequence[float], scale: tuple[float, float] | None
) -> tuple[float, float] | None:
    """The scale that was given; 0 to 1 where labels are nothing but 0 and 1, and the judge says nothing beyond them."""
    passes = all(label in (0, 1) for label in labels) and all(0 <= value <= 1 for value in judged)
    if scale is None and (passes or all(map(is_bool, labels))):
        return 0.0, 1.0
    return scale


def _masses(weights: Sequence[float | None], places: Sequence[int], rows: int) -> Sequence[float] | None:
    """The weights of the rows with a label, 1 on average; None if they are equal."""
    if len(weights) != rows:
        raise InvalidInput(
            f"weights has {len(weights)} entries for {rows} rows: give one for each row, or None where there is no label"
        )
    found = []
    for place in places:
        weight = weights[place]
        if weight is None or not (is_finite(weight) and weight > 0):
            raise InvalidInput(
                f"weights[{place}] is {weight!r}, and the row has a label: give the number of rows it stands for, "
                "1 divided by the probability with which it was chosen"
            )
        found.append(weight)
    problem = weight_problem(found)
    if problem is not None:
        raise InvalidInput(f"weights[{places[problem[0]]}] is {found[problem[0]]:g}, {problem[1]}")
    heaviest = max(found)
    shares = [weight / heaviest for weight in found]  # sums of these neither overflow nor vanish
    mean = math.fsum(shares) / len(shares)
    return None if 1 - min(shares) <= ROUNDING * mean else [share / mean for share in shares]


def weight_problem(weights: Sequence[float]) -> tuple[int, str] | None:
    """Which of these weights, above 0, nothing can be reckoned with, and why; None if they will do."""
    heaviest, lightest = max(weights), min(weights)
    if lightest < LIGHTEST * heaviest:
        return weights.index(lightest), f"which is nothing beside {heaviest:g}: give all labels weights on one scale"
    count = effective_count([weight / heaviest for weight in weights])
    if len(weights) >= FEWEST_LABELS and count < FEWEST_EFFECTIVE:
        return weights.index(heaviest), (
            f"so much that {len(weights)} labels tell no more than {count:.1f} of equal weight would, and at least "
            f"{FEWEST_EFFECTIVE:g} are needed: give all labels weights on one scale, or label more rows"
        )
    return None
