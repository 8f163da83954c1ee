"""Rows that a judge scored and that people labelled in part. They are checked once (`labelled_rows`) and then used by every
estimate.

The variance of an estimate (`variance_and_freedom`) is computed from the influence of each row. An estimate that is a smooth
function of means is asymptotically the true value plus a sum over rows: the influence of each row's label and judgement. So the
variance of any such estimate is the variance of this sum (Huber & Ronchetti 2009, Robust Statistics, chapter 1; Deville 1999,
Survey Methodology 25:193). With clusters it is the sum over clusters, with the correction of CR2 for what a cluster itself adds
to the mean (`clustered_mean`).

`suggest` draws the rows to label next, with a known probability for each row. The rows of which the judge is least sure show
most about its errors. But labels of those rows alone say nothing about the other rows, and an estimate from them is wrong however
many there are. So half of the draw is uniform and half follows the judge's uncertainty. Every row may be drawn, and the label of an
unlikely row has a larger weight. Rows are drawn by systematic sampling from a list in random order, which gives each row exactly
its probability and the draw exactly its size (Hartley & Rao 1962, Annals of Mathematical Statistics 33:350). The best probability
of a row is proportional to the standard deviation of its label (Neyman 1934, JRSS 97:558), which for a pass of probability p is
the square root of p (1 - p).
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from .._values._errors import InvalidInput, Setting
from ._interval import ROUNDING, at_ends, check_clusters, check_scale, checked_values, is_bool, is_finite, weighted_mean
from ._means import clustered_mean, units_of

FEWEST_LABELS = 8
"""The smallest number of labels. With fewer, the interval of a mean label covers most of the scale."""

FEWEST_EFFECTIVE = 3.0
"""The smallest effective number of labels with weights. With fewer, one label decides, and nothing shows its error. The weights
of a suggested draw, 0.25 to 2, always leave more.
"""

FEWEST_FOR_INTERVAL, SURE = 10.0, 50.0
"""Effective numbers of labels with unequal weights: below the first there is no interval, and below the second the interval is too
narrow. With weights of 1 and 50, intervals contain the true value in 0.83 of samples, and with heavy weights on few of 20 labels
in 0.72."""

UNEVEN, VERY_UNEVEN = 0.75, 0.5
"""The limits above apply only if the effective number is below these shares of the number of labels. Otherwise the weights are
nearly equal and there are only few labels."""

LIGHTEST = 1e-9
"""The smallest weight, as a share of the heaviest; a lighter label would be lost to rounding."""


@dataclass(frozen=True)
class LabelledRows:
    """The judge's scores of all rows, and people's labels of some of them.

    Attributes:
        judged: the judge's score of every row.
        places: the indices in ``judged`` of the rows with a label, in ascending order; ``FEWEST_LABELS`` or more.
        labels: the labels of these rows.
        weights: for each of these rows, the number of rows that it represents, scaled to a mean of 1; None if the weights are
            equal.
        clusters: for every row, what it shares with others; None if all rows are independent.
        scale: the lowest and the highest possible label; None if they are not known.
    """

    judged: Sequence[float]
    places: Sequence[int]
    labels: Sequence[float]
    weights: Sequence[float] | None
    clusters: Sequence[Hashable] | None
    scale: tuple[float, float] | None

    @cached_property
    def masses(self) -> Sequence[float]:
        """For each label, the number of rows that it represents, scaled to a mean of 1."""
        return [1.0] * len(self.labels) if self.weights is None else self.weights

    @cached_property
    def label_clusters(self) -> Sequence[Hashable] | None:
        """The clusters of the rows with a label; None without clusters."""
        return None if self.clusters is None else [self.clusters[place] for place in self.places]

    @cached_property
    def one_cluster(self) -> bool:
        """Whether all labels are in one cluster, so that nothing shows how much clusters differ."""
        return self.label_clusters is not None and len(set(self.label_clusters)) == 1

    @cached_property
    def label_mean(self) -> float:
        """The mean of the labels, each weighted by the number of rows that it represents."""
        return weighted_mean(self.labels, self.masses)

    @cached_property
    def passes_and_fails(self) -> bool:
        """Whether all labels are ends of their scale."""
        return self.scale is not None and at_ends(self.labels, self.scale)

    @cached_property
    def verdicts(self) -> bool:
        """Whether both labels and judgements are passes and fails."""
        return self.passes_and_fails and len(set(self.judged)) == 2


def effective_count(masses: Sequence[float]) -> float:
    """Return the effective number of rows: how many rows of equal weight would give the same information (Kish 1965, Survey
    Sampling, section 11.7); 0 without rows.
    """
    return math.fsum(masses) ** 2 / math.fsum(mass * mass for mass in masses) if masses else 0.0


def uneven(masses: Sequence[float], least: float = SURE, share: float = VERY_UNEVEN) -> float | None:
    """Return the effective number of rows if it is below ``least`` and below this share of their number; else None. By default,
    an interval from so few is likely to be too narrow; with ``FEWEST_FOR_INTERVAL`` and ``UNEVEN`` there is no interval.
    """
    count = effective_count(masses)
    return count if count < min(least, share * len(masses)) else None


def labelled_rows(
    judged: Sequence[float],
    labels: Sequence[float | None],
    weights: Sequence[float | None] | None = None,
    clusters: Sequence[Hashable] | None = None,
    scale: tuple[float, float] | None = None,
) -> LabelledRows:
    """Check the arguments (as for `corrected_mean`), and return the rows.

    Raises:
        InvalidInput: if lengths differ, if a value is not finite, if a label is not on the scale, if there are fewer than
            ``FEWEST_LABELS`` labels, if a labelled row has no weight or a row no cluster, if the weights let one label decide, or
            if the scale is impossible or a single point.
    """
    check_scale(scale)
    if len(labels) != len(judged):
        raise InvalidInput(f"labels has {len(labels)} entries for {len(judged)} rows: give one for each, or None")
    judged = checked_values("judged", judged, None)
    places = [place for place, label in enumerate(labels) if label is not None]
    given_labels = [label for label in labels if label is not None]
    checked = checked_values("labels", given_labels, scale, places)
    if len(given_labels) < FEWEST_LABELS:
        have = {0: "no row has", 1: "1 row has"}.get(len(given_labels), f"{len(given_labels)} rows have")
        raise InvalidInput(
            f"{have} a label, too few to conclude anything about other rows: label at least {FEWEST_LABELS}"
        )
    passes = set(checked) <= {0, 1} and all(0 <= value <= 1 for value in judged)
    if scale is None and (passes or all(map(is_bool, given_labels))):
        scale = 0.0, 1.0
    if scale is not None and scale[0] == scale[1]:
        raise InvalidInput(f"scale is the single point {scale[0]:g}: give the lowest and the highest possible label")
    check_clusters(clusters, len(judged))
    masses = None if weights is None else _masses(weights, places, len(judged))
    return LabelledRows(judged, places, checked, masses, clusters, scale)


def _masses(weights: Sequence[float | None], places: Sequence[int], rows: int) -> Sequence[float] | None:
    """Return the weights of the rows with a label, scaled to a mean of 1; None if the weights are equal."""
    if len(weights) != rows:
        raise InvalidInput(f"weights has {len(weights)} entries for {rows} rows: give one for each, or None")
    given_weights: list[float] = []
    for place in places:
        weight = weights[place]
        if weight is None or not is_finite(weight) or weight <= 0:
            raise InvalidInput(
                f"weights[{place}] is {weight!r}, and the row has a label: give the number of rows it stands for, "
                "1 divided by the probability with which it was chosen"
            )
        given_weights.append(weight)
    problem = weight_problem(given_weights)
    if problem is not None:
        raise InvalidInput(f"weights[{places[problem[0]]}] is {given_weights[problem[0]]:g}, {problem[1]}")
    heaviest = max(given_weights)
    shares = [weight / heaviest for weight in given_weights]  # sums of shares neither overflow nor underflow
    mean = math.fsum(shares) / len(shares)
    return None if 1 - min(shares) <= ROUNDING * mean else [share / mean for share in shares]


def weight_problem(weights: Sequence[float]) -> tuple[int, str] | None:
    """Return the index of a weight that cannot be used, and the reason; None if all weights can be used. All weights are above
    0.
    """
    heaviest, lightest = max(weights), min(weights)
    if lightest < LIGHTEST * heaviest:
        return weights.index(lightest), f"which is negligible beside {heaviest:g}: give all labels weights on one scale"
    count = effective_count([weight / heaviest for weight in weights])
    if len(weights) >= FEWEST_LABELS and count < FEWEST_EFFECTIVE:
        return weights.index(heaviest), (
            f"so much that {len(weights)} labels show no more than {count:.1f} of equal weight would, and at least "
            f"{FEWEST_EFFECTIVE:g} are needed: give all labels weights on one scale, or label more rows"
        )
    return None


FEWEST = 8
"""The smallest number of labels in a stratum if the judge gives more than two values."""

MOST = 5
"""The largest number of strata: five remove more than nine tenths of the variance that can be removed (Cochran 1968, Biometrics
24:295, table 1).
"""


@dataclass(frozen=True)
class Stratum:
    """Rows with neighbouring judgements.

    Attributes:
        rows: the indices of the rows.
        labelled: the indices of their labels in ``LabelledRows.labels``; a stratum of a verdict may have no label.
    """

    rows: Sequence[int]
    labelled: Sequence[int]


Strata = Sequence[Stratum]


def strata_of(rows: LabelledRows) -> list[Stratum]:
    """Return the strata, from low judgements to high ones; a single stratum if there are too few labels for more.

    Rows with the same judgement are in the same stratum. The values of the labels do not influence the limits of strata.
    """
    tops = [min(rows.judged)] if rows.verdicts else _tops(sorted(rows.judged[place] for place in rows.places))
    members: list[list[int]] = [[] for _ in range(len(tops) + 1)]
    labelled: list[list[int]] = [[] for _ in members]
    for row, value in enumerate(rows.judged):
        members[bisect_left(tops, value)].append(row)
    for label, place in enumerate(rows.places):
        labelled[bisect_left(tops, rows.judged[place])].append(label)
    return [Stratum(*both) for both in zip(members, labelled, strict=True)]


def _tops(judged: Sequence[float]) -> list[float]:
    """Return the highest judgement in every stratum but the last, given the sorted judgements of the labelled rows."""
    size = max(FEWEST, math.ceil(len(judged) / MOST))
    tops: list[float] = []
    end = size
    while end <= len(judged):
        top = judged[end - 1]
        start = bisect_right(judged, top)
        if len(judged) - start < size:
            break
        tops.append(top)
        end = start + size
    return tops


def variance_and_freedom(
    rows: LabelledRows, of_labels: Sequence[float], of_judgements: Sequence[float] = ()
) -> tuple[float, float]:
    """Return the variance of an estimate, and its degrees of freedom, which depend on the labels alone.

    Without clusters the variance is the plain sum of squares, which for a mean is (n - 1) / n of the unbiased variance.

    Args:
        rows: the rows; if they have clusters, the labels are in two clusters or more.
        of_labels: the influence of each label on the estimate; the sum is 0.
        of_judgements: the influence of each row's judgement on the estimate; empty if the estimate does not use the judge.
    """
    if rows.clusters is None or rows.label_clusters is None:
        return math.fsum(value * value for value in (*of_labels, *of_judgements)), len(of_labels) - 1
    clusters = rows.label_clusters
    sums: defaultdict[Hashable, float] = defaultdict(float)
    sizes: defaultdict[Hashable, float] = defaultdict(float)
    for cluster, value, mass in zip(clusters, of_labels, rows.masses, strict=True):
        sums[cluster] += value
        sizes[cluster] += mass
    total = math.fsum(rows.masses)
    for cluster, size in sizes.items():
        sums[cluster] /= math.sqrt(1 - size / total)
    if of_judgements:
        for cluster, value in zip(rows.clusters, of_judgements, strict=True):
            sums[cluster] += value
    freedom = clustered_mean(units_of(of_labels, clusters)).freedom
    return math.fsum(value * value for value in sums.values()), freedom


def unseen_variance(masses: Sequence[float], mean: float, scale: tuple[float, float], share: float) -> float:
    """Return the variance that unequal weights add to a weighted mean through labels that have not been seen yet.

    The variance of a ratio is computed from the labels that were drawn. Suppose that most labels are near one end of the scale
    and a rare label at the other end would have a heavy weight. Then most draws lack this label: their mean is too high, and
    nothing in them shows by how much. So the prior counts each end of the scale as part of a label, and the square of its weight
    as much as the mean square of the drawn labels' weights. Wilson's form and the posterior already allow for what equal weights
    leave unseen, so only the excess is added, the mean square minus the square of the mean:

        share * var(weights) * ((mean - low)² + (high - mean)²) / (sum of weights)²

    Equal weights add nothing, and many labels next to nothing.

    Source: prior pseudo-labels give intervals their coverage: Agresti & Coull 1998, The American Statistician 52:119; half a
    label of each kind is the prior of Jeffreys 1946, Proceedings of the Royal Society A 186:453. Counting the excess of the
    squared weights is our own method; ``bench/calibration.py`` measures its coverage.

    Args:
        masses: the weights of the labels, one or more.
        mean: the weighted mean of the labels.
        scale: the lowest and the highest possible label.
        share: the prior weight of each end of the scale, in labels.
    """
    total = math.fsum(masses)
    average = total / len(masses)
    excess = math.fsum((mass - average) ** 2 for mass in masses) / len(masses)
    return share * excess * ((mean - scale[0]) ** 2 + (scale[1] - mean) ** 2) / (total * total)


def design_effect(rows: LabelledRows, values: Sequence[float]) -> float:
    """Return the factor by which clusters multiply the variance of a mean over the labelled rows; 1 if they do not increase it.

    Rows whose values are all equal show no variance; then each cluster counts as one row.

    Source: Kish 1965, Survey Sampling, section 5.4.

    Args:
        rows: rows with or without clusters.
        values: the value of each labelled row.
    """
    clusters = rows.label_clusters
    if clusters is None:
        return 1.0
    number = len(set(clusters))
    if number == 1 or min(values) == max(values):
        return len(values) / number
    total, mean = math.fsum(rows.masses), weighted_mean(values, rows.masses)
    parts = [mass * (value - mean) / total for mass, value in zip(rows.masses, values, strict=True)]
    plain = math.fsum(part * part for part in parts)
    return max(variance_and_freedom(rows, parts)[0] / plain, 1.0)


UNIFORM = 0.5
"""The share of the draw that ignores the judge. It limits a row's weight to twice its weight in a uniform draw."""


