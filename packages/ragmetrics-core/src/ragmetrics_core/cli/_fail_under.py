"""``--fail-under``: a least mean, and how sure it is that the mean reaches it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Annotated

import typer

from .._kernel._errors import InvalidInput
from .._summary._summary import MetricSummary, Summary

FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        metavar="METRIC=VALUE",
        help="Exit with status 1 if the metric's mean is lower, or if it failed on over half of the rows. It says how sure that "
        "is. Repeatable.",
    ),
]

MOST_FAILED = 0.5
"""Share of failed rows above which a mean no longer passes ``--fail-under``: the rows that failed may be the bad ones."""


def parse_least(texts: Iterable[str], scales: Mapping[str, tuple[float, float] | None]) -> dict[str, float]:
    """The least mean by metric, of texts such as ``faithfulness=0.8``.

    Raises:
        InvalidInput: a text is of another form, or names no metric of the run, or a value that is not on its scale.
    """
    least: dict[str, float] = {}
    for text in texts:
        name, equals, number = (part.strip() for part in text.partition("="))
        try:
            value = float(number) if equals else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InvalidInput(f"--fail-under takes METRIC=NUMBER, got {text!r}")
        if name not in scales:
            raise InvalidInput(f"--fail-under: {name!r} is not among the metrics of this run: {', '.join(scales)}")
        scale = scales[name]
        if scale is not None and not scale[0] <= value <= scale[1]:
            raise InvalidInput(
                f"--fail-under: {name} goes from {scale[0]:g} to {scale[1]:g}, so {value:g} is no gate for it"
            )
        least[name] = max(value, least.get(name, value))
    return least


def compared_with_least(summary: Summary, least: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """What became of ``--fail-under``, in words: the metrics that reach their least mean, and those that do not."""
    reached: list[str] = []
    missed: list[str] = []
    for name, value in least.items():
        item = summary[name]
        mean = item.mean
        if mean is None:
            missed.append(f"{name} has no score, so it is not known to reach {value:g}")
        elif item.failed > MOST_FAILED * item.rows:
            missed.append(f"{name} failed on {item.failed} of {item.rows} rows, so its mean says too little for a gate")
        elif mean < value and not math.isclose(mean, value, rel_tol=1e-9):
            missed.append(f"{name} is {mean:.6g}, under {value:g}{_sure(item, value, is_under=True)}")
        else:
            reached.append(f"{name} is {mean:.6g}, not under {value:g}{_sure(item, value, is_under=False)}")
    return reached, missed


def _sure(item: MetricSummary, least: float, *, is_under: bool) -> str:
    """How sure it is that the mean lies on its side of the least one."""
    if item.interval is None:
        return " (one row says nothing of the others)" if item.scored == 1 else ""
    sure = item.interval.high < least if is_under else item.interval.low >= least
    chance = "" if sure else ", so this may be chance: --gate decides on the interval"
    return f" (95 % interval {item.interval}{chance})"
