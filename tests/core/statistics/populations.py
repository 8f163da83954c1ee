"""Populations of pairs of scores that are known exactly: what intervals, tests and gates are held against.

A population lists the pairs (score before a change, score after it) that a row may have, and how often each occurs. So its true
difference is a sum and no estimate, and samples of it are drawn fast. Where rows of a cluster are alike, or several metrics of one
row are, a common normal variable says so, and rows take the pair at the quantile that they are given, in the order of the
differences.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, pairwise
from statistics import NormalDist

__all__ = [
    "CLUSTERS",
    "NORMAL",
    "Pair",
    "Population",
    "claim_fractions",
    "drawn_falls",
    "few_changes",
    "grades",
    "halved",
    "pass_rates",
]

Pair = tuple[float, float]

NORMAL = NormalDist()
CLAIMS = range(2, 8)
QUANTILES = tuple(NORMAL.inv_cdf((place + 0.5) / 200) for place in range(200))
"""Two hundred equally likely values of a normal variable."""

CLUSTERS = {
    8: (1, 2, 3, 4, 6, 7, 10, 17),
    15: (1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 11, 14, 22),
    30: (1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 8, 9, 9, 10, 11, 13, 15, 19, 27),
}
"""Rows of each cluster: quantiles of a lognormal distribution with median 5 and sigma 0.8."""


@dataclass(frozen=True, eq=False)
class Population:
    """Which pairs there are, on which scale."""

    chances: Mapping[Pair, float]
    scale: tuple[float, float] = (0.0, 1.0)

    @cached_property
    def difference(self) -> float:
        """The true difference of the means: after minus before."""
        return math.fsum(chance * (after - before) for (before, after), chance in self.chances.items())

    @cached_property
    def pairs(self) -> Sequence[Pair]:
        """In the order of their differences."""
        return sorted(self.chances, key=lambda pair: (pair[1] - pair[0], pair))

    @cached_property
    def cumulative(self) -> Sequence[float]:
        return list(accumulate(self.chances[pair] for pair in self.pairs))

    @cached_property
    def scores_after(self) -> Population:
        """The scores after the change alone: all scores before it are 0, so that the difference is their mean."""
        found = defaultdict[Pair, float](float)
        for (_, after), chance in self.chances.items():
            found[0.0, after] += chance
        return Population(found, self.scale)

    def sample(self, rng: random.Random, count: int) -> list[Pair]:
        """Independent rows."""
        return rng.choices(self.pairs, cum_weights=self.cumulative, k=count)

    def __str__(self) -> str:
        """What tells it from others, the same on every machine."""
        return f"{len(self.chances)} pairs, {round(self.difference, 6) + 0.0}, {math.fsum(self.cumulative):.6f}"

    def at(self, share: float) -> Pair:
        """The pair below which this share of the rows lies."""
        return self.pairs[min(bisect_left(self.cumulative, share), len(self.pairs) - 1)]

    def clustered_sample(
        self, rng: random.Random, sizes: Sequence[int], likeness: float
    ) -> tuple[list[Pair], list[int]]:
        """Rows in clusters of these sizes, and the cluster of each.

        Args:
            rng: where chance comes from.
            sizes: the rows of each cluster.
            likeness: the intra-class correlation of the differences, from 0 and below 1.
        """
        common = _latent_correlation(self, likeness)
        shared, own = math.sqrt(common), math.sqrt(1 - common)
        rows, clusters = list[Pair](), list[int]()
        for cluster, size in enumerate(sizes):
            centre = shared * rng.gauss(0, 1)
            rows += [self.at(NORMAL.cdf(centre + own * rng.gauss(0, 1))) for _ in range(size)]
            clusters += [cluster] * size
        return rows, clusters


@cache
def _latent_correlation(population: Population, likeness: float) -> float:
    """How alike the normal variables of two rows must be for their differences to be correlated that much."""
    if not likeness:
        return 0.0
    at_most = defaultdict[float, float](float)
    for pair, share in zip(population.pairs, population.cumulative, strict=True):
        at_most[pair[1] - pair[0]] = min(share, 1 - 1e-12)
    limits = [NORMAL.inv_cdf(share) for share in at_most.values()]
    variance = math.fsum(
        chance * (pair[1] - pair[0] - population.difference) ** 2 for pair, chance in population.chances.items()
    )
    steps = [low - high for low, high in zip(at_most, list(at_most)[1:], strict=False)]

    def reached(latent: float) -> float:
        own = math.sqrt(1 - latent)
        means = [
            max(at_most)
            + math.fsum(
                step * NORMAL.cdf((limit - math.sqrt(latent) * centre) / own)
                for step, limit in zip(steps, limits, strict=False)
            )
            for centre in QUANTILES
        ]
        middle = math.fsum(means) / len(means)
        return math.fsum((mean - middle) ** 2 for mean in means) / len(means) / variance

    low, high = 0.0, 0.999
    for _ in range(25):
        centre = (low + high) / 2
        low, high = (centre, high) if reached(centre) < likeness else (low, centre)
    return (low + high) / 2


def claim_fractions(lost: float = 0.0, kept: float = 0.0, shape: tuple[float, float] = (5.0, 0.7)) -> Population:
    """Shares of supported claims: 2 to 7 claims on either side, each supported with a chance that is beta from row to row.

    Args:
        lost: the chance that a claim's support is lost by the change.
        kept: the share of rows that the change does not touch.
        shape: the two parameters of the beta distribution.
    """
    found = defaultdict[Pair, float](float)
    for claims in CLAIMS:
        for later in CLAIMS:
            for supported in range(claims + 1):
                for still in range(later + 1):
                    for left in range(still + 1) if lost else [still]:
                        chance = _both_supported((claims, supported), (later, still), shape) / len(CLAIMS) ** 2
                        chance *= math.comb(still, left) * (1 - lost) ** left * lost ** (still - left)
                        found[supported / claims, left / later] += (1 - kept) * chance
    for (before, _), chance in list(found.items()):
        found[before, before] += kept / (1 - kept) * chance
    return Population(found)


def _both_supported(before: tuple[int, int], after: tuple[int, int], shape: tuple[float, float]) -> float:
    """The chance of so many (claims, supported claims) on both sides, which have the chance of support in common."""
    claims, supported = before[0] + after[0], before[1] + after[1]
    yes, no = shape
    log = math.lgamma(yes + supported) + math.lgamma(no + claims - supported) - math.lgamma(yes + no + claims)
    log -= math.lgamma(yes) + math.lgamma(no) - math.lgamma(yes + no)
    return math.comb(*before) * math.comb(*after) * math.exp(log)


def pass_rates(before: float, after: float, correlation: float = 0.5) -> Population:
    """Passes and fails with these rates and this correlation (phi), as far as the rates allow it."""
    both = before * after + correlation * math.sqrt(before * (1 - before) * after * (1 - after))
    both = min(max(both, before + after - 1), before, after)
    return Population(
        {
            (1.0, 1.0): both,
            (1.0, 0.0): before - both,
            (0.0, 1.0): after - both,
            (0.0, 0.0): 1 - before - after + both,
        }
    )


def grades(fall: float = 0.0, easy: float = 0.0, alike: float = 0.6) -> Population:
    """Grades from 1 to 5: a normal quality, cut at four places; two answers to a question have much of it in common.

    Args:
        fall: how much quality is lost by the change, in its standard deviations.
        easy: how much better than middling the answers are, in the same unit: at 1 most grades are 5.
        alike: the share of the variance that the question accounts for.
    """
    own = NormalDist(0, math.sqrt(1 - alike))
    cuts = (-math.inf, -1.5, -1.0, -0.5, 0.0, math.inf)
    found = defaultdict[Pair, float](float)
    for quantile in QUANTILES:
        centre = easy + math.sqrt(alike) * quantile
        first, second = (
            [own.cdf(high - centre + shift) - own.cdf(low - centre + shift) for low, high in pairwise(cuts)]
            for shift in (0.0, fall)
        )
        for old, chance in enumerate(first, start=1):
            for new, other in enumerate(second, start=1):
                found[float(old), float(new)] += chance * other / len(QUANTILES)
    return Population(found, scale=(1.0, 5.0))


def few_changes(sizes: Mapping[float, float], share: float = 0.1, falling: float = 1.0) -> Population:
    """Most rows stay as they are.

    Args:
        sizes: how large the changes are, up to 1, and how often each size occurs among them.
        share: of the rows that change.
        falling: which share of the changes is for the worse.
    """
    found = {(0.7, 0.7): 1 - share}
    for size, chance in sizes.items():
        found[1.0, 1.0 - size] = share * chance * falling
        found[0.0, size] = share * chance * (1 - falling)
    return Population({pair: chance for pair, chance in found.items() if chance})


def drawn_falls(kind: str) -> dict[float, float]:
    """How large changes are, and how often.

    Args:
        kind: ``even``: from 0.05 to 0.6, all as likely; ``claims``: one of 2 to 7 claims; ``half``: 0.5; ``middling``: beta(2, 2);
            ``skewed``: most are small, beta(1, 4).
    """
    if kind == "half":
        return {0.5: 1.0}
    if kind == "claims":
        return {1 / claims: 1 / len(CLAIMS) for claims in CLAIMS}
    shares = [(place + 0.5) / 40 for place in range(40)]
    sizes = {
        "even": lambda share: 0.05 + 0.55 * share,
        "middling": lambda share: 0.5 - math.sin(math.asin(1 - 2 * share) / 3),
        "skewed": lambda share: 1 - (1 - share) ** 0.25,
    }[kind]
    return {sizes(share): 1 / len(shares) for share in shares}


def halved(share: float = 0.1) -> Population:
    """Claim fractions, of which this share is halved."""
    found = defaultdict[Pair, float](float)
    for (_, value), chance in claim_fractions().scores_after.chances.items():
        found[value, value] += (1 - share) * chance
        found[value, value / 2] += share * chance
    return Population(found)


def everyday() -> dict[str, Population]:
    """What comparisons meet, by name."""
    rates = (0.5, 0.7, 0.8, 0.9, 0.95)
    return {
        "claim fractions, no difference": claim_fractions(),
        "claim fractions, -0.05": claim_fractions(0.057),
        "claim fractions, -0.10": claim_fractions(0.114),
        "claim fractions, 70 % kept, none": claim_fractions(0.0, 0.7),
        "claim fractions, 70 % kept, -0.03": claim_fractions(0.114, 0.7),
        **{f"pass rate {rate}, no difference": pass_rates(rate, rate) for rate in rates},
        **{f"pass rate {rate}, -0.10": pass_rates(rate, rate - 0.1) for rate in rates},
        "grades, no difference": grades(),
        "grades, -0.36": grades(0.3),
        "grades mostly 5, no difference": grades(0.0, 1.0),
        "grades mostly 5, -0.16": grades(0.3, 1.0),
        "few changes both ways": few_changes(drawn_falls("even"), falling=0.5),
        "few changes, 4 of 5 worse": few_changes(drawn_falls("even"), falling=0.8),
        "few changes, one way, 0.05 to 0.6": few_changes(drawn_falls("even")),
        "few changes, one way, one claim": few_changes(drawn_falls("claims")),
        "few changes, one way, 0.5": few_changes(drawn_falls("half")),
        "few changes, one way, halved": halved(),
        "few changes, one way, beta(2, 2)": few_changes(drawn_falls("middling")),
        "few changes, one way, beta(1, 4)": few_changes(drawn_falls("skewed")),
        "few passes lost, rate 0.9": pass_rates(0.9, 0.8, correlation=1.0),
        "30 % change, one way": few_changes(drawn_falls("even"), share=0.3),
    }
