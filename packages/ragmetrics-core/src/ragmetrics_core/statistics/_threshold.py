"""From which score on a row passes: the threshold that agrees best with people, and how well it does on rows that did not choose
it.

A threshold looks better on the rows that it was chosen by than on others. So it is chosen on four fifths of the labelled rows and
judged on the last fifth, five times over; the threshold that is told is chosen on all of them, and the figures are those of the
five (Stone 1974, JRSS B 36:111). Each fifth has its share of passes and of fails. Which row is in which fifth is drawn with a
fixed seed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ._measure import Measure

FOLDS = 5


@dataclass(frozen=True)
class Threshold:
    """A score from which a row passes.

    Attributes:
        value: a score that occurs, the lowest that passes.
        kappa: Cohen's, between people and verdicts on rows that did not choose the threshold.
        wrong_passes: of the rows that pass, the share that people fail: what is let through.
        wrong_fails: of the rows that fail, the share that people pass: what is stopped, or looked at, in vain.
    """

    value: float
    kappa: Measure
    wrong_passes: Measure
    wrong_fails: Measure


@dataclass(frozen=True)
class Scored:
    """Labelled rows with scores.

    Attributes:
        judged: the judge's score of each row.
        passes: whether people pass it.
        masses: how many rows each stands for.
    """

    judged: Sequence[float]
    passes: Sequence[bool]
    masses: Sequence[float]


def best_threshold(rows: Scored, places: Sequence[int]) -> float:
    """The threshold with the highest kappa over some of the rows; the middle one of several.

    Args:
        rows: all of them.
        places: which of them count; among them one that passes and one that fails.
    """
    order = sorted(places, key=rows.judged.__getitem__, reverse=True)
    total = sum(rows.masses[place] for place in places)
    people = sum(rows.masses[place] for place in places if rows.passes[place])
    passed, right, found = 0.0, 0.0, []
    for index, place in enumerate(order):
        passed += rows.masses[place]
        right += rows.masses[place] if rows.passes[place] else 0.0
        if index + 1 < len(order) and rows.judged[order[index + 1]] == rows.judged[place]:
            continue
        agreement = right + total - people - (passed - right)
        chance = (passed * people + (total - passed) * (total - people)) / total
        found.append(((agreement - chance) / (total - chance), rows.judged[place]))
    best = max(kappa for kappa, _ in found)
    ties = [value for kappa, value in found if kappa >= best - 1e-12]
    return ties[len(ties) // 2]


def judged_elsewhere(rows: Scored) -> list[bool]:
    """The verdict on each row by a threshold that other rows chose; of two passes and two fails or more."""
    generator = random.Random(0)  # noqa: S311  the same folds every time
    folds: list[list[int]] = [[] for _ in range(FOLDS)]
    for wanted in (True, False):
        own = [place for place, passed in enumerate(rows.passes) if passed is wanted]
        generator.shuffle(own)
        for index, place in enumerate(own):
            folds[index % FOLDS].append(place)
    verdicts = [False] * len(rows.judged)
    for fold in folds:
        others = [place for other in folds if other is not fold for place in other]
        if fold:
            limit = best_threshold(rows, others)
            for place in fold:
                verdicts[place] = rows.judged[place] >= limit
    return verdicts
