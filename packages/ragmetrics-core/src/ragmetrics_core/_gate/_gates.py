"""Gates: the limits that a run must keep to pass, parsed from a text and checked against the run's metrics.

A gate is a text, so that a command line, a configuration file and a test write it in the same way: ``faithfulness >= 0.8``;
``faithfulness drop <= 0.03``, which is non-inferiority, or superiority with a limit of 0 or below; ``faithfulness change within
0.03``, which is equivalence. `_evidence` collects the evidence of a run, `_decision` decides, `_results` has the results.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from .._values._errors import InvalidInput, Setting

Of = Literal["mean", "drop", "change"]
"""The quantity that a gate limits."""

FORMS = {
    "mean": "METRIC >= NUMBER or METRIC <= NUMBER",
    "drop": "METRIC drop <= NUMBER or METRIC change within NUMBER",
}
"""The forms in which a gate is written."""

EXAMPLES = {"mean": "'faithfulness >= 0.8'", "drop": "'faithfulness drop <= 0.03'"}
FORM = re.compile(r"(?P<left>.*?)\s*(?P<relation>>=|<=|=>|=<|==|>|<|=|≥|≤)\s*(?P<number>[^<>=≥≤]*)", re.DOTALL)
"""The last relation in the text counts, because a metric may have any name."""

CHANGE = re.compile(r"(?P<metric>.*\S)\s+change\s+within\s+(?P<number>\S+)", re.DOTALL)
DROP = re.compile(r"(?P<metric>.*\S)\s+drop", re.DOTALL)
RELATIONS = {">=": ">=", "≥": ">=", "<=": "<=", "≤": "<="}

ROUNDING = 1e-9
"""The tolerance of a number of rows: 0.07 * 100 is a little more than 7."""


@dataclass(frozen=True)
class Gate:
    """A limit for the mean of a metric, or for its drop or change between two runs.

    Attributes:
        metric: name of the metric.
        relation: ``>=`` or ``<=``; for a change, ``<=``.
        limit: the number, on the scale of the metric.
        of: ``mean``: the mean of the rows. ``drop``: how much worse the second of two runs is. This is the fall of the mean if
            high values are good, and its rise if low values are good; it is negative if the second run is better. ``change``: how
            far the means of the two runs lie apart, in either direction.
    """

    metric: str
    relation: Literal[">=", "<="]
    limit: float
    of: Of = "mean"

    def __post_init__(self) -> None:
        """Check the parts, because they may be given directly instead of as a text.

        Raises:
            InvalidInput: a part has a wrong type or value.
        """
        number = isinstance(self.limit, int | float) and not isinstance(self.limit, bool) and math.isfinite(self.limit)
        if not (isinstance(self.metric, str) and self.metric and number):
            raise InvalidInput(f"a gate needs a metric's name and a number, got {self.metric!r} and {self.limit!r}")
        if self.relation not in {">=", "<="} or self.of not in {"mean", "drop", "change"}:
            raise InvalidInput(
                f"a gate must be >= or <= for the mean, the drop or the change, got {self.relation!r} for {self.of!r}"
            )
        if self.of != "mean" and self.relation == ">=":
            right = f"{self.metric} {'drop <=' if self.of == 'drop' else 'change within'} 0.03"
            raise self._refused(f"a gate limits how large a {self.of} may be: write '{right}'")

    @classmethod
    def parse(cls, text: str, usual: Of = "mean") -> Gate:
        """Parse a gate from a text, such as ``faithfulness >= 0.8``, ``faithfulness drop <= 0.03`` or ``faithfulness change within
        0.03``.

        Args:
            text: the text.
            usual: the usual kind of gate in this context; errors show its form.

        Raises:
            InvalidInput: the text is not a gate.
        """
        if not isinstance(text, str):
            raise InvalidInput(f"a gate must be a text such as {EXAMPLES[usual]}, got {type(text).__name__}")
        change = CHANGE.fullmatch(text.strip())
        if change and _is_finite(change["number"]):
            return cls(change["metric"], "<=", float(change["number"]), "change")
        match = FORM.fullmatch(text.strip())
        drop = DROP.fullmatch(match["left"]) if match else None
        relation, number = (match["relation"], match["number"].strip()) if match else ("", "")
        problem = ""
        if match is None or not match["left"]:
            hint = " (in quotes: a shell takes > and < for itself)" if match is None else ""
            problem = f"write {FORMS[usual]}, such as {EXAMPLES[usual]}{hint}"
        elif relation not in RELATIONS:
            problem = f"write {'<=' if drop else '>= or <='} instead of {relation}"
        elif not _is_finite(number):
            problem = f"{number!r} is not a number on a metric's scale: write a number such as {0.03 if drop else 0.8}"
        if match is None or problem:
            raise InvalidInput(Setting("gate"), f" {text!r}: {problem}")
        metric, of = (drop["metric"], "drop") if drop else (match["left"], "mean")
        return cls(metric, RELATIONS[relation], float(number), of)  # type: ignore[arg-type]

    def _refused(self, problem: str) -> InvalidInput:
        """Return the error that says why this gate cannot be decided."""
        return InvalidInput(Setting("gate"), f" '{self}': {problem}")

    @property
    def sign(self) -> int:
        """1 if higher values are on the good side of the limit, -1 if lower values are."""
        return 1 if self.relation == ">=" else -1

    def side(self, low: float, high: float, near: float = 0.0) -> int:
        """Return 1 if an interval lies on the good side of the limit or ends at it, -1 if it lies on the bad side, otherwise 0.

        Args:
            low: the lower end of the interval.
            high: its upper end.
            near: the largest distance from the limit that counts as rounding.
        """
        worst, best = sorted((self.sign * low, self.sign * high))
        if self.of == "change":
            worst, best = -max(high, -low), -max(low, -high, 0.0)
        limit = self.sign * self.limit
        return 1 if worst >= limit - near else -1 if best < limit - near else 0

    def __str__(self) -> str:
        relation = {"mean": self.relation, "drop": f"drop {self.relation}", "change": "change within"}[self.of]
        return f"{self.metric} {relation} {self.limit:.12g}"


SHARES = ("min_coverage", "max_failed")
"""The conditions that are shares of the rows."""


@dataclass(frozen=True)
class Conditions:
    """The conditions that every gate sets on the rows, apart from its limit, because a mean says little about rows without a
    score.

    Attributes:
        min_coverage: the smallest share of all rows that must have a score, 0 to 1.
        max_failed: the largest share of all rows that may have failed, 0 to 1.
        stopped: why the run ended before its last row; None if it did not. If it did, no gate on a mean passes.
        write: the form in which the decision names these settings.
    """

    min_coverage: float = 0.9
    max_failed: float = 0.05
    stopped: str | None = None
    write: Callable[[Setting], str] = str

    def __post_init__(self) -> None:
        """Check that both values are shares.

        Raises:
            InvalidInput: a value is not between 0 and 1.
        """
        for name in SHARES:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise InvalidInput(Setting(name), f" must be a share of the rows, from 0 to 1, got {value!r}")

    def unmet(self, rows: int, scored: int, failed: int, of: str = "", have: str = "have a score") -> Iterator[str]:
        """Return the conditions that the rows of a run do not meet, one sentence each.

        Args:
            rows: number of rows, including rows that the run lacks; so ``rows - scored - failed`` is not the unscored rows.
            scored: number of rows with a score; of a comparison, the number of pairs.
            failed: number of rows that failed.
            of: if there are two runs, the run of these rows, such as `` of old``.
            have: the words for what scored rows have.
        """
        if failed > self.max_failed * rows + ROUNDING:
            yield f"{failed} of {rows} rows{of} failed, more than {self.write(Setting('max_failed', self.max_failed))}"
        if scored < self.min_coverage * rows - ROUNDING:
            yield f"{scored} of {rows} rows{of} {have}, less than {self.write(Setting('min_coverage', self.min_coverage))}"


Scales = Mapping[str, tuple[float, float] | None]


def parsed_gates(gates: Iterable[str | Gate], usual: Of = "mean") -> list[Gate]:
    """Return the given gates, each once; ``usual`` is the usual kind of gate in this context.

    Raises:
        InvalidInput: there is no gate, or a gate cannot be parsed.
    """
    found = list(dict.fromkeys(gate if isinstance(gate, Gate) else Gate.parse(gate, usual) for gate in gates))
    if not found:
        raise InvalidInput(f"there is no gate: name at least one, such as {EXAMPLES[usual]}")
    return found


def check_mean(gate: Gate, scales: Scales) -> None:
    """Check that a run of these metrics could decide the gate.

    Raises:
        InvalidInput: the gate is on a drop, on a metric that the run does not have, or its limit is off the scale or out of
            reach.
    """
    if gate.of != "mean":
        raise gate._refused(f"a {gate.of} needs two runs, and this is only one: compare it with another run")
    scale = _scale(gate, scales)
    if scale is None:
        return
    low, high = scale
    if not low <= gate.limit <= high:
        raise gate._refused(f"the scale of {gate.metric} is {low:g} to {high:g}, and {gate.limit:g} is outside it")
    if gate.limit == (high if gate.sign > 0 else low):
        side = "under" if gate.sign > 0 else "over"
        raise gate._refused(
            f"no number of rows can prove a mean at the very end of its scale: give a limit {side} {gate.limit:g}"
        )


def check_drop(gate: Gate, scales: Scales, higher_is_better: Mapping[str, bool | None]) -> None:
    """Check that a comparison of two runs could decide the gate.

    Raises:
        InvalidInput: the gate is on a mean, its metric does not exist or has no better end, or the limit is larger than the
            scale.
    """
    scale = _scale(gate, scales)
    if gate.of == "mean":
        raise gate._refused(
            f"a comparison of runs is about drops, such as '{gate.metric} drop <= 0.03': gate the mean of each run by itself"
        )
    if gate.of == "drop" and higher_is_better[gate.metric] is None:
        raise gate._refused(
            f"it is unknown which end of {gate.metric} is better, so a drop is not defined: gate its mean"
        )
    if gate.of == "change" and gate.limit <= 0:
        why = "a change is not negative" if gate.limit else "no number of rows can prove that two means are equal"
        raise gate._refused(f"{why}: give a limit above 0")
    if scale is not None and not scale[0] - scale[1] < gate.limit <= scale[1] - scale[0]:
        low, high = scale
        raise gate._refused(
            f"the scale of {gate.metric} is {low:g} to {high:g}, so a {gate.of} of {gate.limit:g} is impossible"
        )


def _scale(gate: Gate, scales: Scales) -> tuple[float, float] | None:
    if gate.metric not in scales:
        metric, _, word = gate.metric.rpartition(" ")
        close = get_close_matches(gate.metric.lower(), scales, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        if word == "change" and metric in scales:
            hint = f"; write '{metric} change within {gate.limit:g}'"
        raise gate._refused(f"{gate.metric!r} is not among the metrics: {', '.join(scales) or 'none'}{hint}")
    return scales[gate.metric]


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
