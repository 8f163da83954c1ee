"""Rows that a judge scored and that people labelled in part: checked once (`labelled_rows`), then used by every estimate.

The variance of an estimate (`variance_and_freedom`) is computed from what each row adds to it.
An estimate that is a smooth function of means is, but for terms that vanish, the truth plus a sum over rows: the influence of each
row, its label's and its judgement's. So its variance is that of this sum, whatever the estimate is (Huber & Ronchetti 2009, Robust
Statistics, chapter 1; Deville 1999, Survey Methodology 25:193). With clusters it is the sum over clusters, with the correction of
CR2 for what a cluster itself adds to the mean (`clustered_mean`).

Which rows to label next (`suggest`): a draw in which the probability of each row is known.
The rows of which the judge is least sure tell most about where it errs, but labels of those alone say nothing about the others,
and an estimate from them is wrong however many there are. So half of the draw is uniform and half follows the judge's
uncertainty; every row may be drawn, and the label of a row that was unlikely counts for more. Rows are drawn by systematic
sampling from a list in random order, which gives each row exactly its probability and the draw exactly its size (Hartley & Rao
1962, Annals of Mathematical Statistics 33:350). What each row's probability should be: proportional to the standard deviation of
its label (Neyman 1934, JRSS 97:558), which for a pass of probability p is the square root of p (1 - p).
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
from ._means import clustered_mean

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
    def one_cluster(self) -> bool:
        """Whether all labels are of one cluster, which does not tell how much others differ."""
        return self.label_clusters is not None and len(set(self.label_clusters)) == 1

    @cached_property
    def label_mean(self) -> float:
        """The mean of the labels, each counted for as many rows as it stands for."""
        return weighted_mean(self.labels, self.masses)

    @cached_property
    def passes_and_fails(self) -> bool:
        """Whether all labels are ends of their scale."""
        return self.scale is not None and at_ends(self.labels, self.scale)

    @cached_property
    def verdicts(self) -> bool:
        """Whether the judge gives passes and fails too."""
        return self.passes_and_fails and len(set(self.judged)) == 2


def effective_count(masses: Sequence[float]) -> float:
    """How many rows of equal weight tell as much as these (Kish 1965, Survey Sampling, section 11.7); 0 of none."""
    return math.fsum(masses) ** 2 / math.fsum(mass * mass for mass in masses) if masses else 0.0


def too_uneven(masses: Sequence[float]) -> float | None:
    """The effective number of rows, if it is too small for an interval; else None."""
    count = effective_count(masses)
    return count if count < min(FEWEST_FOR_INTERVAL, UNEVEN * len(masses)) else None


def uneven(masses: Sequence[float]) -> float | None:
    """The effective number of rows, if an interval from them is likely to be too narrow; else None."""
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
        raise InvalidInput(f"labels has {len(labels)} entries for {len(judged)} rows: give one for each, or None")
    judged = checked_values("judged", judged, None)
    places = [place for place, label in enumerate(labels) if label is not None]
    known = [label for label in labels if label is not None]
    found = checked_values("labels", known, scale, places)
    if len(known) < FEWEST_LABELS:
        have = {0: "no row has", 1: "1 row has"}.get(len(known), f"{len(known)} rows have")
        raise InvalidInput(f"{have} a label: label at least {FEWEST_LABELS} rows, which say something about others")
    passes = set(found) <= {0, 1} and all(0 <= value <= 1 for value in judged)
    if scale is None and (passes or all(map(is_bool, known))):
        scale = 0.0, 1.0
    if scale is not None and scale[0] == scale[1]:
        raise InvalidInput(f"scale is the single point {scale[0]:g}: give the lowest and the highest possible label")
    check_clusters(clusters, len(judged))
    masses = None if weights is None else _masses(weights, places, len(judged))
    return LabelledRows(judged, places, found, masses, clusters, scale)


def _masses(weights: Sequence[float | None], places: Sequence[int], rows: int) -> Sequence[float] | None:
    """The weights of the rows with a label, 1 on average; None if they are equal."""
    if len(weights) != rows:
        raise InvalidInput(f"weights has {len(weights)} entries for {rows} rows: give one for each, or None")
    found: list[float] = []
    for place in places:
        weight = weights[place]
        if weight is None or not is_finite(weight) or weight <= 0:
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
    """The index of a weight that cannot be used, and why; None if all can. All weights are above 0."""
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


FEWEST = 8
"""Labels of a stratum, where the judge gives more than two values."""

MOST = 5
"""Strata: five take away more than nine tenths of what can be taken (Cochran 1968, Biometrics 24:295, table 1)."""


@dataclass(frozen=True)
class Stratum:
    """Rows with neighbouring judgements.

    Attributes:
        rows: their indices.
        labelled: which of the labels are theirs, as indices of ``LabelledRows.labels``; there may be none of a verdict.
    """

    rows: Sequence[int]
    labelled: Sequence[int]


Strata = Sequence[Stratum]


def strata_of(rows: LabelledRows) -> list[Stratum]:
    """The strata, from low judgements to high ones; a single one where the labels do not suffice for more.

    Rows with the same judgement are in the same stratum, and the labels themselves have no say in where strata end.
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
    """The highest judgement in every stratum but the last one, given those of the labelled rows in order."""
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
    """The variance of an estimate, and its degrees of freedom: those of the labels, which are few.

    Without clusters it is the plain sum of squares, which for a mean is (n - 1) / n of the unbiased variance.

    Args:
        rows: with labels in two clusters or more, if they have clusters.
        of_labels: what each label adds to the estimate; their sum is 0.
        of_judgements: what each judgement, of all rows, adds to it; nothing where the estimate does not use the judge.
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
    freedom = clustered_mean(of_labels, clusters).freedom
    assert freedom is not None
    return math.fsum(value * value for value in sums.values()), freedom


def unseen_variance(masses: Sequence[float], mean: float, scale: tuple[float, float], share: float) -> float:
    """What unequal weights add to the variance of a weighted mean by labels that are not seen yet.

    The variance of a ratio is made of the labels that were drawn. Where most are near one end of the scale and a rare one at the
    other end would have a heavy weight, most draws lack it: their mean is too high, and nothing in them shows how far it may be
    off. So each end of the scale counts as part of a label beforehand, and the square of its weight as much as that of the labels
    that were drawn, on average. What equal weights leave unseen Wilson's form and the posterior count already, so only the excess
    is added, the mean square less the square of the mean:

        share * var(weights) * ((mean - low)² + (high - mean)²) / (sum of weights)²

    Equal weights add nothing, and many labels next to nothing.

    Source: pseudo-labels beforehand make intervals hold: Agresti & Coull 1998, The American Statistician 52:119; half a label of
    each kind is the prior of Jeffreys 1946, Proceedings of the Royal Society A 186:453. That the excess of the squared weights
    counts is our own; how often it holds says ``bench/calibration.py``.

    Args:
        masses: the weights of the labels, one or more.
        mean: of the labels, weighted.
        scale: the lowest and the highest possible label.
        share: what each end counts beforehand, in labels.
    """
    total = math.fsum(masses)
    average = total / len(masses)
    excess = math.fsum((mass - average) ** 2 for mass in masses) / len(masses)
    return share * excess * ((mean - scale[0]) ** 2 + (scale[1] - mean) ** 2) / (total * total)


def design_effect(rows: LabelledRows, values: Sequence[float]) -> float:
    """By how much clusters multiply the variance of a mean over the labelled rows; 1 where they do not widen it.

    Rows whose values are all equal show no variance: each cluster then counts as one row.

    Source: Kish 1965, Survey Sampling, section 5.4.

    Args:
        rows: with clusters, or without.
        values: of each labelled row.
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
"""The share of the draw that does not look at the judge: no row then counts for more than twice as many as in a uniform draw."""


