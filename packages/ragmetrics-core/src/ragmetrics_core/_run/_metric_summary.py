"""One metric over all rows, counted row by row, so that a run never has to be in memory whole.

Means are taken over the scored rows only; the counts say how many rows have no value. A mean over no rows is None: there is no
default. Rows without a value are grouped by cause, as ten rows with one cause need one cure.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from .._kernel._layout import harmless, printable
from .._kernel._requests import Usage
from .._kernel._score import NO_USAGE, Score, is_asked
from .._show._tables import cut_middle
from ..statistics import Interval, mean_interval, rate_interval
from ..statistics._means import mean_of
from ._jury import JurySummary, JuryTally
from ._repeats import is_silence, spread_of

if TYPE_CHECKING:
    from .._calibrate._calibration import MetricCalibration

Scale = tuple[float, float] | None


MOST_WORST = 3
"""Rows with the worst values that a summary names."""


@dataclass(frozen=True)
class LabelRate:
    """How often a metric gave a label.

    Attributes:
        count: scored rows that have it.
        share: their share of all scored rows, 0 to 1.
        interval: 95 % interval of that share; None if fewer than two rows were scored.
    """

    count: int
    share: float
    interval: Interval | None


@dataclass(frozen=True)
class MetricSummary:
    """One metric over all rows.

    Attributes:
        name: name of the metric.
        mean: mean of the scored rows' values; None if no row was scored.
        interval: 95 % interval of that mean, and how it was made; None if fewer than two rows were scored, or if all values
            are equal and the scale is not known.
        scale: lowest and highest possible value; None where there is none, or where it differs from row to row.
        scored: rows with a value.
        unscored: rows in which there was nothing to score.
        failed: rows where something went wrong.
        passed: rows that passed; None if the metric gave no row a verdict.
        pass_rate: share of the rows with a verdict that passed; None if there is none.
        pass_interval: 95 % interval of that rate; None if fewer than two rows have a verdict.
        usage: calls, cached calls and tokens, summed.
        lowest: the rows with the lowest values, as (label, value), lowest first; rows at the top of the scale are left out. Empty
            where low values are good.
        spread: standard deviation of the judgements of one row, averaged over the rows that were judged several times; None if
            there are none.
        unsteady: rows whose judgements differ.
        labels: rows by the label of their score, the most common first.
        silent: rows counted as the worst value because the system retrieved or answered nothing (``empty="zero"``).
        label_rates: of a metric that labels scored rows, how often each label stands on them, the most common first.
        highest: of a metric for which low values are good, the rows with the highest values, the highest first; rows at the bottom
            of the scale are left out.
        jury: of a metric of several jurors, what each of them did and how far they agree; None of any other.
        calibration: the metric beside people's labels, with the mean that they would give; None where nothing is known of that.
    """

    name: str
    mean: float | None
    interval: Interval | None
    scale: tuple[float, float] | None
    scored: int
    unscored: int
    failed: int
    passed: int | None
    pass_rate: float | None
    pass_interval: Interval | None
    usage: Usage
    lowest: tuple[tuple[str, float], ...] = ()
    spread: float | None = None
    unsteady: int = 0
    labels: Mapping[str, int] = field(default_factory=dict)
    silent: int = 0
    label_rates: Mapping[str, LabelRate] = field(default_factory=dict)
    highest: tuple[tuple[str, float], ...] = ()
    jury: JurySummary | None = None
    calibration: MetricCalibration | None = None

    @property
    def rows(self) -> int:
        """All rows, whatever became of them."""
        return self.scored + self.unscored + self.failed

    @property
    def failed_everywhere(self) -> bool:
        """Whether it failed on every row, so that nothing at all is known."""
        return self.failed > 0 and self.failed == self.rows

    @property
    def tokens_known(self) -> bool:
        """Whether anything is known of tokens: a server that reports none is not one that used none."""
        usage = self.usage
        return usage.calls == usage.cached_calls or bool(usage.prompt_tokens or usage.completion_tokens)

    @property
    def has_own_pass_rate(self) -> bool:
        """Whether the pass rate says more than the mean; of yes/no metrics it is the mean."""
        return self.passed is not None and self.pass_rate != self.mean

    @classmethod
    def of(
        cls, name: str, scale: tuple[float, float] | None, scores: Iterable[Score], labels: Sequence[str] = ()
    ) -> MetricSummary:
        """The summary of one metric's scores; ``scale`` is the metric's own, ``labels`` name the rows."""
        tally = Tally(name, scale)
        for score, label in zip_longest(scores, labels, fillvalue=""):
            tally.add(score, label)  # type: ignore[arg-type]  # there is a score for every label
        return tally.summary()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return {
            "mean": self.mean,
            "interval": list(self.interval[:2]) if self.interval else None,
            "interval_method": self.interval.method if self.interval else None,
            "scale": list(self.scale) if self.scale else None,
            "scored": self.scored,
            "unscored": self.unscored,
            "failed": self.failed,
            "passed": self.passed,
            "pass_rate": self.pass_rate,
            "pass_interval": list(self.pass_interval[:2]) if self.pass_interval else None,
            "usage": self.usage.to_dict(),
            "lowest": [list(item) for item in self.lowest],
            "highest": [list(item) for item in self.highest],
            "spread": self.spread,
            "unsteady": self.unsteady,
            "labels": dict(self.labels),
            "silent": self.silent,
            "label_rates": {
                label: {
                    "count": rate.count,
                    "share": rate.share,
                    "interval": list(rate.interval[:2]) if rate.interval else None,
                }
                for label, rate in self.label_rates.items()
            },
            **({} if self.jury is None else {"jury": self.jury.to_dict()}),
            **({} if self.calibration is None else {"corrected": self._corrected(self.calibration)}),
        }

    def _corrected(self, item: MetricCalibration) -> dict[str, Any]:
        """The mean that people would give, and why it may be wrong."""
        found = item.to_dict()
        return {**found["corrected"], "warnings": found["warnings"]}


def common_scale(of_metric: Scale, of_scores: Iterable[Scale]) -> Scale:
    """The scale of all scores, which may name their own; that of the metric where there are none; None where scores differ."""
    found = {scale or of_metric for scale in of_scores} or {of_metric}
    return found.pop() if len(found) == 1 else None


class Tally:
    """Counts the scores of one metric as they come, in row order."""

    def __init__(self, name: str, scale: tuple[float, float] | None, *, low_is_good: bool = False) -> None:
        self._name = name
        self._scale = scale
        self._scales: set[Scale] = set()
        self._values = array("d")
        self._sign = -1 if low_is_good else 1
        self._worst: list[tuple[str, float]] = []
        self._rows = self._failed = self._verdicts = self._passed = self._unsteady = 0
        self._spreads = array("d")
        self._usage = Usage()
        self._labels: Counter[str] = Counter()
        self._own_labels: Counter[str] = Counter()
        self._silent = 0
        self._jury = JuryTally()

    def add(self, score: Score, label: str) -> None:
        """Count one score; the label names its row, where it is known. Rows that were not asked about are no rows here."""
        if not is_asked(score):
            return
        self._rows += 1
        self._jury.add(score, label)
        if score.usage is not NO_USAGE:
            self._usage += score.usage
        if score.label is not None:
            self._labels[score.label] += 1
        if score.passing is not None:
            self._verdicts += 1
            self._passed += score.passing
        elif score.value is not None and is_silence(score):
            self._silent += 1  # counted as the worst value, so it did not pass
        if score.value is None:
            self._failed += score.error is not None
            return
        if score.label is not None and not is_silence(score):
            self._own_labels[score.label] += 1
        self._values.append(score.value)
        self._scales.add(score.scale)
        if label:
            self._note_worst(label, score.value)
        if "repeats" in score.held:  # to look into the details costs more than all the counting
            spread = spread_of(score.details)
            if spread is not None:
                self._spreads.append(spread)
                self._unsteady += spread > 0

    def summary(self) -> MetricSummary:
        """The counts so far."""
        scale = common_scale(self._scale, self._scales)
        verdicts = self._verdicts + self._silent if self._verdicts else 0
        worst = self._named_worst(scale)
        return MetricSummary(
            name=self._name,
            mean=mean_of(self._values),
            interval=mean_interval(self._values, scale=scale),
            scale=scale,
            scored=len(self._values),
            unscored=self._rows - len(self._values) - self._failed,
            failed=self._failed,
            passed=self._passed if self._verdicts else None,
            pass_rate=self._passed / verdicts if verdicts else None,
            pass_interval=rate_interval(self._passed, verdicts),
            usage=self._usage,
            lowest=worst if self._sign > 0 else (),
            spread=mean_of(self._spreads),
            unsteady=self._unsteady,
            labels=dict(self._labels.most_common()),
            silent=self._silent,
            label_rates=self._label_rates(),
            highest=worst if self._sign < 0 else (),
            jury=self._jury.summary(),
        )

    def _named_worst(self, scale: tuple[float, float] | None) -> tuple[tuple[str, float], ...]:
        """The worst rows but for those that are as good as can be; none where there are hardly others."""
        if len(self._values) <= MOST_WORST:
            return ()
        best = scale[self._sign > 0] if scale else self._sign * math.inf
        return tuple(item for item in self._worst if item[1] != best)

    def _label_rates(self) -> dict[str, LabelRate]:
        scored = len(self._values)
        return {
            label: LabelRate(count, count / scored, rate_interval(count, scored))
            for label, count in self._own_labels.most_common()
        }

    def _note_worst(self, label: str, value: float) -> None:
        sign = self._sign
        if len(self._worst) == MOST_WORST and sign * value >= sign * self._worst[-1][1]:
            return
        self._worst.append((label, value))
        self._worst.sort(key=lambda item: sign * item[1])  # a stable sort: among equals the earlier row stays first
        del self._worst[MOST_WORST:]


MOST_ROWS = 5
"""Rows that the text names per reason, and metrics per kind of interval; the rest is counted."""


LONGEST_REASON = 240


LONGEST_ROW = 40
"""Characters of a reason and of a row's id that the text shows."""


