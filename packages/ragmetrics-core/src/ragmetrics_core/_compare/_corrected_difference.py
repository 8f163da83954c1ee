"""The difference that people would see between two runs, from labels of the same rows in both and all judged pairs.

Each row is its own control: the difference of the labels is known for each row that people labelled in both runs, the difference of
the scores for every pair, and `corrected_mean` brings them together as it does with the labels and scores of one run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._calibrate._calibration import Calibration, MetricCalibration
from .._calibrate._rows import LabelledRow
from .._run._columns import Run
from .._values._errors import InvalidInput
from ..statistics import CorrectedMean, corrected_mean
from ..statistics._labelled import FEWEST_LABELS
from ._pairs import MetricPairs
from ._verdicts import ends, signed


@dataclass(frozen=True)
class CorrectedDifference:
    """What people would say of the difference in one metric.

    Attributes:
        metric: its name.
        verdicts: whether labels are passes and fails: then it is a difference of the shares that people pass, high for good.
        labels: pairs with a label in both runs.
        pairs: pairs with a score in both runs.
        corrected: the mean of the differences, after minus before, with its interval; None where there is none.
        problem: why there is none.
        warnings: why the labels of one of the runs may mislead; each names the run.
    """

    metric: str
    verdicts: bool
    labels: int
    pairs: int
    corrected: CorrectedMean | None
    problem: str | None = None
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.corrected is None:
            return f"{self.metric}, by people's labels: no difference can be told: {self.problem}"
        found = self.corrected
        what = " of the rows that people pass" if self.verdicts else ""
        interval = found.interval
        limits = f", 95 % interval {ends(interval)}" if interval else ""
        source = f"from {self.labels:,} rows with labels in both runs"
        alone = interval is None or interval == found.label_interval
        pairs = " alone" if alone else f" and {self.pairs:,} judged pairs"
        return f"{self.metric}, by people's labels: {signed(found.mean)}{what}{limits}, {source}{pairs}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        found = self.corrected
        return {
            "labels": self.labels,
            "pairs": self.pairs,
            "problem": self.problem,
            "warnings": list(self.warnings),
            "difference": None if found is None else found.mean,
            "interval": None if found is None or found.interval is None else list(found.interval[:2]),
            "method": None if found is None else found.method,
            "note": None if found is None else found.note,
        }


def corrected_differences(
    metrics: Iterable[MetricPairs], runs: tuple[Run, Run], calibrations: tuple[Calibration, Calibration]
) -> tuple[CorrectedDifference, ...]:
    """The differences in all metrics that both runs have labels of.

    Args:
        metrics: their values in both runs.
        runs: both runs.
        calibrations: of the first run, and of the second.

    Raises:
        InvalidInput: a calibration belongs to another run.
    """
    known = [pairs for pairs in metrics if all(pairs.name in calibration for calibration in calibrations)]
    return tuple(_corrected(pairs, runs, (calibrations[0][pairs.name], calibrations[1][pairs.name])) for pairs in known)


def _corrected(
    pairs: MetricPairs, runs: tuple[Run, Run], items: tuple[MetricCalibration, MetricCalibration]
) -> CorrectedDifference:
    for item, run in zip(items, runs, strict=True):
        _check(item, run)
    found = [_labels(items, [run.rows[row].name for run, row in zip(runs, pair, strict=True)]) for pair in pairs.rows]
    known = [both for both in found if both is not None]
    verdicts = items[0].verdicts
    blank = CorrectedDifference(
        pairs.name, verdicts, len(known), len(pairs.rows), None, warnings=_warnings(items, runs)
    )
    problem = _problem(items, known, pairs)
    if problem:
        return replace(blank, problem=problem)
    turn = -1.0 if verdicts and items[0].lower_is_better else 1.0
    values = pairs.values
    scale = (0.0, 1.0) if verdicts else values.scale
    weights = [None if both is None else both[0].weight for both in found]
    corrected = corrected_mean(
        [turn * (new - old) for old, new in zip(values.before, values.after, strict=True)],
        [None if both is None else both[1].label - both[0].label for both in found],
        weights if any(weight is not None for weight in weights) else None,
        values.clusters,
        None if scale is None else (scale[0] - scale[1], scale[1] - scale[0]),
    )
    return replace(blank, corrected=corrected)


def _warnings(items: tuple[MetricCalibration, MetricCalibration], runs: tuple[Run, Run]) -> tuple[str, ...]:
    return tuple(
        f"labels of {run.name}: {text}" for item, run in zip(items, runs, strict=True) for text in item.warnings
    )


def _labels(
    items: tuple[MetricCalibration, MetricCalibration], names: Sequence[str]
) -> tuple[LabelledRow, LabelledRow] | None:
    """What people say of a row in both runs; None where they say nothing in one."""
    one, two = (None if item.own is None else item.own.rows.get(name) for item, name in zip(items, names, strict=True))
    return None if one is None or two is None else (one, two)


def _problem(
    items: tuple[MetricCalibration, MetricCalibration],
    known: Sequence[tuple[LabelledRow, LabelledRow]],
    pairs: MetricPairs,
) -> str | None:
    """Why there is no difference, if there is none."""
    if pairs.scale_problem:
        return pairs.scale_problem
    if len(known) < FEWEST_LABELS:
        count = f"{len(known)} row{'s have' if len(known) != 1 else ' has'} labels in both runs"
        return f"{count}: label the same rows in both, at least {FEWEST_LABELS}"
    if items[0].verdicts != items[1].verdicts:
        return "labels are passes and fails in one run, and grades in the other"
    if any(one.weight != two.weight for one, two in known):
        return "a row has another weight in each run: give it the one that it was drawn with"
    return None


def _check(item: MetricCalibration, run: Run) -> None:
    values = [value for value in run.columns[item.name].values if value is not None]
    if run.records == len(run.rows) and len(values) != item.rows:
        raise InvalidInput(
            f"calibration is that of another run ({item.rows} scored rows of {item.name!r}, {len(values)} in {run.name}): give "
            "that of the first run, then that of the second"
        )