class Suggestion(NamedTuple):
    """A row to be labelled.

    Attributes:
        row: its index.
        probability: with which it was drawn, above 0, at most 1.
        weight: how many rows it stands for: 1 / probability.
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
    """Rows to label next, drawn half uniformly and half by how unsure the judge is, with the weights that `corrected_mean` needs.

    A score in the middle of the scale is unsure, one at either end is sure. Where all scores are at the ends, as verdicts are,
    the draw is uniform.

    Args:
        judged: the judge's score of every row, finite.
        n: how many rows to draw, from 1 to the number of rows that can be drawn.
        seed: the same seed draws the same rows.
        scale: lowest and highest possible score; None for those that occur.
        without: indices of rows that are not to be drawn, such as those that have a label already. The probabilities are those of a
            draw among the others, which alone the weights then speak for.

    Returns:
        The rows, by index.

    Raises:
        InvalidInput: if a score is not finite or not on the scale, if the scale is impossible, or if n is.
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
        # rounding of the sum must not lose the last row
        if step < reached or (step < reached + 1e-9 and chances[place] >= 1):
            drawn.append(place)
            step += 1
    return [Suggestion(rows[place], chances[place], 1 / chances[place]) for place in sorted(drawn)]


def uncertainty(judged: Sequence[float], scale: tuple[float, float] | None) -> list[float]:
    """How unsure the judge is of each row: most in the middle of the scale, 0 at its ends; scores and scale as of `suggest`."""
    low, high = scale or (min(judged), max(judged))
    return [math.sqrt(max(value - low, 0.0) * max(high - value, 0.0)) for value in judged]


def _chances(unsure: Sequence[float], n: int) -> list[float]:
    """The probability of each row to be drawn; they sum to n, and none is above 1."""
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
