"""How gates are decided: by intervals, all gates of one call together.

*Green* needs no adjustment. A gate passes where the lower end of its 95 % interval reaches the limit (for ``<=``, the upper one);
that all of several gates pass by chance is less likely than that one of them does. And there must be rows enough to have met rare
large losses, which no interval of few rows knows of (`statistics._pairs`). It must hold, too, if rows that only an earlier run has
count as the worst value.

*Red* is adjusted. With eight slices whose means are exactly at the limit, some interval would lie wholly on the bad side in 18 %
of runs (1 - 0.975^8), and people would learn not to believe in red. So it follows Holm (1979, Scandinavian Journal of Statistics
6:65): with m gates open, those are red whose interval at a confidence of 1 - 0.05 / m lies on the bad side; then m is the number of
the others, and so on until none joins. That is his step-down procedure on the p-values that the intervals imply; a single gate is
red by its 95 % interval. Where all values are 0 or 1, that interval is too sure of itself far out, and an exact test must agree
(`of_mean`). Simulated at the limit, with 1, 8 and 24 gates of 10 to 200 rows, some gate is red in at most 4 % of runs.

*Conditions* come before both: with too few scores, too many failures, or a run that did not come to its end, a gate has failed.
They are counted and not estimated, and the mean of the other rows says nothing of those.

*The rows that would decide* are those of a new run that decides in 80 % of cases if the true mean and spread are those that were
seen: n (Z + 0.84)² / z², with z for the quantile at which the interval ends at the limit now, and Z for the one that decides. The
number has to be fixed before a look at the scores: adding rows until a gate is decided makes it falsely green in 0.12 of runs whose
mean is exactly at the limit, and falsely red in 0.09.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..statistics._distributions import normal_quantile
from ._evidence import Evidence, too_few
from ._gates import Gate
from ._results import MOST_ROWS, Decision, GateResult, Verdict

ALPHA = 0.05
"""In how many runs any gate may be red whose mean is as good as its limit."""

ROUNDING = 1e-9
"""An end of an interval this close to a limit, as a share of the scale, has reached it: a mean of tenths is seldom exact."""

HALVINGS = 20

POWER = 0.8
"""How often the proposed number of rows decides, if the mean is what was seen."""

Case = tuple[Gate, Evidence]


SAME = (
    *("estimate", "rows", "scored", "failed", "by", "label"),
    *("clusters", "repeated", "unmet", "missing", "warnings"),
)
"""What a result says as the evidence does."""


def decide(cases: Sequence[Case]) -> Decision:
    """Decide gates, each with what there is to decide it by; all of them count as one family."""
    decidable = [
        index
        for index, (_, evidence) in enumerate(cases)
        if not (evidence.unmet or evidence.void) and evidence.interval_at(1 - ALPHA) is not None
    ]
    confidences, red = _adjusted(cases, decidable)
    results = (_result(*case, confidences.get(index, 1 - ALPHA), red=index in red) for index, case in enumerate(cases))
    return Decision(tuple(results))


def _adjusted(cases: Sequence[Case], decidable: Sequence[int]) -> tuple[dict[int, float], set[int]]:
    """By the index of the gate, the confidence at which it is red, or not red; and which are red."""
    confidences: dict[int, float] = {}
    left = list(decidable)
    while left:
        confidence = 1 - ALPHA / len(left)
        confidences |= dict.fromkeys(left, confidence)
        still = [index for index in left if not _is_red(*cases[index], confidence)]
        if len(still) == len(left):
            break
        left = still
    return confidences, confidences.keys() - set(left)


def _is_red(gate: Gate, evidence: Evidence, confidence: float) -> bool:
    """Whether the gate fails by an interval of this confidence, and so by that of 95 %, which is seldom the wider one."""
    sides = {_side(gate, evidence, each) for each in (confidence, 1 - ALPHA)}
    return sides == {-1} and not _doubt(gate, evidence, -1, confidence)


def _side(gate: Gate, evidence: Evidence, confidence: float) -> int:
    """1 where the interval lies on the good side of the limit, its end included, -1 where it lies on the bad one, else 0."""
    interval = evidence.interval_at(confidence)
    if interval is None:
        return 0
    near = _near(gate, evidence)
    worst, best = sorted((gate.sign * interval.low, gate.sign * interval.high))
    limit = gate.sign * gate.limit
    return 1 if worst >= limit - near else -1 if best < limit - near else 0


def _near(gate: Gate, evidence: Evidence) -> float:
    bounds = evidence.bounds
    return ROUNDING * (bounds[1] - bounds[0] if bounds else max(abs(gate.limit), abs(evidence.estimate or 0.0)))


def _doubt(gate: Gate, evidence: Evidence, side: int, confidence: float) -> str:
    """Why the interval at a confidence is not to be believed although it lies on this side of the limit; empty if it is."""
    own = evidence.doubt(gate, side, confidence) if evidence.doubt else ""
    if own or side < 0 or not evidence.missing:
        return own
    if evidence.worst_case is None:
        return f"{evidence.missing}, and no value is known to be the worst that they could count as"
    interval = evidence.worst_case(gate, confidence)
    holds = interval is not None and (interval.low >= gate.limit if gate.sign > 0 else interval.high <= gate.limit)
    return "" if holds else f"{evidence.missing}; counted as the worst value, they could turn it"


def _enough(gate: Gate, evidence: Evidence) -> int:
    return evidence.enough(gate) if evidence.enough else 1


def _verdict(gate: Gate, evidence: Evidence, confidence: float, *, red: bool) -> tuple[Verdict, str]:
    """The verdict, and why it is undecided although an interval lies on one side."""
    if evidence.unmet or red:
        return "failed", ""
    if evidence.void:
        return "undecided", evidence.void
    if _side(gate, evidence, 1 - ALPHA) > 0:
        rows = "pairs" if gate.of == "drop" else "rows"
        few = too_few(evidence.scored, evidence.clusters, _enough(gate, evidence), rows)
        doubt = _doubt(gate, evidence, 1, 1 - ALPHA) or few
        return "undecided" if doubt else "passed", doubt
    return "undecided", _doubt(gate, evidence, -1, confidence) if _side(gate, evidence, confidence) < 0 else ""


def _result(gate: Gate, evidence: Evidence, confidence: float, *, red: bool) -> GateResult:
    interval = evidence.interval_at(1 - ALPHA)
    verdict, doubt = _verdict(gate, evidence, confidence, red=red)
    needed = _rows_needed(gate, evidence, confidence) if verdict == "undecided" and interval and not doubt else None
    return GateResult(
        gate=gate,
        verdict=verdict,
        doubt=doubt,
        void=bool(evidence.void) and not evidence.unmet,
        interval=interval,
        adjusted=evidence.interval_at(confidence),
        rows_needed=needed,
        **{name: getattr(evidence, name) for name in SAME},
    )


def _rows_needed(gate: Gate, evidence: Evidence, confidence: float) -> int | None:
    """The rows with a score that decide with a probability of `POWER`; ``confidence`` is that of being red."""
    distance = gate.sign * ((evidence.estimate or 0.0) - gate.limit)
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