@dataclass(frozen=True)
class Reason:
    """Why scores have no value: one cause, and all that share it.

    Attributes:
        state: ``unscored`` or ``failed``.
        text: the reason or the error, without the place of a single row.
        metrics: names of the metrics concerned.
        rows: labels of the rows concerned: their id, or where they stand.
        counts: how many rows of each of these metrics, in their order.
    """

    state: str
    text: str
    metrics: tuple[str, ...]
    rows: tuple[str, ...]
    counts: tuple[int, ...]

    @property
    def count(self) -> int:
        """Scores concerned: the rows of all these metrics together."""
        return sum(self.counts)

    def __str__(self) -> str:
        text = " ".join(self.text.split())
        shown = printable(text)
        shown = shown if len(shown) <= LONGEST_REASON else f"{shown[: LONGEST_REASON - 3]}..."
        return f"{self._size()}: {shown} ({first_of(self.rows)})"

    def _size(self) -> str:
        """How many rows, and of which metrics; each metric has its own, so they are never added up."""
        if len(set(self.counts)) == 1:
            several = "each of " if len(self.metrics) > 1 else ""
            return f"{_rows(self.counts[0])} in {several}{', '.join(cut_middle(name, LONGEST_ROW) for name in self.metrics)}"
        first, *others = (f"in {cut_middle(name, LONGEST_ROW)}" for name in self.metrics)
        rest = (f"{count} {name}" for count, name in zip(self.counts[1:], others, strict=True))
        return ", ".join([f"{_rows(self.counts[0])} {first}", *rest])


