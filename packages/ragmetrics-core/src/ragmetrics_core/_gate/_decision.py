"""Decide gates by intervals, all gates of one call together.

*Green* needs no adjustment. A gate passes if the lower end of its 95 % interval reaches the limit (for ``<=``, the upper end). It
is less likely that all of several gates pass by chance than that one of them does (Berger 1982, Technometrics 24:295). That holds
for the decision, not for the list of gates that pass. A pass also needs enough rows to have met rare large losses, which an
interval of few rows cannot show (`statistics._pairs`). It must also hold if rows that only an earlier run has count as the worst
value.

*Red* is adjusted. With eight slices whose means are exactly at the limit, some interval would lie wholly on the bad side in 18 %
of runs (1 - 0.975^8), and people would learn to distrust red. So the decision follows Holm (1979, Scandinavian Journal of
Statistics 6:65). With m undecided gates, a gate is red if its interval at a confidence of 1 - 0.05 / m lies on the bad side. Then
m becomes the number of remaining gates, and the step is repeated until no gate becomes red. This is his step-down procedure on
the p-values that the intervals imply; a single gate is red by its 95 % interval. If all values are 0 or 1, that interval is too
narrow in its tails, and an exact test must agree (`of_mean`). Simulated at the limit, with 1, 8 and 24 gates of 10 to 200 rows,
some gate is red in at most 4 % of runs.

*Conditions* come before both: with too few scores, too many failures, or a run that did not reach its end, a gate fails.
Such rows are counted and not estimated, because the mean of the other rows says nothing about them.

*The rows that would decide* are the rows of a new run that decides in 80 % of cases if the true mean and spread are the observed
ones: n (Z + 0.84)² / z², with z for the quantile at which the interval now ends at the limit, and Z for the quantile that
decides. The number has to be fixed before looking at the scores. Adding rows until a gate is decided makes it falsely green in
0.12 of runs whose mean is exactly at the limit, and falsely red in 0.09.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..statistics._distributions import normal_quantile
from ..statistics._interval import ROUNDING
from ..statistics._pairs import MOST_ROWS, rows_to_meet_losses
from ._evidence import Evidence, too_few
from ._gates import Gate
from ._results import Decision, GateResult, Verdict

ALPHA = 0.05
"""The share of runs in which any gate may be red although its mean is as good as its limit."""

HALVINGS = 20

POWER = 0.8
"""How often the proposed number of rows decides if the true mean is the observed one."""

Case = tuple[Gate, Evidence]


SAME = (
    *("estimate", "rows", "scored", "failed", "by", "label"),
    *("clusters", "repeated", "unmet", "missing", "warnings", "run"),
)
"""The fields that a result copies from the evidence."""


def decide(cases: Sequence[Case], family: int = 0) -> Decision:
    """Decide gates, each with its evidence; all of them count as one family.

    Args:
        cases: the gates with their evidence.
        family: the number of gates, if the run goes on and its first rows have no case for some of them. If runs may stop when
            their gates are decided, red is adjusted for all of them, because a gate that has too few rows now may be decided later.
    """
    decidable = {
        index: interval
        for index, (_, evidence) in enumerate(cases)
        if not (evidence.unmet or evidence.void) and (interval := evidence.interval_at(1 - ALPHA)) is not None
    }
    looks = any(interval.is_always_valid for interval in decidable.values())
    later = max(family, len(cases)) - len(decidable) if looks else 0
    confidences, red = _adjusted(cases, list(decidable), later)
    results = (_result(*case, confidences.get(index, 1 - ALPHA), red=index in red) for index, case in enumerate(cases))
    return Decision(tuple(results))


def _adjusted(cases: Sequence[Case], decidable: Sequence[int], later: int) -> tuple[dict[int, float], set[int]]:
    """Return for each gate, by its index, the confidence at which it was tested for red; and the set of red gates. ``later`` is the
    number of gates that will be decided later.
    """
    confidences: dict[int, float] = {}
    left = list(decidable)
    while left:
        confidence = 1 - ALPHA / (len(left) + later)
        confidences |= dict.fromkeys(left, confidence)
        still = [index for index in left if not _is_red(*cases[index], confidence)]
        if len(still) == len(left):
            break
        left = still
    return confidences, confidences.keys() - set(left)


def _is_red(gate: Gate, evidence: Evidence, confidence: float) -> bool:
    """Whether the gate fails both by the interval at this confidence and by the 95 % interval, which in rare cases is the wider
    one.
    """
    sides = {_side(gate, evidence, each) for each in (confidence, 1 - ALPHA)}
    return sides == {-1} and not _doubt(gate, evidence, -1, confidence)


def _side(gate: Gate, evidence: Evidence, confidence: float) -> int:
    """Return 1 if the interval lies on the good side of the limit or ends at it, -1 if it lies on the bad side, otherwise 0."""
    interval = evidence.interval_at(confidence)
    return 0 if interval is None else gate.side(interval.low, interval.high, _near(gate, evidence))


def _near(gate: Gate, evidence: Evidence) -> float:
    bounds = evidence.bounds
    return ROUNDING * (bounds[1] - bounds[0] if bounds else max(abs(gate.limit), abs(evidence.estimate or 0.0)))


def _doubt(gate: Gate, evidence: Evidence, side: int, confidence: float) -> str:
    """Return why the interval at this confidence cannot be trusted although it lies on this side of the limit; empty if it can."""
    own = evidence.doubt(gate, side, confidence) if evidence.doubt else ""
    if own or side < 0 or not evidence.missing:
        return own
    if evidence.worst_case is None:
        return f"{evidence.missing}, and no value is known to be the worst that they could count as"
    interval = evidence.worst_case(gate, confidence)
    holds = interval is not None and gate.side(interval.low, interval.high) > 0
    counted = "any value of the scale" if gate.of == "change" else "the worst value"
    return "" if holds else f"{evidence.missing}; counted as {counted}, they could turn it"


def _enough(gate: Gate, evidence: Evidence) -> int:
    return evidence.enough(gate) if evidence.enough else 1


def _verdict(gate: Gate, evidence: Evidence, confidence: float, *, red: bool) -> tuple[Verdict, str]:
    """Return the verdict, and why it is undecided if the interval lies on one side."""
    if evidence.unmet or red:
        return "failed", ""
    if evidence.void:
        return "undecided", evidence.void
    if _side(gate, evidence, 1 - ALPHA) > 0:
        rows = "rows" if gate.of == "mean" else "pairs"
        few = too_few(evidence.scored, evidence.clusters, _enough(gate, evidence), rows)
        doubt = _doubt(gate, evidence, 1, 1 - ALPHA) or few
        return "undecided" if doubt else "passed", doubt
    return "undecided", _doubt(gate, evidence, -1, confidence) if _side(gate, evidence, confidence) < 0 else ""


def _result(gate: Gate, evidence: Evidence, confidence: float, *, red: bool) -> GateResult:
    interval = evidence.interval_at(1 - ALPHA)
    verdict, doubt = _verdict(gate, evidence, confidence, red=red)
    fixed = interval is not None and not interval.is_always_valid
    open_ = verdict == "undecided" and fixed and not doubt
    return GateResult(
        gate=gate,
        verdict=verdict,
        doubt=doubt,
        void=bool(evidence.void) and not evidence.unmet,
        interval=interval,
        adjusted=evidence.interval_at(confidence),
        rows_needed=_rows_needed(gate, evidence, confidence) if open_ else None,
        passes_from=_passes_from(gate, evidence) if open_ else None,
        **{name: getattr(evidence, name) for name in SAME},
    )


def _rows_needed(gate: Gate, evidence: Evidence, confidence: float) -> int | None:
    """Return the number of scored rows that decide with a probability of `POWER`; ``confidence`` is the confidence for red."""
    estimate = evidence.estimate or 0.0
    distance = gate.sign * ((abs(estimate) if gate.of == "change" else estimate) - gate.limit)
    if abs(distance) <= _near(gate, evidence):
        return None
    side = 1 if distance > 0 else -1
    deciding = normal_quantile((1 + (1 - ALPHA if side > 0 else confidence)) / 2)
    low, high = 0.0, deciding
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _side(gate, evidence, math.erf(middle / math.sqrt(2))) == side:
            low = middle
        else:
            high = middle
    rows = evidence.scored * ((deciding + normal_quantile(POWER)) / high) ** 2
    if side > 0:
        rows = max(rows, _enough(gate, evidence) * evidence.scored / (evidence.clusters or evidence.scored))
    return None if rows > MOST_ROWS else max(math.ceil(rows - ROUNDING), evidence.scored + 1)


def _passes_from(gate: Gate, evidence: Evidence) -> float | None:
    """Return the true value that passes with a probability of `POWER` if the interval is as wide as it is now; None if it is
    impossible.
    """
    interval, estimate = evidence.interval_at(1 - ALPHA), evidence.estimate
    if interval is None or estimate is None:
        return None
    # a change may leave its limits at either end, so each end gets half of the errors
    power = (1 + POWER) / 2 if gate.of == "change" else POWER
    deciding, more = normal_quantile(1 - ALPHA / 2), normal_quantile(power)
    width = max(estimate - interval.low, interval.high - estimate)
    value = gate.limit + gate.sign * width * (1 + more / deciding)
    if evidence.bounds is not None:
        low, high = evidence.bounds
        worst = low if gate.sign > 0 else high
        if not low <= value <= high:
            return None
        enough = float(rows_to_meet_losses([value], gate.sign, gate.limit, worst))
        if evidence.clusters is not None:  # at the end of the scale, few clusters have the interval of equal values
            enough = max(enough, (deciding + more) ** 2 * (gate.limit - worst) / (value - gate.limit))
        if enough > (evidence.clusters or evidence.scored):
            return None
    return None if gate.of == "change" and value < 0 else value
