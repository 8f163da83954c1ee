"""Several judgements of one row as one score: their mean, with every one of them as evidence.

A judge that is asked twice may give two answers. Until that is measured, nobody knows how far a single score can be trusted.

Rows in which the system that is evaluated retrieved or answered nothing, counted as the worst value where a run asks for that.

A system must not gain by staying silent on hard questions, as it would by unscored rows, which are not in the mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._kernel._inputs import SILENCE
from .._kernel._metric import Metric
from .._kernel._requests import Usage
from .._kernel._score import Score


def combined(metric: Metric, scores: Sequence[Score]) -> Score:
    """The score of a row that was judged several times.

    The value is the mean of the judgements that have one; where some have none, the reason says how many. It passes if most of
    the verdicts do. ``details["repeats"]`` holds all judgements.
    """
    scored = [score for score in scores if score.value is not None]
    usage = sum((score.usage for score in scores), Usage())
    details = {"repeats": [{**score.to_dict(), "usage": score.usage.to_dict()} for score in scores]}
    if not scored:
        failed = next((score for score in scores if score.error is not None), None)
        first = failed or scores[0]
        score = Score(None, reason=first.reason, error=first.error, details=details, label=first.label)
    else:
        verdicts = [score.passing for score in scored if score.passing is not None]
        score = Score(
            mean_of_repeats([score.value for score in scored if score.value is not None]),
            passing=sum(verdicts) * 2 > len(verdicts) if verdicts else None,
            reason=f"mean of {len(scored)} judgements"
            + (f"; {len(scores) - len(scored)} of {len(scores)} gave no value" if len(scored) < len(scores) else ""),
            details=details,
            scale=scored[0].scale,
            label=_common_label(scores),
        )
    return score.made_by(metric.name, metric.scale, usage, {})


def judgements(details: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The details of each judgement of a row: of several, or of the one; what is no judgement is passed over."""
    repeats = details.get("repeats")
    if not isinstance(repeats, list):
        yield details
        return
    for repeat in repeats:
        inner = repeat.get("details") if isinstance(repeat, Mapping) else None
        if isinstance(inner, Mapping):
            yield inner


def prompts_of(details: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The name and version of every prompt that was asked about a row, in any of its judgements."""
    parts = (
        (details, *judgements(details)) if "repeats" in details else (details,)
    )  # a metric may keep repeats of its own
    for part in parts:
        asked = part.get("prompts")
        if isinstance(asked, Mapping):
            yield from ((str(name), str(version)) for name, version in asked.items())


def spread_of(details: Mapping[str, Any]) -> float | None:
    """Standard deviation of the judgements of one row; None where fewer than two have a value."""
    values = [item["value"] for item in details.get("repeats", ()) if item["value"] is not None]
    if len(values) < 2:
        return None
    mean = mean_of_repeats(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _common_label(scores: Sequence[Score]) -> str | None:
    """The label that all judgements share; None where they disagree."""
    labels = {score.label for score in scores}
    return labels.pop() if len(labels) == 1 else None


def mean_of_repeats(values: Sequence[float]) -> float:
    """Their mean, which rounding puts neither below nor above all of them."""
    # judgements that agree have exactly that mean, and no spread, whatever rounding would make of it
    return min(max(math.fsum(values) / len(values), min(values)), max(values))


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
