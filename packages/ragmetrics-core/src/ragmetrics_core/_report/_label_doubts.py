"""Why labels may mislead: rows that somebody chose, annotators who had seen the score, a metric of which nothing is known.

Nothing in a label tells how its row was chosen, but rows that were picked give themselves away: they are the first of the file, or
the judge's scores of them, or how sure it is of them, differ from those of all rows by more than a draw explains.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..statistics._labelled import SURE, effective_count, uncertainty, uneven
from ._judged_rows import JudgedMetric
from ._row_labels import MetricLabels

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
