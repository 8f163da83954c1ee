"""The difference that human labels would show between two runs, estimated from the labels and all scores of the same rows in
both runs.

Each row is its own control. The difference of the labels is known for every row that people labelled in both runs, the difference
of the scores for every pair. `corrected_mean` combines them, as it combines the labels and scores of one run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .._calibrate._calibration import Calibration, MetricCalibration
from .._calibrate._rows import LabelledRow
from .._run._columns import Run
from .._values._errors import InvalidInput
from ..statistics import CorrectedMean, corrected_mean
from ..statistics._labelled import FEWEST_LABELS
from ._outcomes import MetricPairs
from ._pairs import Pairing
from ._verdicts import ends, signed


@dataclass(frozen=True)
class CorrectedDifference:
    """The estimated difference in one metric if people had labelled every row.

    Attributes:
        metric: the name of the metric.
        verdicts: whether labels are pass or fail. If so, it is the difference of the shares that people pass, and high is good.
        labels: number of pairs with a label in both runs.
        pairs: number of pairs with a score in both runs.
        corrected: the mean difference, after minus before, with its interval; None if it cannot be estimated.
        problem: why it cannot be estimated; empty if it can.
        warnings: why the labels of a run may mislead; each warning names the run.
    """

    metric: str
    verdicts: bool
    labels: int
    pairs: int
    corrected: CorrectedMean | None
    problem: str | None = None
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        found = self.corrected
        if found is None:
            return f"{self.metric}, by people's labels: no difference is known: {self.problem}"
        what = " of the rows that people pass" if self.verdicts else ""
        limits = f", 95 % interval {ends(found.interval)}" if found.interval else ""
        alone = found.interval in (None, found.label_interval)
        pairs = " alone" if alone else f" and {self.pairs:,} judged pairs"
        source = f"from {self.labels:,} rows with labels in both runs{pairs}"
        return f"{self.metric}, by people's labels: {signed(found.mean)}{what}{limits}, {source}"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON values."""
        found = self.corrected
        return {
            "labels": self.labels,
            "pairs": self.pairs,
            "problem": self.problem,
            "warnings": list(self.warnings),
            "difference": found and found.mean,
            "interval": list(found.interval[:2]) if found and found.interval else None,
            "method": found and found.method,
            "note": found and found.note,
        }


def corrected_differences(
    metrics: Iterable[MetricPairs], pairing: Pairing, calibrations: tuple[Calibration, Calibration]
) -> tuple[CorrectedDifference, ...]:
    """Return the differences in all metrics for which both runs have labels.

    Args:
        metrics: the values of the metrics in both runs.
        pairing: the rows of both runs.
        calibrations: the calibrations of the first and of the second run.

    Raises:
        InvalidInput: a calibration belongs to another run.
    """
    return tuple(
        _corrected(pairs, pairing, [calibration[pairs.name] for calibration in calibrations])
        for pairs in metrics
        if all(pairs.name in calibration for calibration in calibrations)
    )


def _corrected(pairs: MetricPairs, pairing: Pairing, items: Sequence[MetricCalibration]) -> CorrectedDifference:
    people, runs = [], (pairing.before, pairing.after)
    columns = [run.columns[pairs.name].values for run in runs]
    scored = [
        (one, two, new - old)
        for one, two in pairing.positions
        if (old := columns[0][one]) is not None and (new := columns[1][two]) is not None
    ]
    for item, run in zip(items, runs, strict=True):
        _check(item, run)
        people.append({} if item.own is None else item.own.rows)
    names = ((runs[0].rows[one].name, runs[1].rows[two].name) for one, two, _ in scored)
    labels = [(people[0].get(one), people[1].get(two)) for one, two in names]
    label_pairs = [None if one is None or two is None else (one, two) for one, two in labels]
    verdicts = items[0].verdicts
    problem, corrected = _problem(items, list(filter(None, label_pairs)), pairs), None
    if problem is None:
        turn = -1.0 if verdicts and items[0].lower_is_better else 1.0
        low, high = (0.0, 1.0) if verdicts else pairs.outcomes.scale or (None, None)
        weights = [None if both is None else both[0].weight for both in label_pairs]
        corrected = corrected_mean(
            [turn * change for _, _, change in scored],
            [None if both is None else both[1].label - both[0].label for both in label_pairs],
            weights if any(weight is not None for weight in weights) else None,
            None if pairing.clusters is None else [pairing.clusters[one] for one, _, _ in scored],
            None if low is None or high is None else (low - high, high - low),  # the scale of differences
        )
    return CorrectedDifference(
        pairs.name,
        verdicts,
        labels=sum(both is not None for both in label_pairs),
        pairs=len(scored),
        corrected=corrected,
        problem=problem,
        warnings=tuple(
            f"labels of {run.name}: {text}" for item, run in zip(items, runs, strict=True) for text in item.warnings
        ),
    )


def _problem(
    items: Sequence[MetricCalibration], known: Sequence[tuple[LabelledRow, LabelledRow]], pairs: MetricPairs
) -> str | None:
    """Return why the difference cannot be estimated; empty if it can."""
    if pairs.outcomes.scale_problem:
        return pairs.outcomes.scale_problem
    if len(known) < FEWEST_LABELS:
        count = "1 row has" if len(known) == 1 else f"{len(known)} rows have"
        return f"{count} labels in both runs: label the same rows in both, at least {FEWEST_LABELS}"
    if items[0].verdicts != items[1].verdicts:
        return "labels are passes and fails in one run, and grades in the other"
    if any(one.weight != two.weight for one, two in known):
        return "a row has another weight in each run: give it the one that it was drawn with"
    return None


def _check(item: MetricCalibration, run: Run) -> None:
    scored = sum(value is not None for value in run.columns[item.name].values)
    if run.records == len(run.rows) and scored != item.rows:
        raise InvalidInput(
            f"calibration belongs to another run ({item.rows} scored rows of {item.name!r}, {scored} in {run.name}): "
            "give the calibration of the first run, then that of the second"
        )
