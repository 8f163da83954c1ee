"""The results of gates, as data and in words.

There are three outcomes, not two: a few rows can leave open on which side of a limit a mean lies, and then neither red nor green
would be honest. So a decision has no truth value: ``if decision:`` would have to call an undecided one true or false.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from .._run._slices import slice_name
from .._show._blocks import Block, Heading, Items, Result, as_markdown, as_text
from .._show._tables import cut_middle, room
from .._values._counts import count_of
from .._values._layout import printable
from .._values._plain import plain
from ..statistics import Interval
from ._evidence import about, new_run
from ._gates import Gate

MARKS = {
    "failed": "\N{CROSS MARK} ",
    "undecided": "\N{BLACK QUESTION MARK ORNAMENT} ",
    "passed": "\N{WHITE HEAVY CHECK MARK} ",
}
"""What stands before a verdict in Markdown."""

Verdict = Literal["failed", "undecided", "passed"]

VERDICTS: tuple[Verdict, ...] = ("failed", "undecided", "passed")
"""The outcomes, what needs attention first."""

LONGEST_GATE = 60
"""Characters of a gate that a line shows."""

MOST_ROWS = 100_000
"""More rows than that are not proposed."""

CLOSE = 1e-9
DIGITS = range(3, 7)


def _numbers(result: GateResult) -> Iterator[str]:
    estimate, interval, limit = result.estimate, result.interval, result.gate.limit
    if estimate is None:
        return
    sure = f", 95 % interval {_ends(interval, limit)}," if interval else ""
    yield f"{result.gate.of} {_shown(estimate, limit)}{sure} from {_rows(result)}"
    if interval is None:
        nothing = "all values are equal, on a scale that is not known"
        if 1 in {result.scored, result.clusters}:
            nothing = f"one {'row' if result.repeated or result.scored == 1 else 'cluster'} says nothing of the others"
        yield f"no interval, since {nothing}"
    if interval is None or result.unmet:
        return
    adjusted = result.adjusted or interval
    if adjusted != interval and result.is_bad(interval):
        yield f"{_ends(adjusted, limit)} when adjusted for the number of gates"
    if result.missing and result.missing not in result.doubt:
        yield result.missing + ("; counted as the worst value, it still holds" if result.verdict == "passed" else "")
    if result.doubt:
        yield result.doubt
    elif result.verdict == "undecided":
        yield _what_decides(result)


def _rows(result: GateResult) -> str:
    rows = f"{result.scored} of {result.rows} rows"
    if result.gate.of == "drop" or result.scored == result.rows:
        rows = count_of(result.scored, "pair" if result.gate.of == "drop" else "row")
    return rows if result.clusters is None else rows + _grouped(result, result.clusters)


def _grouped(result: GateResult, clusters: int) -> str:
    return f" ({clusters:,} without repeats)" if result.repeated else f" in {count_of(clusters, 'cluster')}"


def _what_decides(result: GateResult) -> str:
    rows = result.rows_needed
    if rows is None:
        return f"so close to the limit that {MOST_ROWS:,} rows would not decide"
    clusters = result.clusters
    where = "" if clusters is None else _grouped(result, about(math.ceil(clusters * rows / result.scored)))
    seen = f"a true {result.gate.of} of {_shown(result.estimate or 0.0, result.gate.limit)} (as seen)"
    of_slice = "" if result.by is None else " of this slice"
    return new_run(f"about {about(rows):,} rows{of_slice}{where}", seen, "decide")


def _ends(interval: Interval, limit: float) -> str:
    return f"{_shown(interval.low, limit)} to {_shown(interval.high, limit)}"


def _shown(value: float, limit: float) -> str:
    """The number with three decimals, and more where it would look like the limit without being at it."""
    texts = [f"{value:.{digits}f}" for digits in DIGITS]
    text = next((text for text in texts if float(text) != limit or abs(value - limit) <= CLOSE), texts[-1])
    return text if float(text) else text.removeprefix("-")


@dataclass(frozen=True)
class GateResult:
    """The result of one gate, for all rows or for one slice.

    Attributes:
        gate: the gate.
        verdict: ``passed``: the 95 % interval lies on the good side of the limit. ``failed``: it lies on the bad side, also when
            it is adjusted for all gates that are decided together; or the rows do not meet the conditions. ``undecided``: neither.
        unmet: the conditions that the rows do not meet, in words; any of them makes it ``failed``.
        doubt: why it is undecided although its interval lies on one side, in words; empty if that is not so.
        estimate: the mean of the rows, or how far it dropped; None if no row has a score.
        interval: its 95 % interval, and how it was made; None where there is none.
        adjusted: the interval that had to lie on the bad side for ``failed``, adjusted for the number of gates still open:
            wider than ``interval`` where that was more than one.
        rows: all rows, whatever became of them.
        scored: rows with a score.
        failed: rows in which something went wrong.
        rows_needed: how many rows with a score a new run needs to decide an undecided gate in 80 % of cases, if the true mean and
            spread are those that were seen; None where it is decided or the rows do not tell, and where more than 100,000 would
            be needed. Adding rows to this run until it is decided makes false verdicts more likely.
        by: the path of the column that the slice is made by; None for all rows.
        label: the value of that column in the rows of the slice; None for the rows without a value there.
        clusters: how many clusters the rows are in; None if they are taken to be independent.
        repeated: whether these clusters are repeats of a row.
        missing: against an earlier run, the rows that have a value there alone, in words; empty if there are none. ``passed``
            holds if they count as the worst value.
        warnings: what must be known to believe it: that who scored differs between two runs, where that was allowed.
        void: whether it is undecided since it is not known that both runs measured the same thing; more rows would not decide.
    """

    gate: Gate
    verdict: Verdict
    unmet: tuple[str, ...]
    doubt: str
    estimate: float | None
    interval: Interval | None
    adjusted: Interval | None
    rows: int
    scored: int
    failed: int
    rows_needed: int | None = None
    by: str | None = None
    label: str | None = None
    clusters: int | None = None
    repeated: bool = False
    missing: str = ""
    warnings: tuple[str, ...] = ()
    void: bool = False

    @property
    def unscored(self) -> int:
        """Rows in which there was nothing to score."""
        return self.rows - self.scored - self.failed

    @property
    def coverage(self) -> float | None:
        """Share of the rows that have a score; None if there are no rows."""
        return self.scored / self.rows if self.rows else None

    @property
    def why(self) -> str:
        """Why it has this verdict: conditions that are not met, the estimate, how sure it is, and what would decide."""
        warned = [f"WARNING: who scored differs: {printable(text)}" for text in self.warnings]
        return "; ".join([*self.unmet, *_numbers(self), *warned])

    def is_bad(self, interval: Interval) -> bool:
        """Whether an interval lies wholly on the bad side of the limit."""
        return interval.high < self.gate.limit if self.gate.sign > 0 else interval.low > self.gate.limit

    @property
    def name(self) -> str:
        """The gate and its slice, printable: ``faithfulness >= 0.8, lang=de``."""
        gate = cut_middle(str(self.gate), LONGEST_GATE)
        return gate if self.by is None else f"{gate}, {slice_name(self.by, self.label)}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        interval, adjusted = self.interval, self.adjusted
        own = {"gate": str(self.gate), "metric": self.gate.metric}
        figures = {"unscored": self.unscored, "coverage": self.coverage, "why": self.why}
        words = {"doubt": self.doubt or None, "missing": self.missing or None}
        limits = {
            "interval": interval and interval[:2],
            "interval_method": interval.method if interval else None,
            "adjusted": adjusted and adjusted[:2],
        }
        return plain({**vars(self), **own, **figures, **words, **limits})

    def __str__(self) -> str:
        return f"{self.verdict.upper()} {self.name}: {self.why}"


@dataclass(frozen=True)
class Decision(Result):
    """The results of gates that were decided together; ``str()`` or ``print`` shows a line for each.

    Attributes:
        results: one for each gate and, with ``by``, for each gate and slice, in the order of the gates.
    """

    results: tuple[GateResult, ...]

    __iter__: ClassVar[None] = None  # a loop goes through .results

    @property
    def verdict(self) -> Verdict:
        """``failed`` if a gate failed, else ``undecided`` if one is undecided, else ``passed``."""
        return next(verdict for verdict in VERDICTS if self.of(verdict) or verdict == "passed")

    @property
    def passed(self) -> bool:
        """Whether all gates passed."""
        return self.verdict == "passed"

    def of(self, verdict: Verdict) -> list[GateResult]:
        """The results with this verdict."""
        return [result for result in self.results if result.verdict == verdict]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return {"verdict": self.verdict, "gates": [result.to_dict() for result in self.results]}

    @property
    def ordered(self) -> list[GateResult]:
        """The results, those that need attention first."""
        return [result for verdict in VERDICTS for result in self.of(verdict)]

    @property
    def counts(self) -> str:
        """How many there are of each verdict, in words."""
        counts = Counter(result.verdict for result in self.results)
        return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])

    def _blocks(self, marks: Mapping[str, str] | None = None) -> list[Block]:
        """A heading that counts, and an item for each gate, those that need attention first."""
        items = [f"{(marks or {}).get(result.verdict, '')}{result}" for result in self.ordered]
        return [Heading(f"gates: {self.counts}"), Items(items)] if items else []

    def text(self, width: int) -> str:
        """A line that counts, then one for each gate, those that need attention first; broken to this width."""
        return "\n".join(as_text([each], width) for each in self._blocks())

    def __str__(self) -> str:
        return self.text(room())

    def to_markdown(self) -> str:
        """The same as a part of a comment for a pull request; what comes from the data has no effect there."""
        return as_markdown(self._blocks(MARKS))

    def __bool__(self) -> bool:
        raise TypeError("a decision may be undecided, so it is neither true nor false: look at .verdict or .passed")
