"""The arithmetic of intervals, comparisons and gates: plain functions of numbers that need no other package.

`mean_interval` and `rate_interval` give the uncertainty of a mean, `paired_difference` the uncertainty of a difference between runs
over the same rows. `always_valid_interval` may be looked at as often as you like. `holm` adjusts the p-values of several tests.
"""

from __future__ import annotations

from ._agreement import Agreement, Threshold, agreement, annotator_alpha
from ._corrected import CorrectedMean, corrected_mean
from ._interval import METHODS, Interval, Measure
from ._labelled import Suggestion, suggest
from ._means import mean_interval, rate_interval
from ._pairs import FEWEST_CHANGED, PairedDifference, holm, paired_difference
from ._sequences import always_valid_interval

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
    "always_valid_interval",
    "annotator_alpha",
    "corrected_mean",
    "holm",
    "mean_interval",
    "paired_difference",
    "rate_interval",
    "suggest",
]
