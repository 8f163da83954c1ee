"""The arithmetic behind intervals, comparisons and gates: plain functions of numbers, which need no other package.

`mean_interval` and `rate_interval` say how sure a mean is, `paired_difference` how sure a difference between two runs over the same
rows is, and `holm` makes the p-values of several tests hold together.
"""

from __future__ import annotations

from ._agreement import Agreement, Threshold, agreement, annotator_alpha
from ._corrected import CorrectedMean, corrected_mean
from ._interval import METHODS, Interval, Measure
from ._labelled import Suggestion, suggest
from ._means import mean_interval, rate_interval
from ._pairs import FEWEST_CHANGED, PairedDifference, holm, paired_difference

__all__ = [
    "FEWEST_CHANGED",
    "METHODS",
    "Agreement",
    "CorrectedMean",
    "Interval",
    "Measure",
    "PairedDifference",
    "Suggestion",
    "Threshold",
    "agreement",
    "annotator_alpha",
    "corrected_mean",
    "holm",
    "mean_interval",
    "paired_difference",
    "rate_interval",
    "suggest",
]