class Causes:
    """Groups the scores without a value by cause, as the rows pass by."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], tuple[dict[str, int], dict[str, None]]] = {}

    def add(self, metric: str, score: Score, place: str, label: str) -> None:
        """Note a score of a metric without a value, with the place and the label of its row; not where it was not asked for."""
        if not is_asked(score):
            return
        key = (score.state, _cause(score, metric, place))
        metrics, rows = self._groups.setdefault(key, ({}, {}))
        metrics[metric] = metrics.get(metric, 0) + 1
        rows[label] = None

    def reasons(self) -> tuple[Reason, ...]:
        """The causes, the most common ones first."""
        found = [
            Reason(state, text, tuple(metrics), tuple(rows), tuple(metrics.values()))
            for (state, text), (metrics, rows) in self._groups.items()
        ]
        return tuple(sorted(found, key=lambda reason: -reason.count))


def _cause(score: Score, metric: str, place: str) -> str:
    """Why there is no value, without the metric and the place of the row, so that equal causes are equal."""
    error, metric, place = score.error, harmless(metric), harmless(place)  # errors show both so
    if error is None:
        return score.reason or ""
    if error.startswith("MissingInput: "):
        return error.replace(f" {metric} needs ", " needs ", 1).replace(f" in {place}: ", ": ", 1)
    if error.startswith("InvalidInput: "):
        return error.replace(f"{place}: ", "", 1).replace(f" {metric}: ", " ", 1)
    return error


def first_of(names: Sequence[str], most: int = MOST_ROWS) -> str:
    """The first few names; the rest is counted."""
    more = len(names) - most
    shown = ", ".join(cut_middle(name, LONGEST_ROW) for name in names[:most])
    return shown + (f" and {more} more" if more > 0 else "")


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"
