"""Rows in which the system that is evaluated retrieved or answered nothing, counted as the worst value where a run asks for that.

A system must not gain by staying silent on hard questions, as it would by unscored rows, which are not in the mean.
"""

from __future__ import annotations

from .._kernel._inputs import SILENCE
from .._kernel._metric import Metric
from .._kernel._score import Score

LABELS = frozenset(SILENCE.values())


def is_silence(score: Score) -> bool:
    """Whether the score says that the system retrieved or answered nothing."""
    return score.label in LABELS


def with_worst_value(metric: Metric, score: Score) -> Score:
    """The score, with the worst value of the metric's scale where it is unscored because the system was silent.

    It stays unscored, and says why, where no value is known to be the worst.
    """
    if score.value is not None or not is_silence(score):
        return score
    if metric.scale is None or metric.higher_is_better is None:
        reason = f"{score.reason}; {metric.name} has no worst value that it could be counted as"
        return Score.unscored(reason, label=score.label).made_by(metric.name, metric.scale)
    worst = metric.scale[0] if metric.higher_is_better else metric.scale[1]
    reason = f"{score.reason}; counted as the worst value"
    return Score(worst, reason=reason, label=score.label).made_by(metric.name, metric.scale)
