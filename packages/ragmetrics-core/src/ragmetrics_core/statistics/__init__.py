"""The arithmetic behind intervals, comparisons and gates: plain functions of numbers, which need no other package.

`mean_interval` and `rate_interval` say how sure a mean is, `paired_difference` how sure a difference between two runs over the same
rows is, and `holm` makes the p-values of several tests hold together.
"""

from __future__ import annotations

from ._agreement import Agreement, agreement
from ._alpha import annotator_alpha
from ._corrected import CorrectedMean, corrected_mean
from ._holm import holm
from ._interval import METHODS, Interval
from ._means import mean_interval, rate_interval
from ._measure import Measure
from ._paired_difference import PairedDifference
from ._pairs import paired_difference
from ._rows_needed import FEWEST_CHANGED
from ._suggest import Suggestion, suggest
from ._threshold import Threshold

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