class Suggestion(NamedTuple):
    """A row to label.

    Attributes:
        row: its index.
        probability: the probability with which it was drawn, above 0 and at most 1.
        weight: the number of rows that it represents: 1 / probability.
    """

    row: int
    probability: float
    weight: float


def suggest(
    judged: Sequence[float],
    n: int,
    seed: int = 0,
    scale: tuple[float, float] | None = None,
    without: Collection[int] = (),
) -> list[Suggestion]:
    """Draw rows to label next, half uniformly and half by the judge's uncertainty, with the weights that `corrected_mean` needs.

    A score in the middle of the scale is uncertain, a score at either end is certain. If all scores are at the ends, as verdicts
    are, the draw is uniform.

    Args:
        judged: the judge's score of every row, finite.
        n: the number of rows to draw, from 1 to the number of rows that can be drawn.
        seed: the same seed draws the same rows.
        scale: the lowest and the highest possible score; None for the lowest and highest score that occur.
        without: indices of rows that must not be drawn, such as rows that already have a label. Probabilities and weights then
            refer only to the other rows.

    Returns:
        The drawn rows, by index.

    Raises:
        InvalidInput: if a score is not finite or not on the scale, or if the scale or ``n`` is impossible.
    """
    check_scale(scale)
    judged = checked_values("judged", judged, scale)
    excluded = set(without)
    rows = [row for row in range(len(judged)) if row not in excluded]
    if not 1 <= n <= len(rows):
        raise InvalidInput(Setting("n"), f" must lie between 1 and {len(rows)}, the rows that can be drawn, got {n!r}")
    unsure = uncertainty(judged, scale)
    chances = _chances([unsure[row] for row in rows], n)
    order = list(range(len(rows)))
    generator = random.Random(seed)  # noqa: S311  a choice that can be repeated, not a secret
    generator.shuffle(order)
    drawn, reached, step = [], 0.0, generator.random()
    for place in order:
        reached += chances[place]
        # otherwise rounding of the sum could lose the last row
        if step < reached or (step < reached + 1e-9 and chances[place] >= 1):
            drawn.append(place)
            step += 1
    return [Suggestion(rows[place], chances[place], 1 / chances[place]) for place in sorted(drawn)]


def uncertainty(judged: Sequence[float], scale: tuple[float, float] | None) -> list[float]:
    """Return the judge's uncertainty about each row: highest in the middle of the scale, 0 at its ends. Scores and scale are as
    in `suggest`.
    """
    low, high = scale or (min(judged), max(judged))
    return [math.sqrt(max(value - low, 0.0) * max(high - value, 0.0)) for value in judged]


def _chances(unsure: Sequence[float], n: int) -> list[float]:
    """Return the probability of each row to be drawn; the probabilities sum to n, and each is at most 1."""
    count, total = len(unsure), math.fsum(unsure)
    sizes = [UNIFORM / count + (1 - UNIFORM) * (value / total if total else 1 / count) for value in unsure]
    certain: set[int] = set()
    while True:
        rest = math.fsum(size for place, size in enumerate(sizes) if place not in certain)
        left = n - len(certain)
        over = {place for place, size in enumerate(sizes) if place not in certain and left * size >= rest}
        if not over:
            break
        certain |= over
    return [1.0 if place in certain else left * size / rest for place, size in enumerate(sizes)]
